// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/attention/attention_kernels.hpp>

// Attention on one core: `softmax(scale q k^T) v` in float32, one head of one group of rows at a time. These are the
// patterns that models run most: all earlier positions, a cache, groups of variates; `masked_attention.hpp` has the
// rest.
//
// A query's result is the same to the last bit however many queries run with it, wherever it stands among them, and
// however large the buffers are: each q.k is one chain of multiply-adds over the head dimension, the softmax sums in
// the order of the visible keys, and each output element is one chain of multiply-adds over the visible keys. A key
// that a query cannot see has no part in its result, so not even a NaN there reaches it.
//
// Pointers are to the first element of the head that is computed, in rows that may hold other heads beside it. All
// strides are in elements. Nothing is allocated; scratch comes from the caller (any content, best aligned to
// `buffer_alignment`).

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// The size of a head, and the factor of its scores.
struct HeadSize {
    Index head_dim = 0;   ///< Elements of a query and of a key, at least 1.
    Index value_dim = 0;  ///< Elements of a value and of a result, at least 1.
    float scale = 1;      ///< Not negative.
};

/// The arguments of `prefill`, for one head of one sequence.
struct PrefillArguments {
    const float* query = nullptr;  ///< `[positions, head_dim]`
    const float* key = nullptr;    ///< `[positions, head_dim]`
    const float* value = nullptr;  ///< `[positions, value_dim]`
    float* out = nullptr;          ///< `[positions, value_dim]`
    Index query_stride = 0;        ///< From one position to the next in `query`.
    Index key_stride = 0;          ///< From one position to the next in `key`.
    Index value_stride = 0;        ///< From one position to the next in `value`.
    Index out_stride = 0;          ///< From one position to the next in `out`.
    HeadSize size;
    Index positions = 0;  ///< The capacity: rows of `out` that are written.
    Index valid = 0;      ///< How many positions, from the first, hold something; at most `positions`.
};

/// How many floats of scratch `prefill` needs for up to this many positions.
constexpr std::size_t prefill_scratch_floats(Index positions, Index head_dim, Index value_dim) {
    using namespace attention_detail;
    const auto dim = static_cast<std::size_t>(head_dim);
    const auto rows = static_cast<std::size_t>(row_block);
    return dim * padded(positions) + static_cast<std::size_t>(positions) * padded(value_dim) +
           rows * (padded(positions) + padded(value_dim));
}

/// Causal attention: each position sees itself and those before it. Positions from `valid` on are read by nobody and
/// get zeros.
inline void prefill(const PrefillArguments& arguments, float* scratch) noexcept {
    using namespace attention_detail;
    const Index head_dim = arguments.size.head_dim;
    const Index value_dim = arguments.size.value_dim;
    const Index valid = arguments.valid;
    const Index key_columns = round_up(valid, packet_size);
    const Index value_columns = round_up(value_dim, packet_size);
    float* const keys = scratch;
    float* const values = keys + head_dim * key_columns;
    float* const scores = values + valid * value_columns;
    float* const sums = scores + row_block * key_columns;

    transpose(arguments.key, arguments.key_stride, valid, head_dim, keys, key_columns);
    copy_rows(arguments.value, arguments.value_stride, valid, value_dim, values, value_columns);
    for (Index first = 0; first < valid; first += row_block) {
        const Index rows = std::min<Index>(row_block, valid - first);
        const float* query = arguments.query + first * arguments.query_stride;
        multiply_rows({query, arguments.query_stride, keys, key_columns, head_dim, scores, key_columns}, rows,
                      first + rows);
        float divisors[row_block] = {};
        for (Index row = 0; row < rows; ++row) {
            divisors[row] = exponentiate(scores + row * key_columns, first + row + 1, arguments.size.scale);
        }
        // The keys that all these rows see together, then each later row's few more.
        multiply_rows({scores, key_columns, values, value_columns, first + 1, sums, value_columns}, rows, value_dim);
        for (Index row = 0; row < rows; ++row) {
            finish_row(sums + row * value_columns, scores + row * key_columns + first + 1,
                       values + (first + 1) * value_columns, value_columns, row, divisors[row], value_dim,
                       arguments.out + (first + row) * arguments.out_stride);
        }
    }
    for (Index row = valid; row < arguments.positions; ++row) {
        std::fill_n(arguments.out + row * arguments.out_stride, value_dim, 0.0F);
    }
}

/// The arguments of `decode`, for one head of one group of queries that share a prefix.
struct DecodeArguments {
    const float* query = nullptr;         ///< `[queries, head_dim]`
    const float* prefix_key = nullptr;    ///< `[prefix_length, head_dim]`
    const float* prefix_value = nullptr;  ///< `[prefix_length, value_dim]`
    const float* suffix_key = nullptr;    ///< `[queries, suffix_length, head_dim]`; null if the length is 0
    const float* suffix_value = nullptr;  ///< `[queries, suffix_length, value_dim]`; null if the length is 0
    float* out = nullptr;                 ///< `[queries, value_dim]`
    Index query_stride = 0;               ///< From one query to the next in `query`.
    Index prefix_key_stride = 0;          ///< From one position to the next in `prefix_key`.
    Index prefix_value_stride = 0;        ///< From one position to the next in `prefix_value`.
    Index suffix_key_query_stride = 0;    ///< From one query to the next in `suffix_key`; 0 where they share it.
    Index suffix_value_query_stride = 0;  ///< From one query to the next in `suffix_value`.
    Index suffix_key_stride = 0;          ///< From one position to the next in `suffix_key`.
    Index suffix_value_stride = 0;        ///< From one position to the next in `suffix_value`.
    Index out_stride = 0;                 ///< From one query to the next in `out`.
    HeadSize size;
    Index queries = 0;        ///< How many queries.
    Index prefix_length = 0;  ///< Keys that all queries see, before their own.
    Index suffix_length = 0;  ///< Keys that belong to one query each.
};

/// How many floats of scratch `decode` needs for any number of queries and up to these lengths.
constexpr std::size_t decode_scratch_floats(Index prefix_length, Index suffix_length, Index head_dim, Index value_dim) {
    using namespace attention_detail;
    const auto dim = static_cast<std::size_t>(head_dim);
    const auto tile = static_cast<std::size_t>(widest);
    return dim * padded(prefix_length) + static_cast<std::size_t>(prefix_length) * padded(value_dim) +
           tile * (padded(prefix_length) + padded(suffix_length) + padded(value_dim)) + tile * dim;
}

namespace attention_detail {

/// The scores of `rows` queries from `first` on for the keys that are each query's own.
inline void score_suffix(const DecodeArguments& arguments, Index first, Index rows, float* scores, Index score_columns,
                         float* transposed_queries) {
    const Index length = arguments.suffix_length;
    const Index head_dim = arguments.size.head_dim;
    const float* queries = arguments.query + first * arguments.query_stride;
    const float* keys = arguments.suffix_key + first * arguments.suffix_key_query_stride;
    if (rows < length && rows < packet_size) {  // more keys than queries: a lane is a key
        for (Index row = 0; row < rows; ++row) {
            score_keys(queries + row * arguments.query_stride, keys + row * arguments.suffix_key_query_stride,
                       arguments.suffix_key_stride, length, head_dim, scores + row * score_columns);
        }
        return;
    }
    for (Index row = 0; row < rows; row += packet_size) {  // a lane is a query
        const Index count = std::min<Index>(packet_size, rows - row);
        transpose(queries + row * arguments.query_stride, arguments.query_stride, count, head_dim, transposed_queries,
                  packet_size);
        for (Index key = 0; key < length; ++key) {
            float found[packet_size];
            store(found, dots<true>(keys + row * arguments.suffix_key_query_stride + key * arguments.suffix_key_stride,
                                    arguments.suffix_key_query_stride, count, transposed_queries, head_dim));
            for (Index lane = 0; lane < count; ++lane) {
                scores[(row + lane) * score_columns + key] = found[lane];
            }
        }
    }
}

}  // namespace attention_detail

/// Attention of queries that share a prefix and own a suffix each; a query sees all of both, the prefix first. A query
/// that sees no key gets zeros.
inline void decode(const DecodeArguments& arguments, float* scratch) noexcept {
    using namespace attention_detail;
    const Index head_dim = arguments.size.head_dim;
    const Index value_dim = arguments.size.value_dim;
    const Index prefix = arguments.prefix_length;
    const Index suffix = arguments.suffix_length;
    const Index key_columns = round_up(prefix, packet_size);
    const Index value_columns = round_up(value_dim, packet_size);
    const Index score_columns = key_columns + round_up(suffix, packet_size);
    const bool has_few_queries = arguments.queries < few_queries;
    const bool has_part_packets = value_columns != value_dim;
    float* const keys = scratch;
    float* const values = keys + head_dim * key_columns;
    float* const scores = values + prefix * value_columns;
    float* const sums = scores + query_tile * score_columns;
    float* const transposed_queries = sums + query_tile * value_columns;

    const float* const shared_key = arguments.prefix_key;
    const float* shared_value = arguments.prefix_value;
    Index shared_value_stride = arguments.prefix_value_stride;
    if (!has_few_queries) {
        transpose(shared_key, arguments.prefix_key_stride, prefix, head_dim, keys, key_columns);
    }
    if (!has_few_queries || has_part_packets) {
        copy_rows(shared_value, shared_value_stride, prefix, value_dim, values, value_columns);
        shared_value = values;
        shared_value_stride = value_columns;
    }
    for (Index first = 0; first < arguments.queries; first += query_tile) {
        const Index rows = std::min<Index>(query_tile, arguments.queries - first);
        const float* query = arguments.query + first * arguments.query_stride;
        if (has_few_queries) {
            for (Index row = 0; row < rows; ++row) {
                score_keys(query + row * arguments.query_stride, shared_key, arguments.prefix_key_stride, prefix,
                           head_dim, scores + row * score_columns);
            }
        } else {
            multiply_rows({query, arguments.query_stride, keys, key_columns, head_dim, scores, score_columns}, rows,
                          prefix);
        }
        if (suffix > 0) {
            score_suffix(arguments, first, rows, scores + prefix, score_columns, transposed_queries);
        }
        float divisors[query_tile] = {};
        for (Index row = 0; row < rows; ++row) {
            divisors[row] = exponentiate(scores + row * score_columns, prefix + suffix, arguments.size.scale);
        }
        multiply_rows({scores, score_columns, shared_value, shared_value_stride, prefix, sums, value_columns}, rows,
                      value_dim);
        for (Index row = 0; row < rows; ++row) {
            const float* own_value = nullptr;
            if (suffix > 0) {
                own_value = arguments.suffix_value + (first + row) * arguments.suffix_value_query_stride;
            }
            finish_row(sums + row * value_columns, scores + row * score_columns + prefix, own_value,
                       arguments.suffix_value_stride, suffix, divisors[row], value_dim,
                       arguments.out + (first + row) * arguments.out_stride);
        }
    }
}

/// The arguments of `across_variates`, for one head of one (series, patch).
struct AcrossVariatesArguments {
    const float* query = nullptr;         ///< `[variates, head_dim]`
    const float* key = nullptr;           ///< `[variates, head_dim]`
    const float* value = nullptr;         ///< `[variates, value_dim]`
    const std::int32_t* group = nullptr;  ///< `[variates]`: a variate sees those of its own group; null for one group.
    float* out = nullptr;                 ///< `[variates, value_dim]`
    Index query_stride = 0;               ///< From one variate to the next in `query`.
    Index key_stride = 0;                 ///< From one variate to the next in `key`.
    Index value_stride = 0;               ///< From one variate to the next in `value`.
    Index group_stride = 1;               ///< From one variate to the next in `group`.
    Index out_stride = 0;                 ///< From one variate to the next in `out`.
    HeadSize size;
    Index variates = 0;  ///< The capacity: rows of `out` that are written.
    Index valid = 0;     ///< How many variates, from the first, are not padding; at most `variates`.
};

/// How many floats of scratch `across_variates` needs for up to this many variates.
constexpr std::size_t across_variates_scratch_floats(Index variates, Index head_dim, Index value_dim) {
    return 2 * static_cast<std::size_t>(variates * (head_dim + value_dim)) +
           decode_scratch_floats(variates, 0, head_dim, value_dim);
}

namespace attention_detail {

/// Which variates belong together.
struct VariateGroups {
    const AcrossVariatesArguments& arguments;

    [[nodiscard]] std::int32_t of(Index variate) const noexcept {
        return arguments.group == nullptr ? 0 : arguments.group[variate * arguments.group_stride];
    }
    /// Whether no earlier variate is of this one's group.
    [[nodiscard]] bool begins_with(Index variate) const noexcept {
        Index earlier = 0;
        while (of(earlier) != of(variate)) {
            ++earlier;
        }
        return earlier == variate;
    }
    /// Calls `visit(variate, member)` with the members of the group that begins with `leader`, and returns their
    /// number.
    template <class Visit>
    Index for_each_member(Index leader, const Visit& visit) const noexcept {
        Index members = 0;
        for (Index variate = leader; variate < arguments.valid; ++variate) {
            if (of(variate) == of(leader)) {
                visit(variate, members++);
            }
        }
        return members;
    }
};

}  // namespace attention_detail

/// Attention among the variates of each group. A group's result depends on its own members and their order alone.
/// Variates from `valid` on are read by nobody and get zeros.
inline void across_variates(const AcrossVariatesArguments& arguments, float* scratch) noexcept {
    const Index head_dim = arguments.size.head_dim;
    const Index value_dim = arguments.size.value_dim;
    const Index valid = arguments.valid;
    const attention_detail::VariateGroups groups{arguments};
    float* const queries = scratch;
    float* const keys = queries + valid * head_dim;
    float* const values = keys + valid * head_dim;
    float* const results = values + valid * value_dim;
    float* const rest = results + valid * value_dim;
    const std::size_t row_bytes = static_cast<std::size_t>(head_dim) * sizeof(float);
    const std::size_t value_bytes = static_cast<std::size_t>(value_dim) * sizeof(float);

    for (Index leader = 0; leader < valid; ++leader) {
        if (!groups.begins_with(leader)) {
            continue;
        }
        const Index members = groups.for_each_member(leader, [&](Index variate, Index member) {
            std::memcpy(queries + member * head_dim, arguments.query + variate * arguments.query_stride, row_bytes);
            std::memcpy(keys + member * head_dim, arguments.key + variate * arguments.key_stride, row_bytes);
            std::memcpy(values + member * value_dim, arguments.value + variate * arguments.value_stride, value_bytes);
        });
        if (members == 1) {  // the softmax of one score is 1
            std::memcpy(arguments.out + leader * arguments.out_stride, values, value_bytes);
            continue;
        }
        decode({.query = queries,
                .prefix_key = keys,
                .prefix_value = values,
                .out = results,
                .query_stride = head_dim,
                .prefix_key_stride = head_dim,
                .prefix_value_stride = value_dim,
                .out_stride = value_dim,
                .size = arguments.size,
                .queries = members,
                .prefix_length = members},
               rest);
        groups.for_each_member(leader, [&](Index variate, Index member) {
            std::memcpy(arguments.out + variate * arguments.out_stride, results + member * value_dim, value_bytes);
        });
    }
    for (Index variate = valid; variate < arguments.variates; ++variate) {
        std::fill_n(arguments.out + variate * arguments.out_stride, value_dim, 0.0F);
    }
}

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
