// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/gemm/sm90/norm_from_squares.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_epilogue.hpp>
#include <totograph/exec/cuda/gemm/sm90/used_rows.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>

// GEMMs of many rows that warpgroups compute together, and the sizes of their tiles.

namespace totograph::cuda {

/// The sizes of what a block computes at a time, but for its columns.
struct Sm90Sizes {
    static constexpr int m = Sm90Tile::m;
    static constexpr int k = Sm90Tile::k;
    static constexpr int stages = Sm90Tile::stages;
    static constexpr int cluster = Sm90Tile::cluster;
    static constexpr int consumers = 2;                                ///< Warpgroups that multiply.
    static constexpr int mma_warps = consumers * warpgroup_size / 32;  ///< Their warps.
    static constexpr int epilogue_warps = 3;  ///< Of the third warpgroup; its fourth warp is the producer.
    static constexpr int threads = (consumers + 1) * warpgroup_size;
    static constexpr std::uint32_t row_bytes = m * k * sizeof(BFloat16);
};

/// A tile of so many columns.
template <int tile_n>
struct Sm90BlockTile : Sm90Sizes {
    static constexpr int n = tile_n;
    static constexpr std::uint32_t column_bytes = n * k * sizeof(BFloat16);
    static constexpr std::uint32_t stage_bytes = row_bytes + column_bytes;
    /// The tiles begin at a multiple of 1,024 bytes.
    static constexpr std::size_t shared_bytes =
        std::size_t{stages} * stage_bytes + TileAccumulators<n, m>::bytes + 1024;
};

/// GEMMs of one input, each with its chain.
/// @tparam N  the norm of the input; void for none
template <class N, class... K>
struct Sm90Group {
    using Norm = N;
    static constexpr bool has_norm = !std::is_void_v<N>;
    static constexpr int count = sizeof...(K);

    using Groups = RowGroups<Sm90Tile::m, Norm, K...>;

    struct Parameters {
        CUtensorMap input;
        CUtensorMap input_groups;  ///< The same in tiles of a group of rows, where some may be left out.
        CUtensorMap weights[count];
        KernelCall calls[count];
        NormFromSquares norm;
    };

    /// The GEMMs as numbers, of which their tiles follow.
    static constexpr GemmGroup shapes = [] {
        GemmGroup result;
        result.m = std::max({K::kernel.rows()...});
        result.k = std::max({K::kernel.k...});
        ((result.members[static_cast<std::size_t>(result.count++)] = member_of(K::kernel, K::stores_bf16)), ...);
        return result;
    }();
    static constexpr Sm90Cut cut = sm90_cut(shapes);
    static constexpr auto m = static_cast<int>(shapes.m);
    static constexpr auto k = static_cast<int>(shapes.k);
    static constexpr int row_pairs = cut.row_pairs;
    static constexpr int tile_n = cut.tile_n;
    using Tile = Sm90BlockTile<tile_n>;
    // 1,024 bytes for barriers.
    static_assert(Tile::shared_bytes + RowGroup::list_bytes + 1024 <= compiled_for.shared_bytes_of_block);
    /// Tiles of columns that a GEMM takes; the last one may reach beyond the last column.
    template <class Kernel>
    static constexpr int column_tiles = Sm90Cut::column_tiles_of(member_of(Kernel::kernel, false), tile_n);
    /// Rows of the weights of a member.
    template <int member>
    static constexpr Index weight_rows = shapes.members[static_cast<std::size_t>(member)].weight_rows();
    static constexpr int all_column_tiles = cut.column_tiles;
    static_assert(((K::kernel.rows() == m && K::kernel.k == k) && ...),
                  "totograph: the GEMMs of a group have one input, and so the same m and k each.");
    /// Whether no tile reaches beyond the last row.
    static constexpr bool tiles_are_whole = m % (Sm90Sizes::cluster * Sm90Sizes::m) == 0;
    /// Two tiles, what a cluster computes at a time.
    static constexpr int items = cut.items();
};

}  // namespace totograph::cuda
