// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/cuda/device_series.hpp>
#include <totograph/forecast/imputation.hpp>
#include <totograph/forecast/sizes.hpp>

namespace totograph::cuda {

/// What writes a series of the device's memory to the inputs of a bucket, as `InputStates::fill` writes one of the
/// host's: patches in front, the newest step at the end of the last one, then padding.
struct SeriesGather {
    const float* values = nullptr;  ///< Of the oldest step that is used.
    std::array<Index, 3> strides{};
    Index batch = 0;
    Index variates = 0;
    Index steps = 0;
    bool nan_is_gap = false;
    bool has_marks = false;  ///< Whether `observed` holds which steps are; else all are, but for gaps that are NaN.
    Imputation imputation = Imputation::as_given;

    // Of the bucket.
    float* series = nullptr;              ///< `[bucket_batch, bucket_variates, capacity]`.
    float* observed = nullptr;            ///< The same, 1 where a step is; null where the programs do not read it.
    std::uint32_t* not_finite = nullptr;  ///< Grows by each observed value that is no finite number, and each variate
                                          ///< without any observation.
    Index bucket_batch = 0;
    Index bucket_variates = 0;
    Index capacity = 0;
    Index padding = 0;  ///< Steps of the first patch before the oldest one.

    /// Of a series that was checked and fits. Throws `Error` (`invalid_argument`) for values that lie where the device
    /// that is current does not read them.
    SeriesGather(const DeviceSeries& given, Index used_steps, const ForecastSizes& sizes, Imputation how);

    /// Puts it onto a stream. Throws `Error` when the launch is refused.
    void launch(cudaStream_t stream) const;
};

}  // namespace totograph::cuda

#ifndef TOTOGRAPH_SEPARATE_CUDA_COMPILATION
#include <totograph/forecast/cuda/impl/gather_series.hpp>
#endif
