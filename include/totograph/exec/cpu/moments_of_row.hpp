// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <totograph/core/shape.hpp>

namespace totograph::cpu {

/// Count, total and spread of values.
using MomentsOfRow = std::array<double, 3>;

/// One row of `Op::running_moments`, group by group.
/// @param before    what steps before these have added up to
/// @param least     of the op
/// @param value     gives the value of a step, `observed` whether it counts
/// @param write     takes a kind of sum, from 0 to 2 or 5, a group, and the sum
template <class Value, class Observed, class Write>
void moments_of_row(Index groups, Index group, Index least, const MomentsOfRow& before, const Value& value,
                    const Observed& observed, const Write& write) {
    MomentsOfRow own{};  // of these steps alone: added to those before when all is rounded
    const auto all = [&] { return MomentsOfRow{own[0] + before[0], own[1] + before[1], own[2] + before[2]}; };
    double mean = before[1] / std::max(before[0], 1.0);
    MomentsOfRow enough{};
    const auto wanted = static_cast<double>(least);
    Index short_groups = 0;
    for (Index g = 0; g < groups; ++g) {
        for (Index step = g * group; step < (g + 1) * group; ++step) {
            if (!observed(step)) {
                continue;
            }
            const double x = value(step);
            own[0] += 1.0;
            own[1] += x;
            const double count = own[0] + before[0];
            const double after = (own[1] + before[1]) / std::max(count, 1.0);
            own[2] += (x - mean) * (x - after);
            mean = after;
            if (!(count < wanted) && count - 1.0 < wanted) {
                enough = all();
            }
        }
        const MomentsOfRow ends = all();
        short_groups += ends[0] < wanted ? 1 : 0;
        for (std::size_t kind = 0; kind < ends.size(); ++kind) {
            write(static_cast<Index>(kind), g, ends[kind]);
            if (least > 0 && !(ends[0] < wanted)) {
                write(static_cast<Index>(kind + ends.size()), g, ends[kind]);
            }
        }
    }
    if (own[0] + before[0] < wanted) {
        enough = all();
    }
    for (Index g = 0; g < short_groups; ++g) {
        for (std::size_t kind = 0; kind < enough.size(); ++kind) {
            write(static_cast<Index>(kind + enough.size()), g, enough[kind]);
        }
    }
}

}  // namespace totograph::cpu
