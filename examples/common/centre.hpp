// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace examples {

/// What to take off the values of a series before they become floats: the mean of those that are there, so that a
/// counter near 1e9 keeps steps of 1, which float has no digits for. 0 without values, and where the differences
/// would not be floats. Forecasts move along: adding the level to them undoes it.
inline double level_of(std::span<const double> values) {
    double mean = 0;
    double count = 0;
    double low = 0;
    double high = 0;
    for (const double value : values) {
        if (std::isnan(value)) {
            continue;
        }
        low = count == 0 ? value : std::min(low, value);
        high = count == 0 ? value : std::max(high, value);
        ++count;
        mean += (value - mean) / count;
    }
    return high - low < static_cast<double>(std::numeric_limits<float>::max()) ? mean : 0;
}

/// Adds values to a series as the library takes it: those above the level, 0 at gaps (NaN), and whether each was
/// observed. Returns whether any was.
inline bool append_centred(std::span<const double> values, double level, std::vector<float>& centred,
                           std::vector<std::uint8_t>& observed) {
    bool any = false;
    for (const double value : values) {
        const bool is_there = !std::isnan(value);
        centred.push_back(is_there ? static_cast<float>(value - level) : 0.0F);
        observed.push_back(is_there ? 1 : 0);
        any = any || is_there;
    }
    return any;
}

}  // namespace examples
