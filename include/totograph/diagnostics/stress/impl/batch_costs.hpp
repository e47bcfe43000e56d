// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/diagnostics/stress/batch_costs.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/stress/markdown.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/metrics/json_parts.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>
#include <totograph/serve/tuning/backend_timer.hpp>
#include <totograph/serve/tuning/route_crossover.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE std::optional<std::size_t> BatchCost::fastest() const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
        if (seconds[i] && (!best || *seconds[i] < *seconds[*best])) {
            best = i;
        }
    }
    return best;
}

TOTOGRAPH_INLINE std::vector<Bucket> plan_batches(Bucket request, std::span<const Index> samples) {
    std::vector<Bucket> plan;
    for (const Index each : samples) {
        for (Index batch = 1; batch <= largest_measured_batch; batch *= 2) {
            request.batch = batch;
            request.samples = each;
            plan.push_back(request);
        }
    }
    return plan;
}

TOTOGRAPH_INLINE std::vector<BatchCost> measure_batches(
    std::span<BackendTimer> timers, std::span<const Bucket> requests, double most_seconds,
    const std::function<void(std::size_t done, std::size_t all)>& progress) {
    std::vector<BatchCost> costs;
    for (const Bucket& request : requests) {
        costs.push_back({request, std::vector<std::optional<double>>(timers.size())});
    }
    std::size_t done = 0;
    for (std::size_t backend = 0; backend < timers.size(); ++backend) {
        std::optional<Index> too_slow_with;  // samples
        for (std::size_t i = 0; i < requests.size(); ++i) {
            if (too_slow_with != requests[i].samples) {
                const auto seconds = timers[backend].seconds(requests[i], most_seconds);
                costs[i].seconds[backend] = seconds;
                too_slow_with = seconds && *seconds > most_seconds ? std::optional(requests[i].samples) : std::nullopt;
            }
            if (progress) {
                progress(++done, timers.size() * requests.size());
            }
        }
        timers[backend].release();
    }
    return costs;
}

TOTOGRAPH_INLINE std::optional<Index> overtaken_from(std::span<const BatchCost> costs, Index samples) {
    std::optional<Index> from;
    for (const BatchCost& cost : costs) {
        const auto fastest = cost.fastest();
        if (cost.request.samples == samples && fastest) {
            if (*fastest == 0) {
                from.reset();
            } else if (!from) {
                from = cost.request.batch;
            }
        }
    }
    return from;
}

TOTOGRAPH_INLINE std::string batches_markdown(std::span<const BatchCost> costs, std::span<const BackendTimer> timers) {
    std::vector<std::string> titles{"series", "samples"};
    for (const BackendTimer& timer : timers) {
        titles.emplace_back(timer.backend().name());
        titles.emplace_back("series a second");
    }
    titles.emplace_back("take");
    MarkdownTable table(std::move(titles));
    std::vector<Index> samples;
    for (const BatchCost& cost : costs) {
        std::vector<std::string> row{std::to_string(cost.request.batch),
                                     cost.request.samples == 0 ? "mean" : std::to_string(cost.request.samples)};
        for (const auto& seconds : cost.seconds) {
            row.push_back(seconds ? detail::seconds_text(*seconds) : "-");
            row.push_back(
                seconds ? totograph::detail::number_text(static_cast<double>(cost.request.batch) / *seconds, 4) : "-");
        }
        const auto fastest = cost.fastest();
        row.push_back(fastest ? std::string(timers[*fastest].backend().name()) : "-");
        table.add_row(std::move(row));
        if (samples.empty() || samples.back() != cost.request.samples) {
            samples.push_back(cost.request.samples);
        }
    }
    std::string text = table.text();
    for (const Index each : timers.size() > 1 ? samples : std::vector<Index>{}) {
        const auto from = overtaken_from(costs, each);
        text += "\n" + std::string(each == 0 ? "Of means" : "With " + std::to_string(each) + " samples") + ", " +
                io::in_quotes(timers.front().backend().name()) +
                (from ? " is overtaken from a batch of " + std::to_string(*from) + " on.\n" : " is never overtaken.\n");
    }
    return text;
}

TOTOGRAPH_INLINE std::string batches_json(std::span<const BatchCost> costs, std::span<const BackendTimer> timers) {
    using detail::Json;
    const Json rows = detail::json_list(costs, [&](const BatchCost& cost) {
        Json seconds = Json::object();
        for (std::size_t i = 0; i < timers.size(); ++i) {
            seconds[std::string(timers[i].backend().name())] = cost.seconds[i] ? Json(*cost.seconds[i]) : Json();
        }
        return Json{{"request", detail::bucket_json(cost.request)}, {"seconds", seconds}};
    });
    return detail::document_text(Json{{"batches", rows}});
}

}  // namespace totograph::serve
