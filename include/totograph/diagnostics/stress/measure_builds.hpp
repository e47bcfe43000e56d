// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/stress/latencies.hpp>
#include <totograph/diagnostics/stress/markdown.hpp>
#include <totograph/diagnostics/stress/probes.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/synthetic_request.hpp>

namespace totograph::serve {

/// How long one bucket takes to be built in one mode, and to forecast then.
struct BuildLatency {
    std::string backend;
    Mode mode = Mode::eager;
    Bucket bucket;
    std::string what{};  ///< What the mode does, as the backend tells.
    /// The first time. It tunes and prepares weights, unless a row before did so: compare `build` across rows.
    double first_build_seconds = 0;
    Latencies build{};         ///< Of the other times, in seconds.
    double first_seconds = 0;  ///< The first forecast of the first one built.
    Latencies later{};         ///< Forecasts after the first, of all.
    Index captures = 0;
    std::size_t bytes = 0;
    bool is_there = false;  ///< The backend has the mode for this bucket.
};

namespace detail {

/// Builds what a row names once more, makes `forecasts` forecasts after a first one, and adds to the row what both
/// took. Does nothing when the backend does not have the mode for the bucket.
inline void measure_build(const Backend& backend, BuildLatency& row, bool is_first, const BackendResources& resources,
                          const SyntheticRequest& request, int forecasts, const StressProbes& probes) {
    const auto seconds_since = [&](std::chrono::nanoseconds start) {
        return std::chrono::duration<double>(probes.clock() - start).count();
    };
    std::unique_ptr<BucketForecaster> forecaster;
    const auto start = probes.clock();
    try {
        forecaster = backend.make(row.bucket, row.mode, resources);
    } catch (const Error& error) {
        if (error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::no_bucket) {
            return;
        }
        throw;
    }
    const double build_seconds = seconds_since(start);
    if (is_first) {
        row.first_build_seconds = build_seconds;
        row.is_there = true;
    } else {
        row.build.add(build_seconds);
    }
    row.captures = forecaster->captures();
    row.bytes = forecaster->memory_bytes();
    for (int forecast = 0; forecast <= forecasts; ++forecast) {
        const auto begin = probes.clock();
        (void)forecaster->forecast(request.series(), request.options());
        const double seconds = seconds_since(begin);
        if (forecast > 0) {
            row.later.add(seconds);
        } else if (is_first) {
            row.first_seconds = seconds;
        }
    }
}

}  // namespace detail

/// Builds each of these buckets in each mode that the backends have, `repeats` times in turns, and makes `forecasts`
/// forecasts with each after a first one. A bucket that a backend does not have is left out, and so is a mode that it
/// does not have for it. Throws `Error` for what forecasting meets.
inline std::vector<BuildLatency> measure_builds(std::span<const std::shared_ptr<const Backend>> backends,
                                                std::span<const Bucket> buckets, const BackendResources& resources,
                                                int repeats, int forecasts, const StressProbes& probes = {}) {
    std::vector<BuildLatency> rows;
    for (const Bucket& bucket : buckets) {
        const SyntheticRequest request(bucket);
        std::vector<std::pair<const Backend*, BuildLatency>> built;
        for (const auto& backend : backends) {
            for (const Mode mode : all_modes) {
                const std::string what = backend->describe(mode);
                const auto served = backend->buckets();
                if (!what.empty() && std::find(served.begin(), served.end(), bucket) != served.end() &&
                    backend->unavailable(resources).empty()) {
                    built.emplace_back(
                        backend.get(),
                        BuildLatency{
                            .backend = std::string(backend->name()), .mode = mode, .bucket = bucket, .what = what});
                }
            }
        }
        for (int repeat = 0; repeat < repeats; ++repeat) {
            for (auto& [backend, row] : built) {
                detail::measure_build(*backend, row, repeat == 0, resources, request, forecasts, probes);
            }
        }
        for (auto& [backend, row] : built) {
            if (row.is_there) {
                rows.push_back(std::move(row));
            }
        }
    }
    return rows;
}

/// The rows as a Markdown table.
inline std::string markdown_text(std::span<const BuildLatency> rows) {
    MarkdownTable table(
        {"size", "backend", "mode", "first build", "build again", "captures", "first forecast", "later p50", "memory"});
    for (const BuildLatency& row : rows) {
        table.add_row({to_string(row.bucket), row.backend, std::string(name(row.mode)),
                       detail::seconds_text(row.first_build_seconds), detail::seconds_text(row.build.median()),
                       std::to_string(row.captures), detail::seconds_text(row.first_seconds),
                       detail::seconds_text(row.later.median()), totograph::detail::bytes_text(row.bytes)});
    }
    return table.text();
}

/// Regional against whole capture, a line for each bucket and mode in which a backend and the one of its name with
/// `-regional` after it both capture; empty when there is none.
inline std::string regional_text(std::span<const BuildLatency> rows) {
    std::string text;
    const auto ratio_text = [](const Latencies& regional, const Latencies& whole) {
        return whole.median() > 0 ? totograph::detail::number_text(regional.median() / whole.median(), 3) : "?";
    };
    for (const BuildLatency& whole : rows) {
        const auto regional = std::find_if(rows.begin(), rows.end(), [&](const BuildLatency& row) {
            return row.backend == whole.backend + "-regional" && row.mode == whole.mode && row.bucket == whole.bucket;
        });
        if (regional == rows.end() || whole.captures == 0 || regional->captures == 0) {
            continue;
        }
        text += "- " + to_string(whole.bucket) + ", " + std::string(name(whole.mode)) + ": '" + regional->backend +
                "' builds in " + ratio_text(regional->build, whole.build) + " of the time of '" + whole.backend +
                "' (" + std::to_string(regional->captures) + " captures, " + std::to_string(whole.captures) +
                " of the whole) and forecasts in " + ratio_text(regional->later, whole.later) + " of it.\n";
    }
    return text;
}

}  // namespace totograph::serve
