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

/// Sums up what `term` gives for each step. Four sums take turns: no addition waits for the one before it.
template <class Term>
double sum_of_steps(Index begin, Index end, const Term& term) {
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;
    Index step = begin;
    for (; step + 4 <= end; step += 4) {
        a += term(step);
        b += term(step + 1);
        c += term(step + 2);
        d += term(step + 3);
    }
    for (; step < end; ++step) {
        a += term(step);
    }
    return (a + b) + (c + d);
}

/// Moments of observed values, by their own mean.
template <class Value, class Observed>
MomentsOfRow moments_of_steps(Index begin, Index end, const Value& value, const Observed& observed) {
    Index seen = 0;
    const double total = sum_of_steps(begin, end, [&](Index step) {
        const bool counts = observed(step);
        seen += counts ? 1 : 0;
        return counts ? static_cast<double>(value(step)) : 0.0;
    });
    const auto count = static_cast<double>(seen);
    const double mean = total / std::max(count, 1.0);
    const double spread = sum_of_steps(begin, end, [&](Index step) {
        const double apart = observed(step) ? value(step) - mean : 0.0;
        return apart * apart;
    });
    return {count, total, spread};
}

/// The end of the first so many observed steps, of which there are as many.
template <class Observed>
Index end_of_first(Index begin, double count, const Observed& observed) {
    Index step = begin;
    for (double seen = 0; seen < count; ++step) {
        seen += observed(step) ? 1.0 : 0.0;
    }
    return step;
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
        const Index begin = g * group;
        const MomentsOfRow left = own;
        add_behind(own, moments_of_steps(begin, begin + group, value, observed), before);
        const MomentsOfRow ends = with_before(own);
        const bool is_short = ends[0] < wanted;
        short_groups += is_short ? 1 : 0;
        if (is_short) {
            enough = ends;
        } else if (const double missing = std::ceil(wanted - (left[0] + before[0])); missing > 0) {
            MomentsOfRow first = left;
            const Index end = end_of_first(begin, missing, observed);
            add_behind(first, moments_of_steps(begin, end, value, observed), before);
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
