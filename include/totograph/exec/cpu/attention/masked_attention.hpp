// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/attention/attention.hpp>
#include <totograph/exec/cpu/attention/attention_kernels.hpp>
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

    void run() noexcept {
        for (Index query = 0; query < arguments_.queries; ++query) {
            if (!takes_part(query)) {
                std::fill_n(arguments_.out + query * arguments_.out_stride, value_dim_, 0.0F);
            } else if (is_by_group() ? is_first_of_group(query) : query == 0) {
                group_ = is_by_group() ? mask_of(place_of(query)) : 0;
                gather_keys();
                attend(query);
            }
        }
    }

private:
    [[nodiscard]] bool is_by_group() const noexcept { return arguments_.mask == KeyMask::by_group; }
    [[nodiscard]] Index place_of(Index query) const noexcept { return arguments_.first_place + query; }
    /// A query before the first key has no group; one behind the last key sees nothing.
    [[nodiscard]] bool takes_part(Index query) const noexcept {
        return place_of(query) < count_ && (!is_by_group() || place_of(query) >= 0);
    }
    [[nodiscard]] std::int32_t mask_of(Index key) const noexcept {
        const Index before = arguments_.keys[0].count;
        const KeyRows& rows = arguments_.keys[key < before ? 0 : 1];
        return rows.mask[(key < before ? key : key - before) * arguments_.mask_stride];
    }
    /// Whether a key counts for the queries of this group.
    [[nodiscard]] bool counts(Index key) const noexcept {
        return arguments_.mask == KeyMask::none || (is_by_group() ? mask_of(key) == group_ : mask_of(key) != 0);
    }
    [[nodiscard]] bool is_first_of_group(Index query) const noexcept {
        Index earlier = std::max<Index>(0, -arguments_.first_place);
        while (mask_of(place_of(earlier)) != mask_of(place_of(query))) {
            ++earlier;
        }
        return earlier == query;
    }
    [[nodiscard]] bool is_member(Index query) const noexcept {
        return takes_part(query) && (!is_by_group() || mask_of(place_of(query)) == group_);
    }

    /// Puts the keys that count next to each other, as columns, and their values as rows of whole packets.
    void gather_keys() noexcept {
        Index found = 0;
        Index first = 0;
        for (const KeyRows& rows : arguments_.keys) {
            if (arguments_.mask == KeyMask::none) {
                transpose(rows.key, rows.key_stride, rows.count, head_dim_, keys_ + first, key_columns_);
                copy_rows(rows.value, rows.value_stride, rows.count, value_dim_, values_ + first * value_columns_,
                          value_columns_);
            }
            for (Index key = 0; arguments_.mask != KeyMask::none && key < rows.count; ++key) {
                if (counts(first + key)) {
                    std::memcpy(gathered_ + found * head_dim_, rows.key + key * rows.key_stride,
                                static_cast<std::size_t>(head_dim_) * sizeof(float));
                    copy_rows(rows.value + key * rows.value_stride, 0, 1, value_dim_, values_ + found * value_columns_,
                              value_columns_);
                    ++found;
                }
            }
            first += rows.count;
        }
        if (arguments_.mask != KeyMask::none) {
            transpose(gathered_, head_dim_, found, head_dim_, keys_, key_columns_);
        }
    }

    /// All queries of a group, the first of which is `leader`.
    void attend(Index leader) noexcept {
        Index passed = 0;
        Index seen = 0;
        rows_ = 0;
        for (Index query = leader; query < arguments_.queries; ++query) {
            if (!is_member(query)) {
                continue;
            }
            for (const Index end = arguments_.is_causal ? place_of(query) + 1 : count_; passed < end; ++passed) {
                seen += counts(passed) ? 1 : 0;
            }
            std::memcpy(queries_ + rows_ * head_dim_, arguments_.query + query * arguments_.query_stride,
                        static_cast<std::size_t>(head_dim_) * sizeof(float));
            query_[rows_] = query;
            seen_[rows_] = seen;
            if (++rows_ == row_block) {
                finish_block();
            }
        }
        if (rows_ > 0) {
            finish_block();
        }
    }

    /// Queries in the order of their places: each sees the keys that the one before sees, and some more.
    void finish_block() noexcept {
        multiply_rows({queries_, head_dim_, keys_, key_columns_, head_dim_, scores_, key_columns_}, rows_,
                      seen_[rows_ - 1]);
        float divisors[row_block] = {};
        for (Index row = 0; row < rows_; ++row) {
            divisors[row] = exponentiate(scores_ + row * key_columns_, seen_[row], arguments_.size.scale);
        }
        const Index common = seen_[0];
        multiply_rows({scores_, key_columns_, values_, value_columns_, common, sums_, value_columns_}, rows_,
                      value_dim_);
        for (Index row = 0; row < rows_; ++row) {
            finish_row(sums_ + row * value_columns_, scores_ + row * key_columns_ + common,
                       values_ + common * value_columns_, value_columns_, seen_[row] - common, divisors[row],
                       value_dim_, arguments_.out + query_[row] * arguments_.out_stride);
        }
        rows_ = 0;
    }

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
