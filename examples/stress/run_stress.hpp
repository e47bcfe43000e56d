// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/diagnostics/drift.hpp>
#include <totograph/diagnostics/stress.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/service.hpp>

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
            result.text += "  size " + std::to_string(++number) + ": " + to_string(bucket) + "\n";
        }
    }
    return result;
}

/// The questions, or a table over an axis: both compare with the baseline. `device_memory` may be empty.
inline StressResult run_stress(const totograph::serve::BackendRegistry& registry, const Options& options,
                               const std::vector<totograph::serve::StressData>& data,
                               const totograph::serve::BuildIdentity& build,
                               const std::function<std::size_t()>& device_memory, const StressProgress& progress) {
    using namespace totograph::serve;
    ForecastService tested(registry, detail::service_options(options, options.backend, options.mode));
    ForecastService baseline(
        registry,
        detail::service_options(options, options.baseline.empty() ? tested.backend() : options.baseline, Mode::eager));
    const std::vector<totograph::Bucket> buckets = chosen_buckets(options, tested.buckets());
    // A table is of latencies, which want all rounds, however slow eager is.
    const bool wants_all = options.task == Task::vary && options.iterations == 0;
    StressOptions stress_options{.level = options.level,
                                 .iterations = wants_all ? iterations_of(options.level) : options.iterations,
                                 .sizes = named_sizes(options, buckets),
                                 .buckets = buckets,
                                 .seed = options.seed,
                                 .thresholds = options.thresholds(tested.backend()),
                                 .build = build,
                                 .progress = progress};
    stress_options.probes.device_memory = device_memory;
    // On a device, what `default` adds is that launches are not waited for; on the host it is the program itself.
    std::optional<Mode> planned_in = tested.mode() == Mode::standard && tested.backend().starts_with("cuda")
                                         ? std::optional(Mode::eager)
                                         : planned_mode(tested.mode());
    if (planned_in && registry.get(tested.backend())->describe(*planned_in).empty()) {
        planned_in.reset();
    }
    std::optional<ForecastService> planned;
    if (planned_in) {
        planned.emplace(registry, detail::service_options(options, tested.backend(), *planned_in));
    }
    StressReport report = stress(tested, baseline, stress_options, data, planned ? &*planned : nullptr);
    const auto describe = [&](const std::string& backend, Mode mode) {
        return "'" + backend + "' in mode " + std::string(name(mode)) + " is " + registry.get(backend)->describe(mode);
    };
    report.notes.insert(
        report.notes.begin(),
        describe(tested.backend(), tested.mode()) + "; " + describe(baseline.backend(), Mode::eager) +
            (planned_in && *planned_in != Mode::eager ? "; in mode " + std::string(name(*planned_in)) + " it is " +
                                                            registry.get(tested.backend())->describe(*planned_in)
                                                      : "") +
            ".");
    if (tested.mode() != options.mode) {
        report.notes.push_back("The mode " + std::string(name(options.mode)) +
                               " was asked for; TOTOGRAPH_DISABLE or TOTOGRAPH_MODE made it " +
                               std::string(name(tested.mode())) + ".");
    }
    if (tested.backend().starts_with("cuda") && baseline.backend().starts_with("cuda")) {
        report.notes.emplace_back(
            "The baseline runs the same kernels as the mode under test, and so has their faults: add --baseline cpu.");
    }
    if (options.task == Task::vary) {
        const std::string title = "Over the " + options.axis_name;
        return {detail::heading(title, tested, build) + sweep_markdown(report, options.axis_name, options.axis),
                json_text(report), report.passed()};
    }
    return {markdown_text(report), json_text(report), report.passed()};
}

/// What building takes in each mode of each backend.
inline StressResult run_build_latency(const totograph::serve::BackendRegistry& registry, const Options& options,
                                      const totograph::serve::BuildIdentity& build) {
    using namespace totograph::serve;
    std::vector<std::shared_ptr<const Backend>> backends;
    if (!options.backend.empty()) {
        const std::string reason = registry.get(options.backend)->unavailable({.threads = options.threads});
        if (!reason.empty()) {
            throw totograph::Error(totograph::ErrorCode::device_failure, reason);
        }
    }
    for (const auto& backend : registry.all()) {
        const std::string_view its_name = backend->name();
        if (options.backend.empty() || its_name == options.backend || its_name == options.backend + "-regional") {
            backends.push_back(backend);
        }
    }
    const std::vector<totograph::Bucket> buckets = chosen_buckets(options, backends.front()->buckets());
    const int repeats = options.iterations > 0 ? options.iterations : iterations_of(options.level);
    const auto rows = measure_builds(backends, buckets, {.threads = options.threads}, repeats, 3);
    std::string text =
        "# What building takes\n\nEach " + plural(repeats, "time") + ", in turns. Built with " + to_string(build) +
        ".\nA first build tunes, and prepares weights for the rows below it: compare those that follow.\n\n" +
        markdown_text(rows) + "\n" + regional_text(rows);
    for (const BuildLatency& row : rows) {
        if (row.bucket == rows.front().bucket) {
            text += "- " + row.backend + ", " + std::string(name(row.mode)) + ": " + row.what + "\n";
        }
    }
    return {text, json_text(rows, build), true};
}

/// What each variant loses: lists of variants, each with the size of its requests.
template <class Ablations>
StressResult run_ablations(const Ablations& ablations, const Options& options,
                           const std::vector<totograph::serve::StressData>& data,
                           const totograph::serve::BuildIdentity& build) {
    using namespace totograph::serve;
    const int rounds = 5 * (options.iterations > 0 ? options.iterations : iterations_of(options.level));
    const StressThresholds thresholds = options.thresholds(options.backend);
    std::string tables;
    std::vector<VariantResult> all;
    for (const auto& [bucket, variants] : ablations) {
        const auto request = make_stress_request(data.front(), bucket, 0, 0, options.seed);
        if (!request) {
            throw totograph::Error(totograph::ErrorCode::invalid_series,
                                   "The file has too few rows for a context of " + std::to_string(bucket.context) +
                                       " steps, or blank ones. Use a longer file.");
        }
        auto results = compare_variants(variants, std::vector<StressRequest>{*request}, rounds, thresholds);
        tables += "\n## Requests of " + to_string(bucket) + "\n\n" + markdown_text(results);
        for (VariantResult& result : results) {
            result.sizes = bucket;
            all.push_back(std::move(result));
        }
    }
    const bool agree =
        std::all_of(all.begin(), all.end(), [&](const VariantResult& result) { return result.agrees(thresholds); });
    return {
        "# What each step of the compiler is worth\n\n" + plural(rounds, "round") + " in turns. Built with " +
            to_string(build) +
            ".\nTime is that of a forecast in units of the first row's in the same round, with its quartiles; where "
            "all of these are above 1, the step saves time.\n" +
            tables + (agree ? "" : "\nFAILED: a variant forecasts something else.\n"),
        json_text(all, build), agree};
}

/// Forecasts to be kept.
inline totograph::serve::DriftSet run_save(const totograph::serve::BackendRegistry& registry, const Options& options,
                                           const std::vector<totograph::serve::StressData>& data,
                                           const totograph::serve::BuildIdentity& build) {
    using namespace totograph::serve;
    ForecastService service(registry, detail::service_options(options, options.backend, options.mode));
    const std::vector<totograph::Bucket> buckets = chosen_buckets(options, service.buckets());
    const std::vector<totograph::Bucket> named = named_sizes(options, buckets);
    std::vector<std::pair<std::string, StressRequest>> requests;
    for (const StressData& each : data) {
        std::size_t column = 0;
        for (const totograph::Bucket& sizes :
             named.empty() ? plan_stress(buckets, options.level, each.table.rows()) : named) {
            auto request = make_stress_request(each, sizes, requests.size(), column, options.seed);
            if (!request) {
                throw totograph::Error(totograph::ErrorCode::invalid_series,
                                       "Requests of " + to_string(sizes) + " cannot be cut from " + each.name +
                                           ", which has too few rows, or blank ones. Name shorter --contexts.");
            }
            column += request->columns.size();
            requests.emplace_back(each.name + ", " + to_string(sizes), std::move(*request));
        }
    }
    return record_forecasts(service, build, std::move(requests));
}

/// The kept forecasts made again.
inline StressResult run_against(const totograph::serve::BackendRegistry& registry, const Options& options,
                                const totograph::serve::BuildIdentity& build) {
    using namespace totograph::serve;
    const DriftSet set = load_forecasts(options.forecasts);
    ForecastService service(registry, detail::service_options(options, options.backend, options.mode));
    const DriftReport report = compare_with(service, build, set, options.thresholds(service.backend()));
    return {markdown_text(report), json_text(report), report.passed()};
}

}  // namespace examples
