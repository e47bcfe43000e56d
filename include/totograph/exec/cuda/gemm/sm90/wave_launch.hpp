// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <totograph/exec/cuda/gemm/sm90/tile_launch.hpp>
#include <totograph/exec/cuda/gemm/sm90/wave_kernel.hpp>
#include <totograph/exec/cuda/gemm/sm90/wave_tile.hpp>
#include <totograph/exec/cuda/gemm/sm90_wave_cut.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>

namespace totograph::cuda {

/// Launches GEMMs with their chains, by blocks of a tile or few each. Throws `Error` when the launch is refused.
/// @tparam At  the launch, a `LaunchAt`
template <class At>
void launch_sm90_wave(const KernelLauncher& launcher, const TileOperands<At::launch.gemms()>& operands,
                      cudaStream_t stream) {
    constexpr Sm90WaveCut cut = sm90_wave_cut(At::launch.gemm);
    constexpr MmaOperand operand = At::launch.gemm.is_bf16 ? MmaOperand::bf16 : MmaOperand::tf32;
    using Tile = WaveBlockTile<operand, cut.m, cut.n, cut.cluster, cut.stages, cut.waves, At::launch.has_reduction>;
    using Group = typename TileGroupOf<Tile, At>::type;
    launcher.launch(&sm90_wave_kernel<Group>,
                    {cut.blocks(), Tile::threads, Tile::cluster, WaveSums<Group>::shared_bytes}, stream,
                    parameters_of(static_cast<Group*>(nullptr), operands, Tile::m / Tile::cluster));
}

}  // namespace totograph::cuda
