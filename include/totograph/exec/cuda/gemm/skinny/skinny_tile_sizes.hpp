// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <totograph/exec/cuda/gemm/skinny/skinny_block.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/graph/kernel.hpp>

// What blocks of skinny GEMMs of more than one instruction's rows keep in registers and in shared memory.

namespace totograph::cuda {

/// What of some results a thread finishes: the same columns of several rows.
/// @tparam neighbours  that it finishes at once
/// @tparam columns     of the results
template <int neighbours, int columns, int rows>
struct SkinnyResults {
    static constexpr int lanes = neighbours;
    static constexpr int threads_per_row = columns / lanes;
    static constexpr int rows_at_once = block_threads / threads_per_row;
    static constexpr int rows_per_thread = (rows + rows_at_once - 1) / rows_at_once;

    int column = static_cast<int>(threadIdx.x) % threads_per_row * lanes;
    int first_row = static_cast<int>(threadIdx.x) / threads_per_row;

    __device__ __forceinline__ int row(int i) const { return first_row + i * rows_at_once; }
    __device__ __forceinline__ bool exists(int i) const {
        return static_cast<int>(threadIdx.x) < rows_at_once * threads_per_row && row(i) < rows;
    }
};

/// How a block computes `groups` times `skinny_n` columns of more than `skinny_m` rows at a time, `turns` times, and
/// its shared memory.
template <class Member, int groups, int turns>
struct SkinnyTiles {
    using K = typename Member::K;
    using Chunks = skinny_detail::Chunks<Member>;
    static constexpr int warps = Chunks::warps_of_block;
    static constexpr int tiles = static_cast<int>((K::kernel.rows() + skinny_m - 1) / skinny_m);
    static constexpr int rows = tiles * skinny_m;
    static constexpr int factors = K::kernel.accumulators;
    static constexpr int columns = groups * skinny_n;
    /// Of accumulators in shared memory: odd multiples of eight, so that the lanes that store at a time do so to all
    /// banks.
    static constexpr int stride = groups % 2 == 1 ? columns : columns + skinny_n;

    /// Neighbours that a thread finishes, and what of the columns that a block computes at a time.
    static constexpr int lanes = lanes_of<K>(false, 2);
    using Results = SkinnyResults<lanes, columns, static_cast<int>(K::kernel.rows())>;

    static constexpr int most_registers = SkinnyTile::most_registers;
    /// For weights and accumulators.
    static constexpr int weight_registers =
        groups * factors * (skinny_detail::word_registers<Member> * Chunks::per_warp + 4 * tiles) +
        Member::Arithmetic::part_registers * tiles;
    /// For a chunk of the inputs, as they are stored and as they are kept.
    static constexpr int eights = static_cast<int>((K::kernel.rows() + 7) / 8);
    static constexpr int input_registers =
        eights * static_cast<int>(sizeof(skinny_detail::InputPack<Member>) / sizeof(std::uint32_t));
    static constexpr int kept_registers =
        eights * static_cast<int>(sizeof(skinny_detail::KeptPack<Member>) / sizeof(std::uint32_t));
    /// Chunks whose inputs a thread has on their way at a time: as many as registers hold.
    static constexpr int chunks_together =
        std::clamp((most_registers - weight_registers) / input_registers, 1, Chunks::per_warp);
    /// Whether a thread keeps its inputs from turn to turn, and how many chunks are on their way then: those that
    /// follow take the place that the others left.
    static constexpr bool keeps_inputs =
        turns > 1 && weight_registers + kept_registers* Chunks::per_warp <= most_registers;
    static constexpr int chunks_to_keep_together =
        input_registers == kept_registers
            ? Chunks::per_warp
            : std::clamp((most_registers - weight_registers - kept_registers * Chunks::per_warp) /
                             (input_registers - kept_registers),
                         1, Chunks::per_warp);

    /// What the warps of a block found in one turn.
    struct Turn {
        float accumulators[warps][factors][rows][stride];
        float squares[warps][rows];
    };
    /// Of two turns where there are some: warps go on while others read what was found.
    Turn turn[turns > 1 ? 2 : 1];

    static constexpr std::size_t shared_bytes =
        sizeof(float) * warps * rows * (static_cast<std::size_t>(factors) * stride + 1) * (turns > 1 ? 2 : 1);
    /// With the inputs of one chunk alone, some more registers may be taken.
    static constexpr bool fits =
        weight_registers + input_registers <= 240 && shared_bytes <= least_shared_bytes_of_block;
};

}  // namespace totograph::cuda
