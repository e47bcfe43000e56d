// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>
#include <type_traits>

#include <cuda.h>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/gemm/sm90/norm_from_squares.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>

// GEMMs of one input of which a block computes a tile or few, and what their kernels have in common.

namespace totograph::cuda {

/// GEMMs of one input, each with its chain.
///
/// @tparam BlockTile  what a block computes: `m` rows by `n` columns
/// @tparam N          the norm of the input; void for none
/// @tparam has_tail   the launch behind it may take squares of its result, in bf16 the result as well
template <class BlockTile, class N, bool has_tail, class... K>
struct TileGroup {
    using Tile = BlockTile;
    using Norm = N;
    static constexpr bool has_norm = !std::is_void_v<N>;
    static constexpr bool leaves_tail = has_tail;
    static_assert(!has_tail || sizeof...(K) == 1, "totograph: a lone GEMM makes the input of the next launch.");
    static constexpr int count = sizeof...(K);
    using First = std::tuple_element_t<0, std::tuple<K...>>;

    struct Parameters {
        CUtensorMap input;
        CUtensorMap weights[count];
        KernelCall calls[count];
        NormFromSquares norm;  ///< Of the input.
        /// For the launch behind it: its result as bf16, and such sums; null where that one takes none, `stored` also
        /// where weights are not bf16.
        BFloat16* stored;
        float* squares;
    };

    static constexpr auto m = static_cast<int>(First::kernel.rows());
    static constexpr auto k = static_cast<int>(First::kernel.k);
    static_assert(((K::kernel.rows() == m && K::kernel.k == k) && ...),
                  "totograph: the GEMMs of a group have one input, and so the same m and k each.");
    /// Columns of a tile that are of one GEMM of a pair, or all of them.
    template <class Kernel>
    static constexpr int tile_columns = Tile::n / Kernel::kernel.accumulators;
    template <class Kernel>
    static constexpr int column_tiles =
        (static_cast<int>(Kernel::kernel.columns()) + tile_columns<Kernel> - 1) / tile_columns<Kernel>;
    static constexpr int all_column_tiles = (column_tiles<K> + ...);
    static constexpr int row_tiles = (m + Tile::m - 1) / Tile::m;

    /// Whether all of the GEMMs, and the norm, bound the same rows, and some: tiles that have none in use are left out.
    static constexpr bool is_bounded = UsedExtents<First>::template bounds_any<UsedExtents<First>::rows> &&
                                       (bounds_same_rows(First::bounds, K::bounds) && ...) && [] {
                                           if constexpr (has_norm) {
                                               return bounds_same_rows(First::bounds, N::bounds);
                                           } else {
                                               return true;
                                           }
                                       }();
};

/// What the launches before and behind one share with it, as its kernel's parameters name it.
struct SharedTail {
    const float* squares_of_input = nullptr;
    BFloat16* stored = nullptr;
    float* squares = nullptr;
};

}  // namespace totograph::cuda
