// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_arithmetic.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_weights.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/graph/kernel.hpp>

// What the blocks of both skinny kernels do: how they read inputs, the norm, and the chain.

namespace totograph::cuda {

/// Stands for "no norm before the GEMMs".
struct NoReduction {};

/// A GEMM of a group.
///
/// @tparam InputType   how its input is stored: float or BFloat16
/// @tparam scale       the operand of its chain that is the norm of its input; -1 when there is no norm
/// @tparam weights     a bit for each operand of its chain that is a weight, which nothing in a graph writes
/// @tparam leaves      whether it stores its result as bf16, too
/// @tparam arithmetic  how it multiplies
/// @tparam sharers     blocks of a cluster that share k; 1 where each block has all of it
template <class KernelType, class InputType, int scale, unsigned weights, bool leaves, Precision arithmetic,
          int sharers = 1>
struct SkinnyMember {
    using K = KernelType;
    using Input = InputType;
    static constexpr Precision precision = arithmetic;
    using Arithmetic = skinny_detail::Arithmetic<precision>;
    static constexpr int scale_operand = scale;
    static constexpr unsigned weight_operands = weights;
    static constexpr unsigned scale_bit = scale < 0 ? 0U : 1U << scale;
    static constexpr bool leaves_bf16 = leaves;
    static constexpr int parts = sharers;
};

namespace skinny_detail {

/// Neighbours of a GEMM's input.
template <bool aligned, int count>
__device__ __forceinline__ Pack<float, count> load_neighbours(const float* from) requires(count == 4) {
    return load_pack<1, 4, aligned>(from);
}
template <bool aligned, int count>
__device__ __forceinline__ Pack<float, count> load_neighbours(const float* from) requires(count == 8) {
    const auto low = load_pack<1, 4, aligned>(from);
    const auto high = load_pack<1, 4, aligned>(from + 4);
    return {low.lane[0], low.lane[1], low.lane[2], low.lane[3], high.lane[0], high.lane[1], high.lane[2], high.lane[3]};
}
template <bool aligned, int count>
__device__ __forceinline__ Pack<BFloat16, count> load_neighbours(const BFloat16* from) {
    return load_pack<1, count, aligned>(from);
}

/// What a lane has of one of the input's rows, as it is stored and as it is kept.
template <class Member>
using InputPack = Pack<typename Member::Input, Chunks<Member>::lane_k>;
template <class Member>
using KeptPack = Pack<typename Member::Arithmetic::Kept, Chunks<Member>::lane_k>;

/// Asks for a lane's part of the warp's `j`th chunk, of its row among the eight from `first_row` on. There is no
/// branch: behind one, a load is waited for before the next one is asked for. A row beyond the last one reads as the
/// last, for nobody reads its results; k beyond its end is 0, and so is an eight of rows that has none.
template <class Member>
__device__ __forceinline__ InputPack<Member> load_input(const typename Member::Input* input, const ThreadPlace& thread,
                                                        int first_row, int j) {
    using K = typename Member::K;
    using Chunks = skinny_detail::Chunks<Member>;
    constexpr auto rows = static_cast<int>(K::kernel.rows());
    if (first_row >= rows) {
        return {};
    }
    const int row = first_row + 8 <= rows ? first_row + thread.row : min(first_row + thread.row, rows - 1);
    const bool exists = Chunks::has_quarter(j, thread);
    const auto* const from = input + static_cast<std::size_t>(row) * K::kernel.input_stride +
                             (thread.warp + j * Chunks::warps) * Chunks::k + thread.quarter * Chunks::lane_k;
    constexpr int half = Chunks::ends_in_half ? Chunks::lane_k / 2 : Chunks::lane_k;
    InputPack<Member> pack;
#pragma unroll
    for (int first = 0; first < Chunks::lane_k; first += half) {
        const bool is_there = first == 0 ? exists : Chunks::has_second_half(j, thread);
        const auto part = load_neighbours<K::is_aligned, half>(is_there ? from + first : input);
#pragma unroll
        for (int i = 0; i < half; ++i) {
            pack.lane[first + i] = Chunks::is_whole(j) || is_there ? part.lane[i] : typename Member::Input{};
        }
    }
    return pack;
}

/// Whether a norm reads anything but the rows that it is of, such as an epsilon that is a weight.
template <class Reduction>
inline constexpr bool norm_has_operands = operand_count<Epilogue<Reduction>> > 0;
template <>
inline constexpr bool norm_has_operands<NoReduction> = false;

/// The sum of `term(0)` to `term(count - 1)`, two by two: fewer additions wait for each other.
template <int count, class Term>
__device__ __forceinline__ float tree_sum(const Term& term) {
    float terms[count];
#pragma unroll
    for (int i = 0; i < count; ++i) {
        terms[i] = term(i);
    }
#pragma unroll
    for (int distance = 1; distance < count; distance *= 2) {
#pragma unroll
        for (int i = 0; i + distance < count; i += 2 * distance) {
            terms[i] += terms[i + distance];
        }
    }
    return terms[0];
}

/// The norm of a row, of the sums of squares that the warps found: an operand of the chain.
/// @param call  of the norm, where it has operands
template <class Reduction, class Positions, int warps, int rows>
__device__ __forceinline__ float norm_of_row(const KernelCall& call, const Positions& positions,
                                             const float (&squares)[warps][rows], int row) {
    const float total = tree_sum<warps>([&](int other) { return squares[other][row]; });
    return finish_row<Reduction>(OperandPointers<Epilogue<Reduction>>(call, positions),
                                 place_of<Reduction, RowsOf<Reduction>>(row), total);
}

/// Runs the chain of a GEMM on some neighbours of a row.
/// @param norm_call  of the norm, where it has operands
/// @param values    what the chain reads, but for accumulators and norm
/// @param total_of  gives the accumulators of a factor of a pair, summed over the warps
/// @param squares   of the norm, if there is one
template <class Member, class Reduction, int lanes, class Positions, class TotalOf, int warps, int rows>
__device__ __forceinline__ auto run_epilogue(const KernelCall& norm_call, const Positions& positions,
                                             ChainValues<Epilogue<typename Member::K>, lanes>& values, int row,
                                             const TotalOf& total_of, const float (&squares)[warps][rows]) {
    using K = typename Member::K;
    constexpr int accumulators = K::kernel.accumulators;
    chain_detail::at<0>(values) = total_of(0);
    if constexpr (accumulators == 2) {
        chain_detail::at<1>(values) = total_of(1);
    }
    if constexpr (!std::is_same_v<Reduction, NoReduction>) {
        const float norm = norm_of_row<Reduction>(norm_call, positions, squares, row);
#pragma unroll
        for (int i = 0; i < lanes; ++i) {
            chain_detail::at<static_cast<std::size_t>(accumulators + Member::scale_operand)>(values).lane[i] = norm;
        }
    }
    return stored_as<Output<K>>(run_chain<Epilogue<K>, lanes>(values));
}

/// Adds the squares of what a lane has of a row to `sums`, in turns.
template <class Input, int lanes, int count>
__device__ __forceinline__ void add_squares(const Pack<Input, lanes>& row, float (&sums)[count]) {
#pragma unroll
    for (int i = 0; i < lanes; ++i) {
        const auto value = static_cast<float>(row.lane[i]);
        sums[i % count] += value * value;
    }
}

/// Stores some neighbours of a result: where it lies, and where the launch behind reads it as bf16.
/// @param column  of the first one, of `columns`
template <class Member, int lanes, class Place>
__device__ __forceinline__ void store_result(const Pack<Output<typename Member::K>, lanes>& result,
                                             Output<typename Member::K>* out, const Place& place, int row, int column,
                                             BFloat16* stored) {
    using K = typename Member::K;
    store_pack<inner_stride<K>(K::kernel.output_strides), K::is_aligned>(out + offset_of<K, StridesOfOutput<K>>(place),
                                                                         result);
    if constexpr (Member::leaves_bf16) {
        constexpr auto columns = static_cast<int>(K::kernel.columns());
        store_pack<1, true>(stored + row * columns + column, stored_as<BFloat16>(result));
    }
}

}  // namespace skinny_detail

}  // namespace totograph::cuda
