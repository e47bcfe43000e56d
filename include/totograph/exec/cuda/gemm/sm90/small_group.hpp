// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include <cuda.h>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>

// GEMMs of some hundred rows that blocks compute a small tile each of, and the sizes of these.

namespace totograph::cuda {

/// The sizes of what a block computes of so many rows.
template <int block_m>
struct SmallBlockTile {
    static constexpr int m = block_m;
    static constexpr int n = Sm90SmallTile::n;
    static constexpr int k = Sm90SmallTile::k;
    static constexpr int stages = Sm90SmallTile::stages(m);
    static constexpr int warpgroups = Sm90SmallTile::warpgroups;
    static_assert(stages % warpgroups == 0, "totograph: each warpgroup has stages of its own.");
    static constexpr int mma_threads = warpgroups * warpgroup_size;
    static constexpr int threads = mma_threads + 32;  ///< A warp is the producer.
    static constexpr std::uint32_t column_bytes = n * k * sizeof(BFloat16);
    static constexpr std::uint32_t stage_bytes = Sm90SmallTile::stage_bytes(m);
    /// From a row of sums in shared memory to the next, in floats: neither who stores nor who loads waits for a bank.
    static constexpr int sum_stride = n + 4;
    static constexpr std::size_t sum_bytes = std::size_t{warpgroups} * m * sum_stride * sizeof(float);
    /// Sums lie where the stages were, which begin at a multiple of 1,024 bytes.
    static constexpr std::size_t shared_bytes = std::max(std::size_t{stages} * stage_bytes, sum_bytes) + 1024;
};

/// GEMMs of one input, each with its chain.
///
/// @tparam N         the norm of the input; void for none
/// @tparam has_tail  the launch behind it may take what it leaves: its result as bf16, and squares of that
template <class N, bool has_tail, class... K>
struct SmallGroup {
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
        /// Of the norm of the input, where `squares_of_input` are there: of each 64 columns of it, the sum of the
        /// squares of each row. Where they are null, another kernel has computed the norm.
        KernelCall norm;
        const float* squares_of_input;
        /// For the launch behind it: its result as bf16, and such sums; null where that one takes none.
        BFloat16* stored;
        float* squares;
    };

    static constexpr auto m = static_cast<int>(First::kernel.rows());
    static constexpr auto k = static_cast<int>(First::kernel.k);
    static_assert(((K::kernel.rows() == m && K::kernel.k == k) && ...),
                  "totograph: the GEMMs of a group have one input, and so the same m and k each.");
    static constexpr int block_m = [] {
        GemmGroup shapes;
        shapes.m = m;
        ((shapes.members[static_cast<std::size_t>(shapes.count++)] = member_of(K::kernel, K::stores_bf16)), ...);
        return sm90_small_rows(shapes);
    }();
    using Tile = SmallBlockTile<block_m>;
    /// Columns of a tile that are of one GEMM of a pair, or all of them.
    template <class Kernel>
    static constexpr int tile_columns = Tile::n / Kernel::kernel.accumulators;
    template <class Kernel>
    static constexpr int column_tiles =
        (static_cast<int>(Kernel::kernel.columns()) + tile_columns<Kernel> - 1) / tile_columns<Kernel>;
    static constexpr int row_tiles = (m + Tile::m - 1) / Tile::m;
    static constexpr int blocks = row_tiles * (column_tiles<K> + ...);

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

}  // namespace totograph::cuda
