// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/moments_of_row.hpp>

using totograph::Index;
using totograph::cpu::moments_of_row;
using totograph::cpu::MomentsOfRow;

namespace {

/// Sums by their kind and group.
using Sums = std::map<std::pair<Index, Index>, double>;

/// Of steps in groups of one, all observed.
Sums sums_of(const std::vector<double>& values, Index least, const MomentsOfRow& before = {}) {
    Sums sums;
    moments_of_row(
        static_cast<Index>(values.size()), 1, least, before,
        [&](Index step) { return values[static_cast<std::size_t>(step)]; }, [](Index) { return true; },
        [&](Index kind, Index group, double sum) {
            sums[{kind, group}] = sum;
        });
    return sums;
}

}  // namespace

TEST_CASE("count, total and spread grow from group to group") {
    const Sums sums = sums_of({2, 4, 9}, 0);
    CHECK(sums == Sums{{{0, 0}, 1},
                       {{0, 1}, 2},
                       {{0, 2}, 3},
                       {{1, 0}, 2},
                       {{1, 1}, 6},
                       {{1, 2}, 15},
                       {{2, 0}, 0},
                       {{2, 1}, 2},
                       {{2, 2}, 26}});
}

TEST_CASE("groups of too few values have the moments of the first so many, wherever those began") {
    // Of 1, 3, 5, 7 and 16: the first four have the total 16 and the spread 20, all five 32 and 135.2.
    const Sums whole = sums_of({1, 3, 5, 7, 16}, 4);
    const Sums later = sums_of({5, 7, 16}, 4, {2, 4, 2});  // behind 1 and 3
    for (const auto& [sums, short_groups, groups] : {std::tuple(whole, 3, 5), std::tuple(later, 1, 3)}) {
        for (Index group = 0; group < groups; ++group) {
            CAPTURE(group);
            const bool is_last = group + 1 == groups;
            CHECK(sums.at({3, group}) == (is_last ? 5 : 4));
            CHECK(sums.at({4, group}) == (is_last ? 32 : 16));
            CHECK(sums.at({5, group}) == doctest::Approx(is_last ? 135.2 : 20.0).epsilon(1e-14));
            CHECK((sums.at({0, group}) < 4) == (group < short_groups));
        }
    }
    // A row that never has so many has those of all of it.
    const Sums few = sums_of({1, 3}, 4);
    CHECK(few.at({3, 0}) == 2);
    CHECK(few.at({4, 0}) == 4);
    CHECK(few.at({5, 0}) == 2);
}

TEST_CASE("groups add up as one pass over all values does, whatever lies between and however large they are") {
    constexpr Index group = 5;
    constexpr Index groups = 7;
    constexpr Index least = 13;
    std::vector<double> values;
    std::vector<bool> marks;
    for (int i = 0; i < group * groups; ++i) {
        values.push_back(1e9 + i * i % 11 - 0.25 * i);
        marks.push_back(i % 7 != 3 && i / 5 != 4);  // nothing of one whole group
    }
    const auto at = [](const auto& some, Index step) { return some[static_cast<std::size_t>(step)]; };
    // The moments of the first so many values before a step.
    const auto directly = [&](Index end, double most) {
        MomentsOfRow sums{};
        for (Index step = 0; step < end && sums[0] < most; ++step) {
            sums[0] += at(marks, step) ? 1 : 0;
            sums[1] += at(marks, step) ? at(values, step) : 0;
        }
        double seen = 0;
        for (Index step = 0; step < end && seen < sums[0]; ++step) {
            const double apart = at(values, step) - sums[1] / sums[0];
            seen += at(marks, step) ? 1 : 0;
            sums[2] += at(marks, step) ? apart * apart : 0;
        }
        return sums;
    };
    Sums sums;
    moments_of_row(
        groups, group, least, {}, [&](Index step) { return at(values, step); },
        [&](Index step) { return at(marks, step); },
        [&](Index kind, Index number, double sum) {
            sums[{kind, number}] = sum;
        });
    for (Index number = 0; number < groups; ++number) {
        CAPTURE(number);
        const MomentsOfRow ends = directly((number + 1) * group, 1e9);
        const MomentsOfRow enough = ends[0] < least ? directly(groups * group, least) : ends;
        for (Index kind = 0; kind < 3; ++kind) {
            CAPTURE(kind);
            // Values of 30 bits leave 1e-7 of each deviation of about 3.
            CHECK(sums.at({kind, number}) == doctest::Approx(ends[static_cast<std::size_t>(kind)]).epsilon(1e-7));
            CHECK(sums.at({kind + 3, number}) == doctest::Approx(enough[static_cast<std::size_t>(kind)]).epsilon(1e-7));
        }
    }
}
