// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/feed_forward.hpp>
#include <totograph/nn/kv_cache.hpp>
#include <totograph/nn/rms_norm.hpp>
#include <totograph/nn/rotary.hpp>
#include <totograph/nn/student_t.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/packed_projection.hpp>
#include <totograph/models/toto1/rewrites.hpp>

namespace totograph::toto1 {

/// The weights of one transformer layer, under the checkpoint's names.
struct LayerWeights {
    Tensor norm1;
    Tensor query_key_value;
    Tensor query_key_value_bias;
    Tensor output;
    Tensor output_bias;
    Tensor norm2;
    nn::SwiGluWeights feed_forward;
};

constexpr LayerWeights layer_weights(Recorder& recorder, const Toto1Config& config, int layer) {
    const Index width = config.embed_dim;
    const Index hidden = config.mlp_hidden_dim;
    const auto weight = [&](std::string_view name, const Shape& shape) { return recorder.weight(name, shape, layer); };
    return {
        weight("model.transformer.layers.{}.norm1.scale", {width}),
        weight("model.transformer.layers.{}.attention.wQKV.weight", {3 * width, width}),
        weight("model.transformer.layers.{}.attention.wQKV.bias", {3 * width}),
        weight("model.transformer.layers.{}.attention.wO.weight", {width, width}),
        weight("model.transformer.layers.{}.attention.wO.bias", {width}),
        weight("model.transformer.layers.{}.norm2.scale", {width}),
        {
            weight("model.transformer.layers.{}.mlp.0.weight", {2 * hidden, width}),
            weight("model.transformer.layers.{}.mlp.0.bias", {2 * hidden}),
            weight("model.transformer.layers.{}.mlp.2.weight", {width, hidden}),
            weight("model.transformer.layers.{}.mlp.2.bias", {width}),
        },
    };
}

/// The second half of a layer: x + projected attention, then x + feed_forward(norm(x)).
constexpr Tensor finish_layer(Tensor x, Tensor attended, const LayerWeights& weights) {
    const Tensor hidden = x + linear(attended, weights.output, weights.output_bias);
    return hidden + nn::swiglu_feed_forward(nn::rms_norm(hidden, weights.norm2, Toto1Config::norm_epsilon),
                                            weights.feed_forward);
}

/// Queries, keys and values of norm(x).
constexpr nn::QueryKeyValue project(Tensor x, const LayerWeights& weights, const Toto1Config& config) {
    return project_query_key_value(nn::rms_norm(x, weights.norm1, Toto1Config::norm_epsilon), weights.query_key_value,
                                   weights.query_key_value_bias, config.num_heads);
}

/// A pre-norm layer: x + attention(norm(x)), then x + feed_forward(norm(x)). `attention` maps queries, keys and values
/// to what is attended.
template <class Attention>
constexpr Tensor transformer_layer(Tensor x, const LayerWeights& weights, const Toto1Config& config,
                                   Attention&& attention) {
    return finish_layer(x, attention(project(x, weights, config)), weights);
}

/// Space-wise attention; over one variate softmax has one term, and attention is the identity on its values.
constexpr Tensor space_wise_attention(const nn::QueryKeyValue& projected, Tensor groups, const Toto1Config& config,
                                      const Rewrites& rewrites) {
    if (rewrites.skip_lone_variate && projected.query.extent(2) == 1) {
        return projected.value;
    }
    return nn::variate_attention(projected.query, projected.key, projected.value, groups, {.heads = config.num_heads});
}

/// The head: unembedding of each patch to its steps, then the parameters of the distribution at each step.
/// x is `[series, samples, variates, patches, embed_dim]`.
constexpr nn::StudentTMixture distribution_head(Tensor x, const Toto1Config& config) {
    Recorder& recorder = x.recorder();
    const Index width = config.embed_dim;
    const Index steps = config.patch_size;
    const Tensor unembedded = linear(x, recorder.weight("model.unembed.weight", {steps * width, width}),
                                     recorder.weight("model.unembed.bias", {steps * width}));
    const Tensor flat = reshape(unembedded, with_last(with_axis(x.shape(), -1, steps), width));
    const Index components = config.components();
    const auto projection = [&](std::string_view weight, std::string_view bias) {
        return nn::Projection{recorder.weight(weight, {components, width}), recorder.weight(bias, {components})};
    };
    nn::StudentTProjections projections{
        projection("model.output_distribution.df.weight", "model.output_distribution.df.bias"),
        projection("model.output_distribution.loc_proj.weight", "model.output_distribution.loc_proj.bias"),
        projection("model.output_distribution.scale_proj.weight", "model.output_distribution.scale_proj.bias"),
        {},
        config.head == Head::mixture_of_student_t,
    };
    if (projections.is_mixture) {
        projections.logits = projection("model.output_distribution.mixture_weights.weight",
                                        "model.output_distribution.mixture_weights.bias");
    }
    return nn::student_t_mixture(flat, projections);
}

/// The unit vector that tells target from exogenous variates, `[series, 1, variates, 1, embed_dim]`.
/// `exogenous` is f32 `[series, 1, variates, 1, 1]`, 1 for exogenous variates.
constexpr Tensor variate_labels(Tensor exogenous, const Toto1Config& config) {
    Recorder& recorder = exogenous.recorder();
    const auto unit = [&](std::string_view name) {
        const Tensor label = recorder.weight(name, {config.embed_dim});
        return label / maximum(sqrt(sum(label * label)), 1e-12);
    };
    return where(exogenous, unit("model.exogenous_variate_label"), unit("model.target_variate_label"));
}

}  // namespace totograph::toto1
