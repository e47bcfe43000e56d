// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <cuda.h>
#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/chain.hpp>
#include <totograph/exec/cuda/dependent_launch.hpp>
#include <totograph/exec/cuda/elementwise.hpp>
#include <totograph/exec/cuda/kernel_call.hpp>
#include <totograph/exec/cuda/product_epilogue.hpp>
#include <totograph/exec/cuda/warpgroup.hpp>
#include <totograph/exec/cuda/warpgroup_epilogue.hpp>
#include <totograph/graph/kernel.hpp>

// Products of many rows in bf16 with the chain after each, in one kernel: sums never leave the multiprocessor.
//
// A block computes 128 rows by 256 columns at a time (of a pair of products, 128 of each). One warp copies tiles of 64
// elements of depth to shared memory, three ahead; two warpgroups multiply them, 64 rows each, and leave the sums in
// shared memory; three more warps run the chain on them while the next tile is multiplied. On the sums of the last tile
// those that multiplied run it, too. Two blocks of a cluster compute rows that follow each other of the same columns:
// each copies one half of the weights to both.

namespace totograph::cuda {

/// The sizes of what a block computes at a time.
struct WarpgroupTile {
    static constexpr int rows = 128;
    static constexpr int columns = 256;
    static constexpr int depth = 64;
    static constexpr int stages = 3;
    static constexpr int cluster = 2;
    static constexpr int consumers = 2;                                  ///< Warpgroups that multiply.
    static constexpr int multipliers = consumers * warpgroup_size / 32;  ///< Their warps.
    static constexpr int finishers = 3;  ///< Warps that run chains; the fourth of their warpgroup copies.
    static constexpr int threads = (consumers + 1) * warpgroup_size;
    static constexpr std::uint32_t row_bytes = rows * depth * sizeof(BFloat16);
    static constexpr std::uint32_t column_bytes = columns * depth * sizeof(BFloat16);
    static constexpr std::uint32_t stage_bytes = row_bytes + column_bytes;
    /// The tiles begin at a multiple of 1,024 bytes.
    static constexpr std::size_t shared_bytes = std::size_t{stages} * stage_bytes + TileSums::bytes + 1024;
};

/// Whether the chain of a product is short: it runs on three warps while a tile is multiplied, and what it reads of
/// columns stays in registers. What it reads must belong to rows or columns alone: for numbers of each element a
/// library and a kernel for the chain are faster (58 us against 33, when chains did not run beside products yet).
template <class K>
constexpr bool has_short_chain() {
    const Chain& chain = K::kernel.chain;
    constexpr int most_operands = 6;
    constexpr int most_instructions = 16;
    constexpr int row_rank = K::kernel.row_rank;
    constexpr unsigned repeated =
        operands_that_repeat<K>(0, row_rank) | operands_that_repeat<K>(row_rank, K::kernel.iteration.rank);
    bool is_short = chain.count > 0 && chain.count <= most_instructions && K::kernel.operand_count <= most_operands &&
                    repeated == (1U << K::kernel.operand_count) - 1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(chain.count); ++i) {
        switch (chain.instructions[i].op) {
            case Op::constant:
            case Op::add:
            case Op::subtract:
            case Op::multiply:
            case Op::maximum:
            case Op::minimum:
            case Op::negate:
            case Op::rotate_pairs:
            case Op::sigmoid:
            case Op::silu: break;
            default: is_short = false;
        }
    }
    return is_short;
}

/// Whether a product can be computed in this way, and pays. With fewer rows (448 were measured) a library's smaller
/// tiles fill the device better; in shallow products (128) the chain takes longer than the next tile, and was most of
/// the time.
template <class K>
constexpr bool fits_warpgroups() {
    if constexpr (K::kernel.kind != KernelKind::product) {
        return false;
    } else {
        constexpr Kernel kernel = K::kernel;
        constexpr bool can = kernel.depth % WarpgroupTile::depth == 0 && kernel.accumulators <= 2 &&
                             kernel.columns() % (WarpgroupTile::columns / kernel.accumulators) == 0 && K::is_aligned &&
                             epilogue_lanes<K, BFloat16>() == 8;
        return can && kernel.rows() >= 1024 && kernel.depth >= 512 && has_short_chain<K>();
    }
}

/// Products of one input, each with its chain.
template <class... K>
struct WarpgroupGroup {
    static constexpr int count = sizeof...(K);

    struct Parameters {
        CUtensorMap input;
        CUtensorMap weights[count];
        KernelCall calls[count];
    };

    static constexpr int rows = static_cast<int>(std::max({K::kernel.rows()...}));
    static constexpr int depth = static_cast<int>(std::max({K::kernel.depth...}));
    /// Pairs of row tiles, one for each block of a cluster.
    static constexpr int row_pairs =
        (rows + WarpgroupTile::cluster * WarpgroupTile::rows - 1) / (WarpgroupTile::cluster * WarpgroupTile::rows);
    template <class Kernel>
    static constexpr int column_tiles =
        static_cast<int>(Kernel::kernel.columns() * Kernel::kernel.accumulators) / WarpgroupTile::columns;
    /// Rows of the weights of a member: its columns, of a pair those of both.
    template <int member>
    static constexpr Index weight_rows = [] {
        constexpr Index all[] = {K::kernel.columns() * K::kernel.accumulators...};
        return all[member];
    }();
    static constexpr int all_column_tiles = (column_tiles<K> + ...);
    static_assert(((K::kernel.rows() == rows) && ...), "totograph: products of one input have as many rows.");
    /// Whether no tile reaches beyond the last row.
    static constexpr bool tiles_are_whole = rows % (WarpgroupTile::cluster * WarpgroupTile::rows) == 0;
    /// Two tiles, what a cluster computes at a time.
    static constexpr int items = row_pairs * all_column_tiles;

    /// Whether few multiprocessors are idle while the last items are computed.
    static constexpr bool fills(int multiprocessors) {
        const int clusters = multiprocessors / WarpgroupTile::cluster;
        const int rounds = (items + clusters - 1) / clusters;
        return items * 10 >= rounds * clusters * 8;
    }
};

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

#if defined(TOTOGRAPH_HAS_WARPGROUPS)

/// Turns of the stages: which one is next, and the parity of its phase.
struct StageTurn {
    int stage = 0;
    std::uint32_t parity = 0;

    __device__ __forceinline__ void advance() {
        if (++stage == WarpgroupTile::stages) {
            stage = 0;
            parity ^= 1U;
        }
    }
};

#endif

}  // namespace warpgroup_detail

/// What the threads of a group's kernel do.
template <class Group>
struct WarpgroupRunner;
template <class... K>
struct WarpgroupRunner<WarpgroupGroup<K...>> {
    using Group = WarpgroupGroup<K...>;
    using Tile = WarpgroupTile;

#if defined(TOTOGRAPH_HAS_WARPGROUPS)
    struct Barriers {
        std::uint64_t full[Tile::stages];
        std::uint64_t empty[Tile::stages];
        std::uint64_t summed;    ///< The sums of a tile are there.
        std::uint64_t finished;  ///< They have been read.
    };

    template <class Kernel>
    using TileEpilogueOf = TileEpilogue<Kernel, Group::tiles_are_whole>;

    /// The product that an item's tile belongs to, the tile within it, and its first row.
    struct TilePlace {
        int member = 0;
        int within = 0;
        int row = 0;

        __device__ __forceinline__ TilePlace(int item, int block)
            : row((item % Group::row_pairs * Tile::cluster + block) * Tile::rows) {
            warpgroup_detail::find_tile(static_cast<Group*>(nullptr), item / Group::row_pairs, member, within);
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
                column = tile.within * (is_pair ? half : Tile::columns) +
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
        // Weights do not depend on the kernel before this one. Only those of the first stage are asked for early: the
        // rows of that stage came later behind those of three stages.
        copy_weights(first, 0, 0);
        wait_for_predecessor();
        copy_rows(first, 0, 0);
        for (int step = 1; step < Tile::stages; ++step) {
            copy_weights(first, step, step);
            copy_rows(first, step, step);
        }
        warpgroup_detail::StageTurn turn{0, 1};
        for (int item = first; item < Group::items; item += clusters()) {
            for (int step = item == first ? Tile::stages : 0; step < steps; ++step) {
                wait_at(&barriers.empty[turn.stage], turn.parity ^ 1U);
                copy_weights(item, step, turn.stage);
                copy_rows(item, step, turn.stage);
                turn.advance();
            }
        }
        // A block may not end while the other one arrives at its barriers, or what it copied to the other one is on its
        // way. When these phases end, both have read the last stages.
        for (int stage = 0; stage < Tile::stages; ++stage) {
            wait_at(&barriers.empty[turn.stage], turn.parity ^ 1U);
            turn.advance();
        }
    }

    /// Multiplies 64 of the rows of each tile and leaves the sums to those who finish them. Returns the item of the
    /// last tile; there is one, for no more clusters are launched than there are items.
    static __device__ __forceinline__ int multiply(std::byte* tiles, const TileSums& sums, Barriers& barriers) {
        const int which = static_cast<int>(threadIdx.x) / warpgroup_size;
        const int thread = static_cast<int>(threadIdx.x) % warpgroup_size;
        const auto release = [&](int stage) {
            if (thread < Tile::cluster) {
                arrive_at(&barriers.empty[stage], thread);
            }
        };
        warpgroup_detail::StageTurn turn;
        std::uint32_t parity = 1;
        int item = first_item();
        for (;; item += clusters()) {
            float own[128];
            int before = -1;
#pragma unroll 1
            for (int element = 0; element < Group::depth; element += Tile::depth) {
                wait_at(&barriers.full[turn.stage], turn.parity);
                const std::byte* const stage = tiles + turn.stage * Tile::stage_bytes;
                const std::uint64_t rows = describe_operand(stage + which * (Tile::row_bytes / Tile::consumers));
                const std::uint64_t columns = describe_operand(stage + Tile::row_bytes);
                begin_products();
#pragma unroll
                for (int part = 0; part < Tile::depth / 16; ++part) {
                    // 16 elements are 32 bytes, of which an operand's description counts sixteenths.
                    multiply_64x256(own, rows + 2U * part, columns + 2U * part, element > 0 || part > 0 ? 1 : 0);
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
                TileEpilogueOf<Kernel>::touch(
                    call, tile.row, tile.within * (Tile::columns / Kernel::kernel.accumulators), warp, Tile::finishers);
            });
        }
    }

    /// Runs the chain on the sums of tiles. Of the last one, a warp that multiplied finishes the rows that it stored,
    /// all but those of a turn; the warps that only finish share these.
    /// @param item  the first to finish
    /// @param warp  a number of those that only finish; a negative one of those that multiplied, for the last tile
    static __device__ __forceinline__ void finish(const typename Group::Parameters& parameters, const TileSums& sums,
                                                  Barriers& barriers, int item, int warp) {
        constexpr int own_rows = TileSums::rows_of_warp;
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
                TileEpilogueOf<Kernel> epilogue(call, tile.row,
                                                tile.within * (Tile::columns / Kernel::kernel.accumulators), rows);
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
        const TileSums sums(tiles + Tile::stages * Tile::stage_bytes);
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
__global__ void __launch_bounds__(WarpgroupTile::threads, 1)
    warpgroup_kernel(const __grid_constant__ typename Group::Parameters parameters) {
    WarpgroupRunner<Group>::run(parameters);
}

}  // namespace totograph::cuda
