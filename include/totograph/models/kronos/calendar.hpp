// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

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

/// Whether a time is in one of the years 0 to 9999, which have stamps.
constexpr bool has_stamps(std::int64_t seconds) {
    return seconds >= -62167219200 && seconds < 253402300800;
}

/// The stamps of times: seconds of wall time since the beginning of 1970, without a time zone. Those of a date, which
/// take longest, are kept for the times that follow.
class StampsOfTimes {
public:
    constexpr std::array<float, 5> operator()(std::int64_t seconds) {
        if (seconds < midnight_ || seconds >= midnight_ + seconds_of_day) {
            find_date(seconds);
        }
        const auto second = static_cast<std::int32_t>(seconds - midnight_);
        const std::int32_t hour = second / 3600;
        const std::int32_t minute = second / 60 % 60;
        stamps_[static_cast<std::size_t>(Stamp::minute)] = static_cast<float>(minute);
        stamps_[static_cast<std::size_t>(Stamp::hour)] = static_cast<float>(hour);
        return stamps_;
    }

private:
    static constexpr std::int64_t seconds_of_day = 86400;

    constexpr void find_date(std::int64_t seconds) {
        using namespace std::chrono;
        const sys_days date = floor<days>(sys_seconds{std::chrono::seconds(seconds)});
        const year_month_day calendar(date);
        midnight_ = sys_seconds(date).time_since_epoch().count();
        stamps_[static_cast<std::size_t>(Stamp::weekday)] = static_cast<float>(weekday(date).iso_encoding() - 1);
        stamps_[static_cast<std::size_t>(Stamp::day)] = static_cast<float>(unsigned{calendar.day()});
        stamps_[static_cast<std::size_t>(Stamp::month)] = static_cast<float>(unsigned{calendar.month()});
    }

    std::int64_t midnight_ = std::numeric_limits<std::int64_t>::max() - seconds_of_day;  ///< Of no time.
    std::array<float, 5> stamps_{};
};

/// The stamps of one time.
constexpr std::array<float, 5> stamps_of(std::int64_t seconds) {
    return StampsOfTimes()(seconds);
}

}  // namespace totograph::kronos
