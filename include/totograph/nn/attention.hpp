// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

/// Queries, keys and values, each `[series, samples, variates, positions, heads * head_dim]`.
struct QueryKeyValue {
    Tensor query;
    Tensor key;
    Tensor value;
};

namespace detail {

/// A packed projection whose rows are (part, head_dim, head), the head fastest, as rows (part, head, head_dim).
constexpr Tensor head_major(Tensor packed, Index heads) {
    const Index head_dim = packed.extent(0) / 3 / heads;
    if (packed.shape().rank == 1) {
        return reshape(permute(reshape(packed, {3, head_dim, heads}), {0, 2, 1}), packed.shape());
    }
    return reshape(permute(reshape(packed, {3, head_dim, heads, packed.extent(1)}), {0, 2, 1, 3}), packed.shape());
}

constexpr bool check_heads(Tensor query, Index heads) {
    if (heads < 1 || query.extent(-1) % heads != 0) {
        query.recorder().fail(ModelErrorKind::heads_do_not_divide)
            << "attention: a width of " << query.extent(-1) << " does not divide into " << heads << " heads";
        return false;
    }
    return true;
}

/// Keys have the query's samples, or one sample for all where that `may_be_shared`.
constexpr void check_rows(Tensor query, Tensor key, Tensor value, bool may_be_shared) {
    const bool same = key.shape() == value.shape() && query.shape().rank == 5 && key.shape().rank == 5 &&
                      query.extent(-1) == key.extent(-1) && query.extent(0) == key.extent(0) &&
                      (query.extent(1) == key.extent(1) || (may_be_shared && key.extent(1) == 1)) &&
                      query.extent(2) == key.extent(2) && query.dtype() == DType::f32 && key.dtype() == DType::f32 &&
                      value.dtype() == DType::f32;
    if (!same) {
        query.recorder().fail(ModelErrorKind::attention_shapes_differ)
            << "attention: query " << query.shape() << ", key " << key.shape() << ", value " << value.shape()
            << "; all are f32 [series, samples, variates, positions, width]";
    }
}

/// Notes a mistake unless the two have the positions that an attention needs.
constexpr void check_positions(Tensor query, Tensor key, bool fits, std::string_view what) {
    if (!fits) {
        query.recorder().fail(ModelErrorKind::attention_shapes_differ)
            << what << ": the positions of query " << query.shape() << " do not go with those of key " << key.shape();
    }
}

}  // namespace detail

/// Projects x to queries, keys and values with one packed weight `[3 * width, width]` whose rows are
/// (query/key/value, head_dim, head), the head fastest, as the reference packs them. The results are
/// (head, head_dim): the reordering is of weights, done once.
constexpr QueryKeyValue project_query_key_value(Tensor x, Tensor weight, Tensor bias, Index heads) {
    if (!detail::check_heads(x, heads)) {
        return {x, x, x};
    }
    const Tensor rows = detail::head_major(weight, heads);
    const Tensor row_bias = detail::head_major(bias, heads);
    const Index width = weight.extent(0) / 3;
    const auto part = [&](Index which) {
        return linear(x, slice(rows, 0, which * width, width), slice(row_bias, 0, which * width, width));
    };
    return {part(0), part(1), part(2)};
}

/// softmax(q k^T / sqrt(head_dim)) v over earlier positions and the position itself. Keys and values may have more
/// positions than the queries (a cache); only the first `valid` ones of each series are real. `valid` is `[series]`
/// i32.
constexpr Tensor causal_attention(Tensor query, Tensor key, Tensor value, Tensor valid, Index heads) {
    if (!detail::check_heads(query, heads)) {
        return query;
    }
    detail::check_rows(query, key, value, true);
    detail::check_positions(query, key, key.extent(3) >= query.extent(3), "causal_attention");
    query.recorder().check_position(valid, query, "causal_attention");
    return query.recorder().add(Op::causal_attention, DType::f32, query.shape(), {query, key, value, valid}, {heads});
}

/// One position against a cached prefix, then each sample's own suffix. The prefix has as many samples as the query, or
/// one that all samples share. `prefix_length` is `[series]` i32, `suffix_length` is `[1]` i32.
constexpr Tensor cached_attention(Tensor query, Tensor prefix_key, Tensor prefix_value, Tensor prefix_length,
                                  Tensor suffix_key, Tensor suffix_value, Tensor suffix_length, Index heads) {
    if (!detail::check_heads(query, heads)) {
        return query;
    }
    detail::check_rows(query, prefix_key, prefix_value, true);
    detail::check_rows(query, suffix_key, suffix_value, false);
    detail::check_positions(query, prefix_key, query.extent(3) == 1, "cached_attention");
    query.recorder().check_position(prefix_length, query, "cached_attention");
    query.recorder().check_integers(suffix_length, 1, "cached_attention: the length of the suffix");
    return query.recorder().add(
        Op::cached_attention, DType::f32, query.shape(),
        {query, prefix_key, prefix_value, prefix_length, suffix_key, suffix_value, suffix_length}, {heads});
}

/// The last row of `causal_attention`: one query against the first `valid` keys of each series. Query is
/// `[series, samples, variates, 1, width]`.
constexpr Tensor last_position_attention(Tensor query, Tensor key, Tensor value, Tensor valid, Index heads) {
    const Tensor none = expand(query.recorder().constant(0, DType::i32), Shape{1});
    return cached_attention(query, key, value, valid, key, value, none, heads);
}

/// softmax(q k^T / sqrt(head_dim)) v over the variates of one position that have the same group id. `groups` is
/// `[series, variates, positions]` i32.
constexpr Tensor variate_attention(Tensor query, Tensor key, Tensor value, Tensor groups, Index heads) {
    if (!detail::check_heads(query, heads)) {
        return query;
    }
    detail::check_rows(query, key, value, true);
    detail::check_positions(query, key, key.extent(3) == query.extent(3), "variate_attention");
    if (!(groups.shape() == Shape{query.extent(0), query.extent(2), query.extent(3)}) || groups.dtype() != DType::i32) {
        query.recorder().fail(ModelErrorKind::attention_shapes_differ)
            << "variate_attention: groups must be i32 [series, variates, positions] = [" << query.extent(0) << ", "
            << query.extent(2) << ", " << query.extent(3) << "], found " << groups.shape();
    }
    return query.recorder().add(Op::variate_attention, DType::f32, query.shape(), {query, key, value, groups}, {heads});
}

}  // namespace totograph::nn
