// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/used_rows.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cpu {

/// Runs `work(row, first_column, end_column)` on the pool for the elements of a bounded kernel that are in use.
template <class Work>
void parallel_used_elements(const KernelCall& call, const Kernel& kernel, const Work& work) {
    const UsedRows elements(kernel.bounds, kernel.bounds.axes.rank, call.bounds);
    const Index columns = kernel.columns();
    parallel_for(*call.pool, divide_rounding_up(elements.count(), elements_per_chunk), [&](Index chunk, int) {
        const Index begin = chunk * elements_per_chunk;
        const Index end = std::min(elements.count(), begin + elements_per_chunk);
        elements.for_each_stretch(begin, end, [&](Index place, Index count) {
            for (const Index last = place + count; place < last;) {
                const Index column = place % columns;
                const Index part = std::min(columns - column, last - place);
                work(place / columns, column, column + part);
                place += part;
            }
        });
    });
}

}  // namespace totograph::cpu
