// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/not_finite.hpp>
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
/// Writes them to `on_host` as well, in memory of the host, unless it is null.
///
/// Adds how many values are no finite numbers to `not_finite`, in memory of the host, which reads it once the kernel
/// has ended. Where they are told by marks, takes these off.
template <Index values, Index variates, Index steps, NotFinite told>
__global__ void __launch_bounds__(block_threads)
    collect_kernel(const float* in, float* out, float* on_host, const std::int32_t* request,
                   std::uint32_t* not_finite) {
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
    unsigned found_not_finite = 0;
    for (int row = static_cast<int>(threadIdx.x) / collect_tile; row < collect_tile; row += rows_at_once) {
        const Index value = first_value + row;
        const Index step = first_step + column;
        if (value < wanted_values && step < horizon) {
            const float found = in[((series * values + value) * variates + variate) * steps + step];
            tile[row][column] = found;
            found_not_finite += is_not_finite(found, told) ? 1U : 0U;
        }
    }
    if (__syncthreads_or(static_cast<int>(found_not_finite)) != 0) {  // rare
        found_not_finite = __reduce_add_sync(0xffffffffU, found_not_finite);
        if (threadIdx.x % warp_size == 0 && found_not_finite != 0) {
            atomicAdd(not_finite,
                      found_not_finite);  // of this device alone: over PCIe, none is atomic for the host as well
        }
    }
    for (int row = static_cast<int>(threadIdx.x) / collect_tile; row < collect_tile; row += rows_at_once) {
        const Index value = first_value + column;
        const Index step = first_step + row;
        if (value < wanted_values && step < horizon) {
            const Index place = ((series * wanted_variates + variate) * horizon + step) * wanted_values + value;
            const float found = without_mark(tile[column][row], told);
            out[place] = found;
            if (on_host != nullptr) {
                on_host[place] = found;
            }
        }
    }
}

}  // namespace totograph::cuda
