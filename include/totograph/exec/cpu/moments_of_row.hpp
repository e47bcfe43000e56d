// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <totograph/core/shape.hpp>

namespace totograph::cpu {

/// Count, total and spread of values.
using MomentsOfRow = std::array<double, 3>;

/// Values of one group, by their own mean.
/// @param most  how many count, of the first that are observed
template <class Value, class Observed>
MomentsOfRow moments_of_group(Index begin, Index end, double most, const Value& value, const Observed& observed) {
    MomentsOfRow own{};
    Index last = begin;
    for (; last < end && own[0] < most; ++last) {
        if (observed(last)) {
            own[0] += 1.0;
            own[1] += value(last);
        }
    }
    const double mean = own[1] / std::max(own[0], 1.0);
    for (Index step = begin; step < last; ++step) {
        if (observed(step)) {
            const double apart = value(step) - mean;
            own[2] += apart * apart;
        }
    }
    return own;
}

/// Adds moments of what comes behind some, by Chan, Golub and LeVeque (https://doi.org/10.1007/978-3-642-51461-6_3).
/// @param before  of other values, in front of both
inline void add_behind(MomentsOfRow& some, const MomentsOfRow& own, const MomentsOfRow& before) {
    const double count = some[0] + before[0];
    const double apart = own[1] / std::max(own[0], 1.0) - (some[1] + before[1]) / std::max(count, 1.0);
    some[2] += own[2] + own[0] * count / std::max(count + own[0], 1.0) * (apart * apart);
    some[0] += own[0];
    some[1] += own[1];
}

/// One row of `Op::running_moments`, group by group.
/// @param before    what steps before these have added up to
/// @param least     of the op
/// @param value     gives the value of a step, `observed` whether it counts
/// @param write     takes a kind of sum, from 0 to 2 or 5, a group, and the sum
template <class Value, class Observed, class Write>
void moments_of_row(Index groups, Index group, Index least, const MomentsOfRow& before, const Value& value,
                    const Observed& observed, const Write& write) {
    MomentsOfRow own{};  // of these steps alone: added to those before when all is rounded
    const auto with_before = [&](const MomentsOfRow& some) {
        return MomentsOfRow{some[0] + before[0], some[1] + before[1], some[2] + before[2]};
    };
    MomentsOfRow enough{};
    const auto wanted = static_cast<double>(least);
    Index short_groups = 0;
    for (Index g = 0; g < groups; ++g) {
        const MomentsOfRow left = own;
        const auto of_first = [&](double most) {
            return moments_of_group(g * group, (g + 1) * group, most, value, observed);
        };
        add_behind(own, of_first(static_cast<double>(group)), before);
        const MomentsOfRow ends = with_before(own);
        const bool is_short = ends[0] < wanted;
        short_groups += is_short ? 1 : 0;
        if (const double count = left[0] + before[0]; count < wanted) {
            MomentsOfRow first = left;
            add_behind(first, of_first(std::ceil(wanted - count)), before);
            enough = with_before(first);
        }
        for (std::size_t kind = 0; kind < ends.size(); ++kind) {
            write(static_cast<Index>(kind), g, ends[kind]);
            if (least > 0 && !is_short) {
                write(static_cast<Index>(kind + ends.size()), g, ends[kind]);
            }
        }
    }
    for (Index g = 0; g < short_groups; ++g) {
        for (std::size_t kind = 0; kind < enough.size(); ++kind) {
            write(static_cast<Index>(kind + enough.size()), g, enough[kind]);
        }
    }
}

}  // namespace totograph::cpu
