// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_block.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_products.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_tile_sizes.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_weights.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/graph/kernel.hpp>

// Skinny GEMMs of more rows than one tensor core instruction takes, by blocks that know nothing of each other.

namespace totograph::cuda {

/// Some columns of one GEMM of more than `skinny_m` rows, by one block.
template <class Member, class Reduction, int groups, int turns>
class SkinnyTilesBlock {
    using K = typename Member::K;
    using Source = Epilogue<K>;
    using Input = typename Member::Input;
    using Tiles = SkinnyTiles<Member, groups, turns>;
    using Turn = typename Tiles::Turn;
    using Results = typename Tiles::Results;
    static constexpr bool has_reduction = !std::is_same_v<Reduction, NoReduction>;
    using Products = SkinnyProducts<Member, has_reduction, groups, turns>;
    using WeightPlaces = skinny_detail::WeightPlaces<Member>;
    static constexpr auto columns = static_cast<int>(K::kernel.columns());

    static constexpr int lanes = Tiles::lanes;
    static constexpr int rows_per_thread = Results::rows_per_thread;
    using Values = ChainValues<Source, lanes>;
    using Positions = skinny_detail::TilePositions<K>;

public:
    /// @param stored  where the launch behind reads its input as bf16
    static __device__ void run(const KernelCall& call, const KernelCall& norm_call, BFloat16* stored, int block,
                               std::byte* memory) {
        auto& shared = *reinterpret_cast<Tiles*>(memory);
        const skinny_detail::ThreadPlace thread;
        int first_column = block * turns * Tiles::columns;

        // Before the kernel before has ended: weights alone.
        skinny_detail::Weights<Member, groups> weights;
        const void* last =
            skinny_detail::load_weights<Member, groups>(WeightPlaces(call, thread, first_column), thread, weights);

        wait_for_predecessor(last);
        launch_dependents();

        const Results results;
        auto* const out = call.output.get<Output<K>>(Positions());
        const auto* const input = call.input.get<Input>(Positions());
        typename Products::Squares square = {};
        [[maybe_unused]] typename Products::Kept kept;
        Products::begin(input, thread, kept, square);
#pragma unroll 1
        for (int turn = 0; turn < turns; ++turn) {
            const int next_column = first_column + Tiles::columns;
            const bool goes_on = turn + 1 < turns && next_column < columns;
            Turn& found = shared.turn[turn % 2];
            Values values[rows_per_thread];
            skinny_detail::load_chain_operands<Member>(call, results, first_column, values);
            typename Products::Accumulators accumulators = {};
            const WeightPlaces next(call, thread, next_column);
            Products::multiply(input, kept, thread, next, goes_on, weights, accumulators, square);
            Products::store_partial(accumulators, square, thread, found);
            __syncthreads();

#pragma unroll
            for (int i = 0; i < rows_per_thread; ++i) {
                if (!results.exists(i)) {
                    break;
                }
                finish(norm_call, results, i, first_column, values[i], found, out, stored);
            }
            if (!goes_on) {
                break;
            }
            first_column = next_column;
        }
        if (block == 0 && threadIdx.x == 0) {
            report_positions<K>(call);
        }
    }

private:
    /// Makes the `i`th result of a thread.
    static __device__ __forceinline__ void finish(const KernelCall& norm_call, const Results& results, int i,
                                                  int first_column, Values& values, const Turn& shared, Output<K>* out,
                                                  BFloat16* stored) {
        const int row = results.row(i);
        const auto total_of = [&](int factor) { return Products::sum_of_warps(shared, factor, row, results.column); };
        const auto result = skinny_detail::run_epilogue<Member, Reduction, lanes>(norm_call, Positions(), values, row,
                                                                                  total_of, shared.squares);
        const int column = first_column + results.column;
        skinny_detail::store_result<Member>(result, out, skinny_detail::place_in_result<K>(row, column), row, column,
                                            stored);
    }
};

}  // namespace totograph::cuda
