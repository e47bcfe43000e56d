// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/diagnostics/stress/batch_costs.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/tuning/backend_timer.hpp>

#include "../common/checks.hpp"
#include "options.hpp"
#include "run_stress.hpp"

// What batches cost, with each backend beside the others.
namespace examples {

namespace detail {

/// A backend that takes longer for a request is not asked for larger batches.
inline constexpr double most_seconds_of_a_batch = 10;

/// The CPU, and the backend that is named, or else those devices' that are here and no other way to run the same.
inline std::vector<std::shared_ptr<const totograph::serve::Backend>> compared_backends(
    const totograph::serve::BackendRegistry& registry, const Options& options) {
    std::vector<std::shared_ptr<const totograph::serve::Backend>> backends;
    if (!options.backend.empty()) {
        (void)registry.get(options.backend);  // which throws where it is none of them
    }
    for (const auto& backend : registry.all()) {
        const std::string_view its_name = backend->name();
        const bool is_meant = options.backend.empty() ? its_name == "cpu" || its_name == "cuda"
                                                      : its_name == "cpu" || its_name == options.backend;
        const std::string reason = is_meant ? backend->unavailable({.threads = options.threads}) : "";
        if (!reason.empty() && its_name == options.backend) {
            throw totograph::Error(totograph::ErrorCode::device_failure, reason);
        }
        if (is_meant && reason.empty()) {
            backends.push_back(backend);
        }
    }
    return backends;
}

/// One series of one variate, in the sizes of the smallest bucket that samples, or else of the first.
inline totograph::Bucket single_series(const std::vector<totograph::Bucket>& buckets) {
    const auto sampled =
        std::find_if(buckets.begin(), buckets.end(), [](const totograph::Bucket& each) { return each.samples > 0; });
    totograph::Bucket request = sampled == buckets.end() ? buckets.front() : *sampled;
    request.batch = 1;
    request.variates = 1;
    request.exogenous = 0;
    return request;
}

/// What is measured: batches and numbers of samples that the command line names, or all that there are.
inline std::vector<totograph::Bucket> planned_batches(const Options& options,
                                                      const std::vector<totograph::Bucket>& buckets) {
    totograph::Bucket request = single_series(buckets);
    for (const auto& [values, size] : sizes_of(options)) {
        if (!values->empty()) {
            request.*size = values->front();
        }
    }
    std::vector<totograph::Index> samples(options.samples.begin(), options.samples.end());
    if (samples.empty()) {
        const bool has_mean = std::any_of(buckets.begin(), buckets.end(),
                                          [](const totograph::Bucket& each) { return each.samples == 0; });
        if (has_mean) {
            samples.push_back(0);
        }
        if (request.samples > 0) {
            samples.push_back(request.samples);
        }
    }
    std::vector<totograph::Bucket> plan = totograph::serve::plan_batches(request, samples);
    if (!options.batches.empty()) {
        plan.clear();
        for (const totograph::Index each : samples) {
            for (const std::int64_t batch : options.batches) {
                plan.push_back(request);
                plan.back().samples = each;
                plan.back().batch = batch;
            }
        }
    }
    return plan;
}

}  // namespace detail

/// What each batch size and number of samples costs with each backend, and from where on the CPU is overtaken.
inline StressResult run_batches(const totograph::serve::BackendRegistry& registry, const Options& options,
                                const totograph::serve::BuildIdentity& build, const StressProgress& progress) {
    using namespace totograph::serve;
    const BackendResources resources{.threads = options.threads};
    const Mode mode = effective_mode(options.mode);
    std::vector<BackendTimer> timers;
    std::string runs_on;
    for (const auto& backend : detail::compared_backends(registry, options)) {
        timers.emplace_back(backend, mode, resources);
        const std::string where = backend->runs_on(resources);
        runs_on += "- '" + std::string(backend->name()) + "'" + (where.empty() ? "" : " on " + where) + ": " +
                   backend->describe(mode) + ".\n";
    }
    const std::vector<totograph::Bucket> plan = detail::planned_batches(options, timers.front().backend().buckets());
    if (!timers.front().bucket_of(plan.front())) {
        throw totograph::Error(totograph::ErrorCode::no_bucket, "Nothing was compiled that holds requests of " +
                                                                    to_string(plan.front()) +
                                                                    "; --list names the compiled sizes. Ask for less.");
    }
    const auto costs = measure_batches(timers, plan, detail::most_seconds_of_a_batch, progress);
    const totograph::Bucket& one = plan.front();
    return {"# What a batch costs\n\nSeries of " + plural(one.variates, "variate") + ", " +
                plural(one.context, "step") + " of context, " + plural(one.horizon, "step") + " ahead, in mode " +
                std::string(name(mode)) + ". Built with " + to_string(build) + ".\n" + runs_on + "\n" +
                batches_markdown(costs, timers),
            batches_json(costs, timers), true};
}

}  // namespace examples
