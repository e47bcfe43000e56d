// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/attention/attention_kernels.hpp>
#include <totograph/exec/cpu/simd.hpp>

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
void prefill(const PrefillArguments& arguments, float* scratch) noexcept;

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
void score_suffix(const DecodeArguments& arguments, Index first, Index rows, float* scores, Index score_columns,
                  float* transposed_queries);

}  // namespace attention_detail

/// Attention of queries that share a prefix and own a suffix each; a query sees all of both, the prefix first. A query
/// that sees no key gets zeros.
void decode(const DecodeArguments& arguments, float* scratch) noexcept;

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
    [[nodiscard]] bool begins_with(Index variate) const noexcept;
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
void across_variates(const AcrossVariatesArguments& arguments, float* scratch) noexcept;

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/attention/impl/attention.hpp>
#endif
