// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/gemm/sm90/norm_from_squares.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_group.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>

// What blocks that compute tiles of a group do before and behind the products: find the GEMM of a tile, leave out tiles
// that no row in use lies in, and compute the norm between two launches, the first half in the one, the rest in the
// other.

namespace totograph::cuda {

template <class Group>
struct TileParts;
template <class Tile, class Norm, bool has_tail, class... K>
struct TileParts<TileGroup<Tile, Norm, has_tail, K...>> {
    using Group = TileGroup<Tile, Norm, has_tail, K...>;
    using Parameters = typename Group::Parameters;

    /// Calls `use(kernel, member, column)` for the GEMM that a column tile is of: the kernel as a pointer to its type,
    /// its number, and the tile's first column, of a pair of each of the two.
    template <class Use>
    static __device__ __forceinline__ void with_gemm(int column_tile, const Use& use) {
        int member = 0;
        const auto try_one = [&]<class Kernel>(Kernel* kernel) {
            if (column_tile >= 0 && column_tile < Group::template column_tiles<Kernel>) {
                use(kernel, member, column_tile * Group::template tile_columns<Kernel>);
            }
            column_tile -= Group::template column_tiles<Kernel>;
            ++member;
        };
        (try_one(static_cast<K*>(nullptr)), ...);
    }

    /// Whether one of a tile's rows is in use. All threads call it.
    static __device__ __forceinline__ bool has_rows(const KernelCall& call, int first_row) {
        using First = typename Group::First;
        const UsedExtents<First> used(call);
        if (used.is_all()) {
            return true;
        }
        const int row = first_row + static_cast<int>(threadIdx.x);
        static_assert(Tile::m <= Tile::threads);
        return __syncthreads_or(static_cast<int>(threadIdx.x) < Tile::m && row < Group::m &&
                                used.template has<UsedExtents<First>::rows>(static_cast<Offset<First>>(row))) != 0;
    }

    /// Finishes the norm of a tile's rows: all blocks of these rows store the same numbers, and read their own.
    /// @param thread  of so many that do
    template <int threads>
    static __device__ __forceinline__ void finish_norm(const Parameters& parameters, int first_row, int thread) {
        const auto row_of = [&](int i) { return first_row + thread + i * threads; };
        finish_norms<Norm, Group::m, Group::k, (Tile::m + threads - 1) / threads>(
            parameters.norm, [&](int i) { return min(row_of(i), Group::m - 1); },
            [&](int i) { return thread + i * threads < Tile::m && row_of(i) < Group::m; });
    }

    /// Leaves eight columns of a row, `LaneColumns`, to the next launch. Eight neighbouring
    /// lanes have the columns whose squares are added up.
    /// @param apart       as `load_fours` takes it
    /// @param column      the first of them
    /// @param has_column  they are of the GEMM
    /// @param exists      and the row is
    template <class Apart>
    static __device__ __forceinline__ void leave_tail(Apart apart, const Parameters& parameters, int row, int column,
                                                      bool has_column, bool exists, const Pack<float, 8>& result) {
        static_assert(((K::kernel.accumulators == 1 && std::is_same_v<Output<K>, float>)&&...),
                      "totograph: what the next launch begins with is made of one GEMM that is stored as f32.");
        static_assert(Tile::n % squared_columns == 0, "totograph: a tile has all columns of each sum of squares.");
        constexpr bool stores = Tile::operand == MmaOperand::bf16;
        if (stores ? parameters.stored == nullptr : parameters.squares == nullptr) {
            return;
        }
        float square = 0;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            square += has_column ? result.lane[i] * result.lane[i] : 0.0F;
        }
        square = sum_of_group<squared_columns / 8>(square);
        if (exists) {
            if constexpr (stores) {
                constexpr int columns = std::max({static_cast<int>(K::kernel.columns())...});
                store_fours<true>(parameters.stored + static_cast<std::size_t>(row) * columns + column,
                                  stored_as<BFloat16>(result), apart);
            }
            if (parameters.squares != nullptr && column % squared_columns == 0) {
                parameters.squares[column / squared_columns * Group::m + row] = square;
            }
        }
    }
};

}  // namespace totograph::cuda
