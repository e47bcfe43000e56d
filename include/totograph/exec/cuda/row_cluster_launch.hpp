// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/kernel_call.hpp>
#include <totograph/exec/cuda/kernel_launcher.hpp>
#include <totograph/exec/cuda/lowering.hpp>
#include <totograph/exec/cuda/row_cluster.hpp>
#include <totograph/exec/cuda/row_cluster_product.hpp>
#include <totograph/exec/cuda/warpgroup.hpp>

// What a launch of a product asks of clusters that have whole rows.

namespace totograph::cuda {

/// The product of a launch and the norm of the next one, as a group.
/// @tparam index  of the launch among those of the program
template <class Program, bool streams, std::size_t index>
struct RowClusterGroupOf {
    using At = LaunchAt<Program, streams, index>;

    template <class Product>
    static constexpr auto find() {
        if constexpr (At::launch.feeds_norm) {
            using Next = LaunchAt<Program, streams, index + 1>;
            return RowClusterGroup<Product, At::launch.direct.bias, At::launch.direct.residual,
                                   At::launch.direct.residual_stride, typename Next::template KernelAt<0>>{};
        }
    }
    using type = decltype(find<typename At::template KernelAt<0>>());
    static constexpr bool fits = [] {
        if constexpr (At::launch.feeds_norm) {
            return type::fits;
        } else {
            return false;
        }
    }();
};

/// Launches a product with its residual and the norm after it.
/// @param input    bf16, rows next to each other
/// @param weight   of the product, bf16
/// @param product  what its chain reads and writes
/// @param norm     what the norm writes
/// @param rounded  the rows that it makes
template <class Group>
void launch_row_clusters(const KernelLauncher& launcher, const void* input, const std::byte* weight,
                         const KernelCall& product, const KernelCall& norm, BFloat16* rounded, cudaStream_t stream) {
    using Tile = RowClusterTile;
    const typename Group::Parameters parameters{describe_tiles(input, Group::rows, Group::depth, Tile::rows_copied),
                                                describe_tiles(weight, Tile::row_columns, Group::depth, Tile::columns),
                                                product, norm, rounded};
    launcher.launch(&row_cluster_kernel<Group>,
                    {Group::clusters * Tile::cluster, Tile::threads, Tile::cluster, Tile::shared_bytes}, stream,
                    parameters);
}

}  // namespace totograph::cuda
