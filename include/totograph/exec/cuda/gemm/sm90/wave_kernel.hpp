// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda.h>
#include <cuda_runtime.h>

#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/sm90/mainloop.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_epilogue.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_group.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_parts.hpp>
#include <totograph/exec/cuda/gemm/sm90/used_rows.hpp>
#include <totograph/exec/cuda/gemm/sm90_wave_cut.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>

// GEMMs whose tiles all multiprocessors compute in one wave, or in few, with the chain after each in the same
// kernel. What a wave takes is the way of its first stage, its products, and the chain on its tile; so tiles are of the
// size with which that is the least (`Sm90WaveCut`).
//
// One warp copies stages of 128 bytes of k to shared memory, and one finishes the norm meanwhile; each warpgroup
// multiplies 64 of the rows by all columns, and each of its warps runs the chain on the 16 rows that it multiplied.
// Their sums pass through shared memory: there a lane finds eight columns of a row. Two blocks of a cluster may
// have the same rows, which each copies a half of to both.

namespace totograph::cuda {

/// How the sums of a group's tiles lie in shared memory.
template <class Group>
struct WaveSums;
template <class Tile, class Norm, bool has_tail, class... K>
struct WaveSums<TileGroup<Tile, Norm, has_tail, K...>> {
    template <class Kernel>
    using Of = std::conditional_t<Kernel::stores_bf16, TileAccumulators<Tile::n, Tile::m>,
                                  TileAccumulatorsF32<Tile::n, Tile::m>>;
    static_assert(((Of<K>::bytes == sm90_wave_sum_bytes(Tile::m, Tile::n, K::stores_bf16)) && ...));
    static constexpr std::size_t bytes = std::max({Of<K>::bytes...});
    static constexpr std::size_t stage_bytes = std::size_t{Tile::stages} * Tile::stage_bytes;
    /// Those of a lone tile lie where its stages were; else behind them, for the next tile is on its way.
    static constexpr bool take_stages = Tile::waves == 1;
    static constexpr std::size_t offset = take_stages ? 0 : stage_bytes;
    /// The stages begin at a multiple of 1,024 bytes.
    static constexpr std::size_t shared_bytes =
        (take_stages ? std::max(stage_bytes, bytes) : stage_bytes + bytes) + 1024;
};

/// What the threads of a group's kernel do.
template <class Group>
struct WaveRunner {
    using Parts = TileParts<Group>;
    using Tile = typename Group::Tile;
    using Sums = WaveSums<Group>;
    using Parameters = typename Group::Parameters;

#if defined(TOTOGRAPH_HAS_WGMMA)
    static constexpr int steps = (Group::k + Tile::k - 1) / Tile::k;  // what lies behind k arrives as zeros
    static_assert(steps >= Tile::stages);
    static constexpr int warp_rows = 16;  ///< That a warp multiplies, and runs the chain on.
    /// What a cluster computes at a time.
    static constexpr int items = Group::row_tiles * (Group::all_column_tiles / Tile::cluster);
    static_assert(Group::all_column_tiles % Tile::cluster == 0);

    struct Barriers {
        std::uint64_t full[Tile::stages];
        std::uint64_t empty[Tile::stages];
        std::uint64_t norm[Tile::waves];  ///< The norm of a turn's rows is there.
    };

    static __device__ __forceinline__ int clusters() {
        return static_cast<int>(gridDim.x) / Tile::cluster;
    }
    static __device__ __forceinline__ int rank() {
        if constexpr (Tile::cluster > 1) {
            return cluster_rank();
        } else {
            return 0;
        }
    }
    static __device__ __forceinline__ int first_row(int item) {
        return item % Group::row_tiles * Tile::m;
    }
    static __device__ __forceinline__ int column_tile(int item) {
        return item / Group::row_tiles * Tile::cluster + rank();
    }

    /// Calls `use` with the item and the turn for each item of the block that has rows in use: a bit of `used` for each
    /// turn.
    template <class Use>
    static __device__ __forceinline__ void for_each_item(unsigned used, const Use& use) {
        int item = static_cast<int>(blockIdx.x) / Tile::cluster;
#pragma unroll 1
        for (int turn = 0; turn < Tile::waves; ++turn, item += clusters()) {
            if (item < items && (used >> turn & 1U) != 0) {
                use(item, turn);
            }
        }
    }

    /// A bit for each turn of the block: whether its item has rows in use. The same in all blocks of a cluster. All
    /// threads call it.
    static __device__ __forceinline__ unsigned used_turns(const KernelCall& call) {
        unsigned used = ~0U;
        if constexpr (Group::is_bounded) {
            int item = static_cast<int>(blockIdx.x) / Tile::cluster;
            for (int turn = 0; turn < Tile::waves; ++turn, item += clusters()) {
                if (!Parts::has_rows(call, first_row(item))) {
                    used &= ~(1U << turn);
                }
            }
        }
        return used;
    }

    /// Copies stages as long as there are any: one thread does.
    static __device__ __forceinline__ void run_producer(const Parameters& parameters, unsigned used, std::byte* tiles,
                                                        Barriers& barriers) {
        // A stage is free at first: waits for the phase before end at once.
        PipelineState<Tile::stages> state{.parity = 1};
        const int block = rank();
        bool has_waited = false;
        const auto copy_rows = [&](int item, int step, int stage) {
            constexpr int rows = Tile::m / Tile::cluster;
            std::byte* const to = tiles + stage * Tile::stage_bytes + block * (Tile::row_bytes / Tile::cluster);
            const int row = first_row(item) + block * rows;
            if constexpr (Tile::cluster > 1) {
                tma_load_multicast((1U << Tile::cluster) - 1U, parameters.input, to, &barriers.full[stage],
                                   step * Tile::k, row);
            } else {
                tma_load(parameters.input, to, &barriers.full[stage], step * Tile::k, row);
            }
        };
        for_each_item(used, [&](int item, int) {
            Parts::with_gemm(column_tile(item), [&]<class Kernel>(Kernel*, int member, int column) {
                const auto copy_weights = [&](int step) {
                    mbarrier_wait(&barriers.empty[state.stage], state.parity);
                    std::byte* const to = tiles + state.stage * Tile::stage_bytes + Tile::row_bytes;
                    mbarrier_arrive_expect_tx(&barriers.full[state.stage], Tile::stage_bytes);
                    constexpr int factors = Kernel::kernel.accumulators;
#pragma unroll
                    for (int factor = 0; factor < factors; ++factor) {
                        tma_load(parameters.weights[member], to + factor * (Tile::column_bytes / factors),
                                 &barriers.full[state.stage], step * Tile::k,
                                 column + factor * static_cast<int>(Kernel::kernel.columns()));
                    }
                };
                int first = 0;
                if (!has_waited) {
                    // Weights do not depend on the kernel before this one. Not those of all stages are asked for early:
                    // behind them, the first rows arrive later.
                    constexpr int early = std::min(Tile::stages, 2);
                    for (int step = 0; step < early; ++step, state.advance()) {
                        copy_weights(step);
                    }
                    wait_for_predecessor();
                    for (int step = 0; step < early; ++step) {
                        copy_rows(item, step, step);
                    }
                    first = early;
                    has_waited = true;
                }
                for (int step = first; step < steps; ++step) {
                    copy_weights(step);
                    copy_rows(item, step, state.stage);
                    state.advance();
                }
            });
        });
        if constexpr (Tile::cluster > 1) {
            // A block may not end while the other one arrives at its barriers, or what it copied to the other one is on
            // its way. When these phases end, both have read the last stages.
            for (int stage = 0; stage < Tile::stages; ++stage, state.advance()) {
                mbarrier_wait(&barriers.empty[state.stage], state.parity);
            }
        }
    }

    /// Finishes the norm of the rows of each turn: one warp does.
    static __device__ __forceinline__ void run_norm(const Parameters& parameters, unsigned used, Barriers& barriers) {
        for_each_item(used, [&](int item, int turn) {
            Parts::template finish_norm<32>(parameters, first_row(item), static_cast<int>(threadIdx.x) % 32);
            mbarrier_arrive(&barriers.norm[turn]);
        });
    }

    /// Multiplies and runs the chain.
    static __device__ __forceinline__ void run_consumer(const Parameters& parameters, unsigned used, std::byte* tiles,
                                                        Barriers& barriers) {
        PipelineState<Tile::stages> state;
        for_each_item(used, [&](int item, int turn) {
            Parts::with_gemm(column_tile(item), [&]<class Kernel>(Kernel*, int member, int column) {
                using Accumulators = typename Sums::template Of<Kernel>;
                using Rows = AllTileRows<Group>;
                constexpr int rows_of_turn = rows_of_chain<Kernel>();
                constexpr bool loads_ahead = epilogue_of(Kernel::kernel, Kernel::stores_bf16).large > 0;
                const int warp = static_cast<int>(threadIdx.x) / 32;
                const Rows rows;
                const Accumulators acc(tiles + Sums::offset);
                const auto begin_chain = [&] {
                    return TileEpilogue<Kernel, Accumulators, Rows, Group::m % Tile::m == 0, rows_of_turn, loads_ahead>(
                        parameters.calls[member], rows, first_row(item), column,
                        {warp * warp_rows, (warp + 1) * warp_rows, rows_of_turn});
                };
                float own[Tile::n / 2];
                if constexpr (Group::has_norm) {
                    run_mainloop<Tile, Group::k, Tile::operand>(tiles, barriers.full, barriers.empty, state, own);
                    if (parameters.norm.squares != nullptr) {
                        mbarrier_wait(&barriers.norm[turn], 0);
                    }
                    auto chain = begin_chain();
                    keep(acc, own);
                    finish(parameters, chain, acc);
                } else {
                    auto chain = begin_chain();
                    run_mainloop<Tile, Group::k, Tile::operand>(tiles, barriers.full, barriers.empty, state, own);
                    keep(acc, own);
                    finish(parameters, chain, acc);
                }
            });
        });
    }

    /// Rows that a warp runs the chain on at a time. What it reads of as many elements as the result has, such as a
    /// residual, is on its way while the sums are made: of all rows of the warp if registers hold it, else of a part
    /// and the next one.
    template <class Kernel>
    static constexpr int rows_of_chain() {
        constexpr GemmEpilogue epilogue = epilogue_of(Kernel::kernel, Kernel::stores_bf16);
        constexpr auto lanes_of_row =
            static_cast<int>(std::bit_ceil(unsigned{Group::template tile_columns<Kernel> / 8}));
        constexpr int rows_at_once = 32 / lanes_of_row;
        constexpr int registers_of_row = 8 * (epilogue.large + epilogue.tables);
        constexpr int most_registers = 32;
        if constexpr (epilogue.large == 0) {
            return std::min(warp_rows, std::max(turn_rows, rows_at_once));
        } else if constexpr (warp_rows / rows_at_once * registers_of_row <= most_registers) {
            return warp_rows;
        } else {
            return rows_at_once * std::max(1, most_registers / 2 / registers_of_row);
        }
    }

    /// Leaves the sums of a warpgroup in shared memory.
    template <class Accumulators>
    static __device__ __forceinline__ void keep(const Accumulators& acc, const float (&own)[Tile::n / 2]) {
        if constexpr (Sums::take_stages) {
            asm volatile("bar.sync 1, %0;" ::"n"(Tile::mma_threads) : "memory");  // all stages have been read
        }
        acc.store(own, static_cast<int>(threadIdx.x) / warpgroup_size * Sm90WaveTile::rows_of_warpgroup);
        __syncwarp();  // what a warp stored, its lanes read
    }

    template <class Chain, class Accumulators>
    static __device__ __forceinline__ void finish(const Parameters& parameters, Chain& chain, const Accumulators& acc) {
        if constexpr (Group::leaves_tail) {
            chain.finish(acc, [&](auto apart, int row, int column, bool has_column, bool exists, const auto& result) {
                Parts::leave_tail(apart, parameters, row, column, has_column, exists, result);
            });
        } else {
            chain.finish(acc);
        }
        __syncwarp();  // before a lane stores sums of the next tile
    }

    static __device__ void run(const Parameters& parameters) {
        extern __shared__ std::byte memory[];
        __shared__ Barriers barriers;
        std::byte* const tiles = memory + (1024 - shared_address(memory) % 1024) % 1024;
        constexpr int producer = Tile::mma_threads;
        if (threadIdx.x == producer) {
            prefetch_tma_descriptor(parameters.input);
            for (const CUtensorMap& weight : parameters.weights) {
                prefetch_tma_descriptor(weight);
            }
            for (int stage = 0; stage < Tile::stages; ++stage) {
                mbarrier_init(&barriers.full[stage], 1);
                mbarrier_init(&barriers.empty[stage], Tile::consumers * Tile::cluster);
            }
            for (std::uint64_t& norm : barriers.norm) {
                mbarrier_init(&norm, 32);
            }
            fence_mbarrier_init();
        }
        if constexpr (Tile::cluster > 1) {
            cluster_sync();
        } else {
            __syncthreads();
        }
        const unsigned used = used_turns(parameters.calls[0]);
        if (threadIdx.x < producer) {
            wait_for_predecessor();
            launch_dependents();
            run_consumer(parameters, used, tiles, barriers);
        } else if (threadIdx.x == producer) {
            run_producer(parameters, used, tiles, barriers);
        } else if constexpr (Group::has_norm) {
            if (threadIdx.x >= producer + 32 && parameters.norm.squares != nullptr) {
                wait_for_predecessor();
                run_norm(parameters, used, barriers);
            }
        }
    }
#else
    static __device__ void run(const Parameters&) {}  // never launched
#endif
};

template <class Group>
__global__ void __launch_bounds__(Group::Tile::threads, Group::Tile::blocks_of_multiprocessor)
    sm90_wave_kernel(const __grid_constant__ typename Group::Parameters parameters) {
    WaveRunner<Group>::run(parameters);
}

}  // namespace totograph::cuda
