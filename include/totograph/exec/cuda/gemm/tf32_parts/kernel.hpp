// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/tf32_parts/stages.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>

// GEMMs in f32 by tf32 parts whose chain is a bias or a residual or both, or is computed by another kernel.

namespace totograph::cuda {

/// out = x W^T [+ residual] [+ bias]; n is a multiple of four, and all rows begin at multiples of 16 bytes.
struct Tf32PartsCall {
    CUtensorMap input;      ///< Tiles of `m` rows.
    CUtensorMap weight;     ///< Tiles of `n` rows.
    const float* residual;  ///< Or null.
    const float* bias;      ///< Or null.
    float* output;
    int m;
    int n;
    int k;
    Index residual_stride;
    Index output_stride;
};

#if defined(TOTOGRAPH_HAS_WGMMA)

/// What the threads of a block do.
template <class Block>
class Tf32PartsGemm {
    using Stages = Tf32PartsStages<Block>;
    using State = typename Stages::State;

public:
    static __device__ __forceinline__ void run(const Tf32PartsCall& call) {
        extern __shared__ std::byte memory[];
        __shared__ typename Stages::Barriers barriers;
        const Stages stages(memory, barriers);
        if (threadIdx.x == 0) {
            prefetch_tma_descriptor(call.input);
            prefetch_tma_descriptor(call.weight);
            stages.init();
        }
        __syncthreads();
        wait_for_predecessor();
        launch_dependents();
        const Tf32PartsGemm gemm(call);
        const int steps = (call.k + Block::k - 1) / Block::k;
        Stages::share_work(
            [&] {
                State state;
                gemm.for_each_tile([&](int first_row, int first_column) {
                    float sums[Block::n / 2];
                    stages.multiply_tile(state, steps, sums);
                    gemm.store(first_row, first_column, sums);
                });
            },
            [&](int thread) {
                State state;
                gemm.for_each_tile([&](int, int) { stages.cut_tile(state, steps, thread); });
            },
            [&] {
                State state = Stages::first_to_copy;
                gemm.for_each_tile([&](int first_row, int first_column) {
                    stages.copy_tile(state, steps,
                                     [&](std::byte* rows, std::byte* weights, std::uint64_t* barrier, int k) {
                                         tma_load(call.input, rows, barrier, k, first_row);
                                         tma_load(call.weight, weights, barrier, k, first_column);
                                     });
                });
            });
    }

private:
    __device__ __forceinline__ explicit Tf32PartsGemm(const Tf32PartsCall& call)
        : call_(call),
          columns_((call.n + Block::n - 1) / Block::n),
          items_(columns_ * ((call.m + Block::m - 1) / Block::m)) {}

    /// Calls `use(first_row, first_column)` for each tile of the block.
    template <class Use>
    __device__ __forceinline__ void for_each_tile(const Use& use) const {
#pragma unroll 1
        for (int item = static_cast<int>(blockIdx.x); item < items_; item += static_cast<int>(gridDim.x)) {
            use(item / columns_ * Block::m, item % columns_ * Block::n);
        }
    }

    /// Adds a bias and a residual, and stores. What a row needs is asked for at once; a row or column beyond the last
    /// reads that one.
    __device__ __forceinline__ void store(int first_row, int first_column, const float (&sums)[Block::n / 2]) const {
        constexpr int together = 8;  // column pairs of a thread
#pragma unroll
        for (int first = 0; first < Block::n / 8; first += together) {
            const auto column_of = [&](int i) { return first_column + (first + i) * 8 + lane() % 4 * 2; };
            const auto load_pairs = [&](const float* row, float2(&pairs)[together]) {
#pragma unroll
                for (int i = 0; i < together; ++i) {
                    pairs[i] = *reinterpret_cast<const float2*>(row + min(column_of(i), call_.n - 2));
                }
            };
            float2 bias[together] = {};
            if (call_.bias != nullptr) {
                load_pairs(call_.bias, bias);
            }
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int row = first_row + static_cast<int>(threadIdx.x) / warp_size * 16 + half * 8 + lane() / 4;
                float2 residual[together] = {};
                if (call_.residual != nullptr) {
                    load_pairs(call_.residual + min(row, call_.m - 1) * call_.residual_stride, residual);
                }
                float* const to = call_.output + row * call_.output_stride;
#pragma unroll
                for (int i = 0; i < together; ++i) {
                    if (row < call_.m && column_of(i) < call_.n) {
                        const float* const own = &sums[(first + i) * 4 + half * 2];
                        *reinterpret_cast<float2*>(to + column_of(i)) = {own[0] + residual[i].x + bias[i].x,
                                                                         own[1] + residual[i].y + bias[i].y};
                    }
                }
            }
        }
    }

    [[nodiscard]] static __device__ __forceinline__ int lane() {
        return static_cast<int>(threadIdx.x) % warp_size;
    }

    const Tf32PartsCall& call_;
    int columns_;
    int items_;
};

#endif

template <class Block>
__global__ void __launch_bounds__(Block::threads, Block::blocks_of_multiprocessor)
    tf32_parts_kernel(const __grid_constant__ Tf32PartsCall call) {
#if defined(TOTOGRAPH_HAS_WGMMA)
    Tf32PartsGemm<Block>::run(call);
#endif
}

}  // namespace totograph::cuda
