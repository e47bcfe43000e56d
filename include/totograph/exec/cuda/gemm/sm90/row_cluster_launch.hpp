// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/gemm/sm90/row_cluster.hpp>
#include <totograph/exec/cuda/gemm/sm90/row_cluster_product.hpp>
#include <totograph/exec/cuda/gemm/sm90/warpgroup.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/launch_at.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>

// What a launch of a product asks of clusters that have whole rows.

namespace totograph::cuda {

/// The product of a launch and what of the next one runs with it, as a group.
/// @tparam index  of the launch among those of the program
template <class Program, bool streams, std::size_t index>
struct RowClusterGroupOf {
    using At = LaunchAt<Program, streams, index>;

    template <class Product>
    static constexpr auto find() {
        constexpr DirectEpilogue direct = At::launch.direct;
        constexpr bool is_early = At::launch.residual_is_early;
        if constexpr (At::launch.gemm.tail == TailFusion::norm) {
            using Next = LaunchAt<Program, streams, index + 1>;
            return RowClusterGroup<Product, direct, is_early, typename Next::template KernelAt<0>>{};
        } else if constexpr (At::launch.gemm.tail == TailFusion::bf16) {
            return RowClusterGroup<Product, direct, is_early, void>{};
        }
    }
    using type = decltype(find<typename At::template KernelAt<0>>());
};

/// Launches a product with its bias and residual, and what rounds what it makes.
/// @param input    bf16, rows next to each other
/// @param weight   of the product, bf16
/// @param product  what its chain reads and writes
/// @param norm     what the norm writes, if there is one
/// @param rounded  what it makes, as bf16
template <class Group>
void launch_row_clusters(const KernelLauncher& launcher, const void* input, const std::byte* weight,
                         const KernelCall& product, const KernelCall& norm, BFloat16* rounded, cudaStream_t stream) {
    using Tile = typename Group::Tile;
    const typename Group::Parameters parameters{describe_tiles(input, Group::rows, Group::depth, Tile::rows_copied),
                                                describe_tiles(weight, Tile::row_columns, Group::depth, Tile::columns),
                                                product, norm, rounded};
    launcher.launch(&row_cluster_kernel<Group>,
                    {Group::clusters * Tile::cluster, Tile::threads, Tile::cluster, Tile::shared_bytes}, stream,
                    parameters);
}

}  // namespace totograph::cuda
