// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <totograph/io/time/month_rule.hpp>
#include <totograph/io/time/time_step.hpp>

namespace totograph::io {

/// How times go on that come once in so many months, though one of them may stand elsewhere.
struct MonthStep {
    TimeStep step;          ///< Of whole months.
    std::int64_t from = 0;  ///< The last time that stands where the others do.
    /// Steps behind it that a last time, which stands elsewhere, has passed or all but reached.
    std::int64_t passed = 0;

    /// The time `count` steps behind the last one.
    [[nodiscard]] std::int64_t later(std::int64_t count) const { return step.later(from, passed + count); }
    /// Whether `later` can be counted.
    [[nodiscard]] bool reaches(std::int64_t count) const {
        std::int64_t steps = 0;
        return !__builtin_add_overflow(passed, count, &steps) && step.reaches(from, steps);
    }
};

/// The months between times, in ascending order, by their median distance, which is 28 days or more. Where in its month
/// a time stands is what all have in common (`find_month_rule`), or all but one, such as a last one that came before
/// its month was over; else the day of the last one, where the median is about whole months. Nothing for shorter
/// distances, and for even ones that are no calendar's, such as 28 or 35 days.
std::optional<MonthStep> find_month_step(const std::vector<std::int64_t>& instants, std::int64_t offset_seconds);

namespace detail {

/// Whether times, but for the last one, are equally far apart, to the nanosecond.
bool are_equal(const std::vector<std::int64_t>& distances, std::int64_t usual);

/// The same with single times missing, clocks that change by an hour, and times that are late by a thirtieth of the
/// distance; of weeks by a day.
bool are_even(const std::vector<std::int64_t>& distances, std::int64_t usual);

/// Whether a distance is one of whole weeks, but for a change of the clock.
bool is_of_weeks(std::int64_t distance);

/// Whether a distance is about that of so many months.
bool is_of_months(std::int64_t distance, std::int64_t months);

/// The rule of all times, or of all but the one at `odd`: the last one, rather than those before it.
struct MonthRuleOfMost {
    MonthRule rule;
    std::optional<std::size_t> odd;
};

std::optional<MonthRuleOfMost> find_rule_of_most(const std::vector<std::int64_t>& instants,
                                                 std::int64_t offset_seconds);

}  // namespace detail

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/month_step.hpp>
#endif
