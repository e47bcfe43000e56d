// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>

// What a block computes of GEMMs of some hundred rows.

namespace totograph::cuda {

/// The sizes of what a block computes of so many rows.
template <MmaOperand multiplied, int block_m>
struct SmallBlockTile {
    static constexpr MmaOperand operand = multiplied;
    static constexpr int m = block_m;
    static constexpr int n = Sm90SmallTile::n;
    static constexpr int k = Sm90SmallTile::row_bytes / bytes_of(operand);
    static constexpr int stages = Sm90SmallTile::stages(m);
    static constexpr int warpgroups = Sm90SmallTile::warpgroups;
    static_assert(stages % warpgroups == 0, "totograph: each warpgroup has stages of its own.");
    static constexpr int mma_threads = warpgroups * warpgroup_size;
    static constexpr int threads = mma_threads + 32;  ///< A warp is the producer.
    static constexpr int blocks_of_multiprocessor = m > Sm90SmallTile::most_m_of_two ? 1 : 2;
    static constexpr std::uint32_t column_bytes = n * Sm90SmallTile::row_bytes;
    static constexpr std::uint32_t stage_bytes = Sm90SmallTile::stage_bytes(m);
    /// From a row of sums in shared memory to the next, in floats: neither stores nor loads have bank conflicts, but
    /// for the loads of a pair that is stored as f32, which take two accesses.
    static constexpr int sum_stride = n + 4;
    static constexpr std::size_t sum_bytes = std::size_t{warpgroups} * m * sum_stride * sizeof(float);
    /// Sums lie where the stages were, which begin at a multiple of 1,024 bytes.
    static constexpr std::size_t shared_bytes = std::max(std::size_t{stages} * stage_bytes, sum_bytes) + 1024;
};

}  // namespace totograph::cuda
