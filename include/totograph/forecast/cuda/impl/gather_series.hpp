// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/cuda/gather_series.hpp>

#include <cstdint>
#include <string>

#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/forecast/cuda/device_series.hpp>
#include <totograph/forecast/imputation.hpp>
#include <totograph/forecast/sizes.hpp>

namespace totograph::cuda {

/// `impute` of a row, by a block: each thread has neighbouring steps, and asks the others for what lies around them.
template <class Unused = void>
__device__ void impute_row(float* values, const float* observed, Index steps, Imputation how) {
    __shared__ std::int32_t newest_of[block_threads];
    __shared__ std::int32_t oldest_of[block_threads];
    const auto thread = static_cast<int>(threadIdx.x);
    const auto each = static_cast<std::int32_t>(divide_rounding_up(steps, block_threads));
    const std::int32_t begin = static_cast<std::int32_t>(thread) * each;
    const std::int32_t end = begin + each < steps ? begin + each : static_cast<std::int32_t>(steps);
    const auto none = static_cast<std::int32_t>(steps);
    std::int32_t newest = -1;
    std::int32_t oldest = none;
    for (std::int32_t step = begin; step < end; ++step) {
        if (observed[step] != 0) {
            newest = step;
            oldest = oldest == none ? step : oldest;
        }
    }
    newest_of[thread] = newest;
    oldest_of[thread] = oldest;
    __syncthreads();
    newest = -1;
    for (int before = thread - 1; before >= 0 && newest < 0; --before) {
        newest = newest_of[before];
    }
    oldest = none;
    for (int behind = thread + 1; behind < block_threads && oldest == none; ++behind) {
        oldest = oldest_of[behind];
    }
    for (std::int32_t step = begin; step < end; ++step) {
        if (observed[step] != 0) {
            newest = step;
            continue;
        }
        std::int32_t next = none;
        if (how == Imputation::linear && newest >= 0) {
            next = step + 1;
            for (; next < end && observed[next] == 0; ++next) {
            }
            next = next < end ? next : oldest;
        }
        if (next != none) {
            const double part = static_cast<double>(step - newest) / static_cast<double>(next - newest);
            values[step] = between_two(values[newest], values[next], part);
        } else {
            values[step] = newest < 0 ? 0.0F : values[newest];
        }
    }
}

/// A block has a variate of a series.
template <class Unused = void>
__global__ void __launch_bounds__(block_threads) gather_series_kernel(const __grid_constant__ SeriesGather call) {
    const Index row = blockIdx.x;
    const Index batch = row / call.bucket_variates;
    const Index variate = row % call.bucket_variates;
    const bool is_given = batch < call.batch && variate < call.variates;
    const float* const from = call.values + batch * call.strides[0] + variate * call.strides[1];
    float* const values = call.series + row * call.capacity;
    float* const marks = call.observed == nullptr ? nullptr : call.observed + row * call.capacity;
    std::uint32_t unusable = 0;
    bool any = false;
    bool has_gaps = false;
    for (Index place = threadIdx.x; place < call.capacity; place += block_threads) {
        const Index step = place - call.padding;
        float value = 0;
        bool is_observed = false;
        if (is_given && step >= 0 && step < call.steps) {
            value = from[step * call.strides[2]];
            is_observed = (!call.has_marks || marks[place] != 0) && !(call.nan_is_gap && isnan(value));
            unusable += is_observed && !isfinite(value) ? 1U : 0U;
            value = is_observed || isfinite(value) ? value : 0.0F;  // an observed NaN makes a forecast of NaN
            any = any || is_observed;
            has_gaps = has_gaps || !is_observed;
        }
        values[place] = value;
        if (marks != nullptr) {
            marks[place] = is_observed ? 1.0F : 0.0F;
        }
    }
    if (is_given && !__syncthreads_or(any) && threadIdx.x == 0) {
        ++unusable;
    }
    unusable = __reduce_add_sync(0xffffffffU, unusable);
    if (unusable > 0 && threadIdx.x % warp_size == 0) {
        atomicAdd(call.not_finite, unusable);
    }
    if (__syncthreads_or(has_gaps) && marks != nullptr && call.imputation != Imputation::as_given) {
        impute_row(values, marks, call.padding + call.steps, call.imputation);
    }
}

/// Where the device that is current finds values. A kernel that read elsewhere would leave the process without it.
inline const float* address_on_current_device(const DeviceSeries& given) {
    constexpr const char* what = "forecast_on: the values of a series on a device ";
    if (given.values == nullptr || !given.series.values.empty()) {
        throw Error(ErrorCode::invalid_argument,
                    std::string(what) + "lie there, and none on the host; set DeviceSeries::values alone.");
    }
    if (reinterpret_cast<std::uintptr_t>(given.values) % alignof(float) != 0) {
        throw Error(ErrorCode::invalid_argument, std::string(what) + "begin between two floats; copy them.");
    }
    int device = 0;
    cudaPointerAttributes found{};
    check(cudaGetDevice(&device), "asking for the device in use");
    check(cudaPointerGetAttributes(&found, given.values), "asking where a series lies");
    if (found.type == cudaMemoryTypeDevice && found.device != device) {
        throw Error(ErrorCode::invalid_argument, std::string(what) + "lie on the device " +
                                                     std::to_string(found.device) + ", and the forecast runs on " +
                                                     std::to_string(device) +
                                                     "; copy them there, or make a forecaster on theirs.");
    }
    if (found.devicePointer == nullptr) {
        throw Error(ErrorCode::invalid_argument,
                    std::string(what) +
                        "lie in memory that it does not read; pass the address that cudaMalloc, "
                        "cudaMallocManaged or cudaMallocHost gave, or give them as a series of the "
                        "host's.");
    }
    return static_cast<const float*>(found.devicePointer);
}

TOTOGRAPH_CUDA_INLINE SeriesGather::SeriesGather(const DeviceSeries& given, Index used_steps,
                                                 const ForecastSizes& sizes, Imputation how)
    : strides(given.element_strides()),
      batch(given.series.batch),
      variates(given.series.variates),
      steps(used_steps),
      nan_is_gap(given.nan_is_gap),
      has_marks(!given.series.observed.empty()),
      imputation(how),
      bucket_batch(sizes.batch),
      bucket_variates(sizes.variates),
      capacity(sizes.context_steps()),
      padding(round_up(used_steps, sizes.patch_size) - used_steps) {
    values = address_on_current_device(given) + (given.series.steps - used_steps) * strides[2];
}

TOTOGRAPH_CUDA_INLINE void SeriesGather::launch(cudaStream_t stream) const {
    gather_series_kernel<><<<static_cast<unsigned>(bucket_batch * bucket_variates), block_threads, 0, stream>>>(*this);
    check(cudaGetLastError(), "launching a kernel");
}

}  // namespace totograph::cuda
