// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string_view>

#include <totograph/graph/attention.hpp>
#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

/// Queries `[batch, samples, variates, positions, heads * head_dim]`, keys `[..., kv_heads * head_dim]` and values
/// `[..., kv_heads * value_dim]`.
struct QueryKeyValue {
    Tensor query;
    Tensor key;
    Tensor value;
};

/// Keys and values over positions, of which the first ones hold something.
struct KeysAndValues {
    Tensor key;     ///< `[batch, samples or 1, variates, capacity, kv_heads * head_dim]`
    Tensor value;   ///< `[batch, samples or 1, variates, capacity, kv_heads * value_dim]`
    Tensor length;  ///< How many positions hold something, i32 `[1]` or `[batch]`.
};

/// What a model chooses about an attention. Widths of heads follow from those of the tensors.
struct AttentionOptions {
    Index heads = 1;         ///< Of queries.
    Index kv_heads = 0;      ///< Of keys and values, a divisor of `heads` (grouped queries); 0 for as many as queries.
    double scale = 0;        ///< Of q k^T, above 0; 0 for 1 / sqrt(head_dim).
    Tensor scale_data = {};  ///< f32 with one element, not negative: in place of `scale`.
    bool is_causal = true;   ///< Over positions: a query sees the key that it stands at, and those before.
    QueryPlaces queries = QueryPlaces::first;
    KeyMask mask = KeyMask::none;
    /// Of the mask: i32 `[batch or 1, variates or 1, capacity of the keys]`; entries of a suffix stand behind those of
    /// the prefix's whole capacity. Of an attention over variates: i32 `[batch or 1, variates, positions]`.
    Tensor ids = {};
};

namespace detail {

constexpr bool is_given(Tensor tensor) {
    return tensor.id() >= 0;
}

/// Notes a mistake unless heads divide the rows. Gives the description, whose widths are those of one head.
constexpr bool describe_heads(std::string_view what, Tensor query, Tensor key, Tensor value,
                              const AttentionOptions& options, AttentionDescription& attention) {
    const Index heads = options.heads;
    const Index kv_heads = options.kv_heads == 0 ? heads : options.kv_heads;
    if (heads < 1 || query.extent(-1) % heads != 0) {
        query.recorder().fail(ModelErrorKind::heads_do_not_divide)
            << what << ": a width of " << query.extent(-1) << " does not divide into " << heads << " heads";
        return false;
    }
    attention.heads = heads;
    attention.head_dim = query.extent(-1) / heads;
    if (kv_heads < 1 || heads % kv_heads != 0 || key.extent(-1) != kv_heads * attention.head_dim ||
        value.extent(-1) % kv_heads != 0) {
        query.recorder().fail(ModelErrorKind::kv_heads_do_not_divide)
            << what << ": " << heads << " heads of " << attention.head_dim << " over " << kv_heads
            << " heads of keys and values; keys are " << key.extent(-1) << " wide, values " << value.extent(-1);
        return false;
    }
    attention.kv_heads = kv_heads;
    attention.value_dim = value.extent(-1) / kv_heads;
    return true;
}

/// Notes a mistake unless the scale is one number above 0, or one element of f32.
constexpr void describe_scale(std::string_view what, Tensor query, const AttentionOptions& options,
                              AttentionDescription& attention) {
    const bool is_data = is_given(options.scale_data);
    const bool is_one =
        !is_data || (options.scale_data.dtype() == DType::f32 && options.scale_data.shape().size() == 1);
    const bool is_number = options.scale >= 0 && options.scale <= std::numeric_limits<float>::max();
    if (!is_one || !is_number || (is_data && options.scale != 0)) {
        ModelError& error = query.recorder().fail(ModelErrorKind::attention_scale_is_wrong);
        error << what << ": the scale is ";
        if (!is_number) {
            error << (options.scale < 0 ? "below 0" : "not a finite number");
        } else if (is_one) {
            error << "given twice";
        } else {
            error << name(options.scale_data.dtype()) << " of shape " << options.scale_data.shape();
        }
    }
    attention.scale_is_data = is_data;
    attention.scale = is_data ? 1 : options.scale > 0 ? options.scale : usual_attention_scale(attention.head_dim);
}

/// Notes a mistake unless there are ids of this shape where a mask wants them. Extents of 1 serve all series, and all
/// variates where `variates_repeat`.
constexpr void describe_mask(std::string_view what, Tensor query, const AttentionOptions& options,
                             const Shape& expected, bool variates_repeat, AttentionDescription& attention) {
    attention.mask = options.mask;
    const bool wants_ids = options.mask != KeyMask::none;
    bool fits = wants_ids == is_given(options.ids);
    if (fits && wants_ids) {
        const Shape& ids = options.ids.shape();
        fits = options.ids.dtype() == DType::i32 && ids.rank == 3 && (ids[0] == 1 || ids[0] == expected[0]) &&
               ((variates_repeat && ids[1] == 1) || ids[1] == expected[1]) && ids[2] == expected[2];
    }
    if (!fits) {
        ModelError& error = query.recorder().fail(ModelErrorKind::attention_mask_differs);
        error << what << ": the ids of a mask are i32 " << expected;
        if (is_given(options.ids)) {
            error << ", found " << name(options.ids.dtype()) << " " << options.ids.shape();
        }
        error << (is_given(options.ids) && !wants_ids ? ", without a mask" : "");
    }
}

/// Notes a mistake unless keys and values are rows beside those of the query: with its samples, or one for all of them
/// where that `may_be_shared`.
constexpr bool check_rows(std::string_view what, Tensor query, Tensor key, Tensor value, bool may_be_shared) {
    const auto is_rows = [](Tensor tensor) { return tensor.shape().rank == 5 && tensor.dtype() == DType::f32; };
    bool same = is_rows(query) && is_rows(key) && is_rows(value) && query.extent(0) == key.extent(0) &&
                (query.extent(1) == key.extent(1) || (may_be_shared && key.extent(1) == 1)) &&
                query.extent(2) == key.extent(2);
    for (int axis = 0; same && axis < 4; ++axis) {
        same = key.extent(axis) == value.extent(axis);
    }
    if (!same) {
        query.recorder().fail(ModelErrorKind::attention_shapes_differ)
            << what << ": query " << query.shape() << ", key " << key.shape() << ", value " << value.shape()
            << "; all are f32 [batch, samples, variates, positions, width]";
    }
    return same;
}

/// Notes a mistake unless there is room for a key for each query.
constexpr void check_positions(std::string_view what, Tensor query, Tensor key, bool fits) {
    if (!fits) {
        query.recorder().fail(ModelErrorKind::attention_shapes_differ)
            << what << ": the positions of query " << query.shape() << " do not go with those of key " << key.shape();
    }
}

/// Adds an attention with what its description says comes behind the given inputs.
constexpr Tensor add_attention(const AttentionDescription& attention, const AttentionOptions& options,
                               std::initializer_list<Tensor> inputs) {
    const Tensor query = *inputs.begin();
    return query.recorder().add_attention(attention,
                                          with_axis(query.shape(), -1, attention.heads * attention.value_dim), inputs,
                                          options.ids, options.scale_data);
}

}  // namespace detail

/// Attention over positions: queries `[batch, samples, variates, positions, heads * head_dim]` against the first
/// `length` keys. Without further options, position i sees positions 0 to i; those from `length` on get zeros.
///
/// @return `[batch, samples, variates, positions, heads * value_dim]`
constexpr Tensor attention(Tensor query, const KeysAndValues& keys, const AttentionOptions& options) {
    constexpr std::string_view what = "attention";
    AttentionDescription described;
    if (!detail::check_rows(what, query, keys.key, keys.value, true) ||
        !detail::describe_heads(what, query, keys.key, keys.value, options, described)) {
        return query;
    }
    const bool stands_first = options.queries == QueryPlaces::first;
    detail::check_positions(what, query, keys.key, !stands_first || keys.key.extent(3) >= query.extent(3));
    query.recorder().check_position(keys.length, query, what);
    detail::describe_scale(what, query, options, described);
    detail::describe_mask(what, query, options, {query.extent(0), query.extent(2), keys.key.extent(3)}, true,
                          described);
    described.queries = options.queries;
    described.is_causal = options.is_causal;
    return detail::add_attention(described, options, {query, keys.key, keys.value, keys.length});
}

/// Attention of queries that stand at the last keys, against a prefix and then each sample's own suffix. The prefix has
/// as many samples as the query, or one that all samples share. The length of the suffix is `[1]`.
constexpr Tensor attention(Tensor query, const KeysAndValues& prefix, const KeysAndValues& suffix,
                           const AttentionOptions& options) {
    constexpr std::string_view what = "attention with a suffix";
    AttentionDescription described;
    AttentionDescription of_suffix;
    if (!detail::check_rows(what, query, prefix.key, prefix.value, true) ||
        !detail::check_rows(what, query, suffix.key, suffix.value, false) ||
        !detail::describe_heads(what, query, prefix.key, prefix.value, options, described) ||
        !detail::describe_heads(what, query, suffix.key, suffix.value, options, of_suffix)) {
        return query;
    }
    if (!(described == of_suffix)) {
        query.recorder().fail(ModelErrorKind::attention_shapes_differ)
            << what << ": the prefix's values are " << prefix.value.shape() << ", the suffix's "
            << suffix.value.shape();
    }
    query.recorder().check_position(prefix.length, query, what);
    query.recorder().check_integers(suffix.length, 1, "attention: the length of the suffix");
    detail::describe_scale(what, query, options, described);
    detail::describe_mask(what, query, options,
                          {query.extent(0), query.extent(2), prefix.key.extent(3) + suffix.key.extent(3)}, true,
                          described);
    described.queries = QueryPlaces::last;
    described.is_causal = options.is_causal;
    described.has_suffix = true;
    return detail::add_attention(
        described, options, {query, prefix.key, prefix.value, prefix.length, suffix.key, suffix.value, suffix.length});
}

/// Attention among the variates of one position: all of them, or those that the options' mask lets count. Not causal.
constexpr Tensor variate_attention(Tensor query, Tensor key, Tensor value, const AttentionOptions& options) {
    constexpr std::string_view what = "variate_attention";
    AttentionDescription described;
    if (!detail::check_rows(what, query, key, value, true) ||
        !detail::describe_heads(what, query, key, value, options, described)) {
        return query;
    }
    detail::check_positions(what, query, key, key.extent(3) == query.extent(3));
    detail::describe_scale(what, query, options, described);
    detail::describe_mask(what, query, options, {query.extent(0), query.extent(2), query.extent(3)}, false, described);
    described.axis = AttentionAxis::variates;
    return detail::add_attention(described, options, {query, key, value});
}

/// `attention` of each position to itself and those before it: of a context, or of a cache that begins with it. Only
/// the first `valid` positions of each series are real. `valid` is i32 `[1]` or `[batch]`.
constexpr Tensor causal_attention(Tensor query, Tensor key, Tensor value, Tensor valid,
                                  const AttentionOptions& options) {
    return attention(query, {key, value, valid}, options);
}

/// The last row of `causal_attention`: one query against the first `valid` keys of each series. Query is
/// `[batch, samples, variates, 1, width]`.
constexpr Tensor last_position_attention(Tensor query, Tensor key, Tensor value, Tensor valid,
                                         AttentionOptions options) {
    options.queries = QueryPlaces::last;
    return attention(query, {key, value, valid}, options);
}

/// `attention` of the newest positions of a cache, be it one or a block of them, against a cached prefix, then each
/// sample's own suffix, which ends with them.
constexpr Tensor cached_attention(Tensor query, const KeysAndValues& prefix, const KeysAndValues& suffix,
                                  const AttentionOptions& options) {
    return attention(query, prefix, suffix, options);
}

/// `variate_attention` among the variates that have the same group id. `groups` is i32 `[batch, variates, positions]`.
constexpr Tensor variate_attention(Tensor query, Tensor key, Tensor value, Tensor groups, AttentionOptions options) {
    options.mask = KeyMask::by_group;
    options.ids = groups;
    return variate_attention(query, key, value, options);
}

}  // namespace totograph::nn
