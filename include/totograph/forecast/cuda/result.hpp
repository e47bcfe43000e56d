// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <cuda_runtime.h>

#include <totograph/core/not_finite.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/collect.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/copy_few.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cuda/device_forecast.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecast_plan.hpp>

namespace totograph::cuda {

/// The result of a forecaster on the device, its copy on the host, and the count of its values that are no finite
/// numbers.
class ForecastResult {
public:
    /// Room for a request that fills the bucket.
    explicit ForecastResult(const ForecastPlan& plan)
        : on_device_(plan.result_size() * sizeof(float)),
          on_host_(plan.result_size() * sizeof(float)),
          written_(written_bytes(plan)),
          not_finite_(sizeof(std::uint32_t)) {}

    /// Page-locked memory of the host that one takes.
    static constexpr std::size_t pinned_bytes(const ForecastPlan& plan) {
        return plan.result_size() * sizeof(float) + written_bytes(plan) + sizeof(std::uint32_t);
    }

    /// Before a forecast, when nothing runs that writes to it.
    void reset() const noexcept { *not_finite() = 0; }

    /// Launches what writes the result: from the state `forecast` to `[batch, variates, horizon, values]` of what the
    /// state `request` asks for.
    template <Index values, Index variates, Index steps, NotFinite told>
    void collect(const ForecastPlan& plan, const std::byte* forecast, const std::byte* request,
                 cudaStream_t stream) const {
        const dim3 tiles(static_cast<unsigned>(divide_rounding_up(plan.bucket.horizon, collect_tile)),
                         static_cast<unsigned>(divide_rounding_up(values, collect_tile)),
                         static_cast<unsigned>(plan.bucket.batch * variates));
        collect_kernel<values, variates, steps, told><<<tiles, block_threads, 0, stream>>>(
            reinterpret_cast<const float*>(forecast), reinterpret_cast<float*>(on_device_.data()),
            reinterpret_cast<float*>(written_.data()), reinterpret_cast<const std::int32_t*>(request), not_finite());
        check(cudaGetLastError(), "launching a kernel");
    }

    /// The result of a request where it lies on the device.
    [[nodiscard]] DeviceForecast on_device(const ForecastPlan& plan, const Bucket& request) const noexcept {
        return {reinterpret_cast<const float*>(on_device_.data()), request, plan.values(request.samples), not_finite()};
    }

    /// Puts the copy of a request's result to the host onto a stream, unless a kernel has written it there.
    void copy_to_host(const ForecastPlan& plan, const Bucket& request, cudaStream_t stream) const {
        if (written_.size() > 0) {
            return;
        }
        const std::size_t floats = on_device(plan, request).size();
        if (floats * sizeof(float) <= result_bytes_by_kernel) {
            copy_result(on_host_.data(), on_device_.data(), floats, stream);
            return;
        }
        check(
            cudaMemcpyAsync(on_host_.data(), on_device_.data(), floats * sizeof(float), cudaMemcpyDeviceToHost, stream),
            "copying the result");
    }

    /// The result on the host, when all that the stream had has ended. Forecasts whose results stay on the device leave
    /// it as it is, so what kernels have written is copied.
    [[nodiscard]] Forecast on_host(const ForecastPlan& plan, const Bucket& request) const noexcept {
        const std::span<const float> values(reinterpret_cast<const float*>(on_host_.data()),
                                            on_device(plan, request).size());
        if (written_.size() > 0) {
            std::memcpy(on_host_.data(), written_.data(), values.size_bytes());
        }
        return {values,          request.batch,   request.variates,
                request.horizon, request.samples, static_cast<Index>(*not_finite()),
                plan.levels};
    }

    /// The count of values that are no finite numbers, which kernels add to.
    [[nodiscard]] std::uint32_t* not_finite() const noexcept {
        return reinterpret_cast<std::uint32_t*>(not_finite_.data());
    }

private:
    /// Of a result that kernels write to the host as well as to the device; 0 for one that is copied.
    static constexpr std::size_t written_bytes(const ForecastPlan& plan) {
        const std::size_t bytes = plan.result_size() * sizeof(float);
        return bytes <= few_bytes ? bytes : 0;
    }

    DeviceMemory on_device_;
    PinnedMemory on_host_;
    PinnedMemory written_;     ///< By each forecast, wherever its result is wanted; empty where none is.
    PinnedMemory not_finite_;  ///< A number.
};

}  // namespace totograph::cuda
