// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/diagnostics/stress/data.hpp>
#include <totograph/diagnostics/stress/deviation.hpp>
#include <totograph/diagnostics/stress/jumps.hpp>
#include <totograph/diagnostics/stress/latencies.hpp>
#include <totograph/diagnostics/stress/markdown.hpp>
#include <totograph/diagnostics/stress/probes.hpp>
#include <totograph/diagnostics/stress/thresholds.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>

namespace totograph::serve {

/// One way to serve the same requests, to be measured against another.
struct Variant {
    std::string name;    ///< Such as `without the KV cache`.
    std::string what{};  ///< What the part does that is left out or changed, in a few words.
    std::function<std::unique_ptr<BucketForecaster>()> make;
    bool is_exact = true;  ///< It forecasts the same but for rounding; false for another algorithm.
};

/// What a variant did.
struct VariantResult {
    std::string name;
    std::string what{};
    Bucket sizes{};  ///< Of the requests, for who measures several.
    Latencies seconds{};
    Latencies ratios{};     ///< Of the first variant's latency in the same round.
    Deviation deviation{};  ///< From the first variant's forecasts.
    Jumps jumps{};
    std::size_t bytes = 0;
    bool is_exact = true;

    /// What the part that is left out is worth, by the middle half of the rounds: `saves` or `costs` when all of that
    /// lies on one side of the first variant's latency, else `within its spread`.
    [[nodiscard]] std::string_view worth() const {
        if (ratios.quantile(0.25) > 1) {
            return "saves";
        }
        return ratios.count() > 0 && ratios.quantile(0.75) < 1 ? "costs" : "within its spread";
    }

    /// Whether it forecasts what it should: the same as the first, unless it is another algorithm.
    [[nodiscard]] bool agrees(const StressThresholds& thresholds) const {
        return !is_exact || (deviation.is_within(thresholds) && jumps.fault(thresholds).empty());
    }
};

/// Measures variants against the first one: all are made and each makes every request once, untimed. Then rounds in
/// which each variant makes each request, every other round in the opposite order, so that a machine that slows down
/// or speeds up does so for all. Requests are of one size. Throws `Error` for what a variant throws.
inline std::vector<VariantResult> compare_variants(std::span<const Variant> variants,
                                                   std::span<const StressRequest> requests, int rounds,
                                                   const StressThresholds& thresholds = {},
                                                   const StressProbes& probes = {}) {
    std::vector<std::unique_ptr<BucketForecaster>> forecasters;
    std::vector<VariantResult> results;
    std::vector<OwnedForecast> expected;
    for (const Variant& variant : variants) {
        forecasters.push_back(variant.make());
        VariantResult& result = results.emplace_back();
        result.name = variant.name;
        result.what = variant.what;
        result.is_exact = variant.is_exact;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const Forecast found = forecasters.back()->forecast(requests[i].series(), requests[i].options());
            if (expected.size() < requests.size()) {
                expected.push_back(found.keep());
            }
            const ForecastDeviation deviation =
                compare_forecasts(found, expected[i].view(), requests[i].scales, thresholds);
            result.jumps.add(deviation, thresholds);
            for (const Deviation& each : deviation.variates) {
                result.deviation.add(each);
            }
        }
        result.bytes = forecasters.back()->memory_bytes();
    }
    std::vector<double> taken(variants.size());
    for (int round = 0; round < rounds; ++round) {
        for (const StressRequest& request : requests) {
            for (std::size_t turn = 0; turn < variants.size(); ++turn) {
                const std::size_t which = round % 2 == 0 ? turn : variants.size() - 1 - turn;
                const auto start = probes.clock();
                (void)forecasters[which]->forecast(request.series(), request.options());
                taken[which] = std::chrono::duration<double>(probes.clock() - start).count();
            }
            for (std::size_t which = 0; which < variants.size(); ++which) {
                results[which].seconds.add(taken[which]);
                if (taken[0] > 0) {
                    results[which].ratios.add(taken[which] / taken[0]);
                }
            }
        }
    }
    return results;
}

/// The results as a Markdown table: median latencies, what is lost without a part, and the quartiles of that.
inline std::string markdown_text(std::span<const VariantResult> results) {
    MarkdownTable table(
        {"variant", "p50", "time", "quartiles", "the step", "memory", "MAE", "jumps", "what it leaves out"});
    const auto times = [](double ratio) { return totograph::detail::number_text(ratio, 3) + "x"; };
    for (const VariantResult& result : results) {
        table.add_row({result.name, detail::seconds_text(result.seconds.median()), times(result.ratios.median()),
                       times(result.ratios.quantile(0.25)) + " to " + times(result.ratios.quantile(0.75)),
                       &result == results.data() ? "" : std::string(result.worth()),
                       totograph::detail::bytes_text(result.bytes),
                       totograph::detail::number_text(result.deviation.mae(), 2), std::to_string(result.jumps.jumped()),
                       result.what});
    }
    return table.text();
}

}  // namespace totograph::serve
