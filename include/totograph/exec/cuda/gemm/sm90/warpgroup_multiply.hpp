// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <totograph/exec/cuda/gemm/sm90/warpgroup.hpp>
#include <totograph/exec/cuda/gemm/sm90/warpgroup_wgmma.hpp>

// How warpgroups multiply tiles that a copier brings to shared memory, several stages ahead.

namespace totograph::cuda {

#if defined(TOTOGRAPH_HAS_WARPGROUPS)

/// Turns of several stages that are used again and again: which one is next, and the parity of its phase.
template <int stages>
struct StageTurn {
    int stage = 0;
    std::uint32_t parity = 0;

    __device__ __forceinline__ void advance() {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1U;
        }
    }
};

/// Multiplies 64 of the rows of tiles over the whole depth, a stage after the other, and releases each to the copiers
/// of all blocks of the cluster. A stage has the rows first, then the columns.
///
/// @param full, empty  barriers of the stages
/// @param turn         the first stage; afterwards the one after the last
/// @param sums         of the columns of a tile, which need not be zeros
template <class Tile, int depth, int count>
__device__ __forceinline__ void multiply_tiles(const std::byte* tiles, std::uint64_t (&full)[Tile::stages],
                                               std::uint64_t (&empty)[Tile::stages], StageTurn<Tile::stages>& turn,
                                               float (&sums)[count]) {
    static_assert(count * 2 == Tile::columns, "totograph: a thread has 64 x columns / 128 sums.");
    const int which = static_cast<int>(threadIdx.x) / warpgroup_size;
    const int thread = static_cast<int>(threadIdx.x) % warpgroup_size;
    const auto release = [&](int stage) {
        if (thread < Tile::cluster) {
            arrive_at(&empty[stage], thread);
        }
    };
    int before = -1;
#pragma unroll 1
    for (int element = 0; element < depth; element += Tile::depth) {
        wait_at(&full[turn.stage], turn.parity);
        const std::byte* const stage = tiles + turn.stage * Tile::stage_bytes;
        const std::uint64_t rows = describe_operand(stage + which * (Tile::row_bytes / Tile::consumers));
        const std::uint64_t columns = describe_operand(stage + Tile::row_bytes);
        begin_products();
#pragma unroll
        for (int part = 0; part < Tile::depth / 16; ++part) {
            // 16 elements are 32 bytes, of which an operand's description counts sixteenths.
            multiply_64_rows(sums, rows + 2U * part, columns + 2U * part, element > 0 || part > 0 ? 1 : 0);
        }
        commit_products();
        if (before >= 0) {
            wait_for_products<1>();
            release(before);
        }
        before = turn.stage;
        turn.advance();
    }
    wait_for_products<0>();
    release(before);
}

#endif

}  // namespace totograph::cuda
