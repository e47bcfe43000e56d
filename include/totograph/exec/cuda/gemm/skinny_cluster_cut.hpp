// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/tf32_tile.hpp>

// How skinny GEMMs in tf32 are cut whose blocks share k. Nothing here needs CUDA.

namespace totograph::cuda {

/// How the clusters of a skinny GEMM compute its columns: each has so many groups of `SkinnyTile::n`, of which each
/// block of the cluster has a part of k.
struct SkinnyClusterCut {
    /// Blocks of a cluster. Of fewer, registers do not hold a block's part of the rows with any k that is too long for
    /// other skinny GEMMs.
    static constexpr int parts = row_cluster_blocks;
    int groups = 0;  ///< Of columns, that a block computes at a time; 0 where no cut fits.
    int turns = 0;   ///< In which it computes all of its cluster.

    [[nodiscard]] constexpr int all_groups() const { return groups * turns; }
    [[nodiscard]] constexpr int columns() const { return all_groups() * SkinnyTile::n; }
    /// Clusters for `n` columns; the last one may have some columns of the one before it, too.
    [[nodiscard]] constexpr int clusters(Index n) const {
        return static_cast<int>(divide_rounding_up(n, Index{columns()}));
    }

    friend constexpr bool operator==(const SkinnyClusterCut&, const SkinnyClusterCut&) = default;
};

/// The cut of a GEMM of `m` rows in tf32. All clusters run at once on the device that a program is cut for, and threads
/// keep their inputs in registers. Of the cuts that do so it is the one with the fewest columns a cluster, then the one
/// with the fewest turns.
constexpr SkinnyClusterCut skinny_cluster_cut(Index m, Index n, Index k) {
    // With one, too few weights are on their way: half as many as other skinny GEMMs of so many rows have there. With
    // four, or with 210 registers, nvcc 13.0 spills some.
    constexpr int least_groups = 2;
    constexpr int most_groups = 3;
    constexpr Index most_registers = 200;  // for weights, inputs and accumulators
    constexpr Index parts = SkinnyClusterCut::parts;
    const Index column_groups = n / SkinnyTile::n;
    const Index tiles = divide_rounding_up(m, Index{SkinnyTile::m});
    const Index chunks = divide_rounding_up(Tf32Tile::tiles_of(k), SkinnyTile::warps * parts);
    const auto least = static_cast<int>(divide_rounding_up(column_groups, Index{compiled_for.row_clusters}));
    SkinnyClusterCut best;
    for (int groups = most_groups; groups >= least_groups; --groups) {
        // An instruction takes two eights of rows, zeros where there is one.
        const Index registers =
            2 * tiles * Tf32Tile::lane_k * chunks + groups * (SkinnyTile::tf32_registers * chunks + 4 * tiles);
        SkinnyClusterCut cut{groups, (least + groups - 1) / groups};
        // Each block finishes as many columns as the others, in pairs.
        cut.turns += cut.columns() % (2 * parts) == 0 ? 0 : 1;
        if (registers <= most_registers && cut.all_groups() <= column_groups &&
            (best.groups == 0 || cut.all_groups() < best.all_groups())) {
            best = cut;
        }
    }
    // What a kernel declares: a sum for each result of a cluster.
    constexpr Index most_sum_bytes = 47 << 10;
    return m * best.columns() * Index{sizeof(float)} <= most_sum_bytes ? best : SkinnyClusterCut{};
}

}  // namespace totograph::cuda
