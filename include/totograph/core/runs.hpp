// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>

namespace totograph {

/// Elements of a run: as many as a compiler turns into vector instructions at -O2, where it leaves other loops as they
/// are.
inline constexpr Index run_elements = 64;

/// Calls `visit(i)` for each i below `count`, in runs of a constant length.
template <class Visit>
void for_each_in_runs(Index count, const Visit& visit) {
    const Index whole = count - count % run_elements;
    for (Index begin = 0; begin < whole; begin += run_elements) {
        for (Index i = 0; i < run_elements; ++i) {
            visit(begin + i);
        }
    }
    for (Index i = whole; i < count; ++i) {
        visit(i);
    }
}

}  // namespace totograph
