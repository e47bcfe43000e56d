// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/gemm/sm90/mainloop.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/sm90/wgmma.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>

// GEMMs of many rows in f32 on tensor cores: a number is the sum of two of tf32, and of the four products of two such
// sums the three that count are added. Tensor cores cut off what they add up where others round, so they add the
// products of a stage alone, 32 elements of k; the rest is added in f32.
//
// Of a block's last warpgroup one warp copies stages of rows and weights to shared memory, and the others leave beside
// the weights what tensor cores cut off of them. The other warpgroups multiply 64 rows each, which they cut into parts
// in registers, and store their sums. A block goes on with its next tile meanwhile.

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

/// What a block computes at a time: `side` rows by as many columns.
template <int side>
struct Tf32PartsBlock {
    static constexpr int rows_of_warpgroup = 64;
    static constexpr int m = side;
    static constexpr int n = side;
    static constexpr int consumers = m / rows_of_warpgroup;  ///< Warpgroups that multiply.
    static constexpr int k = 32;                             ///< Of a stage: rows of 128 bytes.
    static constexpr int row_bytes = k * static_cast<int>(sizeof(float));
    static constexpr int stages = 4;
    static constexpr int mma_threads = consumers * warpgroup_size;
    static constexpr int threads = mma_threads + warpgroup_size;
    static constexpr int cutting_warps = 3;
    /// Rows of x, rows of W, and the rests of these.
    static constexpr int input_bytes = m * row_bytes;
    static constexpr int weight_bytes = n * row_bytes;
    static constexpr int stage_bytes = input_bytes + 2 * weight_bytes;
    static constexpr int copied_bytes = input_bytes + weight_bytes;
    static constexpr std::size_t shared_bytes = std::size_t{stages} * stage_bytes + 1024;  ///< To align the tiles.
    static constexpr int blocks_of_multiprocessor = consumers == 1 ? 2 : 1;
    static_assert(shared_bytes <= compiled_for.shared_bytes_of_block);
};

#if defined(TOTOGRAPH_HAS_WGMMA)

/// What the threads of a block do.
template <class Block>
class Tf32PartsGemm {
    struct Barriers {
        std::uint64_t full[Block::stages];   ///< Rows and weights are there.
        std::uint64_t cut[Block::stages];    ///< And the rests of the weights.
        std::uint64_t empty[Block::stages];  ///< All of it has been multiplied.
    };
    static constexpr int parts = Block::k / 8;  ///< Of a stage that an instruction takes.

public:
    static __device__ __forceinline__ void run(const Tf32PartsCall& call) {
        extern __shared__ std::byte memory[];
        __shared__ Barriers barriers;
        const Tf32PartsGemm gemm(call, memory + (1024 - shared_address(memory) % 1024) % 1024, barriers);
        if (threadIdx.x == 0) {
            prefetch_tma_descriptor(call.input);
            prefetch_tma_descriptor(call.weight);
            for (int stage = 0; stage < Block::stages; ++stage) {
                mbarrier_init(&barriers.full[stage], 1);
                mbarrier_init(&barriers.cut[stage], Block::cutting_warps);
                mbarrier_init(&barriers.empty[stage], Block::mma_threads / warp_size);
            }
            fence_mbarrier_init();
        }
        __syncthreads();
        wait_for_predecessor();
        launch_dependents();
        const int warp = static_cast<int>(threadIdx.x) / warp_size;
        constexpr int producer = Block::mma_threads / warp_size;
        if (warp < producer) {
            if constexpr (Block::blocks_of_multiprocessor == 1) {
                take_registers<232>();
            }
            gemm.multiply_tiles();
        } else {
            if constexpr (Block::blocks_of_multiprocessor == 1) {
                give_registers<40>();
            }
            if (warp > producer) {
                gemm.cut_weights((warp - producer - 1) * warp_size + lane());
            } else if (lane() == 0) {
                gemm.copy_stages();
            }
        }
    }

private:
    __device__ __forceinline__ Tf32PartsGemm(const Tf32PartsCall& call, std::byte* tiles, Barriers& barriers)
        : call_(call),
          tiles_(tiles),
          barriers_(barriers),
          columns_((call.n + Block::n - 1) / Block::n),
          items_(columns_ * ((call.m + Block::m - 1) / Block::m)),
          steps_((call.k + Block::k - 1) / Block::k) {}

    [[nodiscard]] static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
    [[nodiscard]] __device__ __forceinline__ std::byte* stage(int number) const {
        return tiles_ + number * Block::stage_bytes;
    }

    /// Calls `use(first_row, first_column)` for each tile of the block.
    template <class Use>
    __device__ __forceinline__ void for_each_tile(const Use& use) const {
#pragma unroll 1
        for (int item = static_cast<int>(blockIdx.x); item < items_; item += static_cast<int>(gridDim.x)) {
            use(item / columns_ * Block::m, item % columns_ * Block::n);
        }
    }

    /// Copies stages as long as there are any.
    __device__ __forceinline__ void copy_stages() const {
        PipelineState<Block::stages> state{.parity = 1};  // a stage is free at first
        for_each_tile([&](int first_row, int first_column) {
#pragma unroll 1
            for (int step = 0; step < steps_; ++step, state.advance()) {
                mbarrier_wait(&barriers_.empty[state.stage], state.parity);
                std::uint64_t* const full = &barriers_.full[state.stage];
                mbarrier_arrive_expect_tx(full, Block::copied_bytes);
                std::byte* const to = stage(state.stage);
                tma_load(call_.input, to, full, step * Block::k, first_row);
                tma_load(call_.weight, to + Block::input_bytes, full, step * Block::k, first_column);
            }
        });
    }

    /// Leaves beside the weights of each stage what tensor cores cut off of them, rounded for these.
    __device__ __forceinline__ void cut_weights(int thread) const {
        constexpr int threads = Block::cutting_warps * warp_size;
        constexpr int pieces = Block::weight_bytes / 16;
        PipelineState<Block::stages> state;
        for_each_tile([&](int, int) {
#pragma unroll 1
            for (int step = 0; step < steps_; ++step, state.advance()) {
                mbarrier_wait(&barriers_.full[state.stage], state.parity);
                auto* const weights = reinterpret_cast<uint4*>(stage(state.stage) + Block::input_bytes);
#pragma unroll
                for (int i = 0; i < (pieces + threads - 1) / threads; ++i) {
                    const int piece = thread + i * threads;
                    if (piece < pieces) {
                        const uint4 four = weights[piece];
                        weights[pieces + piece] = {rest_of(four.x), rest_of(four.y), rest_of(four.z), rest_of(four.w)};
                    }
                }
                fence_for_tensor_cores();
                __syncwarp();
                if (lane() == 0) {
                    mbarrier_arrive(&barriers_.cut[state.stage]);
                }
            }
        });
    }
    /// What is left of a number without the bits that tensor cores cut off.
    static __device__ __forceinline__ std::uint32_t rest_of(std::uint32_t bits) {
        return as_tf32(__uint_as_float(bits) - __uint_as_float(bits & tf32_bits));
    }

    __device__ __forceinline__ void multiply_tiles() const {
        PipelineState<Block::stages> state;
        for_each_tile([&](int first_row, int first_column) {
            float sums[Block::n / 2] = {};
#pragma unroll 1
            for (int step = 0; step < steps_; ++step, state.advance()) {
                add_products(state, sums);
            }
            store(first_row, first_column, sums);
        });
    }

    /// Adds the products of a stage.
    __device__ __forceinline__ void add_products(const PipelineState<Block::stages>& state,
                                                 float (&sums)[Block::n / 2]) const {
        const int warpgroup = static_cast<int>(threadIdx.x) / warpgroup_size;
        const std::byte* const rows = stage(state.stage) + warpgroup * (Block::rows_of_warpgroup * Block::row_bytes);
        mbarrier_wait(&barriers_.full[state.stage], state.parity);
        std::uint32_t large[parts][4];
        std::uint32_t rest[parts][4];
        const int row = static_cast<int>(threadIdx.x) % warpgroup_size / warp_size * 16 + lane() % 16;
#pragma unroll
        for (int part = 0; part < parts; ++part) {
            // Sixteen bytes of a row lie in an order that depends on the row.
            const int piece = (part * 2 + lane() / 16) ^ (row % 8);
            std::uint32_t blocks[4];
            load_blocks(blocks, rows + row * Block::row_bytes + piece * 16);
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const auto cut = Tf32Parts::of(__uint_as_float(blocks[i]));
                large[part][i] = cut.large;
                rest[part][i] = cut.rest;
            }
        }
        mbarrier_wait(&barriers_.cut[state.stage], state.parity);
        const std::uint64_t weights = wgmma_descriptor(stage(state.stage) + Block::input_bytes);
        const std::uint64_t rests = wgmma_descriptor(stage(state.stage) + Block::copied_bytes);
        float products[Block::n / 2];
        wgmma_fence();
#pragma unroll
        for (int part = 0; part < parts; ++part) {
            // Of bytes, an operand's description counts sixteens.
            wgmma_m64(products, rest[part], weights + 2U * part, part > 0 ? 1 : 0);
            wgmma_m64(products, large[part], rests + 2U * part, 1);
            wgmma_m64(products, large[part], weights + 2U * part, 1);
        }
        wgmma_commit();
        wgmma_wait<0>();
        if (lane() == 0) {
            mbarrier_arrive(&barriers_.empty[state.stage]);
        }
#pragma unroll
        for (int i = 0; i < Block::n / 2; ++i) {
            sums[i] += products[i];
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

    const Tf32PartsCall& call_;
    std::byte* tiles_;
    Barriers& barriers_;
    int columns_;
    int items_;
    int steps_;
};

#endif

template <class Block>
__global__ void __launch_bounds__(Block::threads, Block::blocks_of_multiprocessor)
    tf32_parts_gemm(const __grid_constant__ Tf32PartsCall call) {
#if defined(TOTOGRAPH_HAS_WGMMA)
    Tf32PartsGemm<Block>::run(call);
#endif
}

}  // namespace totograph::cuda
