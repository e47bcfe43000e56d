// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

#include <doctest/doctest.h>

// How far results are from those expected.

namespace fixture {

using Values = std::span<const float>;

/// How far results may be from the reference. Each is relative to the largest expected magnitude: of the tensor, or of
/// the value's own row, the last axis. Variates differ in scale, so a tensor alone would hide errors of small ones.
///
/// f32 against f32: both sides round at every operation, in another order, so a few hundred roundings of 6e-8 add up as
/// a random walk does. The reference itself, run on two machines, differs by up to 5e-7 of a tensor and by 3e-6 of a
/// row: the `loc` of a head's components can nearly cancel. The bounds are three times that.
struct Bounds {
    double tensor = 1e-5;
    double row = 1e-5;
    double row_of_head_locations = 1e-5;
};

/// The largest difference, relative to the largest finite magnitude of what is expected. Infinity where there is
/// nothing to compare, for other sizes, and where one side alone is NaN.
inline double relative_error(Values found, Values expected) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (found.size() != expected.size() || expected.empty()) {
        return infinity;
    }
    double largest = 0;
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto value = static_cast<double>(expected[i]);
        largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
        if (std::isnan(found[i]) != std::isnan(expected[i])) {
            return infinity;
        }
        if (found[i] != expected[i] && !std::isnan(expected[i])) {  // equal infinities are equal
            worst = std::max(worst, std::abs(static_cast<double>(found[i]) - value));
        }
    }
    return worst == 0 ? 0 : worst / largest;
}

/// The largest of the rows' relative errors; a row is `width` values. Infinity where no rows can be compared.
inline double row_error(Values found, Values expected, std::size_t width) {
    if (found.size() != expected.size() || expected.empty() || width == 0 || expected.size() % width != 0) {
        return std::numeric_limits<double>::infinity();
    }
    double worst = 0;
    for (std::size_t first = 0; first < expected.size(); first += width) {
        worst = std::max(worst, relative_error(found.subspan(first, width), expected.subspan(first, width)));
    }
    return worst;
}

/// How far forecasts are from those expected, measured on what they say beyond their level, a row of `width` values for
/// each level: the difference, relative to the row's largest distance from its level. One step of f32 at the level is
/// no difference: a forecast is the level and a signal, added and rounded to f32.
inline double signal_error(Values found, Values expected, Values levels, std::size_t width) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (found.size() != expected.size() || levels.empty() || width == 0 || expected.size() != levels.size() * width) {
        return infinity;
    }
    double worst = 0;
    for (std::size_t row = 0; row < levels.size(); ++row) {
        const float level = std::abs(levels[row]);
        const double step = static_cast<double>(std::nextafter(level, INFINITY)) - static_cast<double>(level);
        double signal = 0;
        double difference = 0;
        for (std::size_t i = row * width; i < (row + 1) * width; ++i) {
            const auto value = static_cast<double>(expected[i]);
            const double distance = std::abs(static_cast<double>(found[i]) - value);
            signal = std::max(signal, std::abs(value - static_cast<double>(levels[row])));
            difference = std::isnan(distance) ? infinity : std::max(difference, distance);
        }
        if (difference > step) {
            worst = std::max(worst, (difference - step) / signal);
        }
    }
    return worst;
}

/// Fails unless an error is within a bound.
inline void check_error(const std::string& what, double error, double bound) {
    CHECK_MESSAGE(error <= bound, what << ": relative error " << error << ", bound " << bound);
}

inline void check_close(const std::string& what, Values found, Values expected, double bound) {
    check_error(what, relative_error(found, expected), bound);
}

/// Compares the whole and each row of `width` values.
inline void check_rows(const std::string& what, Values found, Values expected, std::size_t width, double tensor_bound,
                       double row_bound) {
    check_close(what, found, expected, tensor_bound);
    check_error(what + ", by rows of " + std::to_string(width), row_error(found, expected, width), row_bound);
}

}  // namespace fixture
