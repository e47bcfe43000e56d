// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <cuda_bf16.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/attention.hpp>
#include <totograph/exec/cuda/dependent_launch.hpp>
#include <totograph/exec/cuda/elementwise.hpp>
#include <totograph/exec/cuda/kernel_call.hpp>
#include <totograph/exec/cuda/movement.hpp>
#include <totograph/exec/cuda/reduction.hpp>
#include <totograph/exec/cuda/sample.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// The kernels that are launched: one step, several small ones, the chain after a library's product.

namespace totograph::cuda {

/// Runs a step, on all threads of the grid.
template <class K>
__device__ void run_step(const KernelCall& call) {
    if constexpr (K::kernel.kind == KernelKind::pointwise) {
        run_pointwise<K>(call);
    } else if constexpr (K::kernel.kind == KernelKind::reduction) {
        run_reduction<K>(call);
    } else if constexpr (K::kernel.op == Op::take) {
        run_take<K>(call);
    } else if constexpr (K::kernel.op == Op::concatenate) {
        run_concatenate<K>(call);
    } else if constexpr (K::kernel.op == Op::store) {
        run_store<K>(call);
    } else if constexpr (K::kernel.op == Op::cumulative_sum) {
        run_cumulative_sum<K>(call);
    } else if constexpr (K::kernel.op == Op::softmax) {
        run_softmax<K>(call);
    } else if constexpr (K::kernel.op == Op::causal_attention) {
        run_causal_attention<K>(call);
    } else if constexpr (K::kernel.op == Op::cached_attention) {
        run_cached_attention<K>(call);
    } else if constexpr (K::kernel.op == Op::variate_attention) {
        run_variate_attention<K>(call);
    } else {
        static_assert(K::kernel.op == Op::sample_student_t_mixture,
                      "totograph: the CUDA executor has no kernel for an op that this model records.");
        run_sample<K>(call);
    }
}

/// Blocks that keep a step busy, before the device's size is known.
template <class K>
constexpr Index blocks_wanted() {
    constexpr Index warps = block_threads / warp_size;
    const auto over = [](Index items, Index per_block) {
        return std::max<Index>(1, divide_rounding_up(items, per_block));
    };
    if constexpr (K::kernel.kind == KernelKind::pointwise || K::kernel.kind == KernelKind::product) {
        return over(K::kernel.iteration.size() / lanes_of<K>(K::kernel.iteration.size() < 65536), block_threads);
    } else if constexpr (K::kernel.kind == KernelKind::reduction) {
        return takes_block<K>() ? K::kernel.rows() : over(K::kernel.rows(), warps);
    } else if constexpr (K::kernel.op == Op::cumulative_sum) {
        constexpr Index rows = K::kernel.iteration.size() / K::kernel.iteration[-1];
        return K::kernel.iteration[-1] <= 4 * warp_size ? over(rows, warps) : rows;
    } else if constexpr (K::kernel.op == Op::softmax) {
        return over(K::kernel.iteration.size() / K::kernel.iteration[-1], warps);
    } else if constexpr (K::kernel.op == Op::causal_attention || K::kernel.op == Op::cached_attention ||
                         K::kernel.op == Op::variate_attention) {
        return over(AttentionSizes<K>::queries, warps);
    } else {
        return over(K::kernel.iteration.size(), block_threads);
    }
}

template <class K>
__global__ void __launch_bounds__(block_threads) step_kernel(const __grid_constant__ KernelCall call) {
    let_successor_begin();
    wait_for_predecessor();
    run_step<K>(call);
}

/// Blocks that run a segment: one cluster, where the device has them.
inline constexpr int cluster_blocks = 8;

/// Waits for all blocks of a segment; what they wrote can be read afterwards.
__device__ __forceinline__ void synchronize_segment() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    __syncthreads();
#endif
}

/// Steps one after the other.
template <class... K>
struct Segment {
    struct Calls {
        KernelCall call[sizeof...(K)];
    };
    static_assert(sizeof(Calls) <= 32764, "totograph: a segment has more operands than a kernel has parameters.");

    static __device__ void run(const Calls& calls) {
        int index = 0;
        ((index > 0 ? synchronize_segment() : void(), run_step<K>(calls.call[index]), ++index), ...);
    }
};

template <class SegmentType>
__global__ void __launch_bounds__(block_threads)
    segment_kernel(const __grid_constant__ typename SegmentType::Calls calls) {
    let_successor_begin();
    wait_for_predecessor();
    SegmentType::run(calls);
}

/// The chain after a product that a library computed.
template <class K>
__global__ void __launch_bounds__(block_threads)
    epilogue_kernel(const __grid_constant__ KernelCall call, const float* accumulators) {
    let_successor_begin();
    wait_for_predecessor();
    run_epilogue<K>(call, accumulators);
}

/// Rows of a product's input as bf16, next to each other.
template <int depth>
__global__ void __launch_bounds__(block_threads)
    convert_kernel(const __grid_constant__ Address input, Index input_stride, Index rows, __nv_bfloat16* out) {
    let_successor_begin();
    wait_for_predecessor();
    const auto* in = input.get<float>();
    constexpr int lanes = depth % 4 == 0 ? 4 : depth % 2 == 0 ? 2 : 1;
    for (Index item = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; item < rows * (depth / lanes);
         item += static_cast<Index>(gridDim.x) * blockDim.x) {
        const Index row = item / (depth / lanes);
        const Index column = item % (depth / lanes) * lanes;
        const auto values = load_pack<1, lanes>(in + row * input_stride + column);
        Pack<__nv_bfloat16, lanes> rounded;
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            rounded.lane[lane] = __float2bfloat16_rn(values.lane[lane]);
        }
        store_pack<1>(out + row * depth + column, rounded);
    }
}

}  // namespace totograph::cuda
