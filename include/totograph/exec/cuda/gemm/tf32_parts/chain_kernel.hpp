// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_epilogue.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_group.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_parts.hpp>
#include <totograph/exec/cuda/gemm/sm90/used_rows.hpp>
#include <totograph/exec/cuda/gemm/tf32_parts/stages.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>

// GEMMs in f32 by tf32 parts with their chains: the sums of a warpgroup pass through shared memory, where a lane finds
// eight columns of a row, and each warp runs the chain on the 16 rows that it multiplied.

namespace totograph::cuda {

/// How the sums of a tile lie in shared memory, and what a block computes at a time.
using Tf32PartsSums = TileAccumulatorsF32<Tf32PartsTile::wide, Tf32PartsTile::wide>;
using Tf32PartsChainBlock = Tf32PartsBlock<Tf32PartsTile::wide, 3, Tf32PartsSums::bytes>;

/// What the threads of a group's kernel do.
/// @tparam Group  a `TileGroup` of `Tf32PartsChainBlock`
template <class Group>
struct Tf32PartsChainRunner {
    using Block = typename Group::Tile;
    using Parameters = typename Group::Parameters;
    static_assert(!Group::has_norm && !Group::leaves_tail, "totograph: a chain in f32 begins and ends with its GEMM.");

#if defined(TOTOGRAPH_HAS_WGMMA)
    using Parts = TileParts<Group>;
    using Stages = Tf32PartsStages<Block>;
    using State = typename Stages::State;
    static constexpr int steps = (Group::k + Block::k - 1) / Block::k;
    static constexpr int items = Group::row_tiles * Group::all_column_tiles;

    static __device__ __forceinline__ int first_row(int item) {
        return item / Group::all_column_tiles * Block::m;
    }

    /// A bit for each of the block's first tiles: whether one of its rows is in use. All threads call it.
    static __device__ __forceinline__ unsigned used_tiles(const KernelCall& call) {
        unsigned used = ~0U;
        if constexpr (Group::is_bounded) {
            int item = static_cast<int>(blockIdx.x);
            for (int turn = 0; turn < 32 && item < items; ++turn, item += static_cast<int>(gridDim.x)) {
                if (!Parts::has_rows(call, first_row(item))) {
                    used &= ~(1U << turn);
                }
            }
        }
        return used;
    }

    /// Calls `use(kernel, member, first_row, first_column)` for each tile of the block that has rows in use.
    template <class Use>
    static __device__ __forceinline__ void for_each_tile(unsigned used, const Use& use) {
        int item = static_cast<int>(blockIdx.x);
#pragma unroll 1
        for (int turn = 0; item < items; ++turn, item += static_cast<int>(gridDim.x)) {
            if (turn >= 32 || (used >> turn & 1U) != 0) {
                Parts::with_gemm(item % Group::all_column_tiles,
                                 [&]<class Kernel>(Kernel* kernel, int member, int column) {
                                     use(kernel, member, first_row(item), column);
                                 });
            }
        }
    }

    static __device__ __forceinline__ void copy(const Parameters& parameters, unsigned used, const Stages& stages) {
        State state = Stages::first_to_copy;
        for_each_tile(used, [&]<class Kernel>(Kernel*, int member, int row, int column) {
            constexpr int factors = Kernel::kernel.accumulators;
            stages.copy_tile(state, steps, [&](std::byte* rows, std::byte* weights, std::uint64_t* barrier, int k) {
                tma_load(parameters.input, rows, barrier, k, row);
#pragma unroll
                for (int factor = 0; factor < factors; ++factor) {
                    tma_load(parameters.weights[member], weights + factor * (Block::weight_bytes / factors), barrier, k,
                             column + factor * static_cast<int>(Kernel::kernel.columns()));
                }
            });
        });
    }

    static __device__ __forceinline__ void multiply(const Parameters& parameters, unsigned used, const Stages& stages) {
        State state;
        const AllTileRows<Group> all_rows;
        const Tf32PartsSums tile(stages.memory_behind());
        const int warp = static_cast<int>(threadIdx.x) / warp_size;
        for_each_tile(used, [&]<class Kernel>(Kernel*, int member, int row, int column) {
            constexpr int warp_rows = 16;
            constexpr bool loads_ahead = epilogue_of(Kernel::kernel, Kernel::stores_bf16).large > 0;
            float sums[Block::n / 2];
            stages.multiply_tile(state, steps, sums);
            tile.store(sums, static_cast<int>(threadIdx.x) / warpgroup_size * Block::rows_of_warpgroup);
            __syncwarp();  // what a warp stored, its lanes read
            TileEpilogue<Kernel, Tf32PartsSums, AllTileRows<Group>, Group::m % Block::m == 0, turn_rows, loads_ahead>
                chain(parameters.calls[member], all_rows, row, column,
                      {warp * warp_rows, (warp + 1) * warp_rows, turn_rows});
            chain.finish(tile);
            __syncwarp();  // before a lane stores sums of the next tile
        });
    }

    static __device__ void run(const Parameters& parameters) {
        extern __shared__ std::byte memory[];
        __shared__ typename Stages::Barriers barriers;
        const Stages stages(memory, barriers);
        if (threadIdx.x == 0) {
            prefetch_tma_descriptor(parameters.input);
            for (const CUtensorMap& weight : parameters.weights) {
                prefetch_tma_descriptor(weight);
            }
            stages.init();
        }
        __syncthreads();
        const unsigned used = used_tiles(parameters.calls[0]);
        wait_for_predecessor();
        launch_dependents();
        Stages::share_work([&] { multiply(parameters, used, stages); },
                           [&](int thread) {
                               State state;
                               for_each_tile(used,
                                             [&](auto*, int, int, int) { stages.cut_tile(state, steps, thread); });
                           },
                           [&] { copy(parameters, used, stages); });
    }
#else
    static __device__ void run(const Parameters&) {}  // never launched
#endif
};

template <class Group>
__global__ void __launch_bounds__(Group::Tile::threads, 1)
    tf32_parts_chain_kernel(const __grid_constant__ typename Group::Parameters parameters) {
    Tf32PartsChainRunner<Group>::run(parameters);
}

}  // namespace totograph::cuda
