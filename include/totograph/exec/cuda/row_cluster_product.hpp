// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/dependent_launch.hpp>
#include <totograph/exec/cuda/elementwise.hpp>
#include <totograph/exec/cuda/kernel_call.hpp>
#include <totograph/exec/cuda/places.hpp>
#include <totograph/exec/cuda/reduction.hpp>
#include <totograph/exec/cuda/row_cluster.hpp>
#include <totograph/exec/cuda/tensor_core.hpp>
#include <totograph/exec/cuda/warpgroup.hpp>
#include <totograph/exec/cuda/warpgroup_multiply.hpp>

// A product of many rows in bf16 with its bias and residual, and the norm of the sums, in one kernel.
//
// A cluster of eight blocks has 128 whole rows, each block 96 of their columns. One warp of a block copies tiles of 64
// elements of depth to shared memory, six ahead: the weights of its columns, and its share of the rows to all blocks.
// Two warpgroups multiply them, 64 rows each; a thread keeps its sums, adds bias and residual to them, which it asked
// for before, and stores them, as f32 and as bf16. Of each row a block sends the sum of its squares to the block that
// adds up the eight of that row, always in the same order, and runs the chain of the norm on the total. (The kernel for
// a norm alone adds them up in another order: which of the two it is depends on the rows and on the device.)

namespace totograph::cuda {

/// What the threads of a group's kernel do.
template <class Group>
struct RowClusterRunner {
    using Norm = typename Group::Norm;
    using Tile = RowClusterTile;
    using Parameters = typename Group::Parameters;

#if defined(TOTOGRAPH_HAS_WARPGROUPS)
    struct Shared {
        std::uint64_t full[Tile::stages];
        std::uint64_t empty[Tile::stages];
        std::uint64_t squared;  ///< The squares of all blocks are there.
        float squares[Tile::cluster][Tile::rows_of_warp];
    };

    static constexpr int steps = Group::depth / Tile::depth;
    static constexpr int chunks = Tile::columns / 8;  ///< Of eight columns.

    /// Copies tiles: one thread does.
    static __device__ void produce(const Parameters& parameters, std::byte* tiles, Shared& shared) {
        const int block = block_in_cluster();
        const auto copy_weights = [&](int step, int stage) {
            arrive_and_expect(&shared.full[stage], Tile::stage_bytes);
            copy_tile(parameters.weight, tiles + stage * Tile::stage_bytes + Tile::row_bytes, &shared.full[stage],
                      step * Tile::depth, block * Tile::columns);
        };
        const auto copy_rows = [&](int step, int stage) {
            copy_tile_to((1U << Tile::cluster) - 1U, parameters.input,
                         tiles + stage * Tile::stage_bytes + block * (Tile::row_bytes / Tile::cluster),
                         &shared.full[stage], step * Tile::depth, first_row() + block * Tile::rows_copied);
        };
        // Weights do not depend on the kernel before this one. Only those of the first stage are asked for early:
        // behind the weights of more stages, the first rows arrive later.
        copy_weights(0, 0);
        wait_for_predecessor();
        copy_rows(0, 0);
        for (int step = 1; step < Tile::stages; ++step) {
            copy_weights(step, step);
            copy_rows(step, step);
        }
        StageTurn<Tile::stages> turn;
        for (int step = Tile::stages; step < steps; ++step) {
            wait_at(&shared.empty[turn.stage], turn.parity);
            copy_weights(step, turn.stage);
            copy_rows(step, turn.stage);
            turn.advance();
        }
        // A block may not end while others arrive at its barriers, or what it copied to them is on its way.
        for (int stage = 0; stage < Tile::stages; ++stage) {
            wait_at(&shared.empty[turn.stage], turn.parity);
            turn.advance();
        }
    }

    /// The rows and columns of a thread's sums: `4 j + 2 h + i` is row `row + 8 h`, column `column + 8 j + i`.
    struct SumsPlace {
        int row;
        int column;

        __device__ __forceinline__ SumsPlace() {
            const int lane = static_cast<int>(threadIdx.x) % 32;
            row = first_row() + static_cast<int>(threadIdx.x) / 32 * Tile::rows_of_warp + lane / 4;
            column = block_in_cluster() * Tile::columns + lane % 4 * 2;
        }
        /// A row that exists; what comes of it in place of one beyond the last row is not stored.
        [[nodiscard]] __device__ __forceinline__ int row_to_read(int half) const {
            return Group::tiles_are_whole ? row + 8 * half : min(row + 8 * half, Group::rows - 1);
        }
        [[nodiscard]] __device__ __forceinline__ bool exists(int half) const {
            return Group::tiles_are_whole || row + 8 * half < Group::rows;
        }
    };

    /// Sends the squares of a warp's rows to the block that sums them up: the one of the warp's number.
    static __device__ __forceinline__ void send_squares(const float (&sums)[4 * chunks], Shared& shared) {
        const int lane = static_cast<int>(threadIdx.x) % 32;
        float squares[2] = {0, 0};
#pragma unroll
        for (int i = 0; i < 4 * chunks; ++i) {
            squares[i / 2 % 2] += sums[i] * sums[i];
        }
        squares[0] = sum_of_group<4>(squares[0]);
        squares[1] = sum_of_group<4>(squares[1]);
        if (lane % 4 < 2) {
            send_to(static_cast<int>(threadIdx.x) / 32, &shared.squares[block_in_cluster()][lane / 4 + lane % 4 * 8],
                    lane % 4 == 0 ? squares[0] : squares[1], &shared.squared);
        }
    }

    /// Stores sums as bf16. Four threads have two of each eight neighbouring columns: of four such groups, each gets
    /// one whole.
    static __device__ __forceinline__ void store_rounded(const float (&sums)[4 * chunks], const SumsPlace& place,
                                                         BFloat16* out) {
        static_assert(chunks % 4 == 0);
        const int quarter = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
        for (int first = 0; first < chunks; first += 4) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                std::uint32_t words[4];
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const float* const pair = sums + 4 * (first + i) + 2 * half;
                    words[i] = two_bf16(pair[0], pair[1]);
                }
                transpose_of_four(words);
                if (place.exists(half)) {
                    const int column = block_in_cluster() * Tile::columns + (first + quarter) * 8;
                    *reinterpret_cast<uint4*>(out + (place.row + 8 * half) * Tile::row_columns + column) =
                        make_uint4(words[0], words[1], words[2], words[3]);
                }
            }
        }
    }

    /// Adds bias and residual to the sums, and stores them.
    static __device__ __forceinline__ void compute(const Parameters& parameters, std::byte* tiles, Shared& shared) {
        const SumsPlace place;
        float2 biases[chunks];
        float2 residuals[2 * chunks];
#pragma unroll
        for (int j = 0; j < chunks; ++j) {
            const int column = place.column + 8 * j;
            biases[j] = *reinterpret_cast<const float2*>(parameters.bias_base() + column);
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                residuals[2 * j + half] = *reinterpret_cast<const float2*>(
                    parameters.residual_base() + place.row_to_read(half) * Group::stride_of_residual + column);
            }
        }
        float sums[4 * chunks];
        StageTurn<Tile::stages> turn;
        multiply_tiles<Tile, Group::depth>(tiles, shared.full, shared.empty, turn, sums);
#pragma unroll
        for (int i = 0; i < 4 * chunks; ++i) {
            sums[i] += i % 2 == 0 ? biases[i / 4].x : biases[i / 4].y;
            sums[i] += i % 2 == 0 ? residuals[i / 2].x : residuals[i / 2].y;
        }
        send_squares(sums, shared);
        auto* const out = static_cast<float*>(parameters.product.output.base);
#pragma unroll
        for (int i = 0; i < 4 * chunks; i += 2) {
            const int half = i / 2 % 2;
            if (place.exists(half)) {
                *reinterpret_cast<float2*>(out + (place.row + 8 * half) * Tile::row_columns + place.column +
                                           8 * (i / 4)) = make_float2(sums[i], sums[i + 1]);
            }
        }
        store_rounded(sums, place, parameters.rounded);
    }

    /// Finishes the norm of the rows whose squares this block gets: a warp does, which so keeps the block alive until
    /// all have sent theirs.
    static __device__ __forceinline__ void finish_norm(const KernelCall& call, Shared& shared) {
        const int own = static_cast<int>(threadIdx.x) % 32;
        const int row = first_row() + block_in_cluster() * Tile::rows_of_warp + own;
        const OperandPointers<Epilogue<Norm>> after(call);
        wait_for_others_at(&shared.squared, 0);
        if (own < Tile::rows_of_warp && row < Group::rows) {
            float total = 0;
#pragma unroll
            for (int block = 0; block < Tile::cluster; ++block) {
                total += shared.squares[block][own];
            }
            const auto place = place_of<Norm, RowsOf<Norm>>(static_cast<Offset<Norm>>(row));
            call.output.get<float>()[offset_of<Norm, StridesOfOutput<Norm>>(place)] =
                finish_row<Norm>(after, place, total);
        }
    }

    static __device__ __forceinline__ int first_row() {
        return static_cast<int>(blockIdx.x) / Tile::cluster * Tile::rows;
    }

    static __device__ void run(const Parameters& parameters) {
        extern __shared__ std::byte memory[];
        __shared__ Shared shared;
        std::byte* const tiles = memory + (1024 - shared_address(memory) % 1024) % 1024;
        if (threadIdx.x == 0) {
            expect_tiles(parameters.input);
            expect_tiles(parameters.weight);
            for (int stage = 0; stage < Tile::stages; ++stage) {
                make_barrier(&shared.full[stage], 1);
                make_barrier(&shared.empty[stage], Tile::consumers * Tile::cluster);
            }
            make_barrier(&shared.squared, 1);
            publish_barriers();
            arrive_and_expect(&shared.squared, sizeof shared.squares);
        }
        meet_in_cluster();
        const int warp = static_cast<int>(threadIdx.x) / 32;
        constexpr int copier = Tile::threads / 32 - 1;
        if (warp == copier) {
            if (threadIdx.x % 32 == 0) {
                produce(parameters, tiles, shared);
            }
        } else {
            wait_for_predecessor();
            let_successor_begin();
            if (warp < Tile::multipliers) {
                compute(parameters, tiles, shared);
            } else if (warp == Tile::multipliers) {
                finish_norm(parameters.norm, shared);
            }
        }
    }
#else
    static __device__ void run(const Parameters&) {}  // never launched
#endif
};

template <class Group>
__global__ void __launch_bounds__(RowClusterTile::threads, 1)
    row_cluster_kernel(const __grid_constant__ typename Group::Parameters parameters) {
    RowClusterRunner<Group>::run(parameters);
}

}  // namespace totograph::cuda
