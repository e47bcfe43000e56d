// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../common/aligned.hpp"
#include "../common/format.hpp"
#include "../common/metrics.hpp"
#include "../common/sampling.hpp"
#include "../common/text.hpp"
#include "../intake/season.hpp"
#include "plan.hpp"
#include "run_backtest.hpp"

namespace examples {

/// The scores of one series, or of all together, up to one horizon.
struct ReportRow {
    std::string name;
    bool is_total = false;
    std::int64_t horizon = 0;
    std::int64_t windows = 0;  ///< Windows in which something could be scored.
    Metrics model{};
    Metrics naive{};
    double ratio = std::nan("");  ///< The model's MASE over the baseline's: below 1 is better.
};

/// Rows by horizon; in each horizon the series as in the file, then their mean (of the ratios the geometric one, which
/// no single series can spoil). Intervals that a model of quantiles at `model_levels` does not tell have no coverage.
inline std::vector<ReportRow> report_rows(const AllScores& scores, const std::vector<std::string>& names,
                                          const std::vector<std::int64_t>& horizons,
                                          std::span<const double> model_levels = {}) {
    std::vector<ReportRow> rows;
    for (std::size_t at = 0; at < horizons.size(); ++at) {
        std::vector<Metrics> model;
        std::vector<Metrics> naive;
        std::int64_t all_windows = 0;
        double logarithms = 0;
        int ratios = 0;
        for (std::size_t series = 0; series < names.size(); ++series) {
            const std::vector<Score>& windows = scores[series][at];
            ReportRow row{.name = names[series], .horizon = horizons[at]};
            for (const Score& window : windows) {
                row.windows += window.steps > 0 ? 1 : 0;
            }
            row.model = metrics(windows, &Score::model);
            for (std::size_t i = 0; i < intervals.size(); ++i) {
                const bool is_told = has_quantile(model_levels, levels[intervals[i].low]) &&
                                     has_quantile(model_levels, levels[intervals[i].high]);
                row.model.coverage[i] = is_told ? row.model.coverage[i] : std::nan("");
            }
            row.naive = metrics(windows, &Score::naive);
            row.ratio = row.model.mase / row.naive.mase;
            if (std::isfinite(row.ratio) && row.ratio > 0) {
                logarithms += std::log(row.ratio);
                ++ratios;
            }
            model.push_back(row.model);
            naive.push_back(row.naive);
            all_windows += row.windows;
            rows.push_back(std::move(row));
        }
        rows.push_back({.name = "all series",
                        .is_total = true,
                        .horizon = horizons[at],
                        .windows = all_windows,
                        .model = mean_of(model),
                        .naive = mean_of(naive),
                        .ratio = ratios > 0 ? std::exp(logarithms / ratios) : std::nan("")});
    }
    return rows;
}

/// The rows as a table for a person; below each horizon, which series have no score there.
inline std::string report_table(const std::vector<ReportRow>& rows, std::int64_t season) {
    std::string text;
    std::vector<std::vector<std::string>> cells;
    std::vector<std::string> unscored;
    const auto percent = [](double share) { return std::isnan(share) ? "–" : fixed_number(100 * share, 0) + "%"; };
    for (const ReportRow& row : rows) {
        if (cells.empty()) {
            text += (text.empty() ? "" : "\n") + plural(row.horizon, "step") + " ahead, against " +
                    naive_words(season) + "\n";
            cells.push_back(
                {"series", "windows", "MASE", "baseline", "ratio", "CRPS", "baseline", "in 50%", "in 80%", "in 90%"});
        }
        cells.push_back({printable(row.name), count_text(row.windows), short_number(row.model.mase, 3),
                         short_number(row.naive.mase, 3), short_number(row.ratio, 3), short_number(row.model.crps, 3),
                         short_number(row.naive.crps, 3), percent(row.model.coverage[0]),
                         percent(row.model.coverage[1]), percent(row.model.coverage[2])});
        if (row.windows == 0 && !row.is_total) {
            unscored.push_back(row.name);
        }
        if (row.is_total) {
            const std::string words = unscored_words(unscored, cells.size() - 2);  // less the heading and the total
            text += detail::aligned(cells) + (words.empty() ? "" : "  " + words + "\n");
            cells.clear();
            unscored.clear();
        }
    }
    return text;
}

/// The rows as CSV.
inline std::string report_csv(const std::vector<ReportRow>& rows) {
    std::string text = "scope,series,horizon,windows";
    for (const char* way : {"", "baseline_"}) {
        for (const char* metric : {"mase", "crps", "coverage_50", "coverage_80", "coverage_90"}) {
            text += std::string(",") + way + metric;
        }
    }
    text += ",mase_ratio\n";
    const auto number = [](double value) { return std::string(",").append(exact_number(value)); };
    for (const ReportRow& row : rows) {
        text += (row.is_total ? "total," : "series,") + quote_csv(row.is_total ? "" : row.name) + "," +
                std::to_string(row.horizon) + "," + std::to_string(row.windows);
        for (const Metrics* way : {&row.model, &row.naive}) {
            text += number(way->mase) + number(way->crps);
            for (const double coverage : way->coverage) {
                text += number(coverage);
            }
        }
        text += number(row.ratio) + "\n";
    }
    return text;
}

}  // namespace examples
