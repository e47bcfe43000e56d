// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda_bf16.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/graph/kernel.hpp>

// GEMMs of few rows with bf16 weights. They are bound by reading the weights once, so each thread asks for all that
// it will read of them before it waits for the kernel before; the chain after the GEMM, and the norm before it, run
// in the same kernel. What is here is for one tensor core instruction of rows; skinny_tiles.hpp has those of more.

namespace totograph::cuda {

/// Rows that one tensor core instruction takes.
inline constexpr int skinny_m = SkinnyTile::m;
/// Columns that one tensor core instruction takes.
inline constexpr int skinny_n = SkinnyTile::n;
/// Elements of depth that a warp takes at a time: eight a lane, four lanes a column.
inline constexpr int skinny_k = SkinnyTile::k;
static_assert(SkinnyTile::most_k == 16 * skinny_k * (block_threads / warp_size));

/// Stands for "no norm before the GEMMs".
struct NoReduction {};

namespace skinny_detail {

/// Eight neighbours of a GEMM's input.
template <bool aligned>
__device__ __forceinline__ Pack<float, 8> load_eight(const float* from) {
    const auto low = load_pack<1, 4, aligned>(from);
    const auto high = load_pack<1, 4, aligned>(from + 4);
    return {low.lane[0], low.lane[1], low.lane[2], low.lane[3], high.lane[0], high.lane[1], high.lane[2], high.lane[3]};
}
template <bool aligned>
__device__ __forceinline__ Pack<BFloat16, 8> load_eight(const BFloat16* from) {
    return load_pack<1, 8, aligned>(from);
}

/// Two neighbours as a tensor core takes them.
__device__ __forceinline__ std::uint32_t pair_of(const Pack<float, 8>& pack, int first) {
    return two_bf16(pack.lane[first], pack.lane[first + 1]);
}
__device__ __forceinline__ std::uint32_t pair_of(const Pack<BFloat16, 8>& pack, int first) {
    return static_cast<std::uint32_t>(pack.lane[first].bits) | static_cast<std::uint32_t>(pack.lane[first + 1].bits)
                                                                   << 16U;
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

}  // namespace skinny_detail

/// A GEMM of a group.
///
/// @tparam rounded         whether its input is stored as bf16
/// @tparam scale           the operand of its chain that is the norm of its input; -1 when there is no norm
/// @tparam weights         a bit for each operand of its chain that is a weight, which nothing in a graph writes
template <class KernelType, bool rounded, int scale, unsigned weights>
struct SkinnyMember {
    using K = KernelType;
    using Input = std::conditional_t<rounded, BFloat16, float>;
    static constexpr int scale_operand = scale;
    static constexpr unsigned weight_operands = weights;
};

/// `skinny_n` columns of one GEMM of up to `skinny_m` rows, by one block. `Reduction` is the kernel of
/// a norm of the GEMM's input (or `NoReduction`), whose result is an operand of the chain.
///
/// A lane reads eight neighbouring elements of depth, and the inputs that go with them: the order of the depth inside a
/// tensor core instruction is free, as long as both sides agree.
template <class Member, class Reduction>
__device__ void run_skinny(const KernelCall& call, int block) {
    using namespace skinny_detail;
    using K = typename Member::K;
    using Source = Epilogue<K>;
    constexpr int warps = block_threads / warp_size;
    constexpr int accumulators = K::kernel.accumulators;
    constexpr auto depth = static_cast<int>(K::kernel.depth);
    constexpr auto rows = static_cast<int>(K::kernel.rows());
    constexpr auto columns = static_cast<int>(K::kernel.columns());
    constexpr int chunks = depth / skinny_k;
    constexpr int chunks_per_warp = (chunks + warps - 1) / warps;
    constexpr bool has_reduction = !std::is_same_v<Reduction, NoReduction>;
    constexpr bool is_even = chunks % warps == 0;
    constexpr int halves = rows > 8 ? 2 : 1;

    __shared__ float partial[warps][accumulators][halves * 8][skinny_n + 1];
    __shared__ float squares[warps][halves * 8];

    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int quarter = lane % 4;
    const int column = block * skinny_n + lane / 4;

    // Before the kernel before has ended: weights alone.
    uint4 weights[accumulators][chunks_per_warp];
    const auto* weight = static_cast<const __nv_bfloat16*>(call.weight);
    const std::uint64_t policy = weights_policy();
#pragma unroll
    for (int j = 0; j < chunks_per_warp; ++j) {
        const int chunk = warp + j * warps;
#pragma unroll
        for (int a = 0; a < accumulators; ++a) {
            const auto* from =
                weight + static_cast<std::size_t>(a * columns + column) * depth + chunk * skinny_k + quarter * 8;
            weights[a][j] = is_even || chunk < chunks ? load_weights(reinterpret_cast<const uint4*>(from), policy)
                                                      : uint4{0, 0, 0, 0};
        }
    }
    // Of the results, each thread makes at most one.
    constexpr int lanes = rotates_pairs(K::kernel.chain) ? 2 : 1;
    constexpr int items = rows * skinny_n / lanes;
    static_assert(items <= block_threads);
    const auto item = static_cast<int>(threadIdx.x);
    const int own_row = item / (skinny_n / lanes);
    const int own_column = item % (skinny_n / lanes) * lanes;
    const auto place =
        place_of<K, IterationOf<K>>(static_cast<Offset<K>>(own_row) * columns + block * skinny_n + own_column);
    constexpr unsigned scale_bit = Member::scale_operand < 0 ? 0U : 1U << Member::scale_operand;
    ChainValues<Source, lanes> values;
    if (item < items) {
        const OperandPointers<Source, Member::weight_operands> pointers(call, ReportedAtEnd());
        load_operands<K, Source, lanes, Member::weight_operands>(pointers, place, values);
    }

    wait_for_predecessor();
    launch_dependents();

    // May read a position: before there is anything else to wait for.
    auto* const out = call.output.get<Output<K>>(ReportedAtEnd());
    if (item < items) {
        const OperandPointers<Source, ~(Member::weight_operands | scale_bit)> pointers(call, ReportedAtEnd());
        load_operands<K, Source, lanes, ~(Member::weight_operands | scale_bit)>(pointers, place, values);
    }
    using Input = typename Member::Input;
    static_assert(!has_reduction || std::is_same_v<Input, float>);
    const auto* input = call.input.get<Input>(ReportedAtEnd());
    Pack<Input, 8> x[chunks_per_warp][halves];
#pragma unroll
    for (int j = 0; j < chunks_per_warp; ++j) {
        const int chunk = warp + j * warps;
#pragma unroll
        for (int half = 0; half < halves; ++half) {
            const int row = lane / 4 + half * 8;
            if ((rows % 8 == 0 || row < rows) && (is_even || chunk < chunks)) {
                x[j][half] = load_eight<K::is_aligned>(input + static_cast<std::size_t>(row) * K::kernel.input_stride +
                                                       chunk * skinny_k + quarter * 8);
            } else {
                x[j][half] = {};
            }
        }
    }
    float sums[accumulators][4] = {};
    float square[halves] = {};
#pragma unroll
    for (int j = 0; j < chunks_per_warp; ++j) {
        if constexpr (has_reduction) {
#pragma unroll
            for (int half = 0; half < halves; ++half) {
#pragma unroll
                for (int i = 0; i < 8; ++i) {
                    square[half] += x[j][half].lane[i] * x[j][half].lane[i];
                }
            }
        }
#pragma unroll
        for (int step = 0; step < 2; ++step) {
            const auto& low = x[j][0];
            const auto& high = x[j][halves - 1];
            const std::uint32_t tile[4] = {pair_of(low, step * 4), halves == 1 ? 0U : pair_of(high, step * 4),
                                           pair_of(low, step * 4 + 2), halves == 1 ? 0U : pair_of(high, step * 4 + 2)};
#pragma unroll
            for (int a = 0; a < accumulators; ++a) {
                multiply_bf16(sums[a], tile, step == 0 ? weights[a][j].x : weights[a][j].z,
                              step == 0 ? weights[a][j].y : weights[a][j].w);
            }
        }
    }
#pragma unroll
    for (int a = 0; a < accumulators; ++a) {
#pragma unroll
        for (int i = 0; i < 2 * halves; ++i) {
            partial[warp][a][lane / 4 + i / 2 * 8][quarter * 2 + i % 2] = sums[a][i];
        }
    }
    if constexpr (has_reduction) {
#pragma unroll
        for (int half = 0; half < halves; ++half) {
            float total = square[half];
            total += __shfl_xor_sync(0xffffffffU, total, 1);
            total += __shfl_xor_sync(0xffffffffU, total, 2);
            if (quarter == 0) {
                squares[warp][lane / 4 + half * 8] = total;
            }
        }
    }
    __syncthreads();

    if (item < items) {
        const auto sum_of = [&](int a) {
            Pack<float, lanes> total = {};
#pragma unroll
            for (int other = 0; other < warps; ++other) {
#pragma unroll
                for (int i = 0; i < lanes; ++i) {
                    total.lane[i] += partial[other][a][own_row][own_column + i];
                }
            }
            return total;
        };
        chain_detail::at<0>(values) = sum_of(0);
        if constexpr (accumulators == 2) {
            chain_detail::at<1>(values) = sum_of(1);
        }
        if constexpr (has_reduction) {
            float total = 0;
#pragma unroll
            for (int other = 0; other < warps; ++other) {
                total += squares[other][own_row];
            }
            const float scale = finish_row<Reduction>(OperandPointers<Epilogue<Reduction>>(call, ReportedAtEnd()),
                                                      place_of<Reduction, RowsOf<Reduction>>(own_row), total);
#pragma unroll
            for (int i = 0; i < lanes; ++i) {
                chain_detail::at<static_cast<std::size_t>(accumulators + Member::scale_operand)>(values).lane[i] =
                    scale;
            }
        }
        store_pack<inner_stride<K>(K::kernel.output_strides), K::is_aligned>(
            out + offset_of<K, StridesOfOutput<K>>(place), stored_as<Output<K>>(run_chain<Source, lanes>(values)));
    }
    if (block == 0 && threadIdx.x == 0) {
        report_positions<K>(call);
    }
}

}  // namespace totograph::cuda
