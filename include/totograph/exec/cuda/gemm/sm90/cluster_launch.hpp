// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/gemm/sm90/cluster_group.hpp>
#include <totograph/exec/cuda/gemm/sm90/cluster_kernel.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/launch_at.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>

// What a launch of a GEMM asks of clusters that have whole rows.

namespace totograph::cuda {

/// The GEMM of a launch and what of the next one runs with it, as a group.
/// @tparam index  of the launch among those of the program
template <class Program, bool streams, std::size_t index>
struct ClusterGroupOf {
    using At = LaunchAt<Program, streams, index>;

    template <class Gemm>
    static constexpr auto find() {
        constexpr DirectEpilogue direct = At::launch.direct;
        constexpr ResidualLoad load =
            At::launch.residual_is_early ? ResidualLoad::at_once : ResidualLoad::after_predecessor;
        if constexpr (At::launch.gemm.tail == TailFusion::norm) {
            using Next = LaunchAt<Program, streams, index + 1>;
            return ClusterGroup<Gemm, direct, load, typename Next::template KernelAt<0>>{};
        } else if constexpr (At::launch.gemm.tail == TailFusion::bf16) {
            return ClusterGroup<Gemm, direct, load, void>{};
        }
    }
    using type = decltype(find<typename At::template KernelAt<0>>());
};

/// Launches a GEMM with its bias and residual, and what stores its result as bf16.
/// @param input    bf16, rows next to each other
/// @param weight   of the GEMM, bf16
/// @param gemm     what its epilogue reads and writes
/// @param norm     what the norm writes, if there is one
/// @param stored   what it makes, as bf16
template <class Group>
void launch_sm90_cluster(const KernelLauncher& launcher, const void* input, const std::byte* weight,
                         const KernelCall& gemm, const KernelCall& norm, BFloat16* stored, cudaStream_t stream) {
    using Tile = typename Group::Tile;
    const typename Group::Parameters parameters{make_tma_descriptor(input, Group::m, Group::k, Tile::rows_copied),
                                                make_tma_descriptor(input, Group::m, Group::k, Group::Groups::rows),
                                                make_tma_descriptor(weight, Tile::row_n, Group::k, Tile::n),
                                                gemm,
                                                norm,
                                                stored};
    launcher.launch(&sm90_cluster_kernel<Group>,
                    {Group::clusters * Tile::cluster, Tile::threads, Tile::cluster, Tile::shared_bytes}, stream,
                    parameters);
}

}  // namespace totograph::cuda
