// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "names_where.hpp"

namespace examples {

/// Whether a column has values other than 0, and all of these are too small for a 32-bit float with all its digits.
inline bool is_below_range(std::span<const double> values) {
    double largest = 0;
    for (const double value : values) {
        largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
    }
    return largest > 0 && largest < double{std::numeric_limits<float>::min()};
}

/// What to know of series whose values the f32 of a model cannot hold; empty where there is nothing to say.
/// @param columns  values of each name
inline std::string below_range_note(const std::vector<std::string>& names,
                                    std::span<const std::vector<double>> columns) {
    const std::string below = names_where(names, [&](std::size_t at) { return is_below_range(columns[at]); });
    return below.empty()
               ? ""
               : "The values of " + below +
                     " are below 1.2e-38, where 32-bit floats, which models read, lose digits and then become "
                     "0: forecasts are poor. Multiply the values by a power of ten.";
}

}  // namespace examples
