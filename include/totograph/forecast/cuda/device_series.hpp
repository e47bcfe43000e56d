// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/series.hpp>

namespace totograph::cuda {

/// A series whose values lie where a device reads them: in its memory, or in managed or page-locked memory. They are
/// read when the stream of the forecast has come to them, and never by the host. What it cannot check is told with the
/// result (`DeviceForecast::not_finite`).
struct DeviceSeries {
    /// Its sizes, and what the host has of it: gaps, groups, a known future. No `values`; rows of gaps are those that
    /// `Series::stride` and `offset` say.
    Series series;
    const float* values = nullptr;   ///< `[batch, variates, steps]`.
    std::array<Index, 3> strides{};  ///< Elements from one to the next on each of these axes. All 0: row-major.
    bool nan_is_gap = false;         ///< Whether NaN is a step that was not observed; else it counts as one that was.

    /// The strides, those of row-major order included.
    [[nodiscard]] constexpr std::array<Index, 3> element_strides() const {
        return strides == std::array<Index, 3>{} ? std::array<Index, 3>{series.variates * series.steps, series.steps, 1}
                                                 : strides;
    }
};

}  // namespace totograph::cuda
