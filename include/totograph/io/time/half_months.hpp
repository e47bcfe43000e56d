// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <totograph/io/time/month_rule.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {
namespace detail {

/// Nanoseconds that lie between two rows at least.
inline constexpr std::int64_t shortest_half_month = 12 * seconds_per_day * nanoseconds_per_second;

}  // namespace detail

/// Rows that come twice in a month, each time on a day of its own, such as the 15th and the last one.
struct HalfMonths {
    MonthRule first;   ///< `fixed`.
    MonthRule second;  ///< `fixed`, or `before_last`, on the same clock, on a later day.

    /// The number of a row's half of a month, counted through the years.
    [[nodiscard]] std::int64_t place_of(std::int64_t instant) const;

    /// The instant of the row `count` halves after that of an instant.
    [[nodiscard]] std::int64_t later(std::int64_t instant, std::int64_t count) const;
};

/// The two days of the month that rows in the order of time stand on: of four rows and more, each on one of them, no
/// two in one half, 12 days apart or more, at one time of day (or an hour off it), and somewhere both in a row. Nothing
/// where there are no such days, and for rows of every second week. Rows of every 15th day may stand on two days so far
/// (2024-04-01 to 2024-05-16): they are half months, for nothing tells the two apart, and steps of 15 days are rare.
std::optional<HalfMonths> find_half_months(const std::vector<std::int64_t>& instants, std::int64_t offset_seconds);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/half_months.hpp>
#endif
