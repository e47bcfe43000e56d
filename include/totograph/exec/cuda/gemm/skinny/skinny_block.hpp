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

/// A thread's place in a block, and in tensor core instructions: a lane is `4 row + quarter`.
struct ThreadPlace {
    int warp = static_cast<int>(threadIdx.x) / warp_size;
    int lane = static_cast<int>(threadIdx.x) % warp_size;
    int row = lane / 4;
    int quarter = lane % 4;
};

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
    static constexpr int quarters = all_k / lane_k;

    /// Whether a warp has a `j`th chunk.
    static __device__ __forceinline__ bool exists(int j, const ThreadPlace& thread) {
        return (j + 1) * warps <= count || thread.warp + j * warps < count;
    }
    /// Whether every lane of a block has a quarter of the `j`th chunk of its warp.
    static constexpr bool is_whole(int j) { return (j + 1) * warps * 4 <= quarters; }
    /// Whether a lane has one.
    static __device__ __forceinline__ bool has_quarter(int j, const ThreadPlace& thread) {
        return is_whole(j) || (thread.warp + j * warps) * 4 + thread.quarter < quarters;
    }
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

/// The same where they exist; elsewhere `words` stay as they are.
__device__ __forceinline__ void load_weights_if(bool exist, const uint4* from, std::uint64_t policy, uint4& words) {
    asm volatile(
        "{.reg .pred exist; setp.ne.u32 exist, %6, 0;"
        "@exist ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;}"
        : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w)
        : "l"(from), "l"(policy), "r"(static_cast<unsigned>(exist)));
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

/// Where a lane reads the weights of `groups` times `skinny_n` columns, from `first_column` on.
template <class Member, int groups>
class WeightPlaces {
    using K = typename Member::K;
    using Chunks = skinny_detail::Chunks<Member>;
    using Weight = typename Member::Arithmetic::Weight;
    const Weight* first_;

public:
    __device__ __forceinline__ WeightPlaces(const KernelCall& call, const ThreadPlace& thread, int first_column)
        : first_(static_cast<const Weight*>(call.weight) +
                 static_cast<std::size_t>(first_column + thread.row) * Chunks::all_k + thread.warp * Chunks::k +
                 thread.quarter * Chunks::lane_k) {}

    /// Of the warp's `j`th chunk, of one GEMM of a pair and one group of columns.
    __device__ __forceinline__ const uint4* at(int j, int factor, int group) const {
        const std::size_t column = static_cast<std::size_t>(factor) * static_cast<std::size_t>(K::kernel.columns()) +
                                   static_cast<std::size_t>(group * skinny_n);
        return reinterpret_cast<const uint4*>(first_ + column * Chunks::all_k +
                                              static_cast<std::size_t>(j * Chunks::warps * Chunks::k));
    }
};

/// Asks for all weights of these columns. Nothing in a graph writes them, so they can be on their way before the kernel
/// before has ended.
/// @return the last address, for `wait_for_predecessor`
template <class Member, int groups>
__device__ __forceinline__ const void* load_weights(const WeightPlaces<Member, groups>& places,
                                                    const ThreadPlace& thread, Weights<Member, groups>& weights) {
    using Chunks = skinny_detail::Chunks<Member>;
    const void* last = nullptr;
    const std::uint64_t policy = weights_policy();
#pragma unroll
    for (int j = 0; j < Chunks::per_warp; ++j) {
#pragma unroll
        for (int a = 0; a < Member::K::kernel.accumulators; ++a) {
#pragma unroll
            for (int group = 0; group < groups; ++group) {
                const uint4* const from = places.at(j, a, group);
                last = from;
                if (Chunks::is_whole(j)) {
                    weights[j][a][group] = load_weights(from, policy);
                } else {
                    weights[j][a][group] = {0, 0, 0, 0};
                    load_weights_if(Chunks::has_quarter(j, thread), from, policy, weights[j][a][group]);
                }
            }
        }
    }
    return last;
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
    auto pack = load_neighbours<K::is_aligned, Chunks::lane_k>(exists ? from : input);
    if (!Chunks::is_whole(j)) {
#pragma unroll
        for (int i = 0; i < Chunks::lane_k; ++i) {
            pack.lane[i] = exists ? pack.lane[i] : typename Member::Input{};
        }
    }
    return pack;
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
