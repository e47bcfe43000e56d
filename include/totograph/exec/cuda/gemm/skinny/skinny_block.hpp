// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_arithmetic.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/graph/kernel.hpp>

// What the blocks of both skinny kernels do: how their warps share k, how they read weights and inputs, and the norm.

namespace totograph::cuda {

/// Rows that one tensor core instruction takes.
inline constexpr int skinny_m = SkinnyTile::m;
/// Columns that one tensor core instruction takes.
inline constexpr int skinny_n = SkinnyTile::n;

/// Stands for "no norm before the GEMMs".
struct NoReduction {};

/// A GEMM of a group.
///
/// @tparam InputType  how its input is stored: float or BFloat16
/// @tparam scale      the operand of its chain that is the norm of its input; -1 when there is no norm
/// @tparam weights    a bit for each operand of its chain that is a weight, which nothing in a graph writes
/// @tparam precision  how it multiplies
template <class KernelType, class InputType, int scale, unsigned weights, Precision precision>
struct SkinnyMember {
    using K = KernelType;
    using Input = InputType;
    using Arithmetic = skinny_detail::Arithmetic<precision>;
    static constexpr int scale_operand = scale;
    static constexpr unsigned weight_operands = weights;
    static constexpr unsigned scale_bit = scale < 0 ? 0U : 1U << scale;
};

namespace skinny_detail {

/// How the warps of a block share k: each has every so manieth chunk, which is what the four lanes of a column take at
/// a time. Of the last chunk, there may be some quarters only: each is what one lane has.
template <class Member>
struct Chunks {
    static constexpr int lane_k = Member::Arithmetic::lane_k;
    static constexpr int k = 4 * lane_k;
    static constexpr auto all_k = static_cast<int>(Member::K::kernel.k);
    static constexpr int warps = block_threads / warp_size;
    static constexpr int count = (all_k + k - 1) / k;
    static constexpr int per_warp = (count + warps - 1) / warps;
    static constexpr bool is_even = count % warps == 0;
    static constexpr int quarters = all_k / lane_k;
    static constexpr bool is_whole = all_k % k == 0;

    /// Whether a chunk exists.
    static __device__ __forceinline__ bool exists(int chunk) { return is_even || chunk < count; }
    /// Whether a quarter of a chunk does.
    static __device__ __forceinline__ bool exists(int chunk, int quarter) {
        return is_whole ? exists(chunk) : chunk * 4 + quarter < quarters;
    }
};

/// A thread's place in a block, and in tensor core instructions: a lane is `4 row + quarter`.
struct ThreadPlace {
    int warp = static_cast<int>(threadIdx.x) / warp_size;
    int lane = static_cast<int>(threadIdx.x) % warp_size;
    int row = lane / 4;
    int quarter = lane % 4;
};

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

/// Weights are read once and by nobody else: they should not displace what the caches hold, code and parameters of the
/// next kernels among it.
__device__ __forceinline__ uint4 load_weights(const uint4* from, std::uint64_t policy) {
    uint4 words;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;"
                 : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                 : "l"(from), "l"(policy));
    return words;
}

/// How the L2 cache treats weights.
__device__ __forceinline__ std::uint64_t weights_policy() {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
    return policy;
}

/// The weights of a thread: some neighbours in k of a column, for each chunk, GEMM of a pair, and group of columns.
template <class Member, int groups>
using Weights = uint4[Chunks<Member>::per_warp][Member::K::kernel.accumulators][groups];

/// Asks for the weights of `groups` times `skinny_n` columns, from `first_column` on. Nothing in a graph writes them,
/// so they can be on their way before the kernel before has ended.
/// @return the last address, for `wait_for_predecessor`
template <class Member, int groups>
__device__ __forceinline__ const void* load_weights(const KernelCall& call, const ThreadPlace& thread, int first_column,
                                                    Weights<Member, groups>& weights) {
    using K = typename Member::K;
    using Chunks = skinny_detail::Chunks<Member>;
    const void* last = nullptr;
    constexpr auto columns = static_cast<int>(K::kernel.columns());
    const auto* weight = static_cast<const typename Member::Arithmetic::Weight*>(call.weight);
    const std::uint64_t policy = weights_policy();
#pragma unroll
    for (int j = 0; j < Chunks::per_warp; ++j) {
        const int chunk = thread.warp + j * Chunks::warps;
#pragma unroll
        for (int a = 0; a < K::kernel.accumulators; ++a) {
#pragma unroll
            for (int group = 0; group < groups; ++group) {
                const int column = a * columns + first_column + group * skinny_n + thread.row;
                const auto* from = weight + static_cast<std::size_t>(column) * Chunks::all_k + chunk * Chunks::k +
                                   thread.quarter * Chunks::lane_k;
                last = from;
                weights[j][a][group] = Chunks::exists(chunk, thread.quarter)
                                           ? load_weights(reinterpret_cast<const uint4*>(from), policy)
                                           : uint4{0, 0, 0, 0};
            }
        }
    }
    return last;
}

/// What a lane has of one of the input's rows.
template <class Member>
using InputPack = Pack<typename Member::Input, Chunks<Member>::lane_k>;
template <class Member>
__device__ __forceinline__ InputPack<Member> load_input(const typename Member::Input* input, const ThreadPlace& thread,
                                                        int row, int chunk) {
    using K = typename Member::K;
    using Chunks = skinny_detail::Chunks<Member>;
    return load_neighbours<K::is_aligned, Chunks::lane_k>(input +
                                                          static_cast<std::size_t>(row) * K::kernel.input_stride +
                                                          chunk * Chunks::k + thread.quarter * Chunks::lane_k);
}

/// Whether a norm reads anything but the rows that it is of, such as an epsilon that is a weight.
template <class Reduction>
inline constexpr bool norm_has_operands = operand_count<Epilogue<Reduction>> > 0;
template <>
inline constexpr bool norm_has_operands<NoReduction> = false;

/// The norm of a row, of the sums of squares that the warps found: an operand of the chain.
/// @param call  of the norm, where it has operands
template <class Reduction, class Positions, int warps, int rows>
__device__ __forceinline__ float norm_of_row(const KernelCall& call, const Positions& positions,
                                             const float (&squares)[warps][rows], int row) {
    float total = 0;
#pragma unroll
    for (int other = 0; other < warps; ++other) {
        total += squares[other][row];
    }
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

}  // namespace skinny_detail

}  // namespace totograph::cuda
