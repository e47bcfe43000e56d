// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/io/csv/table.hpp>
#include <totograph/io/csv/writer.hpp>
#include <totograph/models/kronos/candle_forecaster.hpp>

#include "../common/format.hpp"
#include "../forecast/figure.hpp"
#include "../intake/timeline.hpp"
#include "candle_table.hpp"
#include "options.hpp"

namespace examples {

/// What was forecast, and from which rows of the table.
struct CandleResult {
    const CandleTable& table;
    std::size_t history;  ///< Rows before the first one that is forecast.
    std::vector<std::int64_t> future;
    totograph::kronos::CandleForecast forecast;

    [[nodiscard]] std::vector<std::string> stamps() const {
        std::vector<std::string> result;
        for (const std::int64_t time : future) {
            result.push_back(table.stamp(time));
        }
        return result;
    }
    /// Whether the table holds what came.
    [[nodiscard]] bool has_truth() const { return history + future.size() <= table.rows(); }
};

namespace detail {

inline std::vector<double> as_doubles(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

}  // namespace detail

/// The mean and the quantiles of each column, a row a candle.
inline std::string bands_csv(const CandleResult& result, const std::vector<double>& levels) {
    totograph::io::Table table;
    table.timestamp_name = "time";
    table.timestamps = result.stamps();
    const auto add = [&](const std::string& name, const std::vector<float>& values) {
        table.names.push_back(name);
        table.columns.push_back(detail::as_doubles(values));
    };
    for (std::size_t i = 0; i < totograph::kronos::column_names.size(); ++i) {
        const auto column = static_cast<totograph::kronos::Column>(i);
        const std::string name(totograph::kronos::column_names[i]);
        add(name + "_mean", result.forecast.mean(column));
        for (const double level : levels) {
            add(name + "_q" + exact_number(level), result.forecast.quantile(level, column));
        }
    }
    return totograph::io::format_csv(table);
}

/// All paths, a row for each candle of each.
inline std::string paths_csv(const CandleResult& result) {
    const auto& forecast = result.forecast;
    const std::vector<std::string> stamps = result.stamps();
    totograph::io::Table table;
    table.timestamp_name = "time";
    table.names.emplace_back("path");
    table.columns.resize(1 + totograph::kronos::column_names.size());
    for (const std::string_view name : totograph::kronos::column_names) {
        table.names.emplace_back(name);
    }
    for (totograph::Index path = 0; path < forecast.paths(); ++path) {
        for (totograph::Index step = 0; step < forecast.horizon(); ++step) {
            table.timestamps.push_back(stamps[static_cast<std::size_t>(step)]);
            table.columns[0].push_back(static_cast<double>(path));
            for (std::size_t i = 0; i < totograph::kronos::column_names.size(); ++i) {
                const auto column = static_cast<totograph::kronos::Column>(i);
                table.columns[1 + i].push_back(static_cast<double>(forecast.value(column, path, step)));
            }
        }
    }
    return totograph::io::format_csv(table);
}

/// How far the median close is from what came, beside the last close before it; empty where that is not known.
inline std::string truth_note(const CandleResult& result) {
    if (!result.has_truth()) {
        return "";
    }
    const std::vector<float>& close = result.table.columns[3];
    const std::vector<float> median = result.forecast.quantile(0.5, totograph::kronos::Column::close);
    double of_median = 0;
    double of_last = 0;
    for (std::size_t step = 0; step < median.size(); ++step) {
        const auto truth = static_cast<double>(close[result.history + step]);
        of_median += std::abs(static_cast<double>(median[step]) - truth);
        of_last += std::abs(static_cast<double>(close[result.history - 1]) - truth);
    }
    const auto steps = static_cast<double>(median.size());
    return "MAE " + short_number(of_median / steps) + ", of the last close " + short_number(of_last / steps);
}

/// The close as a chart shows it, with as much history as has room beside the forecast.
inline Figure close_figure(const CandleResult& result, std::string title, std::string subtitle) {
    using totograph::kronos::Column;
    const std::size_t horizon = result.future.size();
    const std::size_t shown = std::min(result.history, std::max<std::size_t>(40, 2 * horizon));
    const std::vector<float>& close = result.table.columns[3];
    const auto first = static_cast<std::ptrdiff_t>(result.history - shown);
    const auto end = static_cast<std::ptrdiff_t>(result.history);
    std::vector<std::string> stamps(result.table.stamps.begin() + first, result.table.stamps.begin() + end);
    for (std::string& stamp : result.stamps()) {
        stamps.push_back(std::move(stamp));
    }
    Panel panel{.name = "close", .note = truth_note(result), .history = {}, .line = {}, .bands = {}, .truth = {}};
    panel.history.assign(close.begin() + first, close.begin() + end);
    panel.line = detail::as_doubles(result.forecast.quantile(0.5, Column::close));
    for (const int percent : {80, 50}) {
        const double outside = (1 - percent / 100.0) / 2;
        panel.bands.push_back({.percent = percent,
                               .low = detail::as_doubles(result.forecast.quantile(outside, Column::close)),
                               .high = detail::as_doubles(result.forecast.quantile(1 - outside, Column::close))});
    }
    if (result.has_truth()) {
        panel.truth.assign(close.begin() + end, close.begin() + end + static_cast<std::ptrdiff_t>(horizon));
    }
    Figure figure;
    figure.title = std::move(title);
    figure.subtitle = std::move(subtitle);
    figure.timeline = Timeline(std::move(stamps));
    figure.history_steps = static_cast<std::int64_t>(shown);
    figure.horizon = static_cast<std::int64_t>(horizon);
    figure.panels.push_back(std::move(panel));
    return figure;
}

}  // namespace examples
