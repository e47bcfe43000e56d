// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>

namespace totograph::kronos {

/// What a Kronos model knows of a time, in the order of the reference.
enum class Stamp : std::uint8_t {
    minute,
    hour,
    weekday,  ///< Monday is 0.
    day,      ///< 1 to 31.
    month,    ///< 1 to 12.
};

inline constexpr Index stamp_count = 5;
/// Rows of the embedding of each; the first row of days and months is nobody's.
inline constexpr std::array<Index, 5> stamp_values{60, 24, 7, 32, 13};

/// The stamps of a time: seconds of wall time since the beginning of 1970, without a time zone.
constexpr std::array<float, 5> stamps_of(std::int64_t seconds) {
    using namespace std::chrono;
    const sys_seconds time{std::chrono::seconds(seconds)};
    const sys_days date = floor<days>(time);
    const year_month_day calendar(date);
    const hh_mm_ss clock(time - date);
    return {static_cast<float>(clock.minutes().count()), static_cast<float>(clock.hours().count()),
            static_cast<float>(weekday(date).iso_encoding() - 1), static_cast<float>(unsigned{calendar.day()}),
            static_cast<float>(unsigned{calendar.month()})};
}

}  // namespace totograph::kronos
