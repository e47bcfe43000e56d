// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/attention/attention.hpp>
#include <totograph/exec/cpu/attention/attention_kernels.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/graph/attention.hpp>

// Any attention on one core: several queries against a cache, with or without causality, with masks by key or by group.
// Keys that count are gathered first, so that a query sees the first few of them, as in a prefill; the bits of a result
// are those that `prefill` and `decode` give for the same keys.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// Keys and values that lie together.
struct KeyRows {
    const float* key = nullptr;          ///< `[count, head_dim]`
    const float* value = nullptr;        ///< `[count, value_dim]`
    const std::int32_t* mask = nullptr;  ///< `[count]`; unread without a mask
    Index key_stride = 0;                ///< From one row to the next in `key`.
    Index value_stride = 0;              ///< From one row to the next in `value`.
    Index count = 0;
};

/// The arguments of `masked_attention`, for one head of one group of rows.
struct MaskedArguments {
    const float* query = nullptr;  ///< `[queries, head_dim]`
    float* out = nullptr;          ///< `[queries, value_dim]`
    Index query_stride = 0;        ///< From one query to the next in `query`.
    Index out_stride = 0;          ///< From one query to the next in `out`.
    Index queries = 0;             ///< How many queries.
    Index first_place = 0;  ///< The key that query 0 stands at, and each further query at the next; may be negative.
    std::array<KeyRows, 2> keys;  ///< The second behind the first.
    Index mask_stride = 1;        ///< From one key to the next in `KeyRows::mask`.
    KeyMask mask = KeyMask::none;
    bool is_causal = false;
    HeadSize size;
};

/// How many floats of scratch `masked_attention` needs for up to this many keys.
constexpr std::size_t masked_attention_scratch_floats(Index keys, Index head_dim, Index value_dim) {
    using namespace attention_detail;
    const auto dim = static_cast<std::size_t>(head_dim);
    const auto rows = static_cast<std::size_t>(row_block);
    const std::size_t columns = padded(keys) + static_cast<std::size_t>(widest);
    return dim * (static_cast<std::size_t>(keys) + columns + rows) +
           static_cast<std::size_t>(keys) * padded(value_dim) + rows * (columns + padded(value_dim));
}

namespace attention_detail {

/// One call of `masked_attention`.
class MaskedAttention {
public:
    MaskedAttention(const MaskedArguments& arguments, float* scratch) noexcept
        : arguments_(arguments),
          head_dim_(arguments.size.head_dim),
          value_dim_(arguments.size.value_dim),
          count_(arguments.keys[0].count + arguments.keys[1].count),
          key_columns_(round_up(arguments.keys[0].count, packet_size) + round_up(arguments.keys[1].count, packet_size)),
          value_columns_(round_up(value_dim_, packet_size)),
          gathered_(scratch),
          keys_(gathered_ + count_ * head_dim_),
          values_(keys_ + head_dim_ * key_columns_),
          queries_(values_ + count_ * value_columns_),
          scores_(queries_ + row_block * head_dim_),
          sums_(scores_ + row_block * key_columns_) {}

    void run() noexcept;

private:
    [[nodiscard]] bool is_by_group() const noexcept { return arguments_.mask == KeyMask::by_group; }
    [[nodiscard]] Index place_of(Index query) const noexcept { return arguments_.first_place + query; }
    /// A query before the first key has no group; one behind the last key sees nothing.
    [[nodiscard]] bool takes_part(Index query) const noexcept {
        return place_of(query) < count_ && (!is_by_group() || place_of(query) >= 0);
    }
    [[nodiscard]] std::int32_t mask_of(Index key) const noexcept;
    /// Whether a key counts for the queries of this group.
    [[nodiscard]] bool counts(Index key) const noexcept {
        return arguments_.mask == KeyMask::none || (is_by_group() ? mask_of(key) == group_ : mask_of(key) != 0);
    }
    [[nodiscard]] bool is_first_of_group(Index query) const noexcept;
    [[nodiscard]] bool is_member(Index query) const noexcept {
        return takes_part(query) && (!is_by_group() || mask_of(place_of(query)) == group_);
    }

    /// Puts the keys that count next to each other, as columns, and their values as rows of whole packets.
    void gather_keys() noexcept;

    /// All queries of a group, the first of which is `leader`.
    void attend(Index leader) noexcept;

    /// Queries in the order of their places: each sees the keys that the one before sees, and some more.
    void finish_block() noexcept;

    const MaskedArguments& arguments_;
    Index head_dim_;
    Index value_dim_;
    Index count_;
    Index key_columns_;
    Index value_columns_;
    float* gathered_;  ///< Keys that count, as rows.
    float* keys_;      ///< As columns.
    float* values_;
    float* queries_;  ///< Of a block.
    float* scores_;
    float* sums_;
    std::int32_t group_ = 0;
    Index rows_ = 0;  ///< Of the block.
    Index query_[row_block] = {};
    Index seen_[row_block] = {};
};

}  // namespace attention_detail

/// Attention of queries that stand at keys one after the other. A query that sees no key, or stands behind the last
/// one, gets zeros.
inline void masked_attention(const MaskedArguments& arguments, float* scratch) noexcept {
    attention_detail::MaskedAttention(arguments, scratch).run();
}

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/attention/impl/masked_attention.hpp>
#endif
