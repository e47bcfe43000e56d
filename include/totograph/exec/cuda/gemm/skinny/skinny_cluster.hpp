// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_block.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_products.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_tile_sizes.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_weights.hpp>
#include <totograph/exec/cuda/gemm/skinny_cluster_cut.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/runtime/cluster_parts.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>
#include <totograph/graph/kernel.hpp>

// Skinny GEMMs whose k is too long for the registers of a block: the blocks of a cluster share it. Each has all columns
// of the cluster, and finishes a share of them; the sums of the others travel to the block that finishes them.

namespace totograph::cuda {

/// One GEMM, by clusters.
/// @tparam Member  whose `parts` are those of the cut
template <class Member, int groups, int turns>
class SkinnyClusters {
    using K = typename Member::K;
    using Input = typename Member::Input;
    using Tiles = SkinnyTiles<Member, groups, turns>;
    using Turn = typename Tiles::Turn;
    using Products = SkinnyProducts<Member, false, groups, turns>;
    using WeightPlaces = skinny_detail::WeightPlaces<Member>;
    using Positions = skinny_detail::TilePositions<K>;
    static constexpr int parts = Member::parts;
    static constexpr int lanes = Tiles::lanes;
    static constexpr auto rows = static_cast<int>(K::kernel.rows());
    static constexpr auto columns = static_cast<int>(K::kernel.columns());
    static constexpr int columns_of_cluster = turns * Tiles::columns;
    static constexpr int clusters = (columns + columns_of_cluster - 1) / columns_of_cluster;
    /// Columns that a block finishes, and what of them.
    static constexpr int share = columns_of_cluster / parts;
    using Results = SkinnyResults<lanes, share, rows>;
    using Values = ChainValues<Epilogue<K>, lanes>[Results::rows_per_thread];

    static_assert(columns >= columns_of_cluster && columns_of_cluster % parts == 0 && share % lanes == 0,
                  "totograph: each block of a cluster finishes as many columns as the others.");
    static_assert(turns == 1 || Tiles::keeps_inputs, "totograph: a block reads its part of the rows once.");

    /// What a block found of the columns of a share.
    struct Sums {
        Pack<float, lanes> of[Tiles::factors][rows][share / lanes];
    };
    using Exchange = ClusterParts<Sums, parts>;

public:
    using Calls = KernelCall;
    static constexpr int blocks_per_multiprocessor = 1;
    static constexpr Spread spread{Index{clusters} * parts, block_threads, parts, sizeof(Tiles)};
    static_assert(sizeof(Tiles) + sizeof(Sums) * parts <= compiled_for.shared_bytes_of_block - 1024,
                  "totograph: a multiprocessor has room for a block, of which 1 KiB is the device's.");

    static __device__ void run(const KernelCall& call, std::byte* memory) {
        auto& shared = *reinterpret_cast<Tiles*>(memory);
        const int part = static_cast<int>(blockIdx.x) % parts;
        const skinny_detail::ThreadPlace thread = skinny_detail::place_in_cluster<parts>(part);
        // The last cluster ends with the last column. What the one before it has of its columns, too, that one stores.
        const int first_stored = static_cast<int>(blockIdx.x) / parts * columns_of_cluster;
        const int first_column = std::min(first_stored, columns - columns_of_cluster);
        Exchange::begin();

        // Before the kernel before has ended: weights alone.
        skinny_detail::Weights<Member, groups> weights;
        const void* last =
            skinny_detail::load_weights<Member, groups>(WeightPlaces(call, thread, first_column), thread, weights);

        wait_for_predecessor(last);
        launch_dependents();

        const auto* const input = call.input.get<Input>(Positions());
        typename Products::Squares square = {};
        [[maybe_unused]] typename Products::Kept kept;
        Products::begin(input, thread, kept, square);
#pragma unroll 1
        for (int turn = 0; turn < turns; ++turn) {
            Turn& found = shared.turn[turn % 2];
            typename Products::Accumulators accumulators = {};
            const WeightPlaces next(call, thread, first_column + (turn + 1) * Tiles::columns);
            Products::multiply(input, kept, thread, next, turn + 1 < turns, weights, accumulators, square);
            Products::store_partial(accumulators, square, thread, found);
            __syncthreads();
            if (turn == 0) {
                Exchange::wait_for_others();
            }
            send(found, turn, part);
        }
        // On its way with the last sums: registers hold it no sooner.
        const Results results;
        const int first_of_share = first_column + part * share;
        Values values;
        skinny_detail::load_chain_operands<Member>(call, results, first_of_share, values);
        auto* const out = call.output.get<Output<K>>(Positions());
        const auto& sums = Exchange::wait_for_all();
        if (first_of_share + results.column >= first_stored) {
#pragma unroll
            for (int i = 0; i < Results::rows_per_thread; ++i) {
                if (!results.exists(i)) {
                    break;
                }
                finish(shared.turn[0], sums, results, i, first_of_share, values[i], out);
            }
        }
        if (blockIdx.x == 0 && threadIdx.x == 0) {
            report_positions<K>(call);
        }
    }

private:
    /// Stores what the block found in a turn, summed over its warps, where it is finished.
    static __device__ __forceinline__ void send(const Turn& found, int turn, int part) {
        using Found = typename Tiles::Results;
        const Found results;
        const int column = turn * Tiles::columns + results.column;
#pragma unroll
        for (int i = 0; i < Found::rows_per_thread; ++i) {
            if (!results.exists(i)) {
                break;
            }
            const int row = results.row(i);
#pragma unroll
            for (int a = 0; a < Tiles::factors; ++a) {
                Exchange::store(Exchange::place_of(part).of[a][row][column % share / lanes],
                                Products::sum_of_warps(found, a, row, results.column), column / share);
            }
        }
    }

    /// Makes the `i`th result of a thread.
    static __device__ __forceinline__ void finish(const Turn& unused, const Sums (&sums)[parts], const Results& results,
                                                  int i, int first_of_share, ChainValues<Epilogue<K>, lanes>& values,
                                                  Output<K>* out) {
        const int row = results.row(i);
        const auto total_of = [&](int factor) {
            Pack<float, lanes> total;
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) {
                total.lane[lane] = skinny_detail::tree_sum<parts>(
                    [&](int part) { return sums[part].of[factor][row][results.column / lanes].lane[lane]; });
            }
            return total;
        };
        const auto result = skinny_detail::run_epilogue<Member, NoReduction, lanes>(KernelCall{}, Positions(), values,
                                                                                    row, total_of, unused.squares);
        const int column = first_of_share + results.column;
        skinny_detail::store_result<Member>(result, out, skinny_detail::place_in_result<K>(row, column), row, column,
                                            nullptr);
    }
};

}  // namespace totograph::cuda
