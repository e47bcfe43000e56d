// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>

// From which sizes on a GEMM kernel is the fastest: one column for each card that was measured. Nothing here needs
// CUDA.

namespace totograph::cuda {

/// The measured limits of one architecture. Each says what set it; `bench_cuda` and `test_ops_gemm` are targets of
/// a build with `TOTOGRAPH_CUDA`. docs/cuda.md has the table in words.
struct GemmThresholds {
    int architecture;
    bool is_measured;  ///< On a card of this architecture.
    /// Rows up to which the skinny kernels are faster than cuBLASLt and kernels for norms and chains: a decode step of
    /// 32 rows takes 0.300 ms for 0.432 (`bench_cuda`, `batch_32`), a prefill of 32 rows 0.279 for 0.383
    /// (`context_2048`), one of 64 rows 0.379 for 0.407. Read when compiling, of the column of `compiled_for`.
    Index skinny_most_m;
    /// Rows up to which they compute GEMMs in bf16 that `sm90_small` could. With that kernel 64 rows take 13.5 ms for
    /// 15.2 (`bench_cuda_kronos`, `base_paths`), 47 rows 0.483 for 0.475 (`bench_cuda_toto2`, `block_decode_22m`), 18
    /// rows 0.551 for 0.485 (`small_313m`). Read when compiling.
    Index skinny_most_m_in_bf16;
    /// The same where mixtures could be drawn from the accumulators of the other kernels: they then run one component's
    /// chains in place of all. An estimate: no bench has both. Read when compiling, too.
    Index skinny_most_m_before_draws;
    /// Rows from which a skinny GEMM in bf16 stores its result as bf16, too, where the next launch multiplies that: a
    /// decode step of 32 rows takes 0.220 ms for 0.224 (`bench_cuda`, `batch_32`). Fewer were not timed apart from
    /// other changes. Read when compiling.
    Index skinny_least_m_to_leave_bf16;
    /// Rows from which `sm90` and `sm90_cluster` can pay. With 448 the smaller tiles of cuBLASLt fill the device better
    /// (`bench_cuda`, `readme`: its prefill).
    Index sm90_least_m;
    /// Tiles of k that `sm90` takes at least, so that the epilogue of a tile ends while the next one is multiplied.
    int sm90_least_k_tiles;
    /// The same with a sigmoid in the epilogue, of a pair that is stored as bf16: 34 to 36 us for 44 to 47
    /// (`FeedForward` of `test_ops_gemm`, k of 12 tiles, 1,750 rows, n of 3,072), and 27 us for 35 with k of 8 tiles
    /// (4,224 rows, n of 1,368, which `sm90_wave` computes since; H100). A sigmoid on a pair stored as f32
    /// took 50 us for 43, on a single GEMM 44 for 33: those never run there.
    int sm90_least_k_tiles_with_sigmoid;
    /// The same where the epilogue reads tables for each row, of a result that is stored as bf16: 28 us for 33 with k
    /// of 13 tiles (2,560 rows, n of 3,072). Smaller k were not timed alone.
    int sm90_least_k_tiles_with_tables;
    /// Rows of `sm90_small` at most: from here on `sm90` and cuBLASLt have tiles enough.
    Index sm90_small_most_m;
    /// Bytes of rows and weights that one of its blocks reads at most. In bf16, with 80 x 2,048 elements a GEMM takes
    /// 4.8 us for 5.5 (160 rows, n of 832), with 128 x 1,368 6.0 for 5.4 (896 rows, n of 384). In tf32 more was not
    /// timed.
    Index sm90_small_most_bytes;
    /// Bytes of a row of k of tiles of the fewest rows at most. In bf16, with 77 rows, n of 288, k of 2,560 a GEMM and
    /// its chain take 6.2 us for 8.5 (`bench_cuda_toto2`, `readme_22m`: its head); in tf32, with 192 rows and k of
    /// 1,280, 7.0 us for 9.4 (`batch_4m`: its head).
    Index sm90_small_most_k_bytes_of_fewest;
    /// Rows from which `sm90_wave` can pay: with 256 a pair of n of 3,072, k of 768 takes 7.5 us for 9.2 (`bench_cuda`,
    /// `batch_32`: its prefill). Fewer were not timed.
    Index sm90_wave_least_m;
    /// Rows from which kernels by `wgmma` can pay in tf32, where GEMMs of fewer rows are skinny or left to cuBLASLt:
    /// with waves of 77 rows and k of 512, which small tiles compute since, a forecast took 0.482 ms for 0.495
    /// (`bench_cuda_toto2`, `readme_22m`).
    Index sm90_least_m_in_tf32;
    /// Rows of a block of `sm90_small` up to which it is faster than `sm90_wave`: 968 rows, n and k of 512, take blocks
    /// of 64 rows 6.0 us for 5.0 (`bench_cuda_toto2`, `readme_22m`). Between 40 and 64 rows neither was timed.
    int sm90_small_most_rows_before_wave;
    /// Tiles of k from which `sm90` is faster than `sm90_wave`: its chain runs beside the next tile. With 12 of them
    /// 5.3 ms for 6.2 (`bench_cuda`, `readme`), with 8 of them 27 us for 24 (`bench_cuda_toto2`, `batch_22m`: its
    /// gates).
    int sm90_least_k_tiles_before_wave;
    /// n x accumulators of each GEMM is a multiple of it; `sm90_least_fill` says how much of the last tile may lie
    /// beyond.
    Index sm90_n_unit;
    /// Of what the multiprocessors could compute while `sm90` runs, the percentage that is asked for: with less, the
    /// smaller tiles of cuBLASLt are as fast (`bench_cuda --launches` shows the tiles of a step).
    int sm90_least_fill;
    /// Of the clusters that run at once, the percentage that `sm90_cluster` needs at least; all must run at once.
    /// `bench_cuda`, `readme`: a decode step of 1,792 rows takes 0.942 ms for 1.052.
    int sm90_cluster_least_fill;
    /// Tiles of `tf32_parts` that it takes at least, narrow ones: of fewer, cuBLASLt splits k (400 rows, k of 512, n of
    /// 256: 11 us for 10).
    Index tf32_parts_least_tiles;
    /// k from which it takes more of them, and how many: with k of 4,096 and n of 768 640 rows, of 120 tiles, take 71
    /// us for 98; with k of 3,072 448 rows, of 84, as long as by cuBLASLt, and with k of 2,736 512 rows and n of 512,
    /// of 64, 48 for 39.
    Index tf32_parts_long_k;
    Index tf32_parts_least_tiles_of_long_k;
};

/// Measured on an H200.
inline constexpr GemmThresholds thresholds_of_h200{.architecture = 90,
                                                   .is_measured = true,
                                                   .skinny_most_m = 64,
                                                   .skinny_most_m_in_bf16 = 48,
                                                   .skinny_most_m_before_draws = 16,
                                                   .skinny_least_m_to_leave_bf16 = 4,
                                                   .sm90_least_m = 1024,
                                                   .sm90_least_k_tiles = 8,
                                                   .sm90_least_k_tiles_with_sigmoid = 8,
                                                   .sm90_least_k_tiles_with_tables = 8,
                                                   .sm90_small_most_m = 1023,
                                                   .sm90_small_most_bytes = 336'000,
                                                   .sm90_small_most_k_bytes_of_fewest = 5120,
                                                   .sm90_wave_least_m = 192,
                                                   .sm90_least_m_in_tf32 = 65,
                                                   .sm90_small_most_rows_before_wave = 40,
                                                   .sm90_least_k_tiles_before_wave = 12,
                                                   .sm90_n_unit = 16,
                                                   .sm90_least_fill = 80,
                                                   .sm90_cluster_least_fill = 80,
                                                   .tf32_parts_least_tiles = 64,
                                                   .tf32_parts_long_k = 1025,
                                                   .tf32_parts_least_tiles_of_long_k = 120};

/// The column of an architecture that nobody has measured: the numbers of the H200. What needs `wgmma` is not chosen
/// there in any case, and the limits of the skinny kernels are read of `compiled_for` alone.
constexpr GemmThresholds not_measured(int architecture) {
    GemmThresholds column = thresholds_of_h200;
    column.architecture = architecture;
    column.is_measured = false;
    return column;
}

inline constexpr std::array<GemmThresholds, 6> gemm_thresholds{
    {not_measured(80), not_measured(86), not_measured(89), thresholds_of_h200, not_measured(100), not_measured(120)}};

/// The column of an architecture: of one that has none, that of the newest one before it, or else the first.
constexpr const GemmThresholds& thresholds_of(int architecture) {
    const GemmThresholds* found = &gemm_thresholds[0];
    for (const GemmThresholds& column : gemm_thresholds) {
        if (column.architecture <= architecture) {
            found = &column;
        }
    }
    return *found;
}

}  // namespace totograph::cuda
