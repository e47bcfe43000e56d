// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <cuda.h>
#include <cuda_runtime.h>

#include <totograph/exec/cuda/gemm/epilogue.hpp>
#include <totograph/exec/cuda/gemm/sm90/mainloop.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_group.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_parts.hpp>
#include <totograph/exec/cuda/gemm/sm90/wgmma.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>

// GEMMs of some hundred rows, in bf16 or tf32, with the chain after each, in one kernel. They are bound by how soon a
// multiprocessor has its part of rows and weights: tiles are small, so that all multiprocessors have one, and the first
// weights are asked for before the kernel before has ended.
//
// One warp copies stages of 128 bytes of k to shared memory. Two warpgroups multiply every other stage each, for the
// products of one wait for each other; their sums meet in shared memory, and all threads run the chain on them. For
// `wgmma` the weights are rows: of those it takes 64, but any eights of columns, which here are the rows of the input.
//
// A GEMM that makes the input of such GEMMs stores it as bf16 as well, if weights are, and of each row the squares of
// its 64 columns. The blocks behind it add these up in order, and finish the norm; waves of tiles do the same, with the
// same bits. A kernel for the norm alone adds up in another order, and so do clusters.

namespace totograph::cuda {

/// What the threads of a group's kernel do.
template <class Group>
struct SmallRunner;
template <class BlockTile, class Norm, bool has_tail, class... K>
struct SmallRunner<TileGroup<BlockTile, Norm, has_tail, K...>> {
    using Group = TileGroup<BlockTile, Norm, has_tail, K...>;
    using Parts = TileParts<Group>;
    using Tile = BlockTile;

#if defined(TOTOGRAPH_HAS_WGMMA)
    static constexpr int steps = (Group::k + Tile::k - 1) / Tile::k;  // what lies behind k arrives as zeros
    static_assert(steps >= Tile::warpgroups);

    struct Barriers {
        std::uint64_t full[Tile::stages];
        std::uint64_t empty[Tile::stages];
    };

    /// Calls `use` for the GEMM of the block's tile, as `TileParts::with_gemm` does.
    template <class Use>
    static __device__ __forceinline__ void with_gemm(const Use& use) {
        Parts::with_gemm(static_cast<int>(blockIdx.x) / Group::row_tiles, use);
    }
    static __device__ __forceinline__ int first_row() {
        return static_cast<int>(blockIdx.x) % Group::row_tiles * Tile::m;
    }

    /// Copies stages as long as there are any: one thread does.
    static __device__ __forceinline__ void run_producer(const typename Group::Parameters& parameters, std::byte* tiles,
                                                        Barriers& barriers) {
        with_gemm([&]<class Kernel>(Kernel*, int member, int column) {
            const auto copy_weights = [&](int step, int stage) {
                std::byte* const to = tiles + stage * Tile::stage_bytes;
                mbarrier_arrive_expect_tx(&barriers.full[stage], Tile::stage_bytes);
                constexpr int factors = Kernel::kernel.accumulators;
#pragma unroll
                for (int factor = 0; factor < factors; ++factor) {
                    tma_load(parameters.weights[member], to + factor * (Tile::column_bytes / factors),
                             &barriers.full[stage], step * Tile::k,
                             column + factor * static_cast<int>(Kernel::kernel.columns()));
                }
            };
            const auto copy_rows = [&](int step, int stage) {
                tma_load(parameters.input, tiles + stage * Tile::stage_bytes + Tile::column_bytes,
                         &barriers.full[stage], step * Tile::k, first_row());
            };
            // Weights do not depend on the kernel before this one. Not those of all stages are asked for early: behind
            // them, the first rows arrive later.
            constexpr int first_steps = std::min(steps, Tile::stages);
            constexpr int early = std::min(first_steps, 3);
            for (int step = 0; step < early; ++step) {
                copy_weights(step, step);
            }
            wait_for_predecessor();
            for (int step = 0; step < first_steps; ++step) {
                if (step >= early) {
                    copy_weights(step, step);
                }
                copy_rows(step, step);
            }
            PipelineState<Tile::stages> state;
            for (int step = Tile::stages; step < steps; ++step) {
                mbarrier_wait(&barriers.empty[state.stage], state.parity);
                copy_weights(step, state.stage);
                copy_rows(step, state.stage);
                state.advance();
            }
        });
    }

    /// The sums of a warpgroup: of its thread, `acc[4 j + 2 h + i]` is column `16 warp + lane / 4 + 8 h`, row
    /// `8 j + 2 (lane % 4) + i` of the tile.
    using Accumulators = float[Tile::m / 2];

    /// Multiplies every other stage.
    static __device__ __forceinline__ void multiply(const std::byte* tiles, Barriers& barriers, Accumulators& acc) {
        const int which = static_cast<int>(threadIdx.x) / warpgroup_size;
        const bool releases = threadIdx.x % warpgroup_size == 0;
        int stage = which;
        std::uint32_t parity = 0;
#pragma unroll 1
        for (int step = which; step < steps; step += Tile::warpgroups) {
            mbarrier_wait(&barriers.full[stage], parity);
            const std::byte* const tile = tiles + stage * Tile::stage_bytes;
            const std::uint64_t columns = wgmma_descriptor(tile);
            const std::uint64_t rows = wgmma_descriptor(tile + Tile::column_bytes);
            wgmma_fence();
#pragma unroll
            for (int part = 0; part < Sm90SmallTile::row_bytes / 32; ++part) {
                // An instruction takes 32 bytes of each row; of bytes, an operand's description counts sixteens.
                wgmma_m64<Tile::operand>(acc, columns + 2U * part, rows + 2U * part, step > which || part > 0 ? 1 : 0);
            }
            wgmma_commit();
            // The other warpgroup multiplies meanwhile: sooner filled again, a stage is worth more.
            wgmma_wait<0>();
            if (releases) {
                mbarrier_arrive(&barriers.empty[stage]);
            }
            stage += Tile::warpgroups;
            if (stage >= Tile::stages) {
                stage = which;
                parity ^= 1U;
            }
        }
    }

    /// Leaves the sums of a warpgroup in shared memory.
    static __device__ __forceinline__ void store(const Accumulators& acc, float* sums) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        float* const to = sums + static_cast<int>(threadIdx.x) / warpgroup_size * (Tile::m * Tile::sum_stride) +
                          static_cast<int>(threadIdx.x) % warpgroup_size / 32 * 16 + lane / 4 +
                          lane % 4 * 2 * Tile::sum_stride;
#pragma unroll
        for (int i = 0; i < Tile::m / 2; ++i) {
            to[(i / 4 * 8 + i % 2) * Tile::sum_stride + i / 2 % 2 * 8] = acc[i];
        }
    }
    /// Eight columns of a row of the tile.
    template <class Apart>
    static __device__ __forceinline__ Pack<float, 8> load_sums(const float* sums, int row, int column, Apart apart) {
        const float* const from = sums + row * Tile::sum_stride + column;
        Pack<float, 8> total = load_fours<1, true>(from, apart);
#pragma unroll
        for (int which = 1; which < Tile::warpgroups; ++which) {
            const auto other = load_fours<1, true>(from + which * (Tile::m * Tile::sum_stride), apart);
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                total.lane[i] += other.lane[i];
            }
        }
        return total;
    }

    /// A barrier of those that multiply.
    static __device__ __forceinline__ void wait_for_all_sums() {
        asm volatile("bar.sync 1, %0;" ::"n"(Tile::mma_threads) : "memory");
    }

    /// Multiplies and runs the chain: a thread has eight columns of some rows.
    template <class Kernel>
    static __device__ __forceinline__ void compute(const typename Group::Parameters& parameters, const KernelCall& call,
                                                   int first_column, std::byte* tiles, Barriers& barriers) {
        constexpr int chunks = Group::template tile_columns<Kernel> / 8;
        constexpr int rows_at_once = Tile::mma_threads / chunks;
        constexpr int each = (Tile::m + rows_at_once - 1) / rows_at_once;
        constexpr auto all_columns = static_cast<int>(Kernel::kernel.columns());
        constexpr bool columns_are_whole = all_columns % Group::template tile_columns<Kernel> == 0;
        constexpr bool rows_are_whole = Group::m % Tile::m == 0 && Tile::m % rows_at_once == 0;
        using Columns = LaneColumns<Kernel, chunks>;
        using Epilogues = RowsEpilogue<Kernel, 8, each, typename Columns::Apart>;
        const Columns own(first_column, static_cast<int>(threadIdx.x) % chunks);
        const int own_row = static_cast<int>(threadIdx.x) / chunks;
        const bool has_column = columns_are_whole || first_column + own.in_tile < all_columns;
        // What does not exist reads something that does, and is not stored.
        const int column =
            columns_are_whole ? first_column + own.in_tile : Columns::to_read(first_column + own.in_tile);
        const auto row_of_tile = [&](int i) {
            const int row = own_row + i * rows_at_once;
            return rows_are_whole ? row : min(row, Tile::m - 1);
        };
        const auto row_at = [&](int i) {
            const int row = first_row() + row_of_tile(i);
            return rows_are_whole ? row : min(row, Group::m - 1);
        };
        const auto exists = [&](int i) {
            const int row = own_row + i * rows_at_once;
            return has_column && (rows_are_whole || (row < Tile::m && first_row() + row < Group::m));
        };
        const Epilogues epilogue(call, own.apart);
        if constexpr (Group::has_norm) {
            if (parameters.norm.squares != nullptr && static_cast<int>(threadIdx.x) < Tile::m) {
                Parts::template finish_norm<Tile::m>(parameters, first_row(), static_cast<int>(threadIdx.x));
            }
        }
        Epilogues::touch_columns(call, column + own.touched());
        epilogue.touch_tables_at(column + own.touched(), row_at);

        Accumulators acc;
        multiply(tiles, barriers, acc);
        auto* const sums = reinterpret_cast<float*>(tiles);
        wait_for_all_sums();  // all stages have been read
        store(acc, sums);
        const auto chosen = epilogue.choose_rows(row_at);
        typename Epilogues::Operands operands[each];
        epilogue.load(column, chosen, operands);
        wait_for_all_sums();
        epilogue.finish(
            column, chosen, operands,
            [&](int i, auto factor) {
                return load_sums(sums, row_of_tile(i), own.in_tile + factor * Group::template tile_columns<Kernel>,
                                 own.apart);
            },
            exists,
            [&](int i, const auto& result) {
                if constexpr (Group::leaves_tail) {
                    Parts::leave_tail(own.apart, parameters, first_row() + own_row + i * rows_at_once, column,
                                      has_column, exists(i), result);
                }
            });
    }

    static __device__ __forceinline__ void run(const typename Group::Parameters& parameters) {
        extern __shared__ std::byte memory[];
        __shared__ Barriers barriers;
        std::byte* const tiles = memory + (1024 - shared_address(memory) % 1024) % 1024;
        constexpr int producer = Tile::mma_threads;
        if (threadIdx.x == producer) {
            prefetch_tma_descriptor(parameters.input);
            with_gemm(
                [&]<class Kernel>(Kernel*, int member, int) { prefetch_tma_descriptor(parameters.weights[member]); });
            for (int stage = 0; stage < Tile::stages; ++stage) {
                mbarrier_init(&barriers.full[stage], 1);
                mbarrier_init(&barriers.empty[stage], 1);
            }
            fence_mbarrier_init();
        }
        __syncthreads();
        if constexpr (Group::is_bounded) {
            if (!Parts::has_rows(parameters.calls[0], first_row())) {
                wait_for_predecessor();
                launch_dependents();
                return;
            }
        }
        if (threadIdx.x >= producer) {
            if (threadIdx.x == producer) {
                run_producer(parameters, tiles, barriers);
            }
            return;
        }
        wait_for_predecessor();
        launch_dependents();
        with_gemm([&]<class Kernel>(Kernel*, int member, int column) {
            compute<Kernel>(parameters, parameters.calls[member], column, tiles, barriers);
        });
    }
#else
    static __device__ void run(const typename Group::Parameters&) {}  // never launched
#endif
};

template <class Group>
__global__ void __launch_bounds__(Group::Tile::threads, Group::Tile::blocks_of_multiprocessor)
    sm90_small_kernel(const __grid_constant__ typename Group::Parameters parameters) {
    SmallRunner<Group>::run(parameters);
}

}  // namespace totograph::cuda
