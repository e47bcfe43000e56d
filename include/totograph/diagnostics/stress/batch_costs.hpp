// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/tuning/backend_timer.hpp>

namespace totograph::serve {

/// What a request costs with each of several backends.
struct BatchCost {
    Bucket request;
    /// In the order of the backends; nothing where none of its buckets serves it, or a smaller batch took too long.
    std::vector<std::optional<double>> seconds{};

    /// The place of the fastest backend; nothing where none was measured.
    [[nodiscard]] std::optional<std::size_t> fastest() const;
};

/// Batches of 1, 2, 4, ... up to `largest_measured_batch` of a request, for each number of samples (0: the mean).
std::vector<Bucket> plan_batches(Bucket request, std::span<const Index> samples);

/// Measures requests with each backend. Of one number of samples, a backend that took `most_seconds` is not asked for
/// more. `progress` is told what is done; empty: nobody is. Throws `Error` for what forecasting meets.
std::vector<BatchCost> measure_batches(std::span<BackendTimer> timers, std::span<const Bucket> requests,
                                       double most_seconds,
                                       const std::function<void(std::size_t done, std::size_t all)>& progress = {});

/// From which batch on, of so many samples, another backend than the first is the fastest for good; nothing when it
/// never is.
std::optional<Index> overtaken_from(std::span<const BatchCost> costs, Index samples);

/// Costs as a Markdown table, a row for each request: time and series a second with each backend, and which to take;
/// below it, where the first backend is overtaken.
std::string batches_markdown(std::span<const BatchCost> costs, std::span<const BackendTimer> timers);

/// The same as JSON.
std::string batches_json(std::span<const BatchCost> costs, std::span<const BackendTimer> timers);

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/diagnostics/stress/impl/batch_costs.hpp>
#endif
