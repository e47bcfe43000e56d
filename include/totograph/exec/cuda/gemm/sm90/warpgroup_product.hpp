// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda.h>
#include <cuda_runtime.h>

#include <totograph/exec/cuda/gemm/sm90/warpgroup.hpp>
#include <totograph/exec/cuda/gemm/sm90/warpgroup_epilogue.hpp>
#include <totograph/exec/cuda/gemm/sm90/warpgroup_group.hpp>
#include <totograph/exec/cuda/gemm/sm90/warpgroup_multiply.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>

// Products of many rows in bf16 with the chain after each, in one kernel: sums never leave the multiprocessor.
//
// A block computes 128 rows by 256 or 224 columns at a time (of a pair of products, half of each). One warp copies
// tiles of 64 elements of depth to shared memory, three ahead; two warpgroups multiply them, 64 rows each, and leave
// the sums in shared memory; three more warps run the chain on them while the next tile is multiplied. On the sums of
// the last tile those that multiplied run it, too. Two blocks of a cluster compute rows that follow each other of the
// same columns: each copies one half of the weights to both.

namespace totograph::cuda {

namespace warpgroup_detail {

/// Where a column tile of a group belongs: the product, and the tile within it.
template <class... K>
__device__ __forceinline__ void find_tile(WarpgroupGroup<K...>*, int tile, int& member, int& within) {
    using Group = WarpgroupGroup<K...>;
    constexpr int tiles[] = {Group::template column_tiles<K>...};
    member = 0;
    within = tile;
#pragma unroll
    for (int i = 0; i + 1 < Group::count; ++i) {
        if (member == i && within >= tiles[i]) {
            within -= tiles[i];
            ++member;
        }
    }
}

}  // namespace warpgroup_detail

/// What the threads of a group's kernel do.
template <class Group>
struct WarpgroupRunner;
template <class... K>
struct WarpgroupRunner<WarpgroupGroup<K...>> {
    using Group = WarpgroupGroup<K...>;
    using Tile = typename Group::Tile;
    using Sums = TileSums<Tile::columns>;

#if defined(TOTOGRAPH_HAS_WARPGROUPS)
    struct Barriers {
        std::uint64_t full[Tile::stages];
        std::uint64_t empty[Tile::stages];
        std::uint64_t summed;    ///< The sums of a tile are there.
        std::uint64_t finished;  ///< They have been read.
    };

    template <class Kernel>
    using TileEpilogueOf = TileEpilogue<Kernel, Sums, Group::tiles_are_whole>;

    /// The product that an item's tile belongs to, the tile within it, and its first row.
    struct TilePlace {
        int member = 0;
        int within = 0;
        int row = 0;

        __device__ __forceinline__ TilePlace(int item, int block)
            : row((item % Group::row_pairs * Tile::cluster + block) * Tile::rows) {
            warpgroup_detail::find_tile(static_cast<Group*>(nullptr), item / Group::row_pairs, member, within);
        }

        /// The first column, of a pair of each of the two, where `Kernel` is the product.
        template <class Kernel>
        [[nodiscard]] __device__ __forceinline__ int column() const {
            return within * (Tile::columns / Kernel::kernel.accumulators);
        }
    };

    /// Copies tiles as long as there is work: one thread does.
    static __device__ void produce(const typename Group::Parameters& parameters, std::byte* tiles, Barriers& barriers) {
        const int block = block_in_cluster();
        const int first = first_item();
        constexpr int steps = Group::depth / Tile::depth;
        static_assert(steps >= Tile::stages);
        const auto copy_weights = [&](int item, int step, int stage) {
            const TilePlace tile(item, block);
            int column = 0;
            with_product(parameters, tile.member, [&]<class Kernel>(Kernel*, const KernelCall&) {
                // Of a pair, the first block brings the first product's columns and the second the other's.
                constexpr int half = Tile::columns / 2;
                constexpr bool is_pair = Kernel::kernel.accumulators == 2;
                column = tile.template column<Kernel>() +
                         block * (is_pair ? static_cast<int>(Kernel::kernel.columns()) : half);
            });
            arrive_and_expect(&barriers.full[stage], Tile::stage_bytes);
            copy_tile_to((1U << Tile::cluster) - 1U, parameters.weights[tile.member],
                         tiles + stage * Tile::stage_bytes + Tile::row_bytes + block * (Tile::column_bytes / 2),
                         &barriers.full[stage], step * Tile::depth, column);
        };
        const auto copy_rows = [&](int item, int step, int stage) {
            copy_tile(parameters.input, tiles + stage * Tile::stage_bytes, &barriers.full[stage], step * Tile::depth,
                      TilePlace(item, block).row);
        };
        // Weights do not depend on the kernel before this one. Only those of the first stage are asked for early:
        // behind the weights of three stages, the first rows arrive later.
        copy_weights(first, 0, 0);
        wait_for_predecessor();
        copy_rows(first, 0, 0);
        for (int step = 1; step < Tile::stages; ++step) {
            copy_weights(first, step, step);
            copy_rows(first, step, step);
        }
        StageTurn<Tile::stages> turn;
        for (int item = first; item < Group::items; item += clusters()) {
            for (int step = item == first ? Tile::stages : 0; step < steps; ++step) {
                wait_at(&barriers.empty[turn.stage], turn.parity);
                copy_weights(item, step, turn.stage);
                copy_rows(item, step, turn.stage);
                turn.advance();
            }
        }
        // A block may not end while the other one arrives at its barriers, or what it copied to the other one is on its
        // way. When these phases end, both have read the last stages.
        for (int stage = 0; stage < Tile::stages; ++stage) {
            wait_at(&barriers.empty[turn.stage], turn.parity);
            turn.advance();
        }
    }

    /// Multiplies 64 of the rows of each tile and leaves the sums to those who finish them. Returns the item of the
    /// last tile; there is one, for no more clusters are launched than there are items.
    static __device__ __forceinline__ int multiply(std::byte* tiles, const Sums& sums, Barriers& barriers) {
        const int which = static_cast<int>(threadIdx.x) / warpgroup_size;
        StageTurn<Tile::stages> turn;
        std::uint32_t parity = 1;
        int item = first_item();
        for (;; item += clusters()) {
            float own[Tile::columns / 2];
            multiply_tiles<Tile, Group::depth>(tiles, barriers.full, barriers.empty, turn, own);
            wait_at(&barriers.finished, parity);
            parity ^= 1U;
            sums.store(own, which * (Tile::rows / Tile::consumers));
            arrive(&barriers.summed);
            if (item + clusters() >= Group::items) {
                return item;
            }
        }
    }

    /// Calls `use(kernel, call)` for the product of a tile, the kernel as a pointer to its type.
    template <class Use>
    static __device__ __forceinline__ void with_product(const typename Group::Parameters& parameters, int member,
                                                        const Use& use) {
        int index = 0;
        const auto try_one = [&]<class Kernel>(Kernel* kernel) {
            if (index == member) {
                use(kernel, parameters.calls[index]);
            }
            ++index;
        };
        (try_one(static_cast<K*>(nullptr)), ...);
    }

    /// Asks the nearest cache for what the chain on an item's tile reads, where there is one.
    /// @param warp  of those that only finish
    static __device__ __forceinline__ void touch(const typename Group::Parameters& parameters, int item, int warp) {
        if (item < Group::items) {
            const TilePlace tile(item, block_in_cluster());
            with_product(parameters, tile.member, [&]<class Kernel>(Kernel*, const KernelCall& call) {
                TileEpilogueOf<Kernel>::touch(call, tile.row, tile.template column<Kernel>(), warp, Tile::finishers);
            });
        }
    }

    /// Runs the chain on the sums of tiles. Of the last one, a warp that multiplied finishes the rows that it stored
    /// but the last `turn_rows`; the warps that only finish share these.
    /// @param item  the first to finish
    /// @param warp  a number of those that only finish; a negative one of those that multiplied, for the last tile
    static __device__ __forceinline__ void finish(const typename Group::Parameters& parameters, const Sums& sums,
                                                  Barriers& barriers, int item, int warp) {
        constexpr int own_rows = Sums::rows_of_warp;
        static_assert(own_rows * Tile::multipliers == Tile::rows && own_rows % turn_rows == 0);
        const bool multiplied = warp < 0;
        const int block = block_in_cluster();
        std::uint32_t parity = 0;
        if (!multiplied) {
            item -= clusters();  // before the first: to ask for what that one needs, with nothing to finish
        }
        for (; item < Group::items; item += clusters()) {
            if (!multiplied) {
                touch(parameters, item + clusters(), warp);
            }
            if (item < 0) {
                continue;
            }
            const bool is_last = item + clusters() >= Group::items;
            TileRows rows{warp * turn_rows, Tile::rows, Tile::finishers * turn_rows};
            if (multiplied) {
                const int first = (warp + Tile::multipliers) * own_rows;
                rows = {first, first + own_rows - turn_rows, turn_rows};
            } else if (is_last) {
                rows = {(warp + 1) * own_rows - turn_rows, Tile::rows, Tile::finishers * own_rows};
            }
            const TilePlace tile(item, block);
            with_product(parameters, tile.member, [&]<class Kernel>(Kernel*, const KernelCall& call) {
                TileEpilogueOf<Kernel> epilogue(call, tile.row, tile.template column<Kernel>(), rows);
                // A warp that multiplied reads only what it stored itself.
                if (!multiplied) {
                    wait_at(&barriers.summed, parity);
                }
                epilogue.finish(sums);
            });
            parity ^= 1U;
            __syncwarp();
            if (!is_last && threadIdx.x % 32 == 0) {
                arrive(&barriers.finished);
            }
        }
    }

    static __device__ __forceinline__ int clusters() {
        return static_cast<int>(gridDim.x) / Tile::cluster;
    }
    static __device__ __forceinline__ int first_item() {
        return static_cast<int>(blockIdx.x) / Tile::cluster;
    }

    static __device__ void run(const typename Group::Parameters& parameters) {
        extern __shared__ std::byte memory[];
        __shared__ Barriers barriers;
        std::byte* const tiles = memory + (1024 - shared_address(memory) % 1024) % 1024;
        if (threadIdx.x == 0) {
            expect_tiles(parameters.input);
            for (const CUtensorMap& weight : parameters.weights) {
                expect_tiles(weight);
            }
            for (int stage = 0; stage < Tile::stages; ++stage) {
                make_barrier(&barriers.full[stage], 1);
                make_barrier(&barriers.empty[stage], Tile::consumers * Tile::cluster);
            }
            make_barrier(&barriers.summed, Tile::consumers * warpgroup_size);
            make_barrier(&barriers.finished, Tile::finishers);
            publish_barriers();
        }
        meet_in_cluster();
        const Sums sums(tiles + Tile::stages * Tile::stage_bytes);
        const int warp = static_cast<int>(threadIdx.x) / 32;
        constexpr int copier = Tile::threads / 32 - 1;
        if (warp == copier) {
            if (threadIdx.x % 32 == 0) {
                produce(parameters, tiles, barriers);
            }
        } else {
            wait_for_predecessor();
            let_successor_begin();
            int item = first_item();
            if (warp < Tile::multipliers) {
                item = multiply(tiles, sums, barriers);
                __syncwarp();  // what a warp stored, its lanes read
            }
            finish(parameters, sums, barriers, item, warp - Tile::multipliers);
        }
    }
#else
    static __device__ void run(const typename Group::Parameters&) {}  // never launched
#endif
};

template <class Group>
__global__ void __launch_bounds__(Group::Tile::threads, 1)
    warpgroup_kernel(const __grid_constant__ typename Group::Parameters parameters) {
    WarpgroupRunner<Group>::run(parameters);
}

}  // namespace totograph::cuda
