// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include <totograph/core/bucket.hpp>
#include <totograph/core/shape.hpp>

namespace totograph::cuda {

/// A result that stays on the device: `[batch, variates, horizon, samples]` with the sizes of the whole bucket, without
/// the last axis for a forecast of the mean. What was asked for comes first along each axis; of a smaller request, what
/// lies beyond it means nothing.
struct DeviceForecast {
    const float* values = nullptr;
    Bucket bucket;   ///< The sizes of the axes.
    Bucket request;  ///< The part of them that was asked for.
    /// How many values of that part are 0 in place of what was no finite number (`Forecast::not_finite`): one number,
    /// in page-locked memory that the host and the device can read. It is there with the values.
    const std::uint32_t* not_finite = nullptr;

    /// Where an element lies, in elements; `sample` is 0 for a forecast of the mean.
    [[nodiscard]] constexpr Index offset(Index series, Index variate, Index step, Index sample = 0) const {
        return ((series * bucket.variates + variate) * bucket.horizon + step) * std::max<Index>(1, bucket.samples) +
               sample;
    }
};

}  // namespace totograph::cuda
