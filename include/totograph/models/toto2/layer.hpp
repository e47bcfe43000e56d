// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/residuals.hpp>
#include <totograph/models/toto2/unit_scaling.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/feed_forward.hpp>
#include <totograph/nn/linear.hpp>
#include <totograph/nn/name.hpp>
#include <totograph/nn/rms_norm.hpp>

namespace totograph::toto2 {

/// A layer, with the constants of unit scaling in its weights. Tensors are `[batch, 1, variates, positions, width]`.
template <class Parts>
class Layer {
    static constexpr Toto2Config config = Parts::config;
    static constexpr nn::AttentionSize attention_size = Parts::attention_size;
    using Heads = nn::StackedProjections<attention_size>;
    using Output = nn::Linear<nn::LinearSize{
        .in = attention_size.attended_width(), .out = config.d_model, .bias = config.attn_bias}>;
    static constexpr nn::SwiGluSize feed_forward_size{
        .width = config.d_model, .hidden = config.d_ff, .bias = config.mlp_bias};
    using FeedForward = nn::PackedUpAndGate<feed_forward_size>;
    using Down = nn::Linear<nn::LinearSize{.in = config.d_ff, .out = config.d_model, .bias = config.mlp_bias}>;
    static constexpr double of_width = unit_scale(static_cast<double>(config.d_model));
    static constexpr double of_heads = unit_scale(static_cast<double>(config.v_dim * config.num_heads));
    static constexpr double of_hidden = unit_scale(static_cast<double>(config.d_ff));
    /// Scales of queries are part of their weights, unless the queries are normalized behind these.
    static constexpr bool scales_weights = Parts::rewrites.scale_in_queries && !config.qk_norm;

public:
    constexpr Layer(Recorder& recorder, LayerIndex number) : r_(&recorder), number_(number) {
        constexpr auto prefix = "transformer.layers.{}.attn"_name;
        heads_.stacked = typename Heads::Stacked(recorder, prefix + ".in_proj"_name, number).times(of_width);
        if constexpr (scales_weights) {
            heads_.query_scale = query_scale();
        }
    }

    /// Queries of x, which is normalized, but for their rotation.
    [[nodiscard]] constexpr Tensor query(Tensor x) const {
        const Tensor queries = heads_.query(x);
        if constexpr (scales_weights) {
            return queries;
        } else {
            const Tensor by_head = of_each_head(queries, [&](Tensor heads) {
                return normed(heads, "transformer.layers.{}.attn.q_norm.weight") * query_scale();
            });
            return by_head;
        }
    }
    /// Keys, likewise.
    [[nodiscard]] constexpr Tensor key(Tensor x) const {
        const Tensor keys = heads_.key(x);
        if constexpr (config.qk_norm) {
            return of_each_head(
                keys, [&](Tensor heads) { return normed(heads, "transformer.layers.{}.attn.k_norm.weight"); });
        } else {
            return keys;
        }
    }
    [[nodiscard]] constexpr Tensor value(Tensor x) const { return heads_.value(x); }

    /// What functions of `nn/attention.hpp` take. Queries carry the scale.
    [[nodiscard]] static constexpr nn::AttentionOptions options() {
        return {.heads = config.num_heads, .kv_heads = config.groups(), .scale = 1};
    }

    /// x as attention and the feed-forward read it.
    [[nodiscard]] constexpr Tensor norm_1(Tensor x, const ResidualStream& stream) const {
        return stream_norm(x, stream, "transformer.layers.{}.norm1.weight");
    }

    /// Adds what is attended to the stream, then the feed-forward of that.
    [[nodiscard]] constexpr Tensor finish(Tensor x, Tensor attended, ResidualStream& stream) const {
        return feed_forward(stream.add(x, output(), attended, number("transformer.layers.{}.attn_tau")), stream);
    }

    /// The same where attention sees one key: values and output are one GEMM. x is normalized in `normed`.
    [[nodiscard]] constexpr Tensor finish_alone(Tensor x, Tensor normed, ResidualStream& stream) const {
        constexpr Index groups = config.groups();
        constexpr Index sharing = config.num_heads / groups;
        const typename Heads::Values values = heads_.values();
        const Output out = output();
        // Heads that share values get the same ones.
        const Tensor by_group =
            permute(reshape(out.weight, {config.d_model, groups, sharing, config.v_dim}), {0, 1, 3, 2});
        const Tensor shared = reshape(sum(by_group), {config.d_model, groups * config.v_dim});
        nn::Linear<nn::LinearSize{.in = config.d_model, .out = config.d_model, .bias = config.attn_bias}> both;
        both.weight = compose_weights(shared, values.weight);
        if constexpr (config.attn_bias) {
            const Tensor bias = compose_weights(shared, reshape(values.bias, {groups * config.v_dim, 1}));
            both.bias = reshape(bias, Shape{config.d_model}) + out.bias;
        }
        return feed_forward(stream.add(x, both, normed, number("transformer.layers.{}.attn_tau")), stream);
    }

private:
    [[nodiscard]] constexpr Output output() const {
        return Output(*r_, "transformer.layers.{}.attn.out_proj"_name, number_).times(of_heads);
    }

    /// Adds the feed-forward to the stream.
    [[nodiscard]] constexpr Tensor feed_forward(Tensor x, ResidualStream& stream) const {
        const Tensor hidden = stream_norm(x, stream, "transformer.layers.{}.norm2.weight");
        const FeedForward up{
            {typename FeedForward::Projection(*r_, "transformer.layers.{}.ffn.fc1"_name, number_).times(of_width)}};
        const nn::GateAndUp branches = up.record(hidden);
        const Down down(*r_, "transformer.layers.{}.ffn.fc2"_name, number_);
        return stream.add(x, down.times(of_hidden), silu(branches.gate) * branches.up,
                          number("transformer.layers.{}.mlp_tau"));
    }

    [[nodiscard]] constexpr Tensor number(std::string_view name) const { return r_->weight(name, Shape{}, number_); }

    [[nodiscard]] constexpr Tensor stream_norm(Tensor x, const ResidualStream& stream, std::string_view name) const {
        const Tensor norm = nn::rms_norm(x, stream.epsilon());
        return config.norm_include_weight ? norm * r_->weight(name, {config.d_model}, number_) : norm;
    }

    /// What queries are multiplied by: the learned scale of each dimension, and the scale of attention.
    [[nodiscard]] constexpr Tensor query_scale() const {
        constexpr double of_attention = 1 / static_cast<double>(config.qk_dim);
        if constexpr (config.per_dim_scale) {
            const Tensor learned =
                r_->weight("transformer.layers.{}.attn._pds.per_dim_scale", {config.qk_dim}, number_);
            return cast(softplus(cast(learned, DType::f64)) * (of_attention / ln_2), DType::f32);
        } else {
            return expand(r_->constant(of_attention), Shape{config.qk_dim});
        }
    }

    /// Heads of queries or keys, normalized where the model does that.
    [[nodiscard]] constexpr Tensor normed(Tensor heads, std::string_view name) const {
        if constexpr (config.qk_norm) {
            const Tensor norm = nn::rms_norm(heads, r_->constant(config.norm_eps));
            return config.qk_norm_include_weight ? norm * r_->weight(name, {config.qk_dim}, number_) : norm;
        } else {
            return heads;
        }
    }

    template <class Change>
    [[nodiscard]] static constexpr Tensor of_each_head(Tensor rows, const Change& change) {
        const Index heads = rows.extent(-1) / config.qk_dim;
        const Tensor apart = reshape(rows, with_last(with_axis(rows.shape(), -1, heads), config.qk_dim));
        return reshape(change(apart), rows.shape());
    }

    Recorder* r_;
    LayerIndex number_;
    Heads heads_;
};

}  // namespace totograph::toto2
