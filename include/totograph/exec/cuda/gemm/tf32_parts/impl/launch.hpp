// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/tf32_parts/kernel.hpp>
#include <totograph/exec/cuda/gemm/tf32_parts/launch.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>

namespace totograph::cuda {

template <Precision precision>
requires(precision == Precision::f32) void launch_tf32_parts_gemm(const KernelLauncher& launcher,
                                                                  const DeviceTraits& device, const GemmShape& shape,
                                                                  const GemmPointers& pointers, cudaStream_t stream) {
    const auto launch_in = [&]<class Block>(Block*) {
        const auto map_of = [](const void* matrix, Index rows, Index k, int tile_rows, Index stride) {
            return make_tma_descriptor(matrix, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(k),
                                       static_cast<std::uint32_t>(tile_rows), MmaOperand::tf32,
                                       static_cast<std::uint64_t>(stride));
        };
        const Tf32PartsCall call{.input = map_of(pointers.input, shape.m, shape.k, Block::m, shape.input_stride),
                                 .weight = map_of(pointers.weight, shape.n, shape.k, Block::n, shape.k),
                                 .residual = shape.residual_stride == 0 ? nullptr : pointers.residual,
                                 .bias = shape.has_bias ? pointers.bias : nullptr,
                                 .output = static_cast<float*>(pointers.output),
                                 .m = static_cast<int>(shape.m),
                                 .n = static_cast<int>(shape.n),
                                 .k = static_cast<int>(shape.k),
                                 .residual_stride = shape.residual_stride,
                                 .output_stride = shape.output_stride};
        const Index blocks = Index{device.multiprocessors} * Block::blocks_of_multiprocessor;
        launcher.launch(
            &tf32_parts_kernel<Block>,
            {std::min(tf32_parts_tiles(shape.m, shape.n, Block::n), blocks), Block::threads, 1, Block::shared_bytes},
            stream, call);
    };
    if (tf32_parts_tiles(shape.m, shape.n, Tf32PartsTile::wide) >= Tf32PartsTile::fewest_wide) {
        launch_in(static_cast<Tf32PartsBlock<Tf32PartsTile::wide>*>(nullptr));
    } else {
        launch_in(static_cast<Tf32PartsBlock<Tf32PartsTile::narrow>*>(nullptr));
    }
}

}  // namespace totograph::cuda
