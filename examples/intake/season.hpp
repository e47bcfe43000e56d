// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <totograph/io/time/timestamp.hpp>

#include "../common/format.hpp"
#include "timeline.hpp"

namespace examples {

/// Steps in the season that timestamps suggest: a year of months or of their halves, a week of days or workdays, a day
/// of anything down to a minute; 1 (no season) otherwise.
inline std::int64_t season_of(const Timeline& timeline) {
    using totograph::io::nanoseconds_per_second;
    constexpr std::int64_t day = totograph::io::seconds_per_day * nanoseconds_per_second;
    if (timeline.kind() == Timeline::Kind::months) {
        return 12 % timeline.step() == 0 ? 12 / timeline.step() : 1;
    }
    if (timeline.are_half_months()) {
        return 24;
    }
    std::int64_t step = 0;
    if (timeline.kind() == Timeline::Kind::instants) {
        step = timeline.step();
    } else if (timeline.kind() == Timeline::Kind::numbers && timeline.epoch_unit() > 0) {
        step = timeline.step() * timeline.epoch_unit();
    }
    if (step == day) {
        return timeline.are_workdays() ? 5 : 7;
    }
    return step >= 60 * nanoseconds_per_second && step < day && day % step == 0 ? day / step : 1;
}

/// What the seasonal naive forecast says, for a sentence.
inline std::string naive_words(std::int64_t season) {
    return season == 1 ? "the last value" : "the value " + plural(season, "step") + " before";
}

}  // namespace examples
