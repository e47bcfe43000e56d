// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/gemm/sm90/mainloop.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/sm90/wgmma.hpp>
#include <totograph/exec/cuda/gemm/tf32_parts/wgmma_of_registers.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>

// GEMMs of many rows in f32 on tensor cores: a number is the sum of two of tf32, and of the four products of two such
// sums the three that count are added. Tensor cores cut off what they add up where others round, so they add the
// products of a stage alone, 32 elements of k; the rest is added in f32.
//
// Of a block's last warpgroup one warp copies stages of rows and weights to shared memory, and the others leave beside
// the weights what tensor cores cut off of them. The other warpgroups multiply 64 rows each, which they cut into parts
// in registers. Each goes on with the next tile of the block when it is done with one.

namespace totograph::cuda {

/// What a block computes at a time: `side` rows by as many columns.
/// @tparam memory_behind  bytes of shared memory that it needs besides
template <int side, int most_stages = 4, std::size_t memory_behind = 0>
struct Tf32PartsBlock {
    static constexpr MmaOperand operand = MmaOperand::tf32;
    static constexpr int rows_of_warpgroup = 64;
    static constexpr int m = side;
    static constexpr int n = side;
    static constexpr int k = 32;  ///< Of a stage: rows of 128 bytes.
    static constexpr int row_bytes = k * static_cast<int>(sizeof(float));
    static constexpr int stages = most_stages;
    static constexpr int mma_threads = m / rows_of_warpgroup * warpgroup_size;
    static constexpr int threads = mma_threads + warpgroup_size;
    static constexpr int cutting_warps = 3;
    /// Rows of x, rows of W, and the rests of these.
    static constexpr int input_bytes = m * row_bytes;
    static constexpr int weight_bytes = n * row_bytes;
    static constexpr int stage_bytes = input_bytes + 2 * weight_bytes;
    static constexpr int copied_bytes = input_bytes + weight_bytes;
    static constexpr std::size_t all_stage_bytes = std::size_t{stages} * stage_bytes;
    /// 1,024 to align the stages.
    static constexpr std::size_t shared_bytes = all_stage_bytes + memory_behind + 1024;
    static_assert(shared_bytes + 1024 <= compiled_for.shared_bytes_of_block);
    static constexpr int blocks_of_multiprocessor = m == rows_of_warpgroup ? 2 : 1;
};

#if defined(TOTOGRAPH_HAS_WGMMA)

/// The stages of a block, and what its warps do with them.
template <class Block>
class Tf32PartsStages {
public:
    struct Barriers {
        std::uint64_t full[Block::stages];   ///< Rows and weights are there.
        std::uint64_t cut[Block::stages];    ///< And the rests of the weights.
        std::uint64_t empty[Block::stages];  ///< All of it has been multiplied.
    };
    using State = PipelineState<Block::stages>;
    /// Of who copies: a stage is free at first.
    static constexpr State first_to_copy{.stage = 0, .parity = 1};

    __device__ __forceinline__ Tf32PartsStages(std::byte* memory, Barriers& barriers)
        : stages_(memory + (1024 - shared_address(memory) % 1024) % 1024), barriers_(barriers) {}

    /// One thread does, before all others go on.
    __device__ __forceinline__ void init() const {
        for (int stage = 0; stage < Block::stages; ++stage) {
            mbarrier_init(&barriers_.full[stage], 1);
            mbarrier_init(&barriers_.cut[stage], Block::cutting_warps);
            mbarrier_init(&barriers_.empty[stage], Block::mma_threads / warp_size);
        }
        fence_mbarrier_init();
    }

    /// Calls what each warp has to do: `multiply()` of those that multiply, `cut(thread)` of those that cut weights,
    /// `copy()` of one thread. Those that multiply have most of the registers, where a block is alone.
    template <class Multiply, class Cut, class Copy>
    static __device__ __forceinline__ void share_work(const Multiply& multiply, const Cut& cut, const Copy& copy) {
        constexpr bool is_alone = Block::blocks_of_multiprocessor == 1;
        constexpr int of_multiplying = 232;
        constexpr int of_others = 40;
        static_assert(!is_alone || Block::mma_threads * of_multiplying + warpgroup_size * of_others <= 65536,
                      "totograph: a multiprocessor has 65,536 registers.");
        constexpr int producer = Block::mma_threads / warp_size;
        const int warp = static_cast<int>(threadIdx.x) / warp_size;
        if (warp < producer) {
            if constexpr (is_alone) {
                take_registers<of_multiplying>();
            }
            multiply();
        } else {
            if constexpr (is_alone) {
                give_registers<of_others>();
            }
            if (warp > producer) {
                cut((warp - producer - 1) * warp_size + lane());
            } else if (lane() == 0) {
                copy();
            }
        }
    }

    /// Copies a tile's stages, as many as there are steps: `copy(rows, weights, barrier, k)` begins to copy one.
    template <class Copy>
    __device__ __forceinline__ void copy_tile(State& state, int steps, const Copy& copy) const {
#pragma unroll 1
        for (int step = 0; step < steps; ++step, state.advance()) {
            mbarrier_wait(&barriers_.empty[state.stage], state.parity);
            std::uint64_t* const full = &barriers_.full[state.stage];
            mbarrier_arrive_expect_tx(full, Block::copied_bytes);
            std::byte* const to = stage(state);
            copy(to, to + Block::input_bytes, full, step * Block::k);
        }
    }

    /// Leaves beside the weights of each stage what tensor cores cut off of them, rounded for these.
    __device__ __forceinline__ void cut_tile(State& state, int steps, int thread) const {
        constexpr int threads = Block::cutting_warps * warp_size;
        constexpr int pieces = Block::weight_bytes / 16;
#pragma unroll 1
        for (int step = 0; step < steps; ++step, state.advance()) {
            mbarrier_wait(&barriers_.full[state.stage], state.parity);
            auto* const weights = reinterpret_cast<uint4*>(stage(state) + Block::input_bytes);
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
    }

    /// Multiplies 64 rows of a tile by all of its columns. Of a thread `sums` are as of `wgmma_m64`.
    __device__ __forceinline__ void multiply_tile(State& state, int steps, float (&sums)[Block::n / 2]) const {
#pragma unroll
        for (float& sum : sums) {
            sum = 0;
        }
#pragma unroll 1
        for (int step = 0; step < steps; ++step, state.advance()) {
            add_products(state, sums);
        }
    }

    /// What lies behind the stages.
    [[nodiscard]] __device__ __forceinline__ std::byte* memory_behind() const {
        return stages_ + Block::all_stage_bytes;
    }

private:
    static constexpr int parts = Block::k / 8;  ///< Of a stage that an instruction takes.

    [[nodiscard]] static __device__ __forceinline__ int lane() {
        return static_cast<int>(threadIdx.x) % warp_size;
    }
    [[nodiscard]] __device__ __forceinline__ std::byte* stage(const State& state) const {
        return stages_ + state.stage * Block::stage_bytes;
    }

    /// What is left of a number without the bits that tensor cores cut off.
    static __device__ __forceinline__ std::uint32_t rest_of(std::uint32_t bits) {
        return as_tf32(__uint_as_float(bits) - __uint_as_float(bits & tf32_bits));
    }

    /// Keeps numbers in their registers up to here: instructions that are under way read them.
    static __device__ __forceinline__ void hold(std::uint32_t (&numbers)[parts][4]) {
#pragma unroll
        for (auto& four : numbers) {
#pragma unroll
            for (std::uint32_t& number : four) {
                asm volatile("" : "+r"(number)::"memory");
            }
        }
    }

    /// Adds the products of a stage.
    __device__ __forceinline__ void add_products(const State& state, float (&sums)[Block::n / 2]) const {
        const int warpgroup = static_cast<int>(threadIdx.x) / warpgroup_size;
        const std::byte* const rows = stage(state) + warpgroup * (Block::rows_of_warpgroup * Block::row_bytes);
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
        const std::uint64_t weights = wgmma_descriptor(stage(state) + Block::input_bytes);
        const std::uint64_t rests = wgmma_descriptor(stage(state) + Block::copied_bytes);
        float products[Block::n / 2];
        hold(large);
        hold(rest);
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
#pragma unroll
        for (float& product : products) {
            asm volatile("" : "+f"(product)::"memory");  // nobody reads it before the wait
        }
        hold(large);
        hold(rest);
        if (lane() == 0) {
            mbarrier_arrive(&barriers_.empty[state.stage]);
        }
#pragma unroll
        for (int i = 0; i < Block::n / 2; ++i) {
            sums[i] += products[i];
        }
    }

    std::byte* stages_;
    Barriers& barriers_;
};

#endif

}  // namespace totograph::cuda
