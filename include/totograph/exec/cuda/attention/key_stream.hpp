// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/staged_rows.hpp>
#include <totograph/exec/cuda/attention/suffix_pipeline.hpp>
#include <totograph/exec/cuda/attention/tile_mask.hpp>
#include <totograph/exec/cuda/attention/tile_place.hpp>
#include <totograph/exec/cuda/attention/tile_products.hpp>
#include <totograph/exec/cuda/attention/tile_scores.hpp>
#include <totograph/exec/cuda/attention/tile_sizes.hpp>
#include <totograph/exec/cuda/kernels/async_copy.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>

// The keys of a block whose warps share them. Each warp has stages of shared memory of its own and never waits for the
// others: of four or eight warps it takes every fourth or eighth sixteen keys, first of the prefix, then of the suffix.
// Where each query has a suffix of its own, sixteen keys are those of several queries, or positions, one after the
// other: tensor cores multiply all of them by all queries, and only a query's own ones count.

namespace totograph::cuda::tile_detail {

/// The keys of a warp on their way through its stages.
template <class K>
class KeyStream {
    using Key = typename K::Key;
    using Rows = StagedRowsOf<K>;
    static constexpr int rows_of_stage = queries_of_warp;
    static constexpr bool shares_suffix = AttentionSizes<K>::has_suffix && !has_suffix_per_query<K>;
    /// Keys of the suffix that stand at one position.
    static constexpr int rows_of_position = shares_suffix ? 1 : std::min(queries<K>, queries_of_block<K>);
    static constexpr int prefix_capacity = key_capacity<K, 1>;

public:
    /// Asks for the first keys of the prefix, before it is known how many of them are valid.
    /// @param memory  for `stages` of each warp
    /// @param stages  1, 2 or 3
    __device__ __forceinline__ KeyStream(const KernelCall& call, const TilePlace<K>& place, void* memory, int stages)
        : call_(call),
          place_(place),
          warp_(static_cast<int>(threadIdx.x) / warp_size),
          stages_(stages),
          rows_(static_cast<Rows*>(memory) + warp_ * stages),
          prefix_key_(shared_rows<K, 1>(call, place)),
          prefix_value_(shared_rows<K, 2>(call, place)) {
        static_assert(most_stages<K> == 3, "totograph: up to three stages are waited for.");
        for (int turn = 0; turn < stages; ++turn) {
            copy(turn, turn);
        }
    }

    /// Lets queries attend to the keys of the prefix that lie before number `prefix_count`, and to their suffixes.
    template <class Attention>
    __device__ __forceinline__ void add_to(Attention& attention, const TileMask<K>& mask, int prefix_count,
                                           int suffix_count) {
        prefix_count_ = prefix_count;
        prefix_items_ = (prefix_count + rows_of_stage - 1) / rows_of_stage;
        suffix_count_ = suffix_count;
        suffix_items_ = (suffix_count * rows_of_position + rows_of_stage - 1) / rows_of_stage;
        if constexpr (AttentionSizes<K>::has_suffix) {
            suffix_key_ = call_.operands[suffix_key].template get<Key>(positions_of<K>(call_));
            suffix_value_ = call_.operands[suffix_value].template get<Key>(positions_of<K>(call_));
        }
        replace_early_copies();
        int stage = 0;
        for (int turn = 0; item_of(turn) < prefix_items_ + suffix_items_; ++turn) {
            const int item = item_of(turn);
            const bool is_prefix = item < prefix_items_;
            const std::uint32_t unmasked = is_prefix ? mask.template unmasked<rows_of_stage>(item * rows_of_stage) : 0;
            wait();
            Rows& rows = rows_[stage];
            if (is_prefix) {
                add_prefix(attention, rows, mask, item * rows_of_stage, unmasked);
            } else if constexpr (shares_suffix) {
                add_suffix(attention, rows, suffix_count - (item - prefix_items_) * rows_of_stage);
            } else if constexpr (has_suffix_per_query<K>) {
                add_own(attention, rows, (item - prefix_items_) * rows_of_stage);
            }
            __syncwarp();
            copy(turn + stages_, stage);
            stage = stage + 1 == stages_ ? 0 : stage + 1;
        }
    }

private:
    /// What a warp takes in its turn: sixteen keys of the prefix, or what comes behind them.
    [[nodiscard]] __device__ __forceinline__ int item_of(int turn) const { return turn * warps_of_block<K> + warp_; }

    /// Of a short prefix, stages were filled with what is no part of it.
    __device__ __forceinline__ void replace_early_copies() {
        if (item_of(stages_ - 1) < prefix_items_) {
            return;
        }
        wait_for_copies<0>();
        __syncwarp();
        for (int turn = 0; turn < stages_; ++turn) {
            if (item_of(turn) >= prefix_items_) {
                copy(turn, turn);
            }
        }
    }

    __device__ __forceinline__ void wait() const {
        if (stages_ == 1) {
            wait_for_copies<0>();
        } else if (stages_ == 2) {
            wait_for_copies<1>();
        } else {
            wait_for_copies<2>();
        }
        __syncwarp();
    }

    /// Lets queries attend to keys of the prefix, from number `first` on.
    template <class Attention>
    __device__ __forceinline__ void add_prefix(Attention& attention, Rows& rows, const TileMask<K>& mask, int first,
                                               std::uint32_t unmasked) const {
        const bool all_count = mask.template all_count<rows_of_stage>(first);
        if (!all_count) {
            clear_from(rows, prefix_count_ - first);
            if constexpr (AttentionSizes<K>::queries_are_positions) {
                rows.without_infinite_values();  // of keys that some queries do not see
            }
        }
        attention.template add<rows_of_stage>(
            rows, all_count, [&](int score) { return (unmasked >> score & 1U) != 0 && mask.counts(first, score); });
    }

    /// Lets queries attend to a suffix that they share: the first `count` rows.
    template <class Attention>
    __device__ __forceinline__ void add_suffix(Attention& attention, Rows& rows, int count) const {
        clear_from(rows, count);
        attention.template add<rows_of_stage>(rows, count >= rows_of_stage,
                                              [count](int score) { return key_of_score(score) < count; });
    }

    /// Values behind the last one may be anything; no weight is small enough for what is not a number.
    static __device__ __forceinline__ void clear_from(Rows& rows, int count) {
        if (count < rows_of_stage) {
            for (int row = count; row < rows_of_stage; ++row) {
                rows.value.clear_row(row);
            }
            __syncwarp();
        }
    }

    /// Lets queries attend to keys of their own, which begin with number `first`.
    template <class Attention>
    __device__ __forceinline__ void add_own(Attention& attention, Rows& rows, int first) const {
        rows.without_infinite_values();
        attention.template add<rows_of_stage>(rows, false, [&](int score) {
            const int key = first + key_of_score(score);
            const int query = row_of_lane() + query_of_score(score) * 8;
            return key % rows_of_position == query && key / rows_of_position < suffix_count_;
        });
    }

    /// Begins to copy what is for a turn, if there is anything.
    __device__ __forceinline__ void copy(int turn, int stage) const {
        const int item = item_of(turn);
        Rows& to = rows_[stage];
        const int own = item - prefix_items_;
        if (own < 0) {
            copy_rows(to, prefix_key_, prefix_value_, item * rows_of_stage, prefix_count_);
        } else if (own < suffix_items_) {
            if constexpr (shares_suffix) {
                copy_rows(to, SharedRows<K, suffix_key>{suffix_key_, place_},
                          SharedRows<K, suffix_value>{suffix_value_, place_}, own * rows_of_stage, suffix_count_);
            } else if constexpr (has_suffix_per_query<K>) {
                copy_rows(to, OwnRows<suffix_key>{suffix_key_, place_}, OwnRows<suffix_value>{suffix_value_, place_},
                          own * rows_of_stage, suffix_count_ * rows_of_position);
            }
        }
        commit_copies();
    }

    /// Where the rows of suffixes lie that each query has for itself; null where there is no such query.
    template <int which>
    struct OwnRows {
        const Key* base;
        const TilePlace<K>& place;

        __device__ __forceinline__ const Key* operator()(int number) const {
            QueryPlace own = place.shared();
            own.sample = place.first_query() + number % rows_of_position;
            return own.sample < place.used_queries()
                       ? base + row_of<K, which>(own, own.variate, number / rows_of_position)
                       : nullptr;
        }
    };

    /// Begins to copy keys from number `first` on that come before number `end`, and their values.
    template <class KeyRows, class ValueRows>
    __device__ __forceinline__ void copy_rows(Rows& to, const KeyRows& key_row, const ValueRows& value_row, int first,
                                              int end) const {
        using Matrix = decltype(to.key);
        constexpr int pieces = Matrix::pieces;
#pragma unroll
        for (int i = 0; i < rows_of_stage * pieces / warp_size; ++i) {
            const int lane_item = static_cast<int>(threadIdx.x) % warp_size + i * warp_size;
            const int row = lane_item / pieces;
            const int piece = lane_item % pieces;
            const Key* const key = key_row(first + row);
            if (first + row < end && key != nullptr) {
                const int dimension = piece * Matrix::piece_elements;
                to.key.template copy_piece<K::is_aligned>(row, piece, key + dimension);
                to.value.template copy_piece<K::is_aligned>(row, piece, value_row(first + row) + dimension);
            }
        }
    }

    const KernelCall& call_;
    const TilePlace<K>& place_;
    int warp_;
    int stages_;
    Rows* rows_;
    SharedRows<K, 1> prefix_key_;
    SharedRows<K, 2> prefix_value_;
    const Key* suffix_key_ = nullptr;
    const Key* suffix_value_ = nullptr;
    int prefix_count_ = prefix_capacity;
    int prefix_items_ = (prefix_capacity + rows_of_stage - 1) / rows_of_stage;
    int suffix_count_ = 0;
    int suffix_items_ = 0;
};

}  // namespace totograph::cuda::tile_detail
