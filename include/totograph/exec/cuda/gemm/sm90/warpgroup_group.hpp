// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/product_epilogue.hpp>
#include <totograph/exec/cuda/gemm/sm90/warpgroup.hpp>
#include <totograph/exec/cuda/gemm/sm90/warpgroup_epilogue.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// Which products of many rows warpgroups compute together, and how they are cut into tiles.

namespace totograph::cuda {

/// The sizes of what a block computes at a time, but for its columns.
struct WarpgroupSizes {
    static constexpr int rows = 128;
    static constexpr int depth = 64;
    static constexpr int stages = 3;
    static constexpr int cluster = 2;
    static constexpr int consumers = 2;                                  ///< Warpgroups that multiply.
    static constexpr int multipliers = consumers * warpgroup_size / 32;  ///< Their warps.
    static constexpr int finishers = 3;  ///< Warps that run chains; the fourth of their warpgroup copies.
    static constexpr int threads = (consumers + 1) * warpgroup_size;
    static constexpr std::uint32_t row_bytes = rows * depth * sizeof(BFloat16);
};

/// A tile of so many columns.
template <int tile_columns>
struct WarpgroupTile : WarpgroupSizes {
    static constexpr int columns = tile_columns;
    static constexpr std::uint32_t column_bytes = columns * depth * sizeof(BFloat16);
    static constexpr std::uint32_t stage_bytes = row_bytes + column_bytes;
    /// The tiles begin at a multiple of 1,024 bytes.
    static constexpr std::size_t shared_bytes = std::size_t{stages} * stage_bytes + TileSums<columns>::bytes + 1024;
};

/// Whether the chain of a product is short: it runs on three warps while a tile is multiplied, and what it reads of
/// columns stays in registers. What it reads must belong to rows or columns alone: for numbers of each element a
/// library and a kernel for the chain are faster (58 us against 33, when chains did not run beside products yet).
template <class K>
constexpr bool has_short_chain() {
    const Chain& chain = K::kernel.chain;
    constexpr int most_operands = 6;
    constexpr int most_instructions = 16;
    constexpr int row_rank = K::kernel.row_rank;
    constexpr unsigned repeated =
        operands_that_repeat<K>(0, row_rank) | operands_that_repeat<K>(row_rank, K::kernel.iteration.rank);
    bool is_short = chain.count > 0 && chain.count <= most_instructions && K::kernel.operand_count <= most_operands &&
                    repeated == (1U << K::kernel.operand_count) - 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(chain.count); ++i) {
        switch (chain.instructions[i].op) {
            case Op::constant:
            case Op::add:
            case Op::subtract:
            case Op::multiply:
            case Op::maximum:
            case Op::minimum:
            case Op::negative:
            case Op::rotate_pairs:
            case Op::sigmoid:
            case Op::silu: break;
            default: is_short = false;
        }
    }
    return is_short;
}

/// Whether the chain, which runs beside the products of the next tile, takes about as long as these, or less. One
/// sigmoid, which is most of a chain, it may have for half of a tile's columns, in tiles of more depth, and if what it
/// makes is stored as bf16: else a library and a kernel for the chain were faster (a pair of 1,750 rows of depth 768
/// stored as f32: 43 us against 50; a product alone: 33 against 44; before rows of a chain overlapped).
template <class K>
constexpr bool keeps_up() {
    const Chain& chain = K::kernel.chain;
    int sigmoids = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(chain.count); ++i) {
        const Op op = chain.instructions[i].op;
        sigmoids += op == Op::sigmoid || op == Op::silu ? 1 : 0;
    }
    constexpr bool is_half_of_tile = K::kernel.accumulators == 2;
    constexpr bool stores_bf16 = std::is_same_v<Output<K>, BFloat16>;
    return sigmoids == 0 ? K::kernel.depth >= 512
                         : sigmoids == 1 && is_half_of_tile && stores_bf16 && K::kernel.depth >= 768;
}

/// Whether a product can be computed in this way, and pays. With fewer rows (448 were measured) a library's smaller
/// tiles fill the device better. Products whose columns, of a pair both together, are not a multiple of 256 were not
/// measured.
template <class K>
constexpr bool fits_warpgroups() {
    if constexpr (K::kernel.kind != KernelKind::product) {
        return false;
    } else {
        constexpr Kernel kernel = K::kernel;
        constexpr bool can = kernel.depth % WarpgroupSizes::depth == 0 && kernel.accumulators <= 2 && K::is_aligned &&
                             epilogue_lanes<K, BFloat16>() == 8;
        return can && kernel.columns() * kernel.accumulators % 256 == 0 && kernel.rows() >= 1024 &&
               has_short_chain<K>() && keeps_up<K>();
    }
}

/// Products of one input, each with its chain.
template <class... K>
struct WarpgroupGroup {
    static constexpr int count = sizeof...(K);

    struct Parameters {
        CUtensorMap input;
        CUtensorMap weights[count];
        KernelCall calls[count];
    };

    static constexpr int rows = static_cast<int>(std::max({K::kernel.rows()...}));
    static constexpr int depth = static_cast<int>(std::max({K::kernel.depth...}));
    /// Pairs of row tiles, one for each block of a cluster.
    static constexpr int row_pairs =
        (rows + WarpgroupSizes::cluster * WarpgroupSizes::rows - 1) / (WarpgroupSizes::cluster * WarpgroupSizes::rows);
    /// Tiles of so many columns that a product takes; the last one may reach beyond the last column.
    template <class Kernel>
    static constexpr int column_tiles_of(int columns_of_tile) {
        const int of_product = columns_of_tile / Kernel::kernel.accumulators;
        return (static_cast<int>(Kernel::kernel.columns()) + of_product - 1) / of_product;
    }
    /// Turns that clusters take with tiles of so many columns.
    static constexpr int rounds(int columns_of_tile, int multiprocessors) {
        const int clusters = multiprocessors / WarpgroupSizes::cluster;
        return (row_pairs * (column_tiles_of<K>(columns_of_tile) + ...) + clusters - 1) / clusters;
    }
    /// Devices that have such instructions have at most so many.
    static constexpr int most_multiprocessors = 132;
    /// The columns of a tile: 256, or 224 where rounds of these take less, on the largest device; on one of 114 the
    /// other might.
    static constexpr int tile_columns =
        rounds(224, most_multiprocessors) * 224 < rounds(256, most_multiprocessors) * 256 ? 224 : 256;
    using Tile = WarpgroupTile<tile_columns>;
    template <class Kernel>
    static constexpr int column_tiles = column_tiles_of<Kernel>(tile_columns);
    /// Rows of the weights of a member: its columns, of a pair those of both.
    template <int member>
    static constexpr Index weight_rows = [] {
        constexpr Index all[] = {K::kernel.columns() * K::kernel.accumulators...};
        return all[member];
    }();
    static constexpr int all_column_tiles = (column_tiles<K> + ...);
    static_assert(((K::kernel.rows() == rows && K::kernel.depth == depth) && ...),
                  "totograph: the products of a group have one input, and so the same rows and depth each.");
    /// Whether no tile reaches beyond the last row.
    static constexpr bool tiles_are_whole = rows % (WarpgroupSizes::cluster * WarpgroupSizes::rows) == 0;
    /// Two tiles, what a cluster computes at a time.
    static constexpr int items = row_pairs * all_column_tiles;

    /// Whether few multiprocessors are idle while the last items are computed, and few columns of tiles lie beyond the
    /// last one of a product.
    static constexpr bool fills(int multiprocessors) {
        constexpr Index columns = ((K::kernel.columns() * K::kernel.accumulators) + ...);
        const Index turns = rounds(tile_columns, multiprocessors) * (multiprocessors / WarpgroupSizes::cluster);
        return row_pairs * columns * 10 >= turns * tile_columns * 8;
    }
};

}  // namespace totograph::cuda
