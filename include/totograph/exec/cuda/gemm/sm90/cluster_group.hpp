// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda.h>
#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/sm90/used_rows.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>

// GEMMs that clusters compute together with what stores their results as bf16, a norm among it, and the sizes of their
// tiles.

namespace totograph::cuda {

/// The sizes of what a block computes, so many columns of results of eight times as many.
template <int block_n>
struct ClusterBlockTile {
    static constexpr int m = Sm90ClusterTile::m;
    static constexpr int n = block_n;
    static constexpr int k = Sm90ClusterTile::k;
    static constexpr int stages = Sm90ClusterTile::stages(n);
    static constexpr int cluster = Sm90ClusterTile::cluster;
    static constexpr int row_n = cluster * n;                          ///< Of a whole row.
    static constexpr int consumers = 2;                                ///< Warpgroups that multiply.
    static constexpr int mma_warps = consumers * warpgroup_size / 32;  ///< Their warps.
    static constexpr int rows_of_warp = m / mma_warps;                 ///< Rows of which a warp has accumulators.
    static constexpr int threads = (consumers + 1) * warpgroup_size;
    /// Each block copies its share of the rows to all.
    static constexpr int rows_copied = m / cluster;
    static constexpr std::uint32_t row_bytes = m * k * sizeof(BFloat16);
    static constexpr std::uint32_t column_bytes = n * k * sizeof(BFloat16);
    static constexpr std::uint32_t stage_bytes = row_bytes + column_bytes;
    /// The tiles begin at a multiple of 1,024 bytes.
    static constexpr std::size_t shared_bytes = std::size_t{stages} * stage_bytes + 1024;
    static_assert(rows_of_warp == rows_copied,
                  "totograph: the accumulators of a warp's rows go to one block of the cluster.");
};

/// When the residual of a GEMM can be read.
enum class ResidualLoad : std::uint8_t {
    after_predecessor,  ///< When the kernel before this one has ended.
    at_once,            ///< While that one still runs.
};

/// A GEMM with its bias and residual, its result stored as bf16, and the norm of the rows of that.
///
/// @tparam K              the GEMM
/// @tparam direct         its bias, and its residual, if it has one
/// @tparam residual_load  when the residual is read
/// @tparam N              the norm; void for none
template <class K, DirectEpilogue direct, ResidualLoad residual_load, class N>
struct ClusterGroup {
    using Norm = N;
    using Tile = ClusterBlockTile<Sm90ClusterTile::n_of(K::kernel.columns())>;

    using Groups = RowGroups<Tile::rows_copied, void, K>;
    // 1,024 bytes for barriers and sums of squares.
    static_assert(Tile::shared_bytes + RowGroup::list_bytes + 1024 <= compiled_for.shared_bytes_of_block);

    struct Parameters {
        CUtensorMap input;
        CUtensorMap input_groups;  ///< The same in tiles of a group of rows, where some may be left out.
        CUtensorMap weight;
        KernelCall gemm;
        KernelCall norm;
        BFloat16* stored;  ///< The rows that it makes, for the GEMMs that follow.

        [[nodiscard]] __device__ __forceinline__ const float* bias_base() const {
            return static_cast<const float*>(gemm.operands[direct.bias].base);
        }
        [[nodiscard]] __device__ __forceinline__ const float* residual_base() const {
            return static_cast<const float*>(gemm.operands[direct.residual].base);
        }
    };

    static constexpr bool has_norm = !std::is_void_v<N>;
    static constexpr bool has_residual = direct.residual >= 0;
    static constexpr bool residual_is_early = residual_load == ResidualLoad::at_once;
    static constexpr Index stride_of_residual = direct.residual_stride;
    static constexpr int m = static_cast<int>(K::kernel.rows());
    static constexpr int k = static_cast<int>(K::kernel.k);
    static constexpr int steps = k / Tile::k;
    static constexpr int stages_used = std::min(steps, Tile::stages);
    static constexpr int clusters = (m + Tile::m - 1) / Tile::m;
    static constexpr bool tiles_are_whole = m % Tile::m == 0;
};

}  // namespace totograph::cuda
