// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/dependent_launch.hpp>
#include <totograph/exec/cuda/elementwise.hpp>

namespace totograph::cuda {

inline constexpr int collect_tile = 32;

/// From `[batch, samples, variates, steps]` to `[batch, variates, horizon, samples]`, in tiles through shared memory so
/// that both sides are read and written in order. Blocks: (tiles of steps, tiles of samples, batch * variates).
template <Index samples, Index variates, Index steps, Index horizon>
__global__ void __launch_bounds__(block_threads) collect_kernel(const float* in, float* out) {
    wait_for_predecessor();
    let_successor_begin();
    __shared__ float tile[collect_tile][collect_tile + 1];
    constexpr int rows_at_once = block_threads / collect_tile;
    const Index series = static_cast<Index>(blockIdx.z) / variates;
    const Index variate = static_cast<Index>(blockIdx.z) % variates;
    const Index first_step = static_cast<Index>(blockIdx.x) * collect_tile;
    const Index first_sample = static_cast<Index>(blockIdx.y) * collect_tile;
    const int column = static_cast<int>(threadIdx.x) % collect_tile;
    for (int row = static_cast<int>(threadIdx.x) / collect_tile; row < collect_tile; row += rows_at_once) {
        const Index sample = first_sample + row;
        const Index step = first_step + column;
        if (sample < samples && step < horizon) {
            tile[row][column] = in[((series * samples + sample) * variates + variate) * steps + step];
        }
    }
    __syncthreads();
    for (int row = static_cast<int>(threadIdx.x) / collect_tile; row < collect_tile; row += rows_at_once) {
        const Index sample = first_sample + column;
        const Index step = first_step + row;
        if (sample < samples && step < horizon) {
            out[((series * variates + variate) * horizon + step) * samples + sample] = tile[column][row];
        }
    }
}

}  // namespace totograph::cuda
