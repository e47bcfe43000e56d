// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/gemm/sm90/small_kernel.hpp>
#include <totograph/exec/cuda/gemm/sm90/small_tile.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_launch.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>

namespace totograph::cuda {

/// Launches GEMMs with their chains, by blocks of a small tile each. Throws `Error` when the launch is refused.
/// @tparam At  the launch, a `LaunchAt`
template <class At>
void launch_sm90_small(const KernelLauncher& launcher, const TileOperands<At::launch.gemms()>& operands,
                       cudaStream_t stream) {
    constexpr MmaOperand operand = At::launch.gemm.is_bf16 ? MmaOperand::bf16 : MmaOperand::tf32;
    using Tile = SmallBlockTile<operand, sm90_small_rows(At::launch.gemm)>;
    using Group = typename TileGroupOf<Tile, At>::type;
    launcher.launch(&sm90_small_kernel<Group>,
                    {Group::row_tiles * Group::all_column_tiles, Tile::threads, 1, Tile::shared_bytes}, stream,
                    parameters_of(static_cast<Group*>(nullptr), operands, Tile::m));
}

}  // namespace totograph::cuda
