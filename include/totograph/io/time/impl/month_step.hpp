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

TOTOGRAPH_INLINE bool are_even(const std::vector<std::int64_t>& distances, std::int64_t usual) {
    constexpr std::int64_t week = 7 * seconds_per_day * nanoseconds_per_second;
    if (distances.size() == 1) {
        return usual % week == 0;  // one distance says little, but months hardly ever have whole weeks
    }
    const auto equal = std::count(distances.begin(), distances.end() - 1, usual);
    return 10 * equal >= 9 * (static_cast<std::ptrdiff_t>(distances.size()) - 1);
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
    constexpr std::int64_t day = seconds_per_day * nanoseconds_per_second;
    constexpr double mean_month = 365.2425 / 12 * static_cast<double>(day);
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
    // Four weeks after each other lie three days near the ends of three months.
    const bool is_calendar = found && (found->rule.kind == MonthRule::Day::fixed || usual % (7 * day) != 0);
    if (!is_calendar && detail::are_even(distances, usual)) {
        return std::nullopt;
    }
    const std::int64_t last = instants.back();
    MonthStep result{{TimeStep::Kind::months, std::llround(static_cast<double>(usual) / mean_month), {}}, last, 0};
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
