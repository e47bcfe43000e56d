// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/dependent_launch.hpp>
#include <totograph/exec/cuda/elementwise.hpp>
#include <totograph/exec/cuda/reduction.hpp>

namespace totograph::cuda {

inline constexpr int collect_tile = 32;

/// From `[batch, samples, variates, steps]` to `[batch, variates, horizon, samples]`, in tiles through shared memory so
/// that both sides are read and written in order. Blocks: (tiles of steps, tiles of samples, batch * variates).
///
/// Takes the marks off values that stand for what was no finite number (`nn::mark_extreme_values`), and adds how many
/// there are to `not_finite`, in memory of the host, which looks once the kernel has ended: of those that `request`
/// asks for, `[batch, variates, horizon, samples]`.
template <Index samples, Index variates, Index steps, Index horizon>
__global__ void __launch_bounds__(block_threads)
    collect_kernel(const float* in, float* out, const std::int32_t* request, std::uint32_t* not_finite) {
    wait_for_predecessor();
    let_successor_begin();
    __shared__ float tile[collect_tile][collect_tile + 1];
    constexpr int rows_at_once = block_threads / collect_tile;
    const auto is_marked = [](float value) { return __float_as_uint(value) == 0x80000000U; };  // -0
    bool has_marks = false;
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
            has_marks = has_marks || is_marked(tile[row][column]);
        }
    }
    if (__syncthreads_or(has_marks ? 1 : 0) != 0) {  // rare: what is asked for need not be known before
        unsigned count = 0;
        for (int row = static_cast<int>(threadIdx.x) / collect_tile; row < collect_tile; row += rows_at_once) {
            const bool is_wanted = series < request[0] && variate < request[1] && first_step + column < request[2] &&
                                   first_sample + row < request[3];
            count += is_wanted && is_marked(tile[row][column]) ? 1U : 0U;
        }
        count = __reduce_add_sync(0xffffffffU, count);
        if (threadIdx.x % warp_size == 0 && count != 0) {
            atomicAdd(not_finite, count);  // of this device alone: over PCIe, none is atomic for the host as well
        }
    }
    for (int row = static_cast<int>(threadIdx.x) / collect_tile; row < collect_tile; row += rows_at_once) {
        const Index sample = first_sample + column;
        const Index step = first_step + row;
        if (sample < samples && step < horizon) {
            out[((series * variates + variate) * horizon + step) * samples + sample] = tile[column][row] + 0.0F;
        }
    }
}

}  // namespace totograph::cuda
