// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/nanovlm/config.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/feed_forward.hpp>
#include <totograph/nn/layer_norm.hpp>
#include <totograph/nn/linear.hpp>
#include <totograph/nn/name.hpp>
#include <totograph/nn/transformer_layer.hpp>

namespace totograph::nanovlm {

/// From pixels to what the language model reads in place of tokens: a vision transformer
/// (https://arxiv.org/abs/2010.11929), a shuffle of its patches, and a projection. Rows of images are
/// `[images, 1, 1, rows, width]`.
template <VisionConfig config>
class Vision {
    static constexpr Index width = config.vit_hidden_dim;
    static constexpr nn::AttentionSize attention_size{.width = width, .heads = config.vit_n_heads};
    using Norm = nn::LayerNorm<nn::LayerNormSize{.width = width}>;
    using Projections = nn::StackedProjections<attention_size>;
    using Attention = nn::Attention<attention_size, Projections>;
    using FeedForward = nn::GeluMlp<nn::GeluMlpSize{.width = width, .hidden = config.vit_inter_dim}>;
    using Layer = nn::TransformerLayer<Norm, Attention, FeedForward>;
    static_assert(check_vision<config>());

public:
    /// Rows of patches, row-major over the grid, behind the class token if there is one; with their positions.
    /// `pixels` are `[images, 3, size, size]`.
    static constexpr Tensor embed(Tensor pixels) {
        constexpr Index side = config.vit_patch_size;
        constexpr Index grid = config.grid();
        constexpr Index patch = 3 * side * side;
        Recorder& r = pixels.recorder();
        const Index images = pixels.extent(0);
        const Tensor by_patch = permute(reshape(pixels, {images, 3, grid, side, grid, side}), {0, 2, 4, 1, 3, 5});
        const Tensor kernel = r.weight("vision_encoder.patch_embedding.conv.weight", {width, 3, side, side});
        Tensor rows =
            linear(reshape(by_patch, {images, 1, 1, config.patches(), patch}), reshape(kernel, {width, patch}),
                   r.weight("vision_encoder.patch_embedding.conv.bias", {width}));
        if constexpr (config.vit_cls_flag) {
            const Tensor token = r.weight("vision_encoder.patch_embedding.cls_token", {1, 1, width});
            rows = concatenate(expand(reshape(token, {1, 1, 1, 1, width}), {images, 1, 1, 1, width}), rows, 3);
        }
        return rows + r.weight("vision_encoder.patch_embedding.position_embedding", {1, config.rows(), width});
    }

    /// One layer, all of whose rows see each other.
    static constexpr Tensor layer(Tensor x, LayerIndex number) {
        const Layer layer = read_layer(x.recorder(), number);
        return layer.record(x, [&](const nn::QueryKeyValue& projected) {
            nn::AttentionOptions options = layer.attention.options();
            options.is_causal = false;
            const Tensor all = expand(x.recorder().constant(static_cast<double>(config.rows()), DType::i32), Shape{1});
            return nn::attention(projected.query, {projected.key, projected.value, all}, options);
        });
    }

    /// The end of the encoder: all rows, or that of the class token alone.
    static constexpr Tensor finish(Tensor x) {
        const Norm norm(x.recorder(), "vision_encoder.layer_norm"_name, config.vit_ln_eps);
        return norm.record(config.vit_cls_flag ? slice(x, 3, 0, 1) : x);
    }

    /// Squares of patches as one row each, `[images, 1, 1, rows / factor^2, width * factor^2]`.
    static constexpr Tensor shuffle(Tensor x) {
        constexpr Index factor = config.mp_pixel_shuffle_factor;
        constexpr Index squares = config.grid() / factor;
        const Index images = x.extent(0);
        const Tensor split = reshape(x, {images, squares, factor, squares, factor, width});
        return reshape(permute(split, {0, 1, 3, 2, 4, 5}), {images, 1, 1, squares * squares, config.shuffled_width()});
    }

    /// What the language model reads, `[..., lm_width]`.
    template <Index lm_width>
    static constexpr Tensor project(Tensor shuffled) {
        using Projector = nn::Linear<nn::LinearSize{.in = config.shuffled_width(), .out = lm_width, .bias = false}>;
        return Projector(shuffled.recorder(), "MP.proj"_name).record(shuffled);
    }

private:
    static constexpr Layer read_layer(Recorder& r, LayerIndex number) {
        return {
            .norm1 = Norm(r, "vision_encoder.blocks.{}.ln1"_name, config.vit_ln_eps, number),
            .attention = {{typename Projections::Stacked(r, "vision_encoder.blocks.{}.attn.qkv_proj"_name, number)},
                          typename Attention::Output(r, "vision_encoder.blocks.{}.attn.out_proj"_name, number)},
            .norm2 = Norm(r, "vision_encoder.blocks.{}.ln2"_name, config.vit_ln_eps, number),
            .feed_forward = {typename FeedForward::First(r, "vision_encoder.blocks.{}.mlp.fc1"_name, number),
                             typename FeedForward::Second(r, "vision_encoder.blocks.{}.mlp.fc2"_name, number)},
        };
    }
};

}  // namespace totograph::nanovlm
