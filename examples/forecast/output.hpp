// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "../common/aligned.hpp"
#include "../common/format.hpp"
#include "../common/text.hpp"
#include "../common/timeline.hpp"
#include "forecast_result.hpp"
#include "series_input.hpp"

namespace examples {

namespace detail {

/// The columns behind the series' name: heading and values each.
inline std::vector<std::pair<std::string, const std::vector<double>*>> value_columns(const ForecastResult& result) {
    std::vector<std::pair<std::string, const std::vector<double>*>> columns = {{"mean", &result.mean}};
    if (result.median.empty()) {
        return columns;
    }
    columns.emplace_back("median", &result.median);
    columns.emplace_back("standard_deviation", &result.deviation);
    for (const QuantileValues& quantile : result.quantiles) {
        columns.emplace_back("quantile_" + short_number(quantile.level, 6), &quantile.values);
    }
    return columns;
}

/// The time of a forecast step: its timestamp when it can be told, else how many steps ahead it lies.
inline std::string step_name(const SeriesInput& input, const Timeline& timeline, std::int64_t step) {
    const std::string stamp = timeline.stamp(input.forecast_row() + step);
    return timeline.continues() && !stamp.empty() ? stamp : std::to_string(step + 1);
}

}  // namespace detail

/// The forecast as CSV in long form: one row for each step of each series. Numbers read back exactly.
inline std::string forecast_csv(const SeriesInput& input, const ForecastResult& result, const Timeline& timeline,
                                const std::string& timestamp_name) {
    const auto columns = detail::value_columns(result);
    std::string text = timeline.continues() ? quote_csv(timestamp_name.empty() ? "timestamp" : timestamp_name) : "step";
    text += ",series";
    for (const auto& [heading, values] : columns) {
        text += "," + heading;
    }
    text += "\n";
    for (std::int64_t series = 0; series < result.series; ++series) {
        const std::string name = quote_csv(input.targets[static_cast<std::size_t>(series)]);
        for (std::int64_t step = 0; step < result.horizon; ++step) {
            text += quote_csv(detail::step_name(input, timeline, step)) + "," + name;
            for (const auto& [heading, values] : columns) {
                text.append(",").append(exact_number((*values)[result.at(series, step)]));
            }
            text += "\n";
        }
    }
    return text;
}

/// The forecast as a table for a person: a block for each series, columns aligned, numbers shortened.
inline std::string forecast_table(const SeriesInput& input, const ForecastResult& result, const Timeline& timeline) {
    const auto columns = detail::value_columns(result);
    std::string text;
    for (std::int64_t series = 0; series < result.series; ++series) {
        std::vector<std::vector<std::string>> rows = {{timeline.continues() ? "time" : "step"}};
        for (const auto& [heading, values] : columns) {
            std::string words = heading;
            std::replace(words.begin(), words.end(), '_', ' ');
            rows.front().push_back(words);
        }
        for (std::int64_t step = 0; step < result.horizon; ++step) {
            rows.push_back({printable(detail::step_name(input, timeline, step))});
            for (const auto& [heading, values] : columns) {
                rows.back().push_back(short_number((*values)[result.at(series, step)], 5));
            }
        }
        if (series > 0) {
            text += "\n";
        }
        text += printable(input.targets[static_cast<std::size_t>(series)]) + "\n";
        text += detail::aligned(rows);
    }
    return text;
}

}  // namespace examples
