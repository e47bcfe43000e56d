// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/sm90/wgmma.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>

// How warpgroups multiply tiles that a producer brings to shared memory, several stages ahead.

namespace totograph::cuda {

#if defined(TOTOGRAPH_HAS_WGMMA)

/// Turns of several stages that are used again and again: which one is next, and the parity of its phase.
template <int stages>
struct PipelineState {
    int stage = 0;
    std::uint32_t parity = 0;

    __device__ __forceinline__ void advance() {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1U;
        }
    }
};

/// Multiplies 64 of the rows of tiles over all of k, a stage after the other, and releases each to the producers
/// of all blocks of the cluster. A stage has the rows first, then the columns.
///
/// @param full, empty  barriers of the stages
/// @param state        the first stage; afterwards the one after the last
/// @param acc          of the columns of a tile, which need not be zeros
template <class Tile, int k, MmaOperand operand = MmaOperand::bf16, int count>
__device__ __forceinline__ void run_mainloop(const std::byte* tiles, std::uint64_t (&full)[Tile::stages],
                                             std::uint64_t (&empty)[Tile::stages], PipelineState<Tile::stages>& state,
                                             float (&acc)[count]) {
    static_assert(count * 2 == Tile::n, "totograph: a thread has 64 x n / 128 accumulators.");
    constexpr int parts = Tile::k * bytes_of(operand) / 32;  // an instruction takes 32 bytes of each row
    const int which = static_cast<int>(threadIdx.x) / warpgroup_size;
    const int thread = static_cast<int>(threadIdx.x) % warpgroup_size;
    const auto release = [&](int stage) {
        if (thread < Tile::cluster) {
            mbarrier_arrive_at(&empty[stage], thread);
        }
    };
    int before = -1;
#pragma unroll 1
    for (int element = 0; element < k; element += Tile::k) {
        mbarrier_wait(&full[state.stage], state.parity);
        const std::byte* const stage = tiles + state.stage * Tile::stage_bytes;
        const std::uint64_t rows = wgmma_descriptor(stage + which * (Tile::row_bytes / Tile::consumers));
        const std::uint64_t columns = wgmma_descriptor(stage + Tile::row_bytes);
        wgmma_fence();
#pragma unroll
        for (int part = 0; part < parts; ++part) {
            // Of bytes, an operand's description counts sixteens.
            wgmma_m64<operand>(acc, rows + 2U * part, columns + 2U * part, element > 0 || part > 0 ? 1 : 0);
        }
        wgmma_commit();
        if (before >= 0) {
            wgmma_wait<1>();
            release(before);
        }
        before = state.stage;
        state.advance();
    }
    wgmma_wait<0>();
    release(before);
}

#endif

}  // namespace totograph::cuda
