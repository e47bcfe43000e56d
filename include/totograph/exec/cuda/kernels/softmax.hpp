// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// Threads that share a row of a softmax: a few elements each, where that is enough.
constexpr int softmax_threads(Index columns) {
    int threads = 1;
    while (threads < warp_size && threads * 4 < columns) {
        threads *= 2;
    }
    return threads;
}

/// Softmax over the last axis.
template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_softmax(const KernelCall& call, const Used& used) {
    constexpr auto columns = static_cast<Offset<K>>(K::kernel.iteration[-1]);
    constexpr auto rows = static_cast<Offset<K>>(K::kernel.iteration.size() / K::kernel.iteration[-1]);
    constexpr auto step = static_cast<Offset<K>>(inner_stride<K>(K::kernel.operands[0].strides));
    constexpr auto out_step = static_cast<Offset<K>>(inner_stride<K>(K::kernel.output_strides));
    constexpr int threads = softmax_threads(K::kernel.iteration[-1]);
    constexpr auto each = static_cast<int>(divide_rounding_up(K::kernel.iteration[-1], Index{threads}));
    constexpr int kept = 16;  // elements of a thread that stay in registers
    if (!Threads::template group_has_item<threads, rows>()) {
        return;
    }
    const auto* in = call.operands[0].get<float>(positions_of<K>(call));
    auto* out = call.output.get<float>(positions_of<K>(call));
    const int lane = static_cast<int>(threadIdx.x) % threads;
    Threads::template for_each_of_groups<threads, rows>([&](Offset<K> row) {
        if (!used.template has<UsedExtents<K>::rows>(row)) {
            return;  // all of the group
        }
        const auto place = place_of<K, LeadingOf<K>>(row);
        const float* const from = in + offset_of<K, StridesOfOperand<K, 0>>(place);
        float* const to = out + offset_of<K, StridesOfOutput<K>>(place);
        float largest = -std::numeric_limits<float>::infinity();
        float total = 0;
        if constexpr (each <= kept) {
            float values[each];
#pragma unroll
            for (int i = 0; i < each; ++i) {
                const Offset<K> column = i * threads + lane;
                values[i] = column < columns ? from[column * step] : -std::numeric_limits<float>::infinity();
                largest = fmaxf(largest, values[i]);
            }
            largest = maximum_of_group<threads>(largest);
#pragma unroll
            for (int i = 0; i < each; ++i) {
                values[i] = i * threads + lane < columns ? expf(values[i] - largest) : 0.0F;
                total += values[i];
            }
            const float scale = 1.0F / sum_of_group<threads>(total);
#pragma unroll
            for (int i = 0; i < each; ++i) {
                const Offset<K> column = i * threads + lane;
                if (column < columns) {
                    to[column * out_step] = values[i] * scale;
                }
            }
        } else {
            for (Offset<K> column = lane; column < columns; column += threads) {
                largest = fmaxf(largest, from[column * step]);
            }
            largest = maximum_of_group<threads>(largest);
            for (Offset<K> column = lane; column < columns; column += threads) {
                total += expf(from[column * step] - largest);
            }
            const float scale = 1.0F / sum_of_group<threads>(total);
            for (Offset<K> column = lane; column < columns; column += threads) {
                to[column * out_step] = expf(from[column * step] - largest) * scale;
            }
        }
    });
}

}  // namespace totograph::cuda
