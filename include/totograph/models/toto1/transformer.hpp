// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/packed_projections.hpp>
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/block.hpp>
#include <totograph/nn/feed_forward.hpp>
#include <totograph/nn/linear.hpp>
#include <totograph/nn/patch_embedding.hpp>
#include <totograph/nn/rms_norm.hpp>
#include <totograph/nn/rotary.hpp>
#include <totograph/nn/student_t.hpp>
#include <totograph/nn/transformer_layer.hpp>

namespace totograph::toto1 {

/// The parts of a Toto 1.0 architecture, as types of their sizes, with the names of their weights in a checkpoint.
template <Toto1Model Model>
struct Transformer {
    static constexpr Toto1Config config = Model::config;
    static constexpr nn::AttentionSize attention_size{.width = config.embed_dim, .heads = config.num_heads};

    using PatchEmbedding =
        nn::PatchEmbedding<nn::PatchEmbeddingSize{.patch_size = config.patch_size, .width = config.embed_dim}>;
    using Norm = nn::RmsNorm<nn::RmsNormSize{.width = config.embed_dim}>;
    using Attention = nn::Attention<attention_size, PackedProjections<attention_size>>;
    using FeedForward = nn::SwiGlu<nn::SwiGluSize{.width = config.embed_dim, .hidden = config.mlp_hidden_dim}>;
    using Layer = nn::TransformerLayer<Norm, Attention, FeedForward>;
    using Rotary = nn::Rotary<nn::RotarySize{.head_dim = config.head_dim()}>;
    /// From a patch to each of its steps.
    using Unembedding = nn::Linear<nn::LinearSize{.in = config.embed_dim, .out = config.patch_size* config.embed_dim}>;
    using Head = nn::StudentTHead<nn::StudentTHeadSize{.width = config.embed_dim,
                                                       .components = config.components(),
                                                       .is_mixture = config.head == toto1::Head::mixture_of_student_t}>;

    static constexpr Shape label_shape{config.embed_dim};
    static constexpr Index parameters = nn::parameters_of<PatchEmbedding, Unembedding, Head> +
                                        config.num_layers * Layer::parameters +
                                        (config.variate_labels ? 2 * label_shape.size() : 0);
    static constexpr Index parameter_bytes = nn::parameter_size * parameters;
    /// Of one patch, without what attention computes of it and earlier ones.
    static constexpr Index flops_per_row = nn::flops_of<PatchEmbedding, Unembedding> +
                                           config.num_layers * Layer::flops_per_row +
                                           config.patch_size * Head::flops_per_row;

    static constexpr PatchEmbedding patch_embedding(Recorder& r) {
        return {.projection = {r, "model.patch_embed.projection"_name}};
    }

    static constexpr Layer layer(Recorder& r, LayerIndex number) {
        constexpr auto prefix = "model.transformer.layers.{}"_name;
        return {
            .norm1 = {r, prefix + ".norm1.scale"_name, Toto1Config::norm_epsilon, number},
            .attention = {.projections = {.packed = {r, prefix + ".attention.wQKV"_name, number}},
                          .output = {r, prefix + ".attention.wO"_name, number}},
            .norm2 = {r, prefix + ".norm2.scale"_name, Toto1Config::norm_epsilon, number},
            .feed_forward = {.gate = {.projection = {r, prefix + ".mlp.0"_name, number}},
                             .down = {r, prefix + ".mlp.2"_name, number}},
        };
    }

    /// The parameters of the distribution at each step of each patch. x is
    /// `[batch, samples, variates, patches, embed_dim]`.
    static constexpr nn::StudentTMixture distribution(Tensor x) {
        Recorder& r = x.recorder();
        const Unembedding unembedding(r, "model.unembed"_name);
        const Tensor steps =
            reshape(unembedding.record(x), with_last(with_axis(x.shape(), -1, config.patch_size), config.embed_dim));
        Head head{
            .degrees_of_freedom = {r, "model.output_distribution.df"_name},
            .location = {r, "model.output_distribution.loc_proj"_name},
            .scale = {r, "model.output_distribution.scale_proj"_name},
            .logits = {},
        };
        if constexpr (config.head == toto1::Head::mixture_of_student_t) {
            head.logits = {r, "model.output_distribution.mixture_weights"_name};
        }
        return head.record(steps);
    }

    /// The unit vector that tells target from exogenous variates, `[batch, 1, variates, 1, embed_dim]`.
    /// `exogenous` is f32 `[batch, 1, variates, 1, 1]`, 1 for exogenous variates.
    static constexpr Tensor variate_labels(Tensor exogenous) {
        const auto unit = [&](std::string_view name) {
            const Tensor label = exogenous.recorder().weight(name, label_shape);
            return label / maximum(sqrt(sum(label * label)), 1e-12);
        };
        const Tensor of_exogenous = unit("model.exogenous_variate_label");
        return where(exogenous, of_exogenous, unit("model.target_variate_label"));
    }
};

}  // namespace totograph::toto1
