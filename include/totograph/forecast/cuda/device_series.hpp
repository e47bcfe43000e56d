// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/series.hpp>

namespace totograph::cuda {

/// A series whose values lie in the memory of a device. They are read when the stream of the forecast has come to them,
/// and never by the host: what it cannot check makes the forecast one that is not finite
/// (`DeviceForecast::not_finite`).
struct DeviceSeries {
    Series series;  ///< Its sizes, and what the host has of it, such as gaps, groups or a known future. No `values`.
    const float* values = nullptr;   ///< `[batch, variates, steps]`.
    std::array<Index, 3> strides{};  ///< Elements from one to the next on each of these axes. All 0: row-major.
    bool nan_is_gap = false;         ///< Whether NaN is a step that was not observed. Else it is an error.

    /// The strides, those of row-major order included.
    [[nodiscard]] constexpr std::array<Index, 3> element_strides() const {
        return strides == std::array<Index, 3>{} ? std::array<Index, 3>{series.variates * series.steps, series.steps, 1}
                                                 : strides;
    }
};

}  // namespace totograph::cuda
