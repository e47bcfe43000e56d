// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <totograph/exec/cpu/thread_pools.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/background_build.hpp>
#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/served_backend.hpp>
#include <totograph/serve/warm_up_report.hpp>

namespace totograph::serve::detail {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Makes what serves buckets in their modes, tries it out, and counts both.
class Builder {
public:
    /// All that it makes shares the pools of threads of `resources`, which are made where there are none. `metrics`
    /// must outlive this object.
    Builder(BackendResources resources, Metrics& metrics) : resources_(std::move(resources)), metrics_(metrics) {
        if (!resources_.pools) {
            resources_.pools = std::make_shared<cpu::ThreadPools>();
        }
    }

    /// The counters of a bucket in a mode, which are there, at 0, from now on.
    ForecastCounters& counters_of(ServedBackend& served, std::size_t which, Mode mode);

    /// Makes what serves a bucket in a mode, which is not there; the seconds that it took.
    double build(ServedBackend& served, std::size_t which, Mode mode);

    /// What makes such a thing on another thread, while others forecast: with threads of its own.
    [[nodiscard]] std::function<Built()> apart(const ServedBackend& served, std::size_t which, Mode mode) const;

    /// Puts what was made into its slot, and counts it.
    void install(ServedBackend& served, std::size_t which, Mode mode, Built built);

    /// Builds a bucket in a mode where it is not there, makes so many forecasts of synthetic series, and adds a row to
    /// the report, unless it has one.
    void warm_up(ServedBackend& served, std::size_t which, Mode mode, int forecasts, WarmUpReport& report);

private:
    static Built make(const Backend& backend, const Bucket& bucket, Mode mode, const BackendResources& resources);

    BackendResources resources_;
    Metrics& metrics_;
};

}  // namespace totograph::serve::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/impl/builder.hpp>
#endif
