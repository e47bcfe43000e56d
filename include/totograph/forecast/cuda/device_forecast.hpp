// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>

namespace totograph::cuda {

/// A result that stays on the device: `[batch, variates, horizon, values]` of what was asked for, where `values` is the
/// number of samples, or of quantile levels, or 1 for the mean.
struct DeviceForecast {
    const float* data = nullptr;
    Bucket request;    ///< The sizes of the other axes.
    Index values = 1;  ///< Of each step.
    /// How many values are no finite numbers (`Forecast::not_finite`): one number, in page-locked memory that the host
    /// and the device can read. It is there with the values. Of a `DeviceSeries`, each observed value that is no finite
    /// number, which makes values of the result NaN, and each variate without any, which is taken for one of zeros,
    /// count as well: with any of them, nothing here is worth using.
    const std::uint32_t* not_finite = nullptr;

    /// Elements of the result.
    [[nodiscard]] constexpr std::size_t size() const {
        return static_cast<std::size_t>(request.batch * request.variates * request.horizon * values);
    }
    /// Where an element lies, in elements; `value` is the number of a sample or of a level.
    [[nodiscard]] constexpr Index offset(Index series, Index variate, Index step, Index value = 0) const {
        return ((series * request.variates + variate) * request.horizon + step) * values + value;
    }
};

}  // namespace totograph::cuda
