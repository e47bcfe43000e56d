// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include <totograph/core/host_device.hpp>
#include <totograph/core/shape.hpp>

namespace totograph {

/// What becomes of values that are not observed.
enum class Imputation : std::uint8_t {
    forward_fill,  ///< The newest observed value before it; 0 where there is none.
    linear,        ///< Between the observed values around it; as `forward_fill` behind the last one.
    as_given,      ///< What the caller left there, 0 for NaN and infinities.
};

/// A part of the way from one value to another, in double. Rounded once, whatever a compiler fuses: on the host and on
/// a device it is the same to the bit.
TOTOGRAPH_HOST_DEVICE inline float between_two(float from, float to, double part) noexcept {
    return static_cast<float>(
        std::fma(part, static_cast<double>(to) - static_cast<double>(from), static_cast<double>(from)));
}

/// Gives values to the steps of a row that are not observed (`observed` is 0 there).
template <class Flag>
void impute(float* values, const Flag* observed, Index steps, Imputation how) noexcept {
    if (how == Imputation::as_given) {
        return;
    }
    Index newest = -1;  // observed before `step`
    for (Index step = 0; step < steps; ++step) {
        if (observed[step] == 0) {
            values[step] = newest < 0 ? 0.0F : values[newest];
            continue;
        }
        const auto gap = static_cast<double>(step - newest);
        for (Index between = newest + 1; how == Imputation::linear && newest >= 0 && between < step; ++between) {
            const double part = static_cast<double>(between - newest) / gap;
            values[between] = between_two(values[newest], values[step], part);
        }
        newest = step;
    }
}

}  // namespace totograph
