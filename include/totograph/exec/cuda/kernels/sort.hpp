// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// Puts the numbers of each row in ascending order, NaN last. A thread takes one number and counts those that come
/// before it: rows are short.
template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_sort(const KernelCall& call, const Used& used) {
    constexpr auto columns = static_cast<Offset<K>>(K::kernel.iteration[-1]);
    constexpr auto items = static_cast<Offset<K>>(K::kernel.iteration.size());
    constexpr auto step = static_cast<Offset<K>>(inner_stride<K>(K::kernel.operands[0].strides));
    constexpr auto out_step = static_cast<Offset<K>>(inner_stride<K>(K::kernel.output_strides));
    if (!Threads::template group_has_item<1, items>()) {
        return;
    }
    const auto* in = call.operands[0].get<float>(positions_of<K>(call));
    auto* out = call.output.get<float>(positions_of<K>(call));
    Threads::template for_each_of_groups<1, items>([&](Offset<K> item) {
        const Offset<K> column = item % columns;
        if (!used.template has<UsedExtents<K>::rows>(item / columns)) {
            return;
        }
        const auto place = place_of<K, LeadingOf<K>>(item / columns);
        const float* const row = in + offset_of<K, StridesOfOperand<K, 0>>(place);
        const float value = row[column * step];
        Offset<K> before = 0;
        for (Offset<K> other = 0; other < columns; ++other) {
            const float number = row[other * step];
            const bool is_less = number < value || (value != value && number == number);
            const bool is_more = value < number || (number != number && value == value);
            before += is_less || (!is_more && other < column) ? 1 : 0;
        }
        out[offset_of<K, StridesOfOutput<K>>(place) + before * out_step] = value;
    });
}

}  // namespace totograph::cuda
