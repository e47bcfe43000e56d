// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <totograph/exec/cuda/gemm/tf32_parts/kernel.hpp>
#include <totograph/exec/cuda/gemm/tf32_parts/launch.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>

namespace totograph::cuda {

template <Precision precision>
requires(precision == Precision::f32) void launch_tf32_parts_gemm(const KernelLauncher& launcher,
                                                                  const GemmShape& shape, const GemmPointers& pointers,
                                                                  cudaStream_t stream) {
    const Tf32PartsCall call{.input = static_cast<const float*>(pointers.input),
                             .weight = static_cast<const float*>(pointers.weight),
                             .residual = shape.residual_stride == 0 ? nullptr : pointers.residual,
                             .bias = shape.has_bias ? pointers.bias : nullptr,
                             .output = static_cast<float*>(pointers.output),
                             .m = static_cast<int>(shape.m),
                             .n = static_cast<int>(shape.n),
                             .k = static_cast<int>(shape.k),
                             .input_stride = shape.input_stride,
                             .residual_stride = shape.residual_stride,
                             .output_stride = shape.output_stride};
    const auto launch_in = [&]<int side>(std::integral_constant<int, side>) {
        using Tile = Tf32PartsBlock<side>;
        launcher.launch(&tf32_parts_gemm<side>,
                        {tf32_parts_tiles(shape.m, shape.n, side), Tile::threads, 1, Tile::shared_bytes}, stream, call);
    };
    if (tf32_parts_tiles(shape.m, shape.n, Tf32PartsTile::wide) >= Tf32PartsTile::fewest_wide) {
        launch_in(std::integral_constant<int, Tf32PartsTile::wide>());
    } else {
        launch_in(std::integral_constant<int, Tf32PartsTile::narrow>());
    }
}

}  // namespace totograph::cuda
