// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/block.hpp>
#include <totograph/nn/linear.hpp>

namespace totograph::nn {

/// Sizes of a multi-head attention.
struct AttentionSize {
    Index width = 0;      ///< Of the rows that it reads and writes.
    Index heads = 1;      ///< Of queries.
    Index kv_heads = 0;   ///< Of keys and values (grouped queries); 0 for as many as queries.
    Index head_dim = 0;   ///< Of queries and keys; 0 for width / heads.
    Index value_dim = 0;  ///< Of the values of a head; 0 for that of keys.
    bool bias = true;

    [[nodiscard]] constexpr Index dim() const { return head_dim > 0 || heads < 1 ? head_dim : width / heads; }
    [[nodiscard]] constexpr Index query_width() const { return heads * dim(); }
    [[nodiscard]] constexpr Index key_width() const { return (kv_heads > 0 ? kv_heads : heads) * dim(); }
    [[nodiscard]] constexpr Index value_width() const {
        return (kv_heads > 0 ? kv_heads : heads) * (value_dim > 0 ? value_dim : dim());
    }
    [[nodiscard]] constexpr Index attended_width() const { return heads * (value_dim > 0 ? value_dim : dim()); }
};

/// A weight each for queries, keys and values.
template <AttentionSize size>
struct SeparateProjections {
    using Queries = Linear<LinearSize{.in = size.width, .out = size.query_width(), .bias = size.bias}>;
    using Keys = Linear<LinearSize{.in = size.width, .out = size.key_width(), .bias = size.bias}>;
    using Values = Linear<LinearSize{.in = size.width, .out = size.value_width(), .bias = size.bias}>;

    static constexpr Index parameters = parameters_of<Queries, Keys, Values>;
    static constexpr Index parameter_bytes = parameter_size * parameters;
    static constexpr Index flops_per_row = flops_of<Queries, Keys, Values>;

    Queries query;
    Keys key;
    Values value;

    [[nodiscard]] constexpr QueryKeyValue record(Tensor x) const {
        const Tensor queries = query.record(x);
        const Tensor keys = key.record(x);
        return {queries, keys, value.record(x)};
    }
};

/// Queries, keys and values from one weight, whose rows are all queries, then all keys, then all values. Each is a
/// GEMM of its own, for readers that want some of them alone.
template <AttentionSize size>
struct StackedProjections {
    using Stacked = Linear<LinearSize{
        .in = size.width, .out = size.query_width() + size.key_width() + size.value_width(), .bias = size.bias}>;

    static constexpr Index parameters = Stacked::parameters;
    static constexpr Index parameter_bytes = Stacked::parameter_bytes;
    static constexpr Index flops_per_row = Stacked::flops_per_row;

    Stacked stacked;
    /// Of weights and constants, `[head_dim]`: what each dimension of a query is multiplied by. None: 1.
    Tensor query_scale{};

    [[nodiscard]] constexpr QueryKeyValue record(Tensor x) const {
        const Tensor queries = query(x);
        const Tensor keys = key(x);
        return {queries, keys, value(x)};
    }

    /// Queries alone.
    [[nodiscard]] constexpr Tensor query(Tensor x) const {
        return part(x, 0, size.query_width(), [&](Tensor rows) {
            if (query_scale.id() < 0) {
                return rows;
            }
            const Shape heads =
                rows.shape().rank == 1 ? Shape{size.heads, size.dim(), 1} : Shape{size.heads, size.dim(), size.width};
            return reshape(reshape(rows, heads) * reshape(query_scale, {1, size.dim(), 1}), rows.shape());
        });
    }
    /// Keys alone.
    [[nodiscard]] constexpr Tensor key(Tensor x) const {
        return part(x, size.query_width(), size.key_width(), [](Tensor rows) { return rows; });
    }
    /// Values alone.
    [[nodiscard]] constexpr Tensor value(Tensor x) const { return values().record(x); }

    /// The layer of values alone.
    using Values = Linear<LinearSize{.in = size.width, .out = size.value_width(), .bias = size.bias}>;
    [[nodiscard]] constexpr Values values() const {
        constexpr Index first = size.query_width() + size.key_width();
        Values layer;
        layer.weight = slice(stacked.weight, 0, first, size.value_width());
        if constexpr (size.bias) {
            layer.bias = slice(stacked.bias, 0, first, size.value_width());
        }
        return layer;
    }

private:
    template <class Scale>
    [[nodiscard]] constexpr Tensor part(Tensor x, Index first, Index count, const Scale& scale) const {
        if (!detail::check_width<StackedProjections>(x, size.width)) {
            return x;
        }
        const Tensor weight = scale(slice(stacked.weight, 0, first, count));
        if constexpr (size.bias) {
            return linear(x, weight, scale(slice(stacked.bias, 0, first, count)));
        } else {
            return linear(x, weight);
        }
    }
};

/// Multi-head attention: projections of x, softmax(q k^T / sqrt(head_dim)) v, and a projection of what is attended. How
/// the weights of the projections lie in the checkpoint is the type `Projections`. What a model does between the steps
/// (it rotates, or keeps keys and values in a cache) it does between their calls. Tensors are
/// `[batch, samples, variates, positions, width]`.
template <AttentionSize size, class Projections = SeparateProjections<size>>
struct Attention {
    static_assert(size.width > 0 && size.heads > 0,
                  "totograph: the sizes `width` and `heads` of an attention must be positive.");
    static_assert(size.head_dim > 0 || size.width % size.heads == 0,
                  "totograph: the embedding dimension must be divisible by the number of heads.");
    static_assert(size.heads % (size.kv_heads == 0 ? 1 : size.kv_heads) == 0,
                  "totograph: the heads of an attention must be a multiple of its heads of keys and values.");
    using Output = Linear<LinearSize{.in = size.attended_width(), .out = size.width, .bias = size.bias}>;

    static constexpr Index width = size.width;
    static constexpr Index heads = size.heads;
    static constexpr Index head_dim = size.dim();
    static constexpr Index key_width = size.key_width();      ///< Of what a `KvCache` keeps.
    static constexpr Index value_width = size.value_width();  ///< Of what a `KvCache` keeps.
    static constexpr Index parameters = parameters_of<Projections, Output>;
    static constexpr Index parameter_bytes = parameter_size * parameters;
    static constexpr Index flops_per_row = flops_of<Projections, Output>;
    /// Of one query and one key that it sees, with its value.
    static constexpr Index flops_per_key = 2 * (size.query_width() + size.attended_width());

    Projections projections;
    Output output;
    double scale = 0;        ///< Of q k^T; 0 for 1 / sqrt(head_dim).
    Tensor scale_data = {};  ///< f32 with one element, in place of `scale`.

    /// What the functions of `nn/attention.hpp` take.
    [[nodiscard]] constexpr AttentionOptions options() const {
        return {.heads = size.heads, .kv_heads = size.kv_heads, .scale = scale, .scale_data = scale_data};
    }

    /// Queries, keys and values of x.
    [[nodiscard]] constexpr QueryKeyValue project(Tensor x) const {
        return detail::check_width<Attention>(x, size.width) ? projections.record(x) : QueryKeyValue{x, x, x};
    }

    /// `causal_attention` with these heads.
    [[nodiscard]] constexpr Tensor causal(Tensor query, Tensor key, Tensor value, Tensor valid) const {
        return causal_attention(query, key, value, valid, options());
    }
    /// `last_position_attention` with these heads.
    [[nodiscard]] constexpr Tensor last_position(Tensor query, Tensor key, Tensor value, Tensor valid) const {
        return last_position_attention(query, key, value, valid, options());
    }
    /// `cached_attention` with these heads.
    [[nodiscard]] constexpr Tensor cached(Tensor query, const KeysAndValues& prefix,
                                          const KeysAndValues& suffix) const {
        return cached_attention(query, prefix, suffix, options());
    }
    /// `variate_attention` with these heads.
    [[nodiscard]] constexpr Tensor across_variates(const QueryKeyValue& projected, Tensor groups) const {
        return variate_attention(projected.query, projected.key, projected.value, groups, options());
    }
};

}  // namespace totograph::nn
