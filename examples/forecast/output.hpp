// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <totograph/io/atomic_file.hpp>

#include "forecast_result.hpp"
#include "format.hpp"
#include "series_input.hpp"
#include "text.hpp"
#include "timeline.hpp"

namespace forecast_program {

namespace detail {

/// The columns behind the series' name: heading and values each.
inline std::vector<std::pair<std::string, const std::vector<float>*>> value_columns(const ForecastResult& result) {
    std::vector<std::pair<std::string, const std::vector<float>*>> columns = {{"mean", &result.mean}};
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

/// Rows of equally many cells as lines, the first column flush left and the others flush right.
inline std::string aligned(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const std::vector<std::string>& row : rows) {
        for (std::size_t column = 0; column < row.size(); ++column) {
            widths[column] = std::max(widths[column], display_width(row[column]));
        }
    }
    std::string text;
    for (const std::vector<std::string>& row : rows) {
        for (std::size_t column = 0; column < row.size(); ++column) {
            text +=
                "  " + (column == 0 ? pad_right(row[column], widths[column]) : pad_left(row[column], widths[column]));
        }
        text += "\n";
    }
    return text;
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
                text += "," + exact_number((*values)[result.at(series, step)]);
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

/// Output files that appear together or not at all: everything is written to temporary files first, and the last step
/// only renames. Errors are those of `totograph::io::AtomicFile`.
class OutputFiles {
public:
    /// Throws as `add` would when a file cannot be created there, so that this is known before long work.
    static void check(const std::filesystem::path& path) { const totograph::io::AtomicFile tried(path); }

    /// Writes one file's whole content beside its place.
    void add(const std::filesystem::path& path, const std::string& content) {
        files_.push_back(std::make_unique<totograph::io::AtomicFile>(path));
        files_.back()->write(content);
    }

    /// Puts all files in their places.
    void commit() {
        for (const auto& file : files_) {
            file->commit();
        }
        files_.clear();
    }

private:
    std::vector<std::unique_ptr<totograph::io::AtomicFile>> files_;
};

}  // namespace forecast_program
