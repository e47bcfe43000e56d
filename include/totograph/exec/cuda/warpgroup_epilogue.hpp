// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/kernel_call.hpp>
#include <totograph/exec/cuda/packs.hpp>
#include <totograph/exec/cuda/product_epilogue.hpp>
#include <totograph/exec/cuda/tensor_core.hpp>
#include <totograph/exec/cuda/warpgroup.hpp>

// The chain of a product on the sums of a tile, which those who multiply leave in shared memory: other warps run the
// chain on them while the next tile is multiplied.

namespace totograph::cuda {

/// The sums of a tile of 128 rows by 256 columns, as bf16: rounded as a library that leaves them in memory rounds them.
/// A row's chunks of eight columns lie in an order that depends on the row, so that neither side waits for a bank.
class TileSums {
public:
    static constexpr int rows = 128;
    static constexpr int rows_of_warp = 16;  ///< That a warp stores.
    static constexpr int chunks = 32;
    static constexpr int chunk_bytes = 16;
    static constexpr std::size_t bytes = std::size_t{rows} * chunks * chunk_bytes;

    /// Where eight columns of a row begin, in bytes.
    static constexpr int chunk_offset(int row, int chunk) { return (row * chunks + (chunk ^ row % 8)) * chunk_bytes; }

    __device__ __forceinline__ explicit TileSums(std::byte* memory) : memory_(memory) {}

#if defined(TOTOGRAPH_HAS_WARPGROUPS)
    /// Stores what a warpgroup's products left in its threads: 64 rows, from `first` on.
    __device__ __forceinline__ void store(const float (&sums)[128], int first) const {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        const int warp = static_cast<int>(threadIdx.x) % warpgroup_size / 32;
        // A lane names the place of one row of one of four matrices of 8x8.
        const int row = first + warp * rows_of_warp + lane / 8 % 2 * 8 + lane % 8;
#pragma unroll
        for (int chunk = 0; chunk < chunks; chunk += 2) {
            store_matrices(place(row, chunk + lane / 16), two_bf16(sums[4 * chunk], sums[4 * chunk + 1]),
                           two_bf16(sums[4 * chunk + 2], sums[4 * chunk + 3]),
                           two_bf16(sums[4 * chunk + 4], sums[4 * chunk + 5]),
                           two_bf16(sums[4 * chunk + 6], sums[4 * chunk + 7]));
        }
    }
#endif

    /// Eight neighbouring columns of a row.
    __device__ __forceinline__ Pack<float, 8> load(int row, int chunk) const {
        return load_stored<8, true>(reinterpret_cast<const BFloat16*>(place(row, chunk))).floats();
    }

private:
    __device__ __forceinline__ std::byte* place(int row, int chunk) const {
        return memory_ + chunk_offset(row, chunk);
    }

    std::byte* memory_;
};

/// Rows that a warp runs the chain on at a time.
inline constexpr int turn_rows = 4;

/// The rows of a tile that a warp runs the chain on: a turn's from `first` on, then those `stride` further, to before
/// `end`.
struct TileRows {
    int first;
    int end;
    int stride;
};

/// The part of a warp in the chain of a product on a tile: each lane has the same eight columns of several rows.
///
/// @tparam tiles_are_whole  none reaches beyond the last row
template <class K, bool tiles_are_whole>
class TileEpilogue {
    static constexpr auto all_rows = static_cast<int>(K::kernel.rows());
    static constexpr int chunks = TileSums::chunks / K::kernel.accumulators;
    static constexpr int rows_at_once = 32 / chunks;
    static constexpr int each = turn_rows / rows_at_once;  ///< Rows of a lane in a turn.
    static_assert(turn_rows % rows_at_once == 0);
    static_assert((operands_that_repeat<K>(0, K::kernel.row_rank) |
                   operands_that_repeat<K>(K::kernel.row_rank, K::kernel.iteration.rank)) ==
                      (1U << K::kernel.operand_count) - 1,
                  "totograph: what a chain on tiles reads belongs to rows or to columns alone: it is read once.");
    using Rows = RowsEpilogue<K, 8, each>;

public:
    /// Asks for what the columns need, and the first rows. Warps that only finish make it before the sums are there.
    /// @param first_row, first_column  where the tile begins
    /// @param own                      the rows of the tile that this warp finishes
    __device__ __forceinline__ TileEpilogue(const KernelCall& call, int first_row, int first_column,
                                            const TileRows& own)
        : rows_(call),
          first_row_(first_row),
          chunk_(static_cast<int>(threadIdx.x) % 32 % chunks),
          row_(own.first + static_cast<int>(threadIdx.x) % 32 / chunks),
          end_(own.end),
          step_(own.stride),
          column_(first_column + chunk_ * 8) {
        choose_rows(row_);
        rows_.load(column_, operands_);
    }

    /// Stores what the chain makes of the sums.
    __device__ __forceinline__ void finish(const TileSums& sums) {
#pragma unroll 1
        for (int row = row_; row < end_; row += step_) {
            if (row != row_) {
                choose_rows(row);
            }
            rows_.finish(
                column_, operands_,
                [&](int i, auto factor) { return sums.load(row + i * rows_at_once, chunk_ + factor * chunks); },
                [&](int i) { return tiles_are_whole || first_row_ + row + i * rows_at_once < all_rows; });
        }
    }

    /// Asks the nearest cache for what the chain on a tile reads: warp `warp` of `warps` for its part.
    __device__ __forceinline__ static void touch(const KernelCall& call, int first_row, int first_column, int warp,
                                                 int warps) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        for (int rows = warp * 32; rows < TileSums::rows; rows += warps * 32) {
            const int row = first_row + rows + lane;
            Rows::touch_row(call, tiles_are_whole ? row : min(row, all_rows - 1));
        }
        if (warp == warps - 1) {
            Rows::touch_columns(call, first_column + lane % chunks * 8);
        }
    }

private:
    __device__ __forceinline__ void choose_rows(int row) {
        rows_.choose_rows([&](int i) {
            const int chosen = first_row_ + row + i * rows_at_once;
            return tiles_are_whole ? chosen : min(chosen, all_rows - 1);
        });
    }

    Rows rows_;
    int first_row_;
    int chunk_;
    int row_;
    int end_;
    int step_;
    int column_;
    typename Rows::Operands operands_[each];
};

}  // namespace totograph::cuda
