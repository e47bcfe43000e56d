// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/grid/measure_grid.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/grid/device_calls.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

namespace detail {

/// The cheapest bucket of a backend that holds a request.
inline Bucket grid_bucket(const Backend& backend, const Bucket& sizes) {
    const std::vector<Bucket> buckets = backend.buckets();
    const auto held = std::find_if(buckets.begin(), buckets.end(), [&](const Bucket& one) { return one.holds(sizes); });
    if (held == buckets.end()) {
        throw Error(ErrorCode::no_bucket, "The backend " + io::in_quotes(backend.name()) +
                                              " was not compiled for requests of " + to_string(sizes) +
                                              "; the largest are " + to_string(buckets.back()) + ". Ask for less.");
    }
    return *held;
}

/// A value of another result in the place of `value`, see `GridWords::tolerance`.
inline bool is_same(float value, float other, double tolerance) {
    const double distance = std::abs(static_cast<double>(value) - static_cast<double>(other));
    return distance <= tolerance * std::max(std::abs(static_cast<double>(value)), std::abs(static_cast<double>(other)));
}

}  // namespace detail

TOTOGRAPH_INLINE GridAgreement compare_grid_values(std::span<const float> first, std::span<const float> values,
                                                   const Bucket& sizes, const GridWords& words) {
    const Index samples = std::max(Index{1}, sizes.samples);
    const auto is_compared = [&](std::size_t i) {  // [batch, variates, horizon, samples]
        const Index variate = static_cast<Index>(i) / (samples * sizes.horizon) % sizes.variates;
        return words.variates == 0 || variate < words.variates;
    };
    GridAgreement result;
    std::set<std::uint32_t> distinct;  // by their bits: a NaN has no place among numbers
    for (std::size_t i = 0; i < std::max(first.size(), values.size()); ++i) {
        if (!is_compared(i)) {
            continue;
        }
        ++result.values;
        if (i >= values.size()) {
            continue;
        }
        distinct.insert(std::bit_cast<std::uint32_t>(values[i]));
        result.not_valid += std::isfinite(values[i]) && values[i] >= words.least ? 0 : 1;
        if (i < first.size() && detail::is_same(first[i], values[i], words.tolerance)) {
            ++result.equal;
            continue;
        }
        const Index step = static_cast<Index>(i) / samples % sizes.horizon;
        result.other_step = std::min(result.other_step.value_or(step), step);
    }
    result.distinct = static_cast<Index>(distinct.size());
    return result;
}

namespace detail {

/// One column of a row while it is measured.
class GridMeasurement {
public:
    GridMeasurement(const GridColumn& column, const Bucket& sizes, const GridOptions& options)
        : column_(&column), options_(&options), sizes_(sizes), bucket_(grid_bucket(*column.backend, sizes)) {
        run_.backend = std::string(column.backend->name());
        run_.device = column.backend->runs_on(options.resources);
        run_.precision = std::string(column.backend->precision());
        run_.mode = column.mode;
    }

    /// Makes the forecaster, or another one in its place; weights that it shares stay.
    void build() {
        const bool is_first = forecaster_ == nullptr;
        const auto begin = options_->probes.clock();
        auto made = column_->backend->make(bucket_, column_->mode, options_->resources);
        const double seconds = seconds_since(begin);
        forecaster_ = std::move(made);
        if (is_first) {
            run_.first_build_seconds = seconds;
        } else {
            run_.build.add(seconds);
        }
    }

    /// The first calls, which are compared with nothing.
    void begin(const Series& series) {
        run_.plan = column_->backend->explain(bucket_, column_->mode);
        run_.held_bytes = forecaster_->memory_bytes();
        run_.captures = forecaster_->captures();
        run_.first_seconds = call(series, sizes_.horizon);
        (void)call(series, 1);
    }

    /// A call of all steps and one of the first alone, timed.
    void round(const Series& series) {
        const DeviceCalls device_before = options_->device_calls ? options_->device_calls() : DeviceCalls{};
        const std::uint64_t before = counted(options_->allocations);
        run_.call.add(call(series, sizes_.horizon));
        const std::uint64_t after_all = counted(options_->allocations);
        if (options_->device_calls) {
            add_device_calls(device_before, options_->device_calls());
        }
        run_.replays = run_.call.count() == 1 ? forecaster_->replays() : worse(run_.replays, forecaster_->replays());
        const auto bytes = std::span(values_).size_bytes();
        repeats_ = repeats_ && (last_.empty() || (last_.size() == values_.size() &&
                                                  std::memcmp(last_.data(), values_.data(), bytes) == 0));
        last_ = values_;
        if (sizes_.horizon > 1) {
            const std::uint64_t before_one = counted(options_->allocations);
            run_.one_step.add(call(series, 1));
            const std::uint64_t of_one = counted(options_->allocations) - before_one;
            if (options_->allocations) {
                const Index further = static_cast<Index>(after_all - before) - static_cast<Index>(of_one);
                run_.allocations = std::max(run_.allocations.value_or(further), further);
            }
        }
    }

    /// What came of it, beside the values of the row's first column.
    GridRun finish(std::span<const float> first) {
        run_.captured_later = std::max(run_.captured_later, forecaster_->captures() - run_.captures);
        run_.agreement = compare_grid_values(first, last_, sizes_, options_->words);
        run_.agreement.repeats = repeats_;
        run_.agreement.is_required = column_->same_arithmetic;
        return std::move(run_);
    }

    /// Of the last call of all steps.
    [[nodiscard]] std::span<const float> values() const { return last_; }

private:
    [[nodiscard]] double seconds_since(std::chrono::nanoseconds begin) const {
        return std::chrono::duration<double>(options_->probes.clock() - begin).count();
    }
    /// Of two numbers of replays the one further from the plan.
    [[nodiscard]] Index worse(Index one, Index other) const {
        return run_.from_plan(other) > run_.from_plan(one) ? other : one;
    }
    /// What a call asked of the device.
    void add_device_calls(const DeviceCalls& before, const DeviceCalls& after) {
        const auto waits = static_cast<Index>(after.waits - before.waits);
        const auto replays = static_cast<Index>(after.graph_launches - before.graph_launches);
        run_.waits = std::max(run_.waits.value_or(waits), waits);
        run_.counted_replays = worse(run_.counted_replays.value_or(replays), replays);
    }
    static std::uint64_t counted(const std::function<std::uint64_t()>& counter) { return counter ? counter() : 0; }

    /// A call, in seconds. Whatever it captures is too much, be it the first one.
    double call(const Series& series, Index steps) {
        const std::uint64_t captures = options_->device_calls ? options_->device_calls().captures : 0;
        const double seconds = timed_call(series, steps);
        if (options_->device_calls) {
            run_.captured_later += static_cast<Index>(options_->device_calls().captures - captures);
        }
        return seconds;
    }
    double timed_call(const Series& series, Index steps) {
        const auto begin = options_->probes.clock();
        const Forecast forecast =
            forecaster_->forecast(series, {.seed = 1, .horizon = steps, .samples = sizes_.samples});
        const double seconds = seconds_since(begin);
        if (steps == sizes_.horizon) {
            values_.resize(forecast.values().size());  // allocates once: the size stays
            std::copy(forecast.values().begin(), forecast.values().end(), values_.begin());
        }
        return seconds;
    }

    const GridColumn* column_;
    const GridOptions* options_;
    Bucket sizes_;
    Bucket bucket_;
    std::unique_ptr<BucketForecaster> forecaster_;
    GridRun run_;
    std::vector<float> values_;
    std::vector<float> last_;
    bool repeats_ = true;
};

inline GridRow measure_grid_row(std::span<const GridColumn> columns, const Bucket& sizes, const MakeGridRequest& make,
                                const GridOptions& options) {
    const GridRequest request = make(sizes);
    std::vector<GridMeasurement> measured;
    measured.reserve(columns.size());
    for (const GridColumn& column : columns) {
        measured.emplace_back(column, sizes, options);
    }
    for (int build = 0; build <= options.rounds; ++build) {
        for (GridMeasurement& one : measured) {
            one.build();
        }
    }
    for (GridMeasurement& one : measured) {
        one.begin(request.series);
    }
    for (int round = 0; round < options.rounds; ++round) {
        for (GridMeasurement& one : measured) {
            one.round(request.series);
        }
    }
    GridRow row{sizes, {}};
    const std::vector<float> first(measured.front().values().begin(), measured.front().values().end());
    for (GridMeasurement& one : measured) {
        row.runs.push_back(one.finish(first));
    }
    return row;
}

}  // namespace detail

TOTOGRAPH_INLINE std::vector<Bucket> plan_grid(const Bucket& one, std::span<const Index> contexts,
                                               std::span<const Index> batches) {
    std::vector<Bucket> plan;
    for (const Index context : contexts) {
        for (const Index batch : batches) {
            plan.push_back(one);
            plan.back().context = context;
            plan.back().batch = batch;
        }
    }
    return plan;
}

TOTOGRAPH_INLINE std::vector<GridRow> measure_grid(std::span<const GridColumn> columns, std::span<const Bucket> sizes,
                                                   const MakeGridRequest& make, const GridOptions& options) {
    if (columns.empty() || sizes.empty() || options.rounds < 1) {
        throw std::invalid_argument("A grid needs at least one column, one size and one round, but has " +
                                    std::to_string(columns.size()) + " columns, " + std::to_string(sizes.size()) +
                                    " sizes and " + std::to_string(options.rounds) + " rounds. Name what to measure.");
    }
    for (const Bucket& each : sizes) {  // before anything is built
        for (const GridColumn& column : columns) {
            (void)detail::grid_bucket(*column.backend, each);
        }
    }
    std::vector<GridRow> rows;
    for (const Bucket& each : sizes) {
        rows.push_back(detail::measure_grid_row(columns, each, make, options));
        if (options.progress) {
            options.progress(rows.size(), sizes.size());
        }
    }
    return rows;
}

}  // namespace totograph::serve
