// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include <doctest/doctest.h>

namespace totograph::test {

/// Checks rows of `width` values: each within 6e-5, or 1e-5 of the largest value of its row. The reference's own f32 is
/// up to 1.4e-5 from its f64 for logits up to 10.
inline void check_rows(const std::string& what, std::span<const float> found, std::span<const float> expected,
                       std::size_t width) {
    REQUIRE_MESSAGE(found.size() == expected.size(), what);
    double worst = 0;
    for (std::size_t first = 0; first < found.size(); first += width) {
        double largest = 0;
        double error = 0;
        for (std::size_t i = first; i < first + width; ++i) {
            largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
            const double distance = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
            error = std::isnan(distance) ? INFINITY : std::max(error, distance);
        }
        worst = std::max(worst, error / std::max(6e-5, 1e-5 * largest));
    }
    CHECK_MESSAGE(worst <= 1, what << ": " << worst << " times the bound");
}

}  // namespace totograph::test
