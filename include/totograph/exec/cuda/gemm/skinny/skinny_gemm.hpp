// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_block.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/exec/cuda/runtime/next_begins.hpp>
#include <totograph/graph/kernel.hpp>

// GEMMs of few rows. They are bound by reading the weights once, so each thread asks for all that
// it will read of them before it waits for the kernel before; the chain after the GEMM, and the norm before it, run
// in the same kernel. What is here is for one tensor core instruction of rows; skinny_tiles.hpp has those of more.

namespace totograph::cuda {

/// `skinny_n` columns of one GEMM of up to `skinny_m` rows, by one block. `Reduction` is the kernel of
/// a norm of the GEMM's input (or `NoReduction`), whose result is an operand of the chain.
template <class Member, class Reduction, NextBegins next>
class SkinnyBlock {
    using K = typename Member::K;
    using Source = Epilogue<K>;
    using Input = typename Member::Input;
    using Chunks = skinny_detail::Chunks<Member>;
    using ThreadPlace = skinny_detail::ThreadPlace;
    static constexpr int warps = Chunks::warps;
    static constexpr int factors = K::kernel.accumulators;
    static constexpr auto rows = static_cast<int>(K::kernel.rows());
    static constexpr auto columns = static_cast<int>(K::kernel.columns());
    static constexpr bool has_reduction = !std::is_same_v<Reduction, NoReduction>;
    /// Eights of rows that the instruction takes.
    static constexpr int halves = rows > 8 ? 2 : 1;
    /// Whether a lane multiplies one column, and not the tensor cores.
    static constexpr bool has_column_a_lane = rows == 1 && Member::precision == Precision::f32;

    /// Of the results, each thread makes at most one; or two that are rotated together.
    static constexpr int lanes = rotates_pairs(K::kernel.chain) ? 2 : 1;
    static constexpr int items = rows * skinny_n / lanes;
    static_assert(items <= block_threads);
    using Values = ChainValues<Source, lanes>;

    /// What the warps of a block found.
    using Partial = float[warps][factors][halves * 8][skinny_n + 1];
    using Squares = float[warps][halves * 8];
    /// Sums of products that do not wait for each other, of each factor: an instruction that adds to the result of the
    /// one before waits for some thirty cycles.
    static constexpr int sums = [] {
        constexpr int products = Chunks::per_warp * Member::Arithmetic::steps;
        return Member::Arithmetic::adds_apart ? 1 : std::clamp(products / 2, 1, 4 / factors);
    }();
    /// The inputs and the accumulators of a thread, and its sums of squares.
    using Inputs = skinny_detail::InputPack<Member>[Chunks::per_warp][halves];
    using Accumulators = float[factors][sums][4];
    using Square = float[halves][2];

public:
    /// Registers of a thread for weights and inputs.
    static constexpr int operand_registers =
        static_cast<int>((sizeof(skinny_detail::Weights<Member, 1>) + sizeof(Inputs)) / sizeof(std::uint32_t));

    /// @param stored  where the launch behind reads its input as bf16
    static __device__ void run(const KernelCall& call, const KernelCall& norm_call, BFloat16* stored, int block) {
        __shared__ Partial partial;
        __shared__ Squares squares;
        const ThreadPlace thread;

        // Before the kernel before has ended: weights alone.
        skinny_detail::Weights<Member, 1> weights;
        skinny_detail::load_weights<Member, 1>(skinny_detail::WeightPlaces<Member>(call, thread, block * skinny_n),
                                               thread, weights);
        const auto item = static_cast<int>(threadIdx.x);
        const int own_row = item / (skinny_n / lanes);
        const int own_column = item % (skinny_n / lanes) * lanes;
        const auto place =
            place_of<K, IterationOf<K>>(static_cast<Offset<K>>(own_row) * columns + block * skinny_n + own_column);
        Values values;
        if (item < items) {
            load_chain_operands<Member::weight_operands>(call, place, values);
        }

        wait_and_launch_dependents<next>();

        // May read a position: before there is anything else to wait for.
        auto* const out = call.output.get<Output<K>>(call.report);
        if (item < items) {
            load_chain_operands<~(Member::weight_operands | Member::scale_bit)>(call, place, values);
        }
        Inputs x;
        load_inputs(call, thread, x);
        Accumulators accumulators = {};
        Square square = {};
        multiply(x, weights, accumulators, square);
        store_partial(accumulators, square, thread, partial, squares);
        __syncthreads();

        if (item < items) {
            const auto total_of = [&](int factor) { return sum_of_warps(partial, factor, own_row, own_column); };
            const auto result = skinny_detail::run_epilogue<Member, Reduction, lanes>(norm_call, call.report, values,
                                                                                      own_row, total_of, squares);
            skinny_detail::store_result<Member>(result, out, place, own_row, block * skinny_n + own_column, stored);
        }
    }

private:
    /// Asks for the operands of the chain whose bit is set in `which`.
    template <unsigned which, class PlaceOfItem>
    static __device__ __forceinline__ void load_chain_operands(const KernelCall& call, const PlaceOfItem& place,
                                                               Values& values) {
        const OperandPointers<Source, which> pointers(call, call.report);
        load_operands<K, Source, lanes, which>(pointers, place, values);
    }

    static __device__ __forceinline__ void load_inputs(const KernelCall& call, const ThreadPlace& thread, Inputs& x) {
        const auto* input = call.input.get<Input>(call.report);
#pragma unroll
        for (int j = 0; j < Chunks::per_warp; ++j) {
#pragma unroll
            for (int half = 0; half < halves; ++half) {
                x[j][half] = skinny_detail::load_input<Member>(input, thread, half * 8, j);
            }
        }
    }

    static __device__ __forceinline__ void multiply(const Inputs& x, const skinny_detail::Weights<Member, 1>& weights,
                                                    Accumulators& accumulators, Square& square) {
        using Arithmetic = typename Member::Arithmetic;
#pragma unroll
        for (int j = 0; j < Chunks::per_warp; ++j) {
            if constexpr (has_reduction) {
#pragma unroll
                for (int half = 0; half < halves; ++half) {
                    skinny_detail::add_squares(x[j][half], square[half]);
                }
            }
            if constexpr (has_column_a_lane) {
#pragma unroll
                for (int a = 0; a < factors; ++a) {
                    Arithmetic::multiply_row(accumulators[a][0], x[j][0], weights[j][a][0]);
                }
            } else {
#pragma unroll
                for (int step = 0; step < Arithmetic::steps; ++step) {
                    const typename Arithmetic::template Rows<halves == 2, Input> tile(x[j][0], x[j][halves - 1], step);
#pragma unroll
                    for (int a = 0; a < factors; ++a) {
                        Arithmetic::multiply(accumulators[a][(j * Arithmetic::steps + step) % sums], tile,
                                             weights[j][a][0], step);
                    }
                }
            }
        }
    }

    /// Puts what a warp found into shared memory.
    static __device__ __forceinline__ void store_partial(const Accumulators& accumulators, const Square& square,
                                                         const ThreadPlace& thread, Partial& partial,
                                                         Squares& squares) {
#pragma unroll
        for (int a = 0; a < factors; ++a) {
            if constexpr (has_column_a_lane) {
                const auto& own = accumulators[a][0];
                const float total = sum_of_group<4>((own[0] + own[1]) + (own[2] + own[3]));
                if (thread.quarter == 0) {
                    partial[thread.warp][a][0][thread.row] = total;
                }
            } else {
#pragma unroll
                for (int i = 0; i < 2 * halves; ++i) {
                    partial[thread.warp][a][thread.row + i / 2 * 8][thread.quarter * 2 + i % 2] =
                        skinny_detail::tree_sum<sums>([&](int sum) { return accumulators[a][sum][i]; });
                }
            }
        }
        if constexpr (has_reduction) {
#pragma unroll
            for (int half = 0; half < halves; ++half) {
                float total = square[half][0] + square[half][1];
                total += __shfl_xor_sync(0xffffffffU, total, 1);
                total += __shfl_xor_sync(0xffffffffU, total, 2);
                if (thread.quarter == 0) {
                    squares[thread.warp][thread.row + half * 8] = total;
                }
            }
        }
    }

    static __device__ __forceinline__ Pack<float, lanes> sum_of_warps(const Partial& partial, int factor, int row,
                                                                      int column) {
        Pack<float, lanes> total;
#pragma unroll
        for (int i = 0; i < lanes; ++i) {
            total.lane[i] =
                skinny_detail::tree_sum<warps>([&](int other) { return partial[other][factor][row][column + i]; });
        }
        return total;
    }
};

}  // namespace totograph::cuda
