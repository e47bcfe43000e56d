// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/month_step.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/month_rule.hpp>
#include <totograph/io/time/time_step.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {
namespace detail {

inline constexpr std::int64_t nanoseconds_per_day = seconds_per_day * nanoseconds_per_second;
/// A change of the clock, and a while.
inline constexpr std::int64_t clock_slack = nanoseconds_per_day / 12;
inline constexpr double mean_month = 365.2425 / 12 * static_cast<double>(nanoseconds_per_day);

TOTOGRAPH_INLINE bool is_of_weeks(std::int64_t distance) {
    constexpr std::int64_t week = 7 * nanoseconds_per_day;
    return std::min(distance % week, week - distance % week) <= clock_slack;
}

TOTOGRAPH_INLINE bool is_of_months(std::int64_t distance, std::int64_t months) {
    const double usual = mean_month * static_cast<double>(months);
    return std::abs(static_cast<double>(distance) - usual) <= usual / 10;
}

TOTOGRAPH_INLINE bool are_equal(const std::vector<std::int64_t>& distances, std::int64_t usual) {
    if (distances.size() == 1) {
        return is_of_weeks(usual);  // one distance says little, but months hardly ever have whole weeks
    }
    const auto equal = std::count(distances.begin(), distances.end() - 1, usual);
    return 10 * equal >= 9 * (static_cast<std::ptrdiff_t>(distances.size()) - 1);
}

TOTOGRAPH_INLINE bool are_even(const std::vector<std::int64_t>& distances, std::int64_t usual) {
    if (distances.size() == 1) {
        return is_of_weeks(usual);
    }
    const auto slack = static_cast<double>(std::max(usual / 30, is_of_weeks(usual) ? nanoseconds_per_day : 0)) +
                       static_cast<double>(clock_slack);
    const auto even = std::count_if(distances.begin(), distances.end() - 1, [&](std::int64_t distance) {
        const double steps = std::max(1.0, std::round(static_cast<double>(distance) / static_cast<double>(usual)));
        return std::abs(static_cast<double>(distance) - steps * static_cast<double>(usual)) <= slack;
    });
    return 10 * even >= 9 * (static_cast<std::ptrdiff_t>(distances.size()) - 1);
}

TOTOGRAPH_INLINE std::optional<MonthRuleOfMost> find_rule_of_most(const std::vector<std::int64_t>& instants,
                                                                  std::int64_t offset_seconds) {
    if (const std::optional<MonthRule> rule = find_month_rule(instants, offset_seconds)) {
        return MonthRuleOfMost{*rule, std::nullopt};
    }
    constexpr std::size_t least = 4;  // three that agree, and one that does not
    for (std::size_t odd = instants.size() < least ? 0 : instants.size(); odd-- > 0;) {
        std::vector<std::int64_t> others = instants;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(odd));
        if (const std::optional<MonthRule> rule = find_month_rule(others, offset_seconds)) {
            return MonthRuleOfMost{*rule, odd};
        }
    }
    return std::nullopt;
}

}  // namespace detail

TOTOGRAPH_INLINE std::optional<MonthStep> find_month_step(const std::vector<std::int64_t>& instants,
                                                          std::int64_t offset_seconds) {
    constexpr std::int64_t day = detail::nanoseconds_per_day;
    std::vector<std::int64_t> distances;
    for (std::size_t i = 1; i < instants.size(); ++i) {
        distances.push_back(time_between(instants[i - 1], instants[i]));
    }
    if (distances.empty()) {
        return std::nullopt;
    }
    std::vector<std::int64_t> sorted = distances;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    const std::int64_t usual = *middle;
    if (usual < 28 * day) {
        return std::nullopt;
    }
    const std::optional<detail::MonthRuleOfMost> found = detail::find_rule_of_most(instants, offset_seconds);
    const std::int64_t months = std::llround(static_cast<double>(usual) / detail::mean_month);
    if (!found && (!detail::is_of_months(usual, months) || detail::are_even(distances, usual))) {
        return std::nullopt;
    }
    // Four weeks after each other lie three days near the ends of three months.
    const bool is_calendar = found && (found->rule.kind == MonthRule::Day::fixed || !detail::is_of_weeks(usual));
    if (found && !is_calendar && detail::are_equal(distances, usual)) {
        return std::nullopt;
    }
    const std::int64_t last = instants.back();
    MonthStep result{{TimeStep::Kind::months, months, {}}, last, 0};
    if (!found) {
        const ClockTime clock = clock_time(last, offset_seconds);
        result.step.months = {.day = static_cast<unsigned>(clock.date.day()),
                              .offset_seconds = offset_seconds,
                              .nanosecond_of_day = clock.nanosecond_of_day};
        return result;
    }
    result.step.months = found->rule;
    if (found->odd && *found->odd + 1 == instants.size()) {
        result.from = instants[instants.size() - 2];
        // One a little ahead of its place, such as before a weekend, has taken it.
        while (result.reaches(1) && time_between(last, result.later(1)) <= usual / 10) {
            ++result.passed;
        }
    }
    return result;
}

}  // namespace totograph::io
