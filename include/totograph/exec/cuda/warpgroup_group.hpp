// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <cuda.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernel_call.hpp>
#include <totograph/exec/cuda/product_epilogue.hpp>
#include <totograph/exec/cuda/warpgroup.hpp>
#include <totograph/exec/cuda/warpgroup_epilogue.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// Which products of many rows warpgroups compute together, and how they are cut into tiles.

namespace totograph::cuda {

/// The sizes of what a block computes at a time.
struct WarpgroupTile {
    static constexpr int rows = 128;
    static constexpr int columns = 256;
    static constexpr int depth = 64;
    static constexpr int stages = 3;
    static constexpr int cluster = 2;
    static constexpr int consumers = 2;                                  ///< Warpgroups that multiply.
    static constexpr int multipliers = consumers * warpgroup_size / 32;  ///< Their warps.
    static constexpr int finishers = 3;  ///< Warps that run chains; the fourth of their warpgroup copies.
    static constexpr int threads = (consumers + 1) * warpgroup_size;
    static constexpr std::uint32_t row_bytes = rows * depth * sizeof(BFloat16);
    static constexpr std::uint32_t column_bytes = columns * depth * sizeof(BFloat16);
    static constexpr std::uint32_t stage_bytes = row_bytes + column_bytes;
    /// The tiles begin at a multiple of 1,024 bytes.
    static constexpr std::size_t shared_bytes = std::size_t{stages} * stage_bytes + TileSums::bytes + 1024;
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
            case Op::negate:
            case Op::rotate_pairs:
            case Op::sigmoid:
            case Op::silu: break;
            default: is_short = false;
        }
    }
    return is_short;
}

/// Whether a product can be computed in this way, and pays. With fewer rows (448 were measured) a library's smaller
/// tiles fill the device better; in shallow products (128) the chain takes longer than the next tile, and was most of
/// the time.
template <class K>
constexpr bool fits_warpgroups() {
    if constexpr (K::kernel.kind != KernelKind::product) {
        return false;
    } else {
        constexpr Kernel kernel = K::kernel;
        constexpr bool can = kernel.depth % WarpgroupTile::depth == 0 && kernel.accumulators <= 2 &&
                             kernel.columns() % (WarpgroupTile::columns / kernel.accumulators) == 0 && K::is_aligned &&
                             epilogue_lanes<K, BFloat16>() == 8;
        return can && kernel.rows() >= 1024 && kernel.depth >= 512 && has_short_chain<K>();
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
        (rows + WarpgroupTile::cluster * WarpgroupTile::rows - 1) / (WarpgroupTile::cluster * WarpgroupTile::rows);
    template <class Kernel>
    static constexpr int column_tiles =
        static_cast<int>(Kernel::kernel.columns() * Kernel::kernel.accumulators) / WarpgroupTile::columns;
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
    static constexpr bool tiles_are_whole = rows % (WarpgroupTile::cluster * WarpgroupTile::rows) == 0;
    /// Two tiles, what a cluster computes at a time.
    static constexpr int items = row_pairs * all_column_tiles;

    /// Whether few multiprocessors are idle while the last items are computed.
    static constexpr bool fills(int multiprocessors) {
        const int clusters = multiprocessors / WarpgroupTile::cluster;
        const int rounds = (items + clusters - 1) / clusters;
        return items * 10 >= rounds * clusters * 8;
    }
};

}  // namespace totograph::cuda
