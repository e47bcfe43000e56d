// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/sm90_wave_cut.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>

namespace totograph::cuda {

/// What a block of the `sm90_wave` kernel computes at a time, as `Sm90WaveCut` says.
/// @tparam has_norm  a warp finishes the norm of the input
template <MmaOperand multiplied, int block_m, int block_n, int blocks_of_cluster, int most_stages, int tiles_of_block,
          bool has_norm>
struct WaveBlockTile {
    static constexpr MmaOperand operand = multiplied;
    static constexpr int m = block_m;
    static constexpr int n = block_n;
    static constexpr int k = Sm90WaveTile::row_bytes / bytes_of(operand);
    static constexpr int cluster = blocks_of_cluster;
    static constexpr int stages = most_stages;
    static constexpr int waves = tiles_of_block;
    static constexpr int consumers = m / Sm90WaveTile::rows_of_warpgroup;  ///< Warpgroups that multiply.
    static constexpr int mma_threads = consumers * warpgroup_size;
    static constexpr int threads = mma_threads + (has_norm ? 64 : 32);  ///< A warp is the producer.
    static constexpr std::uint32_t row_bytes = m * Sm90WaveTile::row_bytes;
    static constexpr std::uint32_t column_bytes = n * Sm90WaveTile::row_bytes;
    static constexpr std::uint32_t stage_bytes = row_bytes + column_bytes;
    static_assert(stage_bytes == sm90_wave_stage_bytes(m, n));
    /// Two, so that a block of the next kernel has room beside it, where each quarter of a multiprocessor has registers
    /// enough for its warps: for a thread's sums, and 80 for addresses and what the chain reads.
    static constexpr int registers_of_quarter = 16384;
    static constexpr int warps_of_quarter = (2 * threads / 32 + 3) / 4;
    static constexpr int blocks_of_multiprocessor =
        warps_of_quarter * 32 * (n / 2 + 80) <= registers_of_quarter ? 2 : 1;
};

}  // namespace totograph::cuda
