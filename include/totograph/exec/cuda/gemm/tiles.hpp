// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>

// What a block of each GEMM kernel computes at a time. Nothing here needs CUDA.

namespace totograph::cuda {

/// What tensor cores multiply.
enum class MmaOperand : std::uint8_t { bf16, tf32 };
constexpr int bytes_of(MmaOperand operand) {
    return operand == MmaOperand::tf32 ? 4 : 2;
}

/// Of the skinny kernels: one tensor core instruction has so many rows and columns, and four lanes read the weights of
/// one column.
struct SkinnyTile {
    static constexpr int m = 16;
    static constexpr int n = 8;
    /// Warps of a block: they share k.
    static constexpr int warps = 8;
    /// Registers of a thread for weights, inputs and accumulators: it has 255, of which addresses, the chain and what
    /// is between take some.
    static constexpr int most_registers = 216;
    /// Registers for eight weights of 20 bits.
    static constexpr int tf32_registers = 5;
    /// k is a multiple of it: in bf16 and f32 what a lane takes at a time, in tf32 half of it.
    static constexpr int k_unit(bool is_bf16) { return is_bf16 ? 8 : 4; }
    /// Registers of a thread hold the weights of so much of k: of a pair of GEMMs, which has twice the weights, and of
    /// weights that are f32, less.
    static constexpr Index most_k(bool is_bf16, int accumulators = 1) {
        return is_bf16 ? (accumulators == 1 ? 6144 : 4096) : (accumulators == 1 ? 4096 : 2048);
    }
};

/// Of the `tf32_parts` kernel: squares, the narrow ones where there are few wide ones.
struct Tf32PartsTile {
    static constexpr int wide = 128;
    static constexpr int narrow = 64;
    /// Of all that one launch computes. 1,792 rows, n and k of 768 have 84 wide tiles: 31 us for 37. 448 rows have 24:
    /// 31 us for 15 (docs/notes/cuda_experiments.md, entry 106).
    static constexpr Index fewest_wide = 80;
};
/// Squares of a result.
constexpr Index tf32_parts_tiles(Index m, Index n, Index side) {
    return divide_rounding_up(m, side) * divide_rounding_up(n, side);
}

/// Where some rows are left out, tiles are made of groups of neighbouring rows, which a block lists.
struct RowGroup {
    static constexpr int least = 8;  ///< Rows that lie in shared memory in a pattern of their own.
    static constexpr int most_groups = 4096;
    /// Of a list: a number of 16 bits for each group, and a few more.
    static constexpr std::size_t list_bytes = most_groups * 2 + 160;

    /// Rows of a group, of `m` rows in all: as few as keep groups to a list, and no more than `most`. 0 where they do
    /// not: then no row is left out.
    static constexpr int rows_of(Index m, int most) {
        int rows = least;
        while (rows < most && Index{rows} * most_groups < m) {
            rows *= 2;
        }
        return Index{rows} * most_groups < m ? 0 : rows;
    }
};

/// Of the `sm90` kernel, but for its columns: two blocks of a cluster have rows that follow each other.
struct Sm90Tile {
    static constexpr int m = 128;
    static constexpr int k = 64;
    static constexpr int stages = 3;
    static constexpr int cluster = 2;
    static constexpr int wide_n = 256;
    static constexpr int narrow_n = 224;
    static constexpr Index least_elements = 65536;  ///< Of a result. Smaller ones do not fill a device.
};

/// Of the `sm90_small` kernel: a block has 64 columns of a GEMM, or 32 of each of a pair, of a few rows. For `wgmma`
/// the weights are rows and the rows are columns, of which it takes any eights.
struct Sm90SmallTile {
    static constexpr int n = 64;
    static constexpr int row_bytes = 128;  ///< Of a stage: 64 elements of k in bf16, 32 in tf32.
    /// Two warpgroups share k: each has every other stage.
    static constexpr int warpgroups = 2;
    static constexpr int fewest_m = 16;

    /// Rows of a block: the fewest with which all blocks run at once on the device that a program is cut for, each on a
    /// multiprocessor of its own; 0 where there are too many blocks.
    static constexpr int m_of(Index m, Index column_tiles) {
        for (const int block_m : {fewest_m, 32, 40, 64, 80, 128}) {
            if (divide_rounding_up(m, Index{block_m}) * column_tiles <= compiled_for.multiprocessors) {
                return block_m;
            }
        }
        return 0;
    }
    static constexpr int stage_bytes(int block_m) { return (block_m + n) * row_bytes; }
    /// Rows up to which two blocks fit on a multiprocessor, registers included.
    static constexpr int most_m_of_two = 80;
    /// As many as leave room for a block of the next kernel.
    static constexpr int stages(int block_m) { return block_m > most_m_of_two ? 4 : block_m > 40 ? 6 : 8; }
};

/// Of the `sm90_wave` kernel: a block has 64 rows for each of its warpgroups, by some columns of a GEMM, or half of
/// them of each of a pair.
struct Sm90WaveTile {
    static constexpr int row_bytes = 128;  ///< Of a stage: 64 elements of k in bf16, 32 in tf32.
    static constexpr int rows_of_warpgroup = 64;
    /// Tiles that a block computes one after the other, at most. More in tf32, where a kernel for the chain takes twice
    /// as long: `bench_cuda_toto2`, `batch_313m` takes 9.8 ms with eight and 10.5 with four.
    static constexpr int most_waves(bool is_bf16) { return is_bf16 ? 3 : 8; }
    /// Stages of k from which it is not short: k of 1,024 still is. With that, in place of k below 768, `bench_cuda`,
    /// `dashboard` takes 1.49 ms for 1.52, in tf32 2.68 for 3.00; also few tiles without a chain are faster (256 rows,
    /// n and k of 768, in tf32: 6.4 us for 7.1). In tf32 waves of 192 rows are slower with k of 1,368:
    /// `bench_cuda_toto2`, `batch_22m` 1.04 ms for 1.00.
    static constexpr int least_steps_of_long(bool is_bf16) { return is_bf16 ? 17 : 33; }
    /// Stages of k of small tiles at most, if k is long: k of 1,536, in tf32 of 3,072. In tf32 903 rows, n of 512, k of
    /// 1,368, take 10.5 us for 13.5 (`bench_cuda_toto2`, `readme_22m`), and 2,048 rows, n of 768, k of 3,072 save 0.09
    /// ms of 2.69 (`bench_cuda`, `dashboard`). A longer one was not timed.
    static constexpr int most_steps_of_small(bool is_bf16) { return is_bf16 ? 24 : 96; }
    /// The same where a kernel for the chain would stand behind cuBLASLt's. 896 rows, n of 512, k of 2,112, of 112
    /// tiles, take 7.9 us for 9.3, in tf32 12.8 for 15.7 (`bench_cuda_toto2`, `readme_22m`: its embedding). A longer k
    /// and fewer tiles were not timed.
    static constexpr int most_steps_of_small_with_chain(bool is_bf16) { return is_bf16 ? 33 : 96; }
    static constexpr int most_cluster = 2;  ///< Blocks of the same rows that share the way of these, at most.
};

/// Columns of a row whose squares are added up to one number, where a GEMM leaves them to the norm of the next launch.
inline constexpr int squared_columns = 64;

/// Of the `sm90_cluster` kernel: eight blocks of a cluster have whole rows, an eighth of their columns each.
struct Sm90ClusterTile {
    static constexpr int m = 128;
    static constexpr int k = 64;
    static constexpr int cluster = row_cluster_blocks;

    /// Columns of a block for results of `n` columns; 0 where there is no such kernel. Bf16 is stored 32 columns at a
    /// time. A thread keeps n / 2 accumulators, as much of the residual and half of that of the bias in registers, of
    /// which it has 168: with 96 columns it takes 152, and 128 do not fit.
    static constexpr int n_of(Index n) {
        for (const int block_n : {64, 96}) {
            if (n == Index{block_n} * cluster) {
                return block_n;
            }
        }
        return 0;
    }
    static constexpr std::size_t stage_bytes(int block_n) {
        return static_cast<std::size_t>(m + block_n) * k * 2;  // of bf16
    }
    /// Stages of shared memory. More than six were slower.
    static constexpr int stages(int block_n) {
        constexpr int most = 6;
        // 1,024 bytes to align the tiles, as much for barriers and sums of squares, and a list of rows.
        const auto fit = (compiled_for.shared_bytes_of_block - 2048 - RowGroup::list_bytes) / stage_bytes(block_n);
        return std::min(most, static_cast<int>(fit));
    }
};

}  // namespace totograph::cuda
