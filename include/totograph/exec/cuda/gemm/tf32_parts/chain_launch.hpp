// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <cuda_runtime.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_launch.hpp>
#include <totograph/exec/cuda/gemm/tf32_parts/chain_kernel.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>

namespace totograph::cuda {

/// Launches GEMMs in f32 with their chains, as `fits_tf32_parts_chain` names them. Products and sums are those of
/// `launch_tf32_parts_gemm`. Throws `Error` when the launch is refused.
/// @tparam At  the launch, a `LaunchAt`
template <class At>
void launch_tf32_parts_chain(const KernelLauncher& launcher, const DeviceTraits& device,
                             const TileOperands<At::launch.gemms()>& operands, cudaStream_t stream) {
    using Block = Tf32PartsChainBlock;
    using Group = typename TileGroupOf<Block, At, void>::type;
    const Index blocks = std::min(Index{Group::row_tiles} * Group::all_column_tiles, Index{device.multiprocessors});
    launcher.launch(&tf32_parts_chain_kernel<Group>, {blocks, Block::threads, 1, Block::shared_bytes}, stream,
                    parameters_of(static_cast<Group*>(nullptr), operands, Block::m));
}

}  // namespace totograph::cuda
