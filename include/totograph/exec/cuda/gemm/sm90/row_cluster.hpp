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
#include <totograph/exec/cuda/gemm/sm90/warpgroup.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>

// GEMMs that clusters compute together with what stores their results as bf16, a norm among it, and the sizes of their
// tiles.

namespace totograph::cuda {

/// The sizes of what a block computes, so many columns of results of eight times as many.
template <int block_columns>
struct RowClusterTile {
    static constexpr int rows = Sm90ClusterTile::m;
    static constexpr int columns = block_columns;
    static constexpr int depth = Sm90ClusterTile::k;
    static constexpr int stages = Sm90ClusterTile::stages(columns);
    static constexpr int cluster = Sm90ClusterTile::cluster;
    static constexpr int row_columns = cluster * columns;                ///< Of a whole row.
    static constexpr int consumers = 2;                                  ///< Warpgroups that multiply.
    static constexpr int multipliers = consumers * warpgroup_size / 32;  ///< Their warps.
    static constexpr int rows_of_warp = rows / multipliers;              ///< Rows of which a warp has sums.
    static constexpr int threads = (consumers + 1) * warpgroup_size;
    /// Each block copies its share of the rows to all.
    static constexpr int rows_copied = rows / cluster;
    static constexpr std::uint32_t row_bytes = rows * depth * sizeof(BFloat16);
    static constexpr std::uint32_t column_bytes = columns * depth * sizeof(BFloat16);
    static constexpr std::uint32_t stage_bytes = row_bytes + column_bytes;
    /// The tiles begin at a multiple of 1,024 bytes.
    static constexpr std::size_t shared_bytes = std::size_t{stages} * stage_bytes + 1024;
    static_assert(rows_of_warp == rows_copied, "totograph: the sums of a warp's rows go to one block of the cluster.");
};

/// A product with its bias and residual, what it makes rounded, and the norm of the rows of that.
///
/// @tparam K        the product
/// @tparam direct   its bias, and its residual, if it has one
/// @tparam early    the residual can be read while the kernel before this one still runs
/// @tparam N        the norm; void for none
template <class K, DirectEpilogue direct, bool early, class N>
struct RowClusterGroup {
    using Norm = N;
    using Tile = RowClusterTile<Sm90ClusterTile::n_of(K::kernel.columns())>;

    struct Parameters {
        CUtensorMap input;
        CUtensorMap weight;
        KernelCall product;
        KernelCall norm;
        BFloat16* rounded;  ///< The rows that it makes, for the products that follow.

        [[nodiscard]] __device__ __forceinline__ const float* bias_base() const {
            return static_cast<const float*>(product.operands[direct.bias].base);
        }
        [[nodiscard]] __device__ __forceinline__ const float* residual_base() const {
            return static_cast<const float*>(product.operands[direct.residual].base);
        }
    };

    static constexpr bool has_norm = !std::is_void_v<N>;
    static constexpr bool has_residual = direct.residual >= 0;
    static constexpr bool residual_is_early = early;
    static constexpr Index stride_of_residual = direct.residual_stride;
    static constexpr int rows = static_cast<int>(K::kernel.rows());
    static constexpr int depth = static_cast<int>(K::kernel.depth);
    static constexpr int steps = depth / Tile::depth;
    static constexpr int stages_used = std::min(steps, Tile::stages);
    static constexpr int clusters = (rows + Tile::rows - 1) / Tile::rows;
    static constexpr bool tiles_are_whole = rows % Tile::rows == 0;
};

}  // namespace totograph::cuda
