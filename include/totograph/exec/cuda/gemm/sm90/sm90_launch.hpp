// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <cuda_runtime.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/sm90/sm90_group.hpp>
#include <totograph/exec/cuda/gemm/sm90/sm90_kernel.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/lowering/launch_at.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>

// What a launch of GEMMs asks of warpgroups.

namespace totograph::cuda {

/// The GEMMs of a launch, `LaunchAt`, as a group.
template <class At, class Indices = std::make_integer_sequence<int, At::launch.gemms()>>
struct Sm90GroupOf;
template <class At, int... i>
struct Sm90GroupOf<At, std::integer_sequence<int, i...>> {
    using type = Sm90Group<typename NormAt<At, void>::type, typename At::template KernelAt<At::launch.norms() + i>...>;
};

/// Launches the GEMMs of a launch with their chains.
/// @param input    bf16, rows next to each other
/// @param weights  of each GEMM
/// @param calls    what each GEMM's chain reads and writes
/// @param norm     of the input
template <class At>
void launch_sm90(const KernelLauncher& launcher, const Device& device, const void* input,
                 const std::array<const std::byte*, At::launch.gemms()>& weights,
                 const std::array<KernelCall, At::launch.gemms()>& calls, const NormFromSquares& norm,
                 cudaStream_t stream) {
    using Group = typename Sm90GroupOf<At>::type;
    using Tile = typename Group::Tile;
    const auto parameters = [&]<int... i>(std::integer_sequence<int, i...>) {
        return typename Group::Parameters{
            make_tma_descriptor(input, Group::m, Group::k, Tile::m),
            make_tma_descriptor(input, Group::m, Group::k, Group::Groups::rows),
            {make_tma_descriptor(weights[i], Group::template weight_rows<i>, Group::k, Tile::n / Tile::cluster)...},
            {calls[i]...},
            norm};
    }
    (std::make_integer_sequence<int, Group::count>());
    const Index clusters = std::min<Index>(Group::items, Index{device.multiprocessors} / Tile::cluster);
    launcher.launch(&sm90_kernel<Group>, {clusters * Tile::cluster, Tile::threads, Tile::cluster, Tile::shared_bytes},
                    stream, parameters);
}

}  // namespace totograph::cuda
