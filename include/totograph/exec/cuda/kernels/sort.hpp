// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// Columns of a row up to which a thread has all of it in registers.
inline constexpr Index most_sorted_at_once = 16;

/// Puts the numbers of each row in ascending order, NaN last. A thread takes one number and counts those that come
/// before it: rows are short.
template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_sort(const KernelCall& call, const Used& used) {
    constexpr auto columns = static_cast<Offset<K>>(K::kernel.iteration[-1]);
    constexpr auto items = static_cast<Offset<K>>(K::kernel.iteration.size());
    constexpr auto step = static_cast<Offset<K>>(inner_stride<K>(K::kernel.operands[0].strides));
    constexpr auto out_step = static_cast<Offset<K>>(inner_stride<K>(K::kernel.output_strides));
    if (!Threads::template has_item<items>()) {
        return;
    }
    const auto* in = call.operands[0].get<float>(positions_of<K>(call));
    auto* out = call.output.get<float>(positions_of<K>(call));
    const auto row_of = [&](Offset<K> item) {
        return in + offset_of<K, StridesOfOperand<K, 0>>(place_of<K, LeadingOf<K>>(item / columns));
    };
    const auto comes_before = [](float number, Offset<K> other, float value, Offset<K> column) {
        const bool is_less = number < value || (value != value && number == number);
        const bool is_more = value < number || (number != number && value == value);
        return is_less || (!is_more && other < column) ? 1 : 0;
    };
    const auto put = [&](Offset<K> item, Offset<K> before, float value) {
        const auto place = place_of<K, LeadingOf<K>>(item / columns);
        out[offset_of<K, StridesOfOutput<K>>(place) + before * out_step] = value;
    };
    const auto is_used = [&](Offset<K> item) { return used.template has<UsedExtents<K>::rows>(item / columns); };
    if constexpr (columns <= most_sorted_at_once) {
        // Asked for at once, with those of the thread's other numbers: one after the other, loads would add up.
        using Row = Pack<float, static_cast<int>(columns) + 1>;
        const auto read = [&](Offset<K> item) {
            Row row;
            const float* const numbers = row_of(item);
#pragma unroll
            for (int other = 0; other < static_cast<int>(columns); ++other) {
                row.lane[other] = numbers[other * step];
            }
            row.lane[static_cast<int>(columns)] = numbers[item % columns * step];
            return row;
        };
        Threads::template for_each<items>(
            read,
            [&](Offset<K> item, const Row& row) {
                const float value = row.lane[static_cast<int>(columns)];
                Offset<K> before = 0;
#pragma unroll
                for (int other = 0; other < static_cast<int>(columns); ++other) {
                    before += comes_before(row.lane[other], other, value, item % columns);
                }
                put(item, before, value);
            },
            is_used);
    } else {
        Threads::template for_each<items>([&](Offset<K> item) { return row_of(item)[item % columns * step]; },
                                          [&](Offset<K> item, float value) {
                                              const float* const numbers = row_of(item);
                                              Offset<K> before = 0;
                                              for (Offset<K> other = 0; other < columns; ++other) {
                                                  before +=
                                                      comes_before(numbers[other * step], other, value, item % columns);
                                              }
                                              put(item, before, value);
                                          },
                                          is_used);
    }
}

}  // namespace totograph::cuda
