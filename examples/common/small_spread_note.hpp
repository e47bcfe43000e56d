// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "below_range_note.hpp"
#include "names_where.hpp"

namespace examples {

/// The standard deviation of the values that are there; 0 without any.
inline double deviation_of(std::span<const double> values) {
    double count = 0;
    double mean = 0;
    double squares = 0;
    for (const double value : values) {
        if (std::isfinite(value)) {
            ++count;
            const double from_mean = value - mean;
            mean += from_mean / count;
            squares += from_mean * (value - mean);
        }
    }
    return count == 0 ? 0 : std::sqrt(squares / count);
}

/// What to know of series that vary by too little for Toto 1.0, which adds 0.1 to the variance of what it sees
/// (`toto1::minimum_causal_scale`), as its reference does; empty where there is nothing to say.
/// @param columns       values of each name
/// @param model_levels  of the quantiles that a model forecasts: of Toto 1.0, which samples, there are none
inline std::string small_spread_note(const std::vector<std::string>& names,
                                     std::span<const std::vector<double>> columns,
                                     std::span<const double> model_levels) {
    if (!model_levels.empty()) {
        return "";
    }
    const std::string small = names_where(names, [&](std::size_t at) {
        const double deviation = deviation_of(columns[at]);
        return deviation > 0 && deviation < 0.1 && !is_below_range(columns[at]);  // which has a note of its own
    });
    return small.empty()
               ? ""
               : "The values of " + small +
                     " have a standard deviation below 0.1, to which Toto 1.0 is blind: forecasts are poor, "
                     "and bands far too wide. Multiply the values, by 1,000 or more, or forecast them by Toto "
                     "2.0.";
}

}  // namespace examples
