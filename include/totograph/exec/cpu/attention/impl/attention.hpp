// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/attention/attention.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/attention/attention_kernels.hpp>
#include <totograph/exec/cpu/simd.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

TOTOGRAPH_INLINE void prefill(const PrefillArguments& arguments, float* scratch) noexcept {
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

}  // namespace TOTOGRAPH_SIMD_NAMESPACE

inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace attention_detail {

TOTOGRAPH_INLINE void score_suffix(const DecodeArguments& arguments, Index first, Index rows, float* scores,
                                   Index score_columns, float* transposed_queries) {
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
}  // namespace TOTOGRAPH_SIMD_NAMESPACE

inline namespace TOTOGRAPH_SIMD_NAMESPACE {

TOTOGRAPH_INLINE void decode(const DecodeArguments& arguments, float* scratch) noexcept {
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

}  // namespace TOTOGRAPH_SIMD_NAMESPACE

inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace attention_detail {

TOTOGRAPH_INLINE bool VariateGroups::begins_with(Index variate) const noexcept {
    Index earlier = 0;
    while (of(earlier) != of(variate)) {
        ++earlier;
    }
    return earlier == variate;
}

}  // namespace attention_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE

inline namespace TOTOGRAPH_SIMD_NAMESPACE {

TOTOGRAPH_INLINE void across_variates(const AcrossVariatesArguments& arguments, float* scratch) noexcept {
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
