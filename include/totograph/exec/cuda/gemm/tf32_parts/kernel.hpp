// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/mma.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/async_copy.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>

// GEMMs of many rows in f32 on tensor cores: a number is the sum of two of tf32, and of the four products of two such
// sums the three that count are added. Tensor cores cut off what they add up where others round, so they add the
// products of a stage alone, 32 elements of k; the rest is added in f32.

namespace totograph::cuda {

/// out = x W^T [+ residual] [+ bias]; n is a multiple of four, and all rows begin at multiples of 16 bytes.
struct Tf32PartsCall {
    const float* input;
    const float* weight;
    const float* residual;  ///< Or null.
    const float* bias;      ///< Or null.
    float* output;
    int m;
    int n;
    int k;
    Index input_stride;
    Index residual_stride;
    Index output_stride;
};

/// A block computes `side` rows by as many columns, its warps 32 columns each.
template <int side>
struct Tf32PartsBlock {
    static constexpr int k = 32;  ///< Of a stage: rows of 128 bytes.
    static constexpr int stages = 3;
    static constexpr int warp_columns = 32;
    static constexpr int warp_rows = side / 2;
    static constexpr int warps_along_n = side / warp_columns;
    static constexpr int threads = warps_along_n * 2 * warp_size;
    static constexpr int row_tiles = warp_rows / 16;       ///< Of an instruction.
    static constexpr int column_tiles = warp_columns / 8;  ///< Likewise.
    /// Rows of x, then rows of W.
    static constexpr std::size_t stage_bytes = std::size_t{2} * side * k * sizeof(float);
    static constexpr std::size_t shared_bytes = stages * stage_bytes;
    static_assert(shared_bytes <= least_shared_bytes_of_block);
    static_assert(side * k % (4 * threads) == 0, "totograph: a thread copies sixteen bytes at a time.");
};

/// What the threads of a block do.
template <int side>
class Tf32PartsGemm {
    using Block = Tf32PartsBlock<side>;
    static constexpr int pieces = Block::k * static_cast<int>(sizeof(float)) / 16;
    static constexpr int row_tiles = Block::row_tiles;
    static constexpr int column_tiles = Block::column_tiles;

public:
    __device__ __forceinline__ Tf32PartsGemm(const Tf32PartsCall& call, std::byte* memory)
        : call_(call), memory_(memory) {
        const int columns = (call.n + side - 1) / side;
        first_row_ = static_cast<int>(blockIdx.x) / columns * side;
        first_column_ = static_cast<int>(blockIdx.x) % columns * side;
    }

    __device__ __forceinline__ void run() {
        const int steps = (call_.k + Block::k - 1) / Block::k;
        for (int step = 0; step < Block::stages - 1; ++step) {
            copy(step);
        }
        float sums[row_tiles][column_tiles][4] = {};
        for (int step = 0; step < steps; ++step) {
            wait_for_copies<Block::stages - 2>();
            __syncthreads();  // all have copied this stage, and multiplied the one before
            copy(step + Block::stages - 1);
            multiply(stage(step), sums);
        }
        store(sums);
    }

private:
    [[nodiscard]] __device__ __forceinline__ std::byte* stage(int step) const {
        return memory_ + static_cast<std::size_t>(step % Block::stages) * Block::stage_bytes;
    }
    /// Where sixteen bytes of a row lie: in an order that depends on the row, so that eight rows meet no bank twice.
    static __device__ __forceinline__ int place_of(int row, int piece) {
        return row * pieces * 16 + (piece ^ static_cast<int>(static_cast<unsigned>(row) % 8)) * 16;
    }

    /// Begins to copy a stage. What lies behind the last row, column or element of k becomes 0.
    __device__ __forceinline__ void copy(int step) const {
        if (step * Block::k < call_.k) {
            std::byte* const to = stage(step);
            copy_rows(to, call_.input, call_.input_stride, first_row_, call_.m, step * Block::k);
            copy_rows(to + Block::stage_bytes / 2, call_.weight, call_.k, first_column_, call_.n, step * Block::k);
        }
        commit_copies();
    }
    __device__ __forceinline__ void copy_rows(std::byte* to, const float* from, Index stride, int first, int end,
                                              int first_k) const {
#pragma unroll
        for (int i = 0; i < side * pieces / Block::threads; ++i) {
            const unsigned item = threadIdx.x + static_cast<unsigned>(i * Block::threads);
            const auto row = static_cast<int>(item / pieces);
            const auto piece = static_cast<int>(item % pieces);
            const int k = first_k + piece * 4;
            const bool exists = first + row < end && k < call_.k;
            copy_async_or_zeros(to + place_of(row, piece), exists ? from + (first + row) * stride + k : from, exists);
        }
    }

    [[nodiscard]] static __device__ __forceinline__ int lane() {
        return static_cast<int>(threadIdx.x) % warp_size;
    }
    /// The first row and column of the warp's part.
    [[nodiscard]] static __device__ __forceinline__ int warp_row() {
        return static_cast<int>(threadIdx.x) / warp_size / Block::warps_along_n * Block::warp_rows;
    }
    [[nodiscard]] static __device__ __forceinline__ int warp_column() {
        return static_cast<int>(threadIdx.x) / warp_size % Block::warps_along_n * Block::warp_columns;
    }

    /// Where the sixteen bytes lie that a lane names of a step's first blocks; those of further rows follow at a
    /// distance that does not depend on the lane.
    static __device__ __forceinline__ int first_block(int row, int step, int half) {
        return place_of(row, step * 2 ^ half);
    }

    /// Adds the products of a stage.
    static __device__ __forceinline__ void multiply(const std::byte* stage, float (&sums)[row_tiles][column_tiles][4]) {
        constexpr int row_bytes = pieces * 16;
        const int row = warp_row() + lane() % 16;
        const int column = warp_column() + lane() / 16 * 8 + lane() % 8;
        float products[row_tiles][column_tiles][4] = {};
#pragma unroll
        for (int step = 0; step < Block::k / 8; ++step) {
            const std::byte* const rows = stage + first_block(row, step, lane() / 16);
            const std::byte* const weights = stage + Block::stage_bytes / 2 + first_block(column, step, lane() / 8 % 2);
            // Blocks of eight rows by four numbers. Of weights: of two tiles, the first four elements of k, and the
            // other four.
            Tf32Parts b[column_tiles][2];
#pragma unroll
            for (int tile = 0; tile < column_tiles; tile += 2) {
                std::uint32_t blocks[4];
                load_blocks(blocks, weights + tile * 8 * row_bytes);
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    b[tile + i / 2][i % 2] = Tf32Parts::of(__uint_as_float(blocks[i]));
                }
            }
#pragma unroll
            for (int tile = 0; tile < row_tiles; ++tile) {
                std::uint32_t blocks[4];
                load_blocks(blocks, rows + tile * 16 * row_bytes);
                std::uint32_t large[4];
                std::uint32_t rest[4];
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const auto parts = Tf32Parts::of(__uint_as_float(blocks[i]));
                    large[i] = parts.large;
                    rest[i] = parts.rest;
                }
#pragma unroll
                for (int i = 0; i < column_tiles; ++i) {
                    multiply_tf32(products[tile][i], rest, b[i][0].large, b[i][1].large);
                }
#pragma unroll
                for (int i = 0; i < column_tiles; ++i) {
                    multiply_tf32(products[tile][i], large, b[i][0].rest, b[i][1].rest);
                }
#pragma unroll
                for (int i = 0; i < column_tiles; ++i) {
                    multiply_tf32(products[tile][i], large, b[i][0].large, b[i][1].large);
                }
            }
        }
#pragma unroll
        for (int tile = 0; tile < row_tiles; ++tile) {
#pragma unroll
            for (int i = 0; i < column_tiles; ++i) {
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    sums[tile][i][j] += products[tile][i][j];
                }
            }
        }
    }

    /// The first of two columns of the thread.
    [[nodiscard]] __device__ __forceinline__ int column_of(int tile) const {
        return first_column_ + warp_column() + tile * 8 + lane() % 4 * 2;
    }

    /// Adds a bias and a residual, and stores. What a row needs is asked for at once; a row or column beyond the last
    /// reads that one.
    __device__ __forceinline__ void store(const float (&sums)[row_tiles][column_tiles][4]) const {
        float2 bias[column_tiles] = {};
        if (call_.bias != nullptr) {
            load_pairs(call_.bias, bias);
        }
#pragma unroll
        for (int tile = 0; tile < row_tiles; ++tile) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int row = first_row_ + warp_row() + tile * 16 + half * 8 + lane() / 4;
                float2 residual[column_tiles] = {};
                if (call_.residual != nullptr) {
                    load_pairs(call_.residual + min(row, call_.m - 1) * call_.residual_stride, residual);
                }
                float* const to = call_.output + row * call_.output_stride;
#pragma unroll
                for (int column = 0; column < column_tiles; ++column) {
                    if (row < call_.m && column_of(column) < call_.n) {
                        const float* const own = &sums[tile][column][half * 2];
                        *reinterpret_cast<float2*>(to + column_of(column)) = {
                            own[0] + residual[column].x + bias[column].x, own[1] + residual[column].y + bias[column].y};
                    }
                }
            }
        }
    }
    __device__ __forceinline__ void load_pairs(const float* row, float2 (&pairs)[column_tiles]) const {
#pragma unroll
        for (int column = 0; column < column_tiles; ++column) {
            pairs[column] = *reinterpret_cast<const float2*>(row + min(column_of(column), call_.n - 2));
        }
    }

    const Tf32PartsCall& call_;
    std::byte* memory_;
    int first_row_;
    int first_column_;
};

template <int side>
__global__ void __launch_bounds__(Tf32PartsBlock<side>::threads, side == Tf32PartsTile::wide ? 1 : 3)
    tf32_parts_gemm(const __grid_constant__ Tf32PartsCall call) {
    extern __shared__ uint4 tile_memory[];
    wait_for_predecessor();
    launch_dependents();
    Tf32PartsGemm<side>(call, reinterpret_cast<std::byte*>(tile_memory)).run();
}

}  // namespace totograph::cuda
