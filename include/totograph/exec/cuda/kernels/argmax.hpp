// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <totograph/core/categorical.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// The place of the largest number of each row. A key holds the number, in the order of floats with NaN above all, and
/// below it the place counted from the end: the largest key is the first of the largest numbers, in any order.
template <class K, class Threads = Blocks<>>
__device__ void run_argmax(const KernelCall& call) {
    constexpr Operand x = K::kernel.operands[0];
    constexpr auto columns = static_cast<Offset<K>>(x.shape[-1]);
    constexpr auto rows = static_cast<Offset<K>>(K::kernel.iteration.size());
    constexpr auto step = static_cast<Offset<K>>(inner_stride<K>(x.strides));
    // Up to so many columns a row takes a warp, a longer one a block.
    constexpr bool takes_warp = columns <= 1024;
    if constexpr (takes_warp) {
        if (!Threads::template group_has_item<warp_size, rows>()) {
            return;
        }
    }
    const auto* in = call.operands[0].get<float>(positions_of<K>(call));
    auto* out = call.output.get<std::int32_t>(positions_of<K>(call));
    const auto key_of_part = [&](Offset<K> from, int thread, int threads) {
        std::uint64_t best = 0;
        for (Offset<K> column = thread; column < columns; column += threads) {
            const float value = in[from + column * step];
            const std::uint32_t key = value != value ? 0xffffffffU : categorical::key_of(value);
            best = std::max(best, std::uint64_t{key} << 32U | (0xffffffffU - static_cast<std::uint32_t>(column)));
        }
#pragma unroll
        for (int distance = warp_size / 2; distance > 0; distance /= 2) {
            const std::uint64_t other = __shfl_xor_sync(0xffffffffU, static_cast<unsigned long long>(best), distance);
            best = std::max(best, other);
        }
        return best;
    };
    const auto write = [&](const auto& place, std::uint64_t key) {
        out[offset_of<K, StridesOfOutput<K>>(place)] =
            static_cast<std::int32_t>(0xffffffffU - static_cast<std::uint32_t>(key));
    };
    if constexpr (takes_warp) {
        const int lane = static_cast<int>(threadIdx.x) % warp_size;
        Threads::template for_each_of_groups<warp_size, rows>([&](Offset<K> row) {
            const auto place = place_of<K, LeadingOf<K>>(row);
            const std::uint64_t key = key_of_part(offset_of<K, StridesOfOperand<K, 0>>(place), lane, warp_size);
            if (lane == 0) {
                write(place, key);
            }
        });
    } else {
        __shared__ std::uint64_t best[block_threads / warp_size];
        Threads::template for_each_of_blocks<rows>([&](Offset<K> row) {
            const auto place = place_of<K, LeadingOf<K>>(row);
            const std::uint64_t key =
                key_of_part(offset_of<K, StridesOfOperand<K, 0>>(place), static_cast<int>(threadIdx.x), block_threads);
            __syncthreads();  // those of a row before this one may still be read
            if (threadIdx.x % warp_size == 0) {
                best[threadIdx.x / warp_size] = key;
            }
            __syncthreads();
            if (threadIdx.x == 0) {
                std::uint64_t largest = 0;
                for (const std::uint64_t of_warp : best) {
                    largest = std::max(largest, of_warp);
                }
                write(place, largest);
            }
        });
    }
}

}  // namespace totograph::cuda
