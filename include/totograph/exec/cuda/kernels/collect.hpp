// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>

namespace totograph::cuda {

inline constexpr int collect_tile = 32;

/// From `[batch, values, variates, steps]` to the part of `[batch, variates, horizon, values]` that `request` asks for
/// (the four extents, in this order but for `values`, which is its last), without gaps; in tiles through shared memory
/// so that both sides are read and written in order. Blocks: (tiles of steps, tiles of values, batch * variates).
///
/// Takes the marks off values that stand for what was no finite number (`nn::mark_extreme_values`), and adds how many
/// there are to `not_finite`, in memory of the host, which reads it once the kernel has ended.
template <Index values, Index variates, Index steps>
__global__ void __launch_bounds__(block_threads)
    collect_kernel(const float* in, float* out, const std::int32_t* request, std::uint32_t* not_finite) {
    wait_for_predecessor();
    launch_dependents();
    __shared__ float tile[collect_tile][collect_tile + 1];
    constexpr int rows_at_once = block_threads / collect_tile;
    const Index series = static_cast<Index>(blockIdx.z) / variates;
    const Index variate = static_cast<Index>(blockIdx.z) % variates;
    const Index wanted_variates = request[1];
    const Index horizon = request[2];
    const Index wanted_values = request[3];
    if (series >= request[0] || variate >= wanted_variates) {
        return;  // all of the block
    }
    const Index first_step = static_cast<Index>(blockIdx.x) * collect_tile;
    const Index first_value = static_cast<Index>(blockIdx.y) * collect_tile;
    const int column = static_cast<int>(threadIdx.x) % collect_tile;
    unsigned marks = 0;
    for (int row = static_cast<int>(threadIdx.x) / collect_tile; row < collect_tile; row += rows_at_once) {
        const Index value = first_value + row;
        const Index step = first_step + column;
        if (value < wanted_values && step < horizon) {
            const float found = in[((series * values + value) * variates + variate) * steps + step];
            tile[row][column] = found;
            marks += __float_as_uint(found) == 0x80000000U ? 1U : 0U;  // -0
        }
    }
    if (__syncthreads_or(static_cast<int>(marks)) != 0) {  // rare
        marks = __reduce_add_sync(0xffffffffU, marks);
        if (threadIdx.x % warp_size == 0 && marks != 0) {
            atomicAdd(not_finite, marks);  // of this device alone: over PCIe, none is atomic for the host as well
        }
    }
    for (int row = static_cast<int>(threadIdx.x) / collect_tile; row < collect_tile; row += rows_at_once) {
        const Index value = first_value + column;
        const Index step = first_step + row;
        if (value < wanted_values && step < horizon) {
            out[((series * wanted_variates + variate) * horizon + step) * wanted_values + value] =
                tile[column][row] + 0.0F;
        }
    }
}

}  // namespace totograph::cuda
