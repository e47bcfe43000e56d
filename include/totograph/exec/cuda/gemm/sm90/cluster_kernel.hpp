// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/gemm/sm90/cluster_group.hpp>
#include <totograph/exec/cuda/gemm/sm90/mainloop.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/kernels/element_places.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>

// A GEMM of many rows in bf16 with its bias and residual, its result as bf16, and the norm, in one kernel.
//
// A cluster of eight blocks has 128 whole rows, each block an eighth of their columns. One warp of a block copies tiles
// of 64 elements of k to shared memory, some ahead: the weights of its columns, and its share of the rows to all
// blocks. Two warpgroups multiply them, 64 rows each; a thread keeps its accumulators, adds bias and residual to them,
// which it asked for before, and stores them, as f32 and as bf16. Of each row a block sends the sum of its squares to
// the block that adds up the eight of that row, always in the same order, and runs the chain of the norm on the total.
// (The kernel for a norm alone adds them up in another order: which of the two it is depends on the rows and on the
// device.)

namespace totograph::cuda {

/// What the threads of a group's kernel do.
template <class Group>
struct ClusterRunner {
    using Norm = typename Group::Norm;
    using Tile = typename Group::Tile;
    using Parameters = typename Group::Parameters;
    using Groups = typename Group::Groups;
    static_assert(!Groups::is_bounded || Tile::rows_copied % Groups::rows == 0,
                  "totograph: a block copies whole groups of rows.");

#if defined(TOTOGRAPH_HAS_WGMMA)
    struct Shared {
        std::uint64_t full[Tile::stages];
        std::uint64_t empty[Tile::stages];
        std::uint64_t squared;  ///< The squares of all blocks are there.
        float squares[Tile::cluster][Tile::rows_of_warp];
    };

    static constexpr int chunks = Tile::n / 8;  ///< Of eight columns.

    /// Copies tiles: one thread does.
    template <class Rows>
    static __device__ void run_producer(const Parameters& parameters, const Rows& rows, std::byte* tiles,
                                        Shared& shared) {
        const int block = cluster_rank();
        const auto copy_weights = [&](int step, int stage) {
            mbarrier_arrive_expect_tx(&shared.full[stage], Tile::stage_bytes);
            tma_load(parameters.weight, tiles + stage * Tile::stage_bytes + Tile::row_bytes, &shared.full[stage],
                     step * Tile::k, block * Tile::n);
        };
        const int first = first_row() + block * Tile::rows_copied;
        constexpr int groups = Rows::are_all ? 1 : Tile::rows_copied / Groups::rows;
        int begins[groups] = {first};
        bool are_neighbours = true;
        if constexpr (!Rows::are_all) {
            are_neighbours = rows.template are_neighbours<Tile::rows_copied>(first);
#pragma unroll
            for (int i = 0; i < groups; ++i) {
                begins[i] = rows.group_begin(first + i * Groups::rows);
            }
        }
        const auto copy_rows = [&](int step, int stage) {
            std::byte* const to = tiles + stage * Tile::stage_bytes + block * (Tile::row_bytes / Tile::cluster);
            constexpr std::uint16_t all_blocks = (1U << Tile::cluster) - 1U;
            if (are_neighbours) {
                tma_load_multicast(all_blocks, parameters.input, to, &shared.full[stage], step * Tile::k, begins[0]);
                return;
            }
            constexpr int group_bytes = Groups::rows * static_cast<int>(Tile::row_bytes) / Tile::m;
#pragma unroll
            for (int i = 0; i < groups; ++i) {
                tma_load_multicast(all_blocks, parameters.input_groups, to + i * group_bytes, &shared.full[stage],
                                   step * Tile::k, begins[i]);
            }
        };
        // Weights do not depend on the kernel before this one. Only those of the first stage are asked for early:
        // behind the weights of more stages, the first rows arrive later.
        copy_weights(0, 0);
        wait_for_predecessor();
        copy_rows(0, 0);
        for (int step = 1; step < Group::stages_used; ++step) {
            copy_weights(step, step);
            copy_rows(step, step);
        }
        PipelineState<Tile::stages> state;
        for (int step = Tile::stages; step < Group::steps; ++step) {
            mbarrier_wait(&shared.empty[state.stage], state.parity);
            copy_weights(step, state.stage);
            copy_rows(step, state.stage);
            state.advance();
        }
        // A block may not end while others arrive at its barriers, or what it copied to them is on its way.
        for (int stage = 0; stage < Group::stages_used; ++stage) {
            mbarrier_wait(&shared.empty[state.stage], state.parity);
            state.advance();
        }
    }

    /// Four accumulators of a thread that are neighbours in a row, once `gather` has brought them together: tensor
    /// cores leave a thread two of each eight.
    struct Quad {
        float4 values;

        __device__ __forceinline__ void add(const float4& other) {
            values.x += other.x;
            values.y += other.y;
            values.z += other.z;
            values.w += other.w;
        }
    };
    static constexpr int sixteens = chunks / 2;  ///< Of sixteen columns.

    /// The rows and columns of a thread's quads: number `2 j + h` is of row `row + 8 h` of those in use, from column
    /// `column + 16 j` on.
    template <class Rows>
    struct QuadPlace {
        const Rows& rows;
        int row;
        int column;
        static constexpr bool are_whole = Rows::are_all && Group::tiles_are_whole;

        __device__ __forceinline__ explicit QuadPlace(const Rows& all) : rows(all) {
            const int lane = static_cast<int>(threadIdx.x) % 32;
            row = first_row() + static_cast<int>(threadIdx.x) / 32 * Tile::rows_of_warp + lane / 4;
            column = cluster_rank() * Tile::n + lane % 2 * 8 + lane % 4 / 2 * 4;
        }
        /// A row that exists; what comes of it in place of one beyond the last row is not stored.
        [[nodiscard]] __device__ __forceinline__ int row_to_read(int half) const {
            return are_whole ? row + 8 * half : rows.row_to_read(row + 8 * half);
        }
        [[nodiscard]] __device__ __forceinline__ bool exists(int half) const {
            return are_whole || rows.exists(row + 8 * half);
        }
        /// Where a row that exists is stored.
        [[nodiscard]] __device__ __forceinline__ int row_to_write(int half) const {
            return Rows::are_all ? row + 8 * half : rows.row_to_read(row + 8 * half);
        }
    };

    /// Of sixteen columns, a thread has two of each half; two threads next to each other exchange two, and each then
    /// has four neighbours.
    static __device__ __forceinline__ void gather(const float (&acc)[4 * chunks], Quad (&quads)[2 * sixteens]) {
#pragma unroll
        for (int i = 0; i < 2 * sixteens; ++i) {
            const float* const low = acc + i / 2 * 8 + i % 2 * 2;
            const float* const high = low + 4;
            Quad& quad = quads[i];
            quad.values = make_float4(low[0], low[1], high[0], high[1]);
            exchange_between_threads(quad.values.x, quad.values.z, 1);
            exchange_between_threads(quad.values.y, quad.values.w, 1);
        }
    }

    /// Sends the squares of a warp's rows to the block that adds them up: the one of the warp's number.
    static __device__ __forceinline__ void send_squares(const Quad (&quads)[2 * sixteens], Shared& shared) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        float squares[2] = {0, 0};
#pragma unroll
        for (int i = 0; i < 2 * sixteens; ++i) {
            const float4& four = quads[i].values;
            squares[i % 2] += four.x * four.x + four.y * four.y + four.z * four.z + four.w * four.w;
        }
        squares[0] = sum_of_group<4>(squares[0]);
        squares[1] = sum_of_group<4>(squares[1]);
        if (lane % 4 < 2) {
            store_async(static_cast<int>(threadIdx.x) / 32, &shared.squares[cluster_rank()][lane / 4 + lane % 4 * 8],
                        lane % 4 == 0 ? squares[0] : squares[1], &shared.squared);
        }
    }

    /// Stores quads as bf16. Of thirty-two columns, a thread has four of the first half and four of the second one; two
    /// threads have eight neighbours of each, and each gets the eight of one half.
    template <class Rows>
    static __device__ __forceinline__ void store_bf16(const Quad (&quads)[2 * sixteens], const QuadPlace<Rows>& place,
                                                      BFloat16* out) {
        static_assert(sixteens % 2 == 0);
        const int quarter = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
        for (int group = 0; group < sixteens; group += 2) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float4& first = quads[2 * group + half].values;
                const float4& second = quads[2 * (group + 1) + half].values;
                uint4 words = make_uint4(two_bf16(first.x, first.y), two_bf16(first.z, first.w),
                                         two_bf16(second.x, second.y), two_bf16(second.z, second.w));
                exchange_between_threads(words.x, words.z, 2);
                exchange_between_threads(words.y, words.w, 2);
                if (place.exists(half)) {
                    const int column = cluster_rank() * Tile::n + (group + quarter / 2) * 16 + quarter % 2 * 8;
                    *reinterpret_cast<uint4*>(out + place.row_to_write(half) * Tile::row_n + column) = words;
                }
            }
        }
    }

    /// Adds bias and residual to the accumulators, and stores them.
    template <class Rows>
    static __device__ __forceinline__ void compute(const Parameters& parameters, const Rows& rows, std::byte* tiles,
                                                   Shared& shared) {
        const QuadPlace<Rows> place(rows);
        float4 biases[sixteens];
        float4 residuals[2 * sixteens];
#pragma unroll
        for (int group = 0; group < sixteens; ++group) {
            biases[group] = *reinterpret_cast<const float4*>(parameters.bias_base() + place.column + 16 * group);
        }
        if constexpr (!Group::residual_is_early) {
            wait_for_predecessor();
        }
        if constexpr (Group::has_residual) {
#pragma unroll
            for (int i = 0; i < 2 * sixteens; ++i) {
                // From the L2 cache, which all multiprocessors share: another one may have stored it a moment ago.
                residuals[i] = __ldcg(reinterpret_cast<const float4*>(
                    parameters.residual_base() + place.row_to_read(i % 2) * Group::stride_of_residual + place.column +
                    16 * (i / 2)));
            }
        }
        if constexpr (Group::residual_is_early) {
            wait_for_predecessor();  // what is stored below may lie where the kernel before this one reads
        }
        float acc[4 * chunks];
        PipelineState<Tile::stages> state;
        run_mainloop<Tile, Group::k>(tiles, shared.full, shared.empty, state, acc);
        Quad quads[2 * sixteens];
        gather(acc, quads);
#pragma unroll
        for (int i = 0; i < 2 * sixteens; ++i) {
            quads[i].add(biases[i / 2]);
            if constexpr (Group::has_residual) {
                quads[i].add(residuals[i]);
            }
        }
        if constexpr (Group::has_norm) {
            send_squares(quads, shared);
        }
        auto* const out = static_cast<float*>(parameters.gemm.output.base);
#pragma unroll
        for (int i = 0; i < 2 * sixteens; ++i) {
            if (place.exists(i % 2)) {
                *reinterpret_cast<float4*>(out + place.row_to_write(i % 2) * Tile::row_n + place.column +
                                           16 * (i / 2)) = quads[i].values;
            }
        }
        store_bf16(quads, place, parameters.stored);
    }

    /// Finishes the norm of the rows whose squares this block gets: a warp does, which so keeps the block alive until
    /// all have sent theirs.
    template <class Rows>
    static __device__ __forceinline__ void finish_norm(const KernelCall& call, const Rows& rows, Shared& shared) {
        const int own = static_cast<int>(threadIdx.x) % 32;
        const int number = first_row() + cluster_rank() * Tile::rows_of_warp + own;
        const OperandPointers<Epilogue<Norm>> after(call);
        mbarrier_wait_cluster(&shared.squared, 0);
        if (own < Tile::rows_of_warp && rows.exists(number)) {
            float total = 0;
#pragma unroll
            for (int block = 0; block < Tile::cluster; ++block) {
                total += shared.squares[block][own];
            }
            const auto place = place_of<Norm, RowsOf<Norm>>(static_cast<Offset<Norm>>(rows.row_to_read(number)));
            call.output.get<float>(positions_of<Norm>(call))[offset_of<Norm, StridesOfOutput<Norm>>(place)] =
                finish_row<Norm>(after, place, total);
        }
    }

    /// The number of the first row of the cluster among those in use.
    static __device__ __forceinline__ int first_row() {
        return static_cast<int>(blockIdx.x) / Tile::cluster * Tile::m;
    }

    static __device__ void run(const Parameters& parameters) {
        extern __shared__ std::byte memory[];
        __shared__ Shared shared;
        __shared__ typename Groups::List list;
        const UsedExtents<typename Groups::First> used(parameters.gemm);
        std::byte* const tiles = memory + (1024 - shared_address(memory) % 1024) % 1024;
        if (threadIdx.x == 0) {
            prefetch_tma_descriptor(parameters.input);
            prefetch_tma_descriptor(parameters.weight);
            for (int stage = 0; stage < Tile::stages; ++stage) {
                mbarrier_init(&shared.full[stage], 1);
                mbarrier_init(&shared.empty[stage], Tile::consumers * Tile::cluster);
            }
            mbarrier_init(&shared.squared, 1);
            fence_mbarrier_init();
            if constexpr (Group::has_norm) {
                mbarrier_arrive_expect_tx(&shared.squared, sizeof shared.squares);
            }
        }
        cluster_sync();
        if constexpr (Groups::is_bounded) {
            if (!used.is_all()) {
                UsedTileRows<Groups>::find(used, list);
                return run_roles(parameters, UsedTileRows<Groups>(list), tiles, shared);
            }
        }
        run_roles(parameters, AllTileRows<Groups>(), tiles, shared);
    }

    /// What each warp does, once all blocks of the cluster are there.
    template <class Rows>
    static __device__ __forceinline__ void run_roles(const Parameters& parameters, const Rows& rows, std::byte* tiles,
                                                     Shared& shared) {
        // All of the cluster.
        if (!Rows::are_all && static_cast<int>(blockIdx.x) / Tile::cluster >= rows.template tiles<Tile::m>()) {
            wait_for_predecessor();
            launch_dependents();
            return;
        }
        const int warp = static_cast<int>(threadIdx.x) / 32;
        constexpr int producer = Tile::threads / 32 - 1;
        if (warp == producer) {
            if (threadIdx.x % 32 == 0) {
                run_producer(parameters, rows, tiles, shared);
            }
        } else if (warp < Tile::mma_warps) {
            compute(parameters, rows, tiles, shared);
        } else {
            wait_for_predecessor();
            launch_dependents();
            if constexpr (Group::has_norm) {
                if (warp == Tile::mma_warps) {
                    finish_norm(parameters.norm, rows, shared);
                }
            }
        }
    }
#else
    static __device__ void run(const Parameters&) {}  // never launched
#endif
};

template <class Group>
__global__ void __launch_bounds__(Group::Tile::threads, 1)
    sm90_cluster_kernel(const __grid_constant__ typename Group::Parameters parameters) {
    ClusterRunner<Group>::run(parameters);
}

}  // namespace totograph::cuda
