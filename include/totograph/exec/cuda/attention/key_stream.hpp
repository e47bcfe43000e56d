// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

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
// others: of four warps it takes every fourth sixteen keys, first of the prefix, then of the suffix; and so of eight
// and of sixteen, and of those of all blocks of a cluster. Where each query has a suffix of its own, sixteen keys are
// those of several queries, or positions, one after the other: tensor cores multiply all of them by all queries, and
// only a query's own ones count.

namespace totograph::cuda::tile_detail {

/// The keys of a warp on their way through its stages.
template <class K>
class KeyStream {
    using Key = typename K::Key;
    using Rows = StagedRowsOf<K>;
    using Matrix = decltype(Rows::key);
    using Pieces = LanePieces<Matrix>;
    /// Whether what a lane copies is found from one place in memory and one in shared memory.
    static constexpr bool copies_are_alike = K::is_aligned && Pieces::are_alike;
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
          stage_address_(computed_once(shared_address(rows_))),
          prefix_key_(computed_once(shared_rows<K, 1>(call, place)(0) + offset_of_copy<1>(0))),
          prefix_value_(computed_once(shared_rows<K, 2>(call, place)(0) + offset_of_copy<2>(0))) {
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
            QueryPlace first = place_.shared();
            if constexpr (has_suffix_per_query<K>) {
                first.sample = place_.first_query();
            }
            suffix_key_ = first_row<suffix_key>(first);
            suffix_value_ = first_row<suffix_value>(first);
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
                add_own(attention, rows, stage, (item - prefix_items_) * rows_of_stage);
            }
            __syncwarp();
            copy(turn + stages_, stage);
            stage = stage + 1 == stages_ ? 0 : stage + 1;
        }
    }

private:
    /// What a warp takes in its turn: sixteen keys of the prefix, or what comes behind them.
    [[nodiscard]] __device__ __forceinline__ int item_of(int turn) const {
        return (turn * warps_of_block<K> + warp_) * parts_of_tile<K> + static_cast<int>(blockIdx.x) % parts_of_tile<K>;
    }

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
    __device__ __forceinline__ void add_own(Attention& attention, Rows& rows, int stage, int first) const {
        if constexpr (copies_are_alike) {
            if (!pieces_.are_finite_at(address_of(stage) + sizeof(Matrix))) {
                rows.without_infinite_values();
            }
        } else {
            rows.without_infinite_values();
        }
        // A bit for each of the sixteen keys: those of one query are as far apart as there are queries.
        constexpr auto all = static_cast<unsigned>(rows_of_position);
        constexpr unsigned of_one_query = [] {
            unsigned bits = 0;
            for (int key = 0; key < rows_of_stage; key += rows_of_position) {
                bits |= 1U << key;
            }
            return bits;
        }();
        const int left = suffix_count_ * rows_of_position - first;
        const unsigned exist = left < rows_of_stage ? (1U << left) - 1U : 0xffffU;
        const unsigned begun = static_cast<unsigned>(first) % all;
        unsigned own[2];
#pragma unroll
        for (unsigned half = 0; half < 2; ++half) {
            const unsigned query = static_cast<unsigned>(row_of_lane()) + half * 8;
            const unsigned next = query >= begun ? query - begun : query + all - begun;
            const bool exists = half * 8 < all && query < all;
            own[half] = exists ? (of_one_query << next & exist) >> quarter_of_lane() * 2 : 0U;
        }
        attention.template add<rows_of_stage>(rows, false, [&](int score) {
            // As `key_of_score`, without what the quarter adds.
            return (own[query_of_score(score)] >> (score / 4 * 8 + score % 2) & 1U) != 0;
        });
    }

    /// Begins to copy what is for a turn, if there is anything.
    __device__ __forceinline__ void copy(int turn, int stage) const {
        const int item = item_of(turn);
        const int own = item - prefix_items_;
        if (own < 0) {
            copy_rows<1, 2>(stage, prefix_key_, prefix_value_, item * rows_of_stage, prefix_count_);
        } else if (own < suffix_items_) {
            if constexpr (shares_suffix) {
                copy_rows<suffix_key, suffix_value>(stage, suffix_key_, suffix_value_, own * rows_of_stage,
                                                    suffix_count_);
            } else if constexpr (has_suffix_per_query<K>) {
                copy_own(stage, own * rows_of_stage);
            }
        }
        commit_copies();
    }

    /// The address of a stage.
    [[nodiscard]] __device__ __forceinline__ std::uint32_t address_of(int stage) const {
        return stage_address_ + static_cast<std::uint32_t>(stage) * static_cast<std::uint32_t>(sizeof(Rows));
    }

    /// From one row of an operand to the next along an axis: 1 is that of samples, 3 that of positions.
    template <int which, std::size_t axis>
    static constexpr auto stride_of =
        static_cast<Offset<K>>(K::kernel.operands[static_cast<std::size_t>(which)].strides[axis]);
    /// Where the `i`th piece lies that a lane copies, counted from the first row.
    template <int which>
    static __device__ __forceinline__ Offset<K> offset_of_copy(unsigned i) {
        return static_cast<Offset<K>>(Pieces::row(i)) * stride_of<which, 3> +
               static_cast<Offset<K>>(Pieces::piece(i)) * Matrix::piece_elements;
    }
    /// The first row of a suffix.
    template <int which>
    [[nodiscard]] __device__ __forceinline__ const Key* first_row(const QueryPlace& first) const {
        const Key* const rows =
            call_.operands[which].template get<Key>(positions_of<K>(call_)) + row_of<K, which>(first, first.variate, 0);
        return computed_once(shares_suffix ? rows + offset_of_copy<which>(0) : rows);
    }

    /// Begins to copy sixteen keys from number `first` on, of those before number `end`, and their values.
    /// @param keys, values  where the first piece lies that this lane copies of the first sixteen of all
    template <int key, int value>
    __device__ __forceinline__ void copy_rows(int stage, const Key* keys, const Key* values, int first, int end) const {
        const Key* const from_key = keys + static_cast<Offset<K>>(first) * stride_of<key, 3>;
        const Key* const from_value = values + static_cast<Offset<K>>(first) * stride_of<value, 3>;
        const auto copy_all = [&](const auto& exists) {
#pragma unroll
            for (unsigned i = 0; i < Pieces::count; ++i) {
                copy_piece(stage, i, from_key + (offset_of_copy<key>(i) - offset_of_copy<key>(0)),
                           from_value + (offset_of_copy<value>(i) - offset_of_copy<value>(0)), exists(i));
            }
        };
        if (first + rows_of_stage <= end) {
            copy_all([](unsigned) { return true; });
        } else {
            copy_all([&](unsigned i) { return first + Pieces::row(i) < end; });
        }
    }

    /// The same of suffixes that each query has for itself: at each position, the keys of all queries.
    __device__ __forceinline__ void copy_own(int stage, int first) const {
        constexpr auto all = static_cast<unsigned>(rows_of_position);
        const int queries_in_use = place_.used_queries() - place_.first_query();
#pragma unroll
        for (unsigned i = 0; i < Pieces::count; ++i) {
            const auto number = static_cast<unsigned>(first + Pieces::row(i));
            const auto query = static_cast<Offset<K>>(number % all);
            const auto position = static_cast<Offset<K>>(number / all);
            const auto offset_in = [&]<int which>(std::integral_constant<int, which>) {
                return query * stride_of<which, 1> + position * stride_of<which, 3> +
                       static_cast<Offset<K>>(Pieces::piece(i)) * Matrix::piece_elements;
            };
            copy_piece(stage, i, suffix_key_ + offset_in(std::integral_constant<int, suffix_key>()),
                       suffix_value_ + offset_in(std::integral_constant<int, suffix_value>()),
                       query < queries_in_use && position < suffix_count_);
        }
    }

    /// Begins to copy a piece of keys, and of values, where they exist. What does not exist counts for nobody: it
    /// becomes zeros where that needs no branch, else it stays as it was.
    __device__ __forceinline__ void copy_piece(int stage, unsigned i, const Key* key, const Key* value,
                                               bool exists) const {
        if constexpr (copies_are_alike) {
            const std::uint32_t to = pieces_.at(address_of(stage), i);
            copy_async_or_zeros(to, key, exists);
            copy_async_or_zeros(to + static_cast<std::uint32_t>(sizeof(Matrix)), value, exists);
        } else if (exists) {
            rows_[stage].key.template copy_piece<K::is_aligned>(Pieces::row(i), Pieces::piece(i), key);
            rows_[stage].value.template copy_piece<K::is_aligned>(Pieces::row(i), Pieces::piece(i), value);
        }
    }

    const KernelCall& call_;
    const TilePlace<K>& place_;
    int warp_;
    int stages_;
    Rows* rows_;
    Pieces pieces_;
    std::uint32_t stage_address_;
    const Key* prefix_key_;  ///< Where the first piece lies that this lane copies.
    const Key* prefix_value_;
    const Key* suffix_key_ = nullptr;  ///< The same of a suffix that all share; else the first row of all.
    const Key* suffix_value_ = nullptr;
    int prefix_count_ = prefix_capacity;
    int prefix_items_ = (prefix_capacity + rows_of_stage - 1) / rows_of_stage;
    int suffix_count_ = 0;
    int suffix_items_ = 0;
};

}  // namespace totograph::cuda::tile_detail
