// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <totograph/exec/cuda/gemm/skinny/launch.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_block.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_cluster.hpp>
#include <totograph/exec/cuda/gemm/skinny_cluster_cut.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

namespace totograph::cuda {

/// The clusters that compute the GEMM of a launch in tf32 (`fits_skinny_cluster`).
template <class At>
class SkinnyClustersOf {
    static_assert(At::launch.gemms() == 1 && !At::launch.has_reduction,
                  "totograph: clusters share k of one GEMM without a norm.");
    static constexpr SkinnyClusterCut cut =
        skinny_cluster_cut(At::launch.gemm.m, At::launch.gemm.members[0].n, At::launch.gemm.k);
    using Member = SkinnyMember<typename At::template KernelAt<0>, float, -1, At::launch.weights[0], false,
                                Precision::tf32, cut.parts>;

public:
    using type = SkinnyClusters<Member, cut.groups, cut.turns>;
};

/// Launches such a GEMM. Throws `Error` when the launch is refused.
/// @param call  with weights in `Tf32Tile`s
template <class At>
void launch_skinny_cluster(const KernelLauncher& launcher, const KernelCall& call, cudaStream_t stream) {
    using Clusters = typename SkinnyClustersOf<At>::type;
    launcher.launch(&skinny_kernel<Clusters>, Clusters::spread, stream, call);
}

}  // namespace totograph::cuda
