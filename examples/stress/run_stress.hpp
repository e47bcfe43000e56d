// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <totograph/serve/backend_registry.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/drift.hpp>
#include <totograph/serve/service.hpp>
#include <totograph/serve/stress.hpp>

#include "../common/format.hpp"
#include "options.hpp"
#include "stress_data.hpp"

// The part that uses totograph: each task as a text to print and what else is to be kept.
namespace examples {

/// What came of a task.
struct StressResult {
    std::string text;  ///< Markdown.
    std::string json;  ///< Empty where the task has none.
    bool passed = true;
};

/// Told after each comparison.
using StressProgress = std::function<void(std::size_t done, std::size_t all)>;

namespace detail {

inline totograph::serve::ServiceOptions service_options(const Options& options, const std::string& backend,
                                                        totograph::serve::Mode mode) {
    return {.backend = backend, .mode = mode, .resources = {.threads = options.threads}};
}

/// Tells a service that runs, and what it runs on.
inline std::string heading(const std::string& title, const totograph::serve::ForecastService& service,
                           const totograph::serve::BuildIdentity& build) {
    return "# " + title + "\n\nBackend '" + service.backend() + "' in mode " +
           std::string(totograph::serve::name(service.mode())) + ".\nBuilt with " + to_string(build) + ".\n\n";
}

}  // namespace detail

/// Backends, what their modes do, and their buckets, numbered.
inline StressResult run_list(const totograph::serve::BackendRegistry& registry, const Options& options) {
    StressResult result;
    for (const auto& backend : registry.all()) {
        const std::string reason = backend->unavailable({.threads = options.threads});
        result.text +=
            "backend " + std::string(backend->name()) + (reason.empty() ? "" : " (not here: " + reason + ")") + "\n";
        for (const totograph::serve::Mode mode : totograph::serve::all_modes) {
            const std::string what = backend->describe(mode);
            result.text += "  " + std::string(name(mode)) + ": " + (what.empty() ? "not here" : what) + "\n";
        }
        std::int64_t number = 0;
        for (const totograph::Bucket& bucket : backend->buckets()) {
            result.text += "  bucket " + std::to_string(++number) + ": " + to_string(bucket) + "\n";
        }
    }
    return result;
}

/// The questions, or a table over an axis: both compare with the baseline.
inline StressResult run_stress(const totograph::serve::BackendRegistry& registry, const Options& options,
                               const std::vector<totograph::serve::StressData>& data,
                               const totograph::serve::BuildIdentity& build, const StressProgress& progress) {
    using namespace totograph::serve;
    ForecastService tested(registry, detail::service_options(options, options.backend, options.mode));
    ForecastService baseline(
        registry,
        detail::service_options(options, options.baseline.empty() ? tested.backend() : options.baseline, Mode::eager));
    const std::vector<totograph::Bucket> sizes = request_sizes(options, chosen_buckets(options, tested.buckets()));
    const StressOptions stress_options{.level = options.level,
                                       .iterations = options.iterations,
                                       .sizes = sizes,
                                       .warm_up = {.buckets = needed_buckets(sizes, tested.buckets())},
                                       .seed = options.seed,
                                       .thresholds = options.thresholds(),
                                       .build = build,
                                       .probes = {},
                                       .progress = progress};
    const StressReport report = stress(tested, baseline, stress_options, data);
    if (options.task == Task::vary) {
        const std::string title = "Over the " + options.axis_name;
        return {detail::heading(title, tested, build) + sweep_markdown(report, options.axis_name, options.axis),
                json_text(report), report.failures == 0 && report.forecasts > 0};
    }
    return {markdown_text(report), json_text(report), report.passed()};
}

/// What building takes in each mode of each backend.
inline StressResult run_build_latency(const totograph::serve::BackendRegistry& registry, const Options& options,
                                      const totograph::serve::BuildIdentity& build) {
    using namespace totograph::serve;
    std::vector<std::shared_ptr<const Backend>> backends;
    for (const auto& backend : registry.all()) {
        if (options.backend.empty() || backend->name() == options.backend) {
            backends.push_back(backend);
        }
    }
    if (backends.empty()) {
        (void)registry.get(options.backend);  // says which there are
    }
    const std::vector<totograph::Bucket> buckets = chosen_buckets(options, backends.front()->buckets());
    const int repeats = options.iterations > 0 ? options.iterations : iterations_of(options.level);
    const auto rows = measure_builds(backends, buckets, {.threads = options.threads}, repeats, 3);
    std::string text = "# What building takes\n\nEach " + plural(repeats, "time") + ", in turns. Built with " +
                       to_string(build) + ".\n\n" + markdown_text(rows) + "\n";
    for (const BuildLatency& row : rows) {
        if (row.bucket == rows.front().bucket) {
            text += "- " + row.backend + ", " + std::string(name(row.mode)) + ": " + row.what + "\n";
        }
    }
    return {text, {}, true};
}

/// What each variant loses.
inline StressResult run_ablation(const std::vector<totograph::serve::Variant>& variants,
                                 const totograph::Bucket& bucket, const Options& options,
                                 const std::vector<totograph::serve::StressData>& data,
                                 const totograph::serve::BuildIdentity& build) {
    using namespace totograph::serve;
    const auto request = make_stress_request(data.front(), bucket, 0, options.seed);
    if (!request) {
        throw totograph::Error(totograph::ErrorCode::invalid_series, "The file has too few rows for a context of " +
                                                                         std::to_string(bucket.context) +
                                                                         " steps, or blank ones. Use a longer file.");
    }
    const int rounds = 5 * (options.iterations > 0 ? options.iterations : iterations_of(options.level));
    const auto results = compare_variants(variants, std::vector<StressRequest>{*request}, rounds, options.thresholds());
    return {
        "# What each step of the compiler is worth\n\nBucket " + to_string(bucket) + ", " + plural(rounds, "round") +
            " in turns. Built with " + to_string(build) +
            ".\nTime is that of a forecast in units of the first row's; a number above 1 is what the step saves.\n\n" +
            markdown_text(results),
        {},
        true};
}

/// Forecasts to be kept.
inline totograph::serve::DriftSet run_save(const totograph::serve::BackendRegistry& registry, const Options& options,
                                           const std::vector<totograph::serve::StressData>& data,
                                           const totograph::serve::BuildIdentity& build) {
    using namespace totograph::serve;
    ForecastService service(registry, detail::service_options(options, options.backend, options.mode));
    std::vector<std::pair<std::string, StressRequest>> requests;
    for (const StressData& each : data) {
        for (const totograph::Bucket& sizes : request_sizes(options, chosen_buckets(options, service.buckets()))) {
            const bool is_held = !needed_buckets({sizes}, service.buckets()).empty();
            if (auto request = make_stress_request(each, sizes, requests.size(), options.seed); request && is_held) {
                requests.emplace_back(each.name + ", " + to_string(sizes), std::move(*request));
            }
        }
    }
    if (requests.empty()) {
        throw totograph::Error(totograph::ErrorCode::no_bucket,
                               "No request could be made: the files are too short for these contexts.");
    }
    return record_forecasts(service, build, std::move(requests));
}

/// The kept forecasts made again.
inline StressResult run_against(const totograph::serve::BackendRegistry& registry, const Options& options,
                                const totograph::serve::BuildIdentity& build) {
    using namespace totograph::serve;
    const DriftSet set = load_forecasts(options.forecasts);
    ForecastService service(registry, detail::service_options(options, options.backend, options.mode));
    const DriftReport report = compare_with(service, build, set, options.thresholds());
    return {markdown_text(report), json_text(report), report.passed()};
}

}  // namespace examples
