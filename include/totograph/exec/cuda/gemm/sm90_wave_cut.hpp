// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>

// How the `sm90_wave` kernel cuts GEMMs into tiles. Nothing here needs CUDA.

namespace totograph::cuda {

/// The tiles of a group, and an estimate of what they take on the device that a program is compiled for.
struct Sm90WaveCut {
    int m = 0;  ///< Rows of a tile; 0 where none fits.
    int n = 0;  ///< Columns of a tile; of a pair, half of them are of each.
    /// Blocks of the same rows, neighbours in columns: each copies a part of the rows to all of them.
    int cluster = 1;
    int stages = 0;
    int row_tiles = 0;
    int column_tiles = 0;  ///< Of all GEMMs; the last one of each may reach beyond the last column.
    int waves = 0;         ///< Tiles that a block computes one after the other.
    Index cycles = 0;

    /// Clusters that are launched: as few as have no wave more.
    [[nodiscard]] constexpr int clusters() const {
        return static_cast<int>(divide_rounding_up(Index{row_tiles} * column_tiles / cluster, Index{waves}));
    }
    [[nodiscard]] constexpr int blocks() const { return clusters() * cluster; }
};

/// Bytes of shared memory that the sums of a tile take on their way to the chain: bf16 where the chain stores bf16, in
/// chunks of eight columns of which eight change places with each other; else f32, with a gap behind each row.
constexpr std::size_t sm90_wave_sum_bytes(int m, int n, bool stores_bf16) {
    const int row = stores_bf16 ? (n + 63) / 64 * 64 * 2 : (n + 8) * 4;
    return static_cast<std::size_t>(m) * static_cast<std::size_t>(row);
}
constexpr std::size_t sm90_wave_stage_bytes(int m, int n) {
    return static_cast<std::size_t>(m + n) * Sm90WaveTile::row_bytes;
}

namespace wave_detail {

/// A cut by tiles of some size; `m` is 0 where that does not fit.
constexpr Sm90WaveCut cut_by(const GemmGroup& group, int m, int n, int cluster) {
    Sm90WaveCut cut{.n = n, .cluster = cluster};
    std::size_t sum_bytes = 0;
    for (int i = 0; i < group.count; ++i) {
        const GemmMember& member = group.members[static_cast<std::size_t>(i)];
        cut.column_tiles += static_cast<int>(divide_rounding_up(member.n, Index{n} / member.accumulators));
        sum_bytes = std::max(sum_bytes, sm90_wave_sum_bytes(m, n, member.epilogue.stores_bf16));
    }
    const int element = bytes_of(group.is_bf16 ? MmaOperand::bf16 : MmaOperand::tf32);
    const auto steps = static_cast<int>(divide_rounding_up(group.k * element, Index{Sm90WaveTile::row_bytes}));
    cut.row_tiles = static_cast<int>(divide_rounding_up(group.m, Index{m}));
    constexpr int multiprocessors = compiled_for.multiprocessors;
    const Index tiles = Index{cut.row_tiles} * cut.column_tiles;
    cut.waves = static_cast<int>(divide_rounding_up(tiles, Index{multiprocessors}));
    // Sums of a lone tile lie where its stages were; else beside them, for the next tile is on its way. 1,024 bytes to
    // align the tiles, and as much for barriers.
    const std::size_t room = compiled_for.shared_bytes_of_block - 2048 - (cut.waves > 1 ? sum_bytes : 0);
    // As many stages as hide the way of the next; more leave less room for a block of the next kernel. Products of
    // small stages take less than that way.
    const int most = sm90_wave_stage_bytes(m, n) <= 24576 ? 10 : cut.waves == 1 && steps > 16 ? 6 : 4;
    cut.stages = std::min({most, steps, static_cast<int>(room / sm90_wave_stage_bytes(m, n))});
    // Beside the products of a k that is not short the chain is little: only a wave that is nearly full is as fast as
    // cuBLASLt, which splits a long k, where small tiles wait for products one behind the other; of small
    // tiles fewer do where a kernel for the chain would follow that. More waves are for a short k, and must be full as
    // well.
    const bool is_short = steps < Sm90WaveTile::least_steps_of_long(group.is_bf16);
    const Index computed = Index{cut.waves} * multiprocessors * m * n;
    const bool is_full = group.m * group.weight_rows() * 100 >= computed * 75;
    const bool is_small = m * n < 128 * 128;
    const int most_steps = group.is_direct ? Sm90WaveTile::most_steps_of_small(group.is_bf16)
                                           : Sm90WaveTile::most_steps_of_small_with_chain(group.is_bf16);
    const bool has_blocks =
        tiles * 10 >= multiprocessors * (is_small && !group.is_direct ? 8 : 9) && (!is_small || steps <= most_steps);
    // Three warpgroups have 128 registers a thread: too few for a tile behind another one.
    const bool pays = cut.waves == 1 ? is_short || has_blocks : is_short && is_full && m < 192;
    const bool fits = pays && cut.stages >= std::min(steps, 3) && sum_bytes <= room &&
                      cut.column_tiles % cluster == 0 && cut.waves <= Sm90WaveTile::most_waves(group.is_bf16) &&
                      (group.tail == TailFusion::none || n % squared_columns == 0);
    if (!fits) {
        return {};
    }
    // Fitted to 514 GEMMs in bf16 on an H200, within 13% (root mean square): cycles of 128 bytes of k by tensor cores,
    // for what a multiprocessor reads of them, and for what all blocks read of the L2 cache; and of the chain. In tf32
    // tensor cores multiply half as many elements.
    constexpr Index byte_products_a_cycle = 4096;
    constexpr Index bytes_a_cycle = 64;
    constexpr Index bytes_a_cycle_of_all = 5000;
    constexpr Index chain_columns_a_cycle = 11;
    const Index blocks = std::min(tiles, Index{multiprocessors});
    const Index read = Index{m} / cluster + n;
    constexpr Index row_bytes = Sm90WaveTile::row_bytes;
    const Index step =
        std::max({Index{m} * n * row_bytes / byte_products_a_cycle, Index{m + n} * row_bytes / bytes_a_cycle,
                  read * row_bytes * blocks / bytes_a_cycle_of_all});
    cut.cycles = cut.waves * (steps * step + Index{m} * n / chain_columns_a_cycle);
    cut.m = m;
    return cut;
}

}  // namespace wave_detail

/// The tiles of a group: those of the fewest cycles by the estimate; clusters where they save a fifth of what the best
/// blocks alone take.
constexpr Sm90WaveCut sm90_wave_cut(const GemmGroup& group) {
    struct Size {
        int m;
        int n;
    };
    constexpr std::array sizes{Size{64, 64},  Size{64, 128},  Size{64, 192},  Size{64, 256},  Size{128, 64},
                               Size{128, 96}, Size{128, 128}, Size{128, 192}, Size{128, 256}, Size{192, 128}};
    const auto best_of = [&](int cluster) {
        Sm90WaveCut best;
        for (const Size& size : sizes) {
            const Sm90WaveCut cut = wave_detail::cut_by(group, size.m, size.n, cluster);
            if (cut.m > 0 && (best.m == 0 || cut.cycles < best.cycles)) {
                best = cut;
            }
        }
        return best;
    };
    const Sm90WaveCut alone = best_of(1);
    const Sm90WaveCut pair = best_of(Sm90WaveTile::most_cluster);
    return pair.m > 0 && (alone.m == 0 || pair.cycles * 5 < alone.cycles * 4) ? pair : alone;
}

}  // namespace totograph::cuda
