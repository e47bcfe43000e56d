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
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/places.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>

// Which products clusters compute together with what rounds their results, a norm among it, and how they are cut into
// tiles.

namespace totograph::cuda {

/// The sizes of what a block computes. A cluster has whole rows.
struct RowClusterTile {
    static constexpr int rows = 128;
    static constexpr int columns = 96;
    static constexpr int depth = 64;
    /// More than six were slower.
    static constexpr int stages = 6;
    static constexpr int cluster = row_cluster_blocks;
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
/// @tparam settled  the residual can be read while the kernel before this one still runs
/// @tparam N        the norm; void for none
template <class K, DirectProduct direct, bool settled, class N>
struct RowClusterGroup {
    using Norm = N;
    using Tile = RowClusterTile;

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
    static constexpr bool residual_is_settled = settled;
    static constexpr Index stride_of_residual = direct.residual_stride;
    static constexpr int rows = static_cast<int>(K::kernel.rows());
    static constexpr int depth = static_cast<int>(K::kernel.depth);
    static constexpr int steps = depth / Tile::depth;
    static constexpr int stages_used = std::min(steps, Tile::stages);
    static constexpr int clusters = (rows + Tile::rows - 1) / Tile::rows;
    static constexpr bool tiles_are_whole = rows % Tile::rows == 0;

    /// Whether sizes and places allow it, and it can pay: fewer rows do not fill the clusters of a whole device.
    static constexpr bool fits = K::kernel.rows() >= 1024 && K::kernel.columns() == Tile::row_columns &&
                                 depth % Tile::depth == 0 && K::is_aligned && fits_in_32_bits<K>();

    /// Whether all clusters run at once, where so many can, and few multiprocessors are idle: with fewer rows a
    /// library's smaller tiles fill the device better.
    static constexpr bool fills(int clusters_at_once) {
        return clusters <= clusters_at_once && clusters * 10 >= clusters_at_once * 8;
    }
};

}  // namespace totograph::cuda
