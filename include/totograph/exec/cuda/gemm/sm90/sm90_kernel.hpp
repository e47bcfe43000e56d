// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda.h>
#include <cuda_runtime.h>

#include <totograph/exec/cuda/gemm/sm90/mainloop.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/sm90/sm90_group.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_epilogue.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>

// GEMMs of many rows in bf16 with the chain after each, in one kernel: accumulators never leave the multiprocessor.
//
// A block computes 128 rows by 256 or 224 columns at a time (of a pair of GEMMs, half of each). One warp copies
// tiles of 64 elements of k to shared memory, three ahead; two warpgroups multiply them, 64 rows each, and leave
// the accumulators in shared memory; three more warps run the chain on them while the next tile is multiplied. On the
// accumulators of the last tile those that multiplied run it, too. Two blocks of a cluster compute rows that follow
// each other of the same columns: each copies one half of the weights to both. Where the launch before has left sums of
// squares, the warps that run the chain on a row finish its norm before.

namespace totograph::cuda {

namespace sm90_detail {

/// Where a column tile of a group belongs: the GEMM, and the tile within it.
template <class Norm, class... K>
__device__ __forceinline__ void find_tile(Sm90Group<Norm, K...>*, int tile, int& member, int& within) {
    using Group = Sm90Group<Norm, K...>;
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

}  // namespace sm90_detail

/// What the threads of a group's kernel do.
template <class Group>
struct Sm90Runner;
template <class Norm, class... K>
struct Sm90Runner<Sm90Group<Norm, K...>> {
    using Group = Sm90Group<Norm, K...>;
    using Tile = typename Group::Tile;
    using Accumulators = TileAccumulators<Tile::n, Tile::m>;
    using Groups = typename Group::Groups;

#if defined(TOTOGRAPH_HAS_WGMMA)
    struct Barriers {
        std::uint64_t full[Tile::stages];
        std::uint64_t empty[Tile::stages];
        std::uint64_t acc_full;   ///< The accumulators of a tile are there.
        std::uint64_t acc_empty;  ///< They have been read.
    };

    template <class Kernel, class Rows>
    using TileEpilogueOf = TileEpilogue<Kernel, Accumulators, Rows, Rows::are_all && Group::tiles_are_whole>;

    /// Pairs of row tiles.
    template <class Rows>
    [[nodiscard]] static __device__ __forceinline__ int row_pairs(const Rows& rows) {
        return rows.template tiles<Tile::cluster * Tile::m>();
    }
    /// Two tiles, what a cluster computes at a time.
    template <class Rows>
    [[nodiscard]] static __device__ __forceinline__ int items(const Rows& rows) {
        return row_pairs(rows) * Group::all_column_tiles;
    }

    /// The GEMM that an item's tile belongs to, the tile within it, and the number of its first row.
    struct TilePlace {
        int member = 0;
        int within = 0;
        int row = 0;

        template <class Rows>
        __device__ __forceinline__ TilePlace(const Rows& rows, int item, int block)
            : row((item % row_pairs(rows) * Tile::cluster + block) * Tile::m) {
            sm90_detail::find_tile(static_cast<Group*>(nullptr), item / row_pairs(rows), member, within);
        }

        /// The first column, of a pair of each of the two, where `Kernel` is the GEMM.
        template <class Kernel>
        [[nodiscard]] __device__ __forceinline__ int column() const {
            return within * (Tile::n / Kernel::kernel.accumulators);
        }
    };

    /// Begins to copy this block's half of the weights of a tile to both blocks, and announces all that a stage takes.
    static __device__ __forceinline__ void copy_weights(const typename Group::Parameters& parameters,
                                                        const TilePlace& tile, int element, std::byte* stage,
                                                        std::uint64_t* full) {
        const int block = cluster_rank();
        int column = 0;
        with_gemm(parameters, tile.member, [&]<class Kernel>(Kernel*, const KernelCall&) {
            // Of a pair, the first block brings the first GEMM's columns and the second the other's.
            constexpr int half = Tile::n / 2;
            constexpr bool is_pair = Kernel::kernel.accumulators == 2;
            column =
                tile.template column<Kernel>() + block * (is_pair ? static_cast<int>(Kernel::kernel.columns()) : half);
        });
        mbarrier_arrive_expect_tx(full, Tile::stage_bytes);
        tma_load_multicast((1U << Tile::cluster) - 1U, parameters.weights[tile.member],
                           stage + Tile::row_bytes + block * (Tile::column_bytes / 2), full, element, column);
    }

    /// Where the rows of a tile begin: all of them, or each group.
    template <class Rows>
    struct RowPlaces {
        static constexpr int groups = Rows::are_all ? 1 : Tile::m / Groups::rows;
        bool are_neighbours = true;
        int rows[groups];

        __device__ __forceinline__ RowPlaces(const Rows& all, int row) {
            if constexpr (Rows::are_all) {
                rows[0] = row;
            } else {
                are_neighbours = all.template are_neighbours<Tile::m>(row);
#pragma unroll
                for (int i = 0; i < groups; ++i) {
                    rows[i] = all.group_begin(row + i * Groups::rows);
                }
            }
        }

        /// Begins to copy them.
        __device__ __forceinline__ void copy(const typename Group::Parameters& parameters, int element,
                                             std::byte* stage, std::uint64_t* full) const {
            if (are_neighbours) {
                tma_load(parameters.input, stage, full, element, rows[0]);
                return;
            }
            constexpr int group_bytes = Groups::rows * Tile::row_bytes / Tile::m;
#pragma unroll
            for (int i = 0; i < groups; ++i) {
                tma_load(parameters.input_groups, stage + i * group_bytes, full, element, rows[i]);
            }
        }
    };

    /// Copies tiles as long as there is work: one thread does.
    template <class Rows>
    static __device__ void run_producer(const typename Group::Parameters& parameters, const Rows& rows,
                                        std::byte* tiles, Barriers& barriers) {
        const int block = cluster_rank();
        const int first = first_item();
        constexpr int steps = (Group::k + Tile::k - 1) / Tile::k;  // what lies behind k arrives as zeros
        static_assert(steps >= Tile::stages);
        TilePlace tile(rows, first, block);
        const auto copy_weights_of = [&](int step, int stage) {
            copy_weights(parameters, tile, step * Tile::k, tiles + stage * Tile::stage_bytes, &barriers.full[stage]);
        };
        RowPlaces<Rows> places(rows, tile.row);
        const auto copy_rows_of = [&](int step, int stage) {
            places.copy(parameters, step * Tile::k, tiles + stage * Tile::stage_bytes, &barriers.full[stage]);
        };
        // Weights do not depend on the kernel before this one. Only those of the first stage are asked for early:
        // behind the weights of three stages, the first rows arrive later.
        copy_weights_of(0, 0);
        wait_for_predecessor();
        copy_rows_of(0, 0);
        for (int step = 1; step < Tile::stages; ++step) {
            copy_weights_of(step, step);
            copy_rows_of(step, step);
        }
        PipelineState<Tile::stages> state;
        for (int item = first; item < items(rows); item += clusters()) {
            tile = TilePlace(rows, item, block);
            places = RowPlaces<Rows>(rows, tile.row);
            for (int step = item == first ? Tile::stages : 0; step < steps; ++step) {
                mbarrier_wait(&barriers.empty[state.stage], state.parity);
                copy_weights_of(step, state.stage);
                copy_rows_of(step, state.stage);
                state.advance();
            }
        }
        // A block may not end while the other one arrives at its barriers, or what it copied to the other one is on its
        // way. When these phases end, both have read the last stages.
        for (int stage = 0; stage < Tile::stages; ++stage) {
            mbarrier_wait(&barriers.empty[state.stage], state.parity);
            state.advance();
        }
    }

    /// Multiplies 64 of the rows of each tile and leaves the accumulators to those who finish them. Returns the item of
    /// the last tile; there is one.
    /// @param items  of all clusters
    static __device__ __forceinline__ int multiply(int items, std::byte* tiles, const Accumulators& acc,
                                                   Barriers& barriers) {
        const int which = static_cast<int>(threadIdx.x) / warpgroup_size;
        PipelineState<Tile::stages> state;
        std::uint32_t parity = 1;
        int item = first_item();
        for (;; item += clusters()) {
            float own[Tile::n / 2];
            run_mainloop<Tile, Group::k>(tiles, barriers.full, barriers.empty, state, own);
            mbarrier_wait(&barriers.acc_empty, parity);
            parity ^= 1U;
            acc.store(own, which * (Tile::m / Tile::consumers));
            mbarrier_arrive(&barriers.acc_full);
            if (item + clusters() >= items) {
                return item;
            }
        }
    }

    /// Calls `use(kernel, call)` for the GEMM of a tile, the kernel as a pointer to its type.
    template <class Use>
    static __device__ __forceinline__ void with_gemm(const typename Group::Parameters& parameters, int member,
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
    template <class Rows>
    static __device__ __forceinline__ void touch(const typename Group::Parameters& parameters, const Rows& rows,
                                                 int item, int warp) {
        if (item < items(rows)) {
            const TilePlace tile(rows, item, cluster_rank());
            with_gemm(parameters, tile.member, [&]<class Kernel>(Kernel*, const KernelCall& call) {
                TileEpilogueOf<Kernel, Rows>::touch(call, rows, tile.row, tile.template column<Kernel>(), warp,
                                                    Tile::epilogue_warps);
            });
        }
    }

    /// Finishes the norm of the rows of a tile that the warp runs the chain on: warps of all blocks that have them
    /// store the same numbers, and read their own.
    template <class Rows>
    static __device__ __forceinline__ void finish_norm(const NormFromSquares& norm, const Rows& rows, int first_row,
                                                       const TileRows& own) {
        const int count = (own.end - own.first + own.stride - 1) / own.stride * turn_rows;
#pragma unroll 1
        for (int i = static_cast<int>(threadIdx.x) % 32; i < count; i += 32) {
            const int row = rows.row_to_read(first_row + own.first + i / turn_rows * own.stride + i % turn_rows);
            finish_norms<Norm, Group::m, Group::k, 1>(
                norm, [&](int) { return row; }, [](int) { return true; });
        }
        __syncwarp();
    }

    /// Runs the chain on the accumulators of tiles. Of the last one, a warp that multiplied finishes the rows that it
    /// stored but the last `turn_rows`; the warps that only finish share these.
    /// @param item  the first to finish
    /// @param warp  a number of those that only finish; a negative one of those that multiplied, for the last tile
    template <class Rows>
    static __device__ __forceinline__ void finish(const typename Group::Parameters& parameters, const Rows& rows,
                                                  const Accumulators& acc, Barriers& barriers, int item, int warp) {
        constexpr int warp_rows = Accumulators::rows_of_warp;
        static_assert(warp_rows * Tile::mma_warps == Tile::m && warp_rows % turn_rows == 0);
        const bool multiplied = warp < 0;
        const int block = cluster_rank();
        std::uint32_t parity = 0;
        if (!multiplied) {
            item -= clusters();  // before the first: to ask for what that one needs, with nothing to finish
        }
        for (; item < items(rows); item += clusters()) {
            if (!multiplied) {
                touch(parameters, rows, item + clusters(), warp);
            }
            if (item < 0) {
                continue;
            }
            const bool is_last = item + clusters() >= items(rows);
            TileRows own{warp * turn_rows, Tile::m, Tile::epilogue_warps * turn_rows};
            if (multiplied) {
                const int first = (warp + Tile::mma_warps) * warp_rows;
                own = {first, first + warp_rows - turn_rows, turn_rows};
            } else if (is_last) {
                own = {(warp + 1) * warp_rows - turn_rows, Tile::m, Tile::epilogue_warps * warp_rows};
            }
            const TilePlace tile(rows, item, block);
            if constexpr (Group::has_norm) {
                if (parameters.norm.squares != nullptr) {
                    finish_norm(parameters.norm, rows, tile.row, own);
                }
            }
            with_gemm(parameters, tile.member, [&]<class Kernel>(Kernel*, const KernelCall& call) {
                TileEpilogueOf<Kernel, Rows> epilogue(call, rows, tile.row, tile.template column<Kernel>(), own);
                // A warp that multiplied reads only what it stored itself.
                if (!multiplied) {
                    mbarrier_wait(&barriers.acc_full, parity);
                }
                epilogue.finish(acc);
            });
            parity ^= 1U;
            __syncwarp();
            if (!is_last && threadIdx.x % 32 == 0) {
                mbarrier_arrive(&barriers.acc_empty);
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
        __shared__ typename Groups::List list;
        const UsedExtents<typename Groups::First> used(parameters.calls[0]);
        std::byte* const tiles = memory + (1024 - shared_address(memory) % 1024) % 1024;
        if (threadIdx.x == 0) {
            prefetch_tma_descriptor(parameters.input);
            for (const CUtensorMap& weight : parameters.weights) {
                prefetch_tma_descriptor(weight);
            }
            for (int stage = 0; stage < Tile::stages; ++stage) {
                mbarrier_init(&barriers.full[stage], 1);
                mbarrier_init(&barriers.empty[stage], Tile::consumers * Tile::cluster);
            }
            mbarrier_init(&barriers.acc_full, Tile::consumers * warpgroup_size);
            mbarrier_init(&barriers.acc_empty, Tile::epilogue_warps);
            fence_mbarrier_init();
        }
        cluster_sync();
        int count = items(AllTileRows<Groups>());
        const bool are_all = !Groups::is_bounded || used.is_all();
        if constexpr (Groups::is_bounded) {
            if (!are_all) {
                UsedTileRows<Groups>::find(used, list);
                count = items(UsedTileRows<Groups>(list));
                if (first_item() >= count) {  // both blocks of the cluster
                    wait_for_predecessor();
                    launch_dependents();
                    return;
                }
            }
        }
        const auto with_rows = [&](const auto& use) {
            if (are_all) {
                use(AllTileRows<Groups>());
            } else if constexpr (Groups::is_bounded) {
                use(UsedTileRows<Groups>(list));
            }
        };
        const Accumulators acc(tiles + Tile::stages * Tile::stage_bytes);
        const int warp = static_cast<int>(threadIdx.x) / 32;
        constexpr int producer = Tile::threads / 32 - 1;
        if (warp == producer) {
            if (threadIdx.x % 32 == 0) {
                with_rows([&](const auto& rows) { run_producer(parameters, rows, tiles, barriers); });
            }
        } else {
            wait_for_predecessor();
            launch_dependents();
            int item = first_item();
            if (warp < Tile::mma_warps) {
                item = multiply(count, tiles, acc, barriers);
                __syncwarp();  // what a warp stored, its lanes read
            }
            with_rows([&](const auto& rows) { finish(parameters, rows, acc, barriers, item, warp - Tile::mma_warps); });
        }
    }
#else
    static __device__ void run(const typename Group::Parameters&) {}  // never launched
#endif
};

template <class Group>
__global__ void __launch_bounds__(Group::Tile::threads, 1)
    sm90_kernel(const __grid_constant__ typename Group::Parameters parameters) {
    Sm90Runner<Group>::run(parameters);
}

}  // namespace totograph::cuda
