// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/csv/table.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/timestamp.hpp>
#include <totograph/serve/metrics/online_accuracy.hpp>

#include "../common/centre.hpp"
#include "../common/format.hpp"
#include "../common/text.hpp"

// How good an earlier forecast was, now that some of what it foresaw has come (`--score-last`).
namespace examples {

namespace detail {

inline double decimal_or_nan(std::string_view text) {
    const totograph::io::Decimal decimal = totograph::io::parse_decimal(text);
    return decimal.kind == totograph::io::DecimalKind::number ? decimal.value : std::nan("");
}

/// Where a forecast's file, as `forecast_csv` writes it, has what is scored.
class LastForecastColumns {
public:
    /// @param clock  the column of times in the table that has come; empty without
    LastForecastColumns(const std::vector<totograph::io::CsvField>& header, const std::string& name,
                        const std::string& clock) {
        for (std::size_t i = 2; i < header.size(); ++i) {
            const std::string& heading = header[i].text;
            if (heading == "unit") {
                unit_ = i;
            }
            if (heading == "median" || (heading == "mean" && !centre_)) {
                centre_ = i;
            }
            constexpr std::string_view prefix = "quantile_";
            if (heading.substr(0, prefix.size()) == prefix) {
                consider(detail::decimal_or_nan(heading.substr(prefix.size())), i);
            }
        }
        if (header.size() < 3 || header[1].text != "series" || !centre_) {
            fail(name, "it has no columns 'series' and 'median' or 'mean'");
        }
        if (header[0].text == "step" && clock != "step") {
            fail(name, "it counts steps and has no timestamps, so that nobody can tell which rows came");
        }
    }

    [[noreturn]] static void fail(const std::string& name, const std::string& what) {
        throw totograph::Error(totograph::ErrorCode::invalid_file,
                               "'" + printable(name) + "' cannot be scored: " + what +
                                   ". Give --score-last a file that --output has written.");
    }

    [[nodiscard]] std::size_t centre() const { return *centre_; }
    /// The unit of a row's values; "" without.
    [[nodiscard]] std::string unit(const std::vector<totograph::io::CsvField>& record) const {
        return unit_ ? record[*unit_].text : "";
    }
    [[nodiscard]] bool has_band() const { return low_ && high_; }
    [[nodiscard]] std::size_t low() const { return *low_; }
    [[nodiscard]] std::size_t high() const { return *high_; }
    /// What share of the observations should be within the band.
    [[nodiscard]] double band() const { return high_level_ - low_level_; }

private:
    /// The outermost levels are the band.
    void consider(double level, std::size_t column) {
        if (level < 0.5 && (!low_ || level < low_level_)) {
            low_ = column;
            low_level_ = level;
        }
        if (level > 0.5 && (!high_ || level > high_level_)) {
            high_ = column;
            high_level_ = level;
        }
    }

    std::optional<std::size_t> unit_, centre_, low_, high_;
    double low_level_ = 0;
    double high_level_ = 1;
};

/// What two spellings of one time have in common: what a clock counts, or else the text.
inline std::string time_key(const std::string& stamp, const totograph::io::Clock& clock) {
    if (clock.kind == totograph::io::Clock::Kind::numbers) {
        namespace io = totograph::io;
        const auto count = clock.decimals == io::most_decimals ? io::rounded_count(stamp, clock.decimals)
                                                               : io::parse_count(stamp, clock.decimals);
        return count ? std::to_string(*count) : stamp;
    }
    const auto time = totograph::io::parse_timestamp(stamp, clock.style.order);
    return time ? std::to_string(time->instant) : stamp;
}

/// The row of a table that each time names.
inline std::map<std::string, totograph::Index> rows_by_time(const totograph::io::Table& table) {
    std::map<std::string, totograph::Index> rows;
    for (std::size_t row = 0; row < table.timestamps.size(); ++row) {
        rows.emplace(time_key(table.timestamps[row], table.clock), static_cast<totograph::Index>(row));
    }
    return rows;
}

/// The column of a table that has a series; nothing when it has none.
inline std::optional<std::size_t> column_of(const totograph::io::Table& table, const std::string& series) {
    const auto found = std::find(table.names.begin(), table.names.end(), series);
    return found == table.names.end() ? std::nullopt
                                      : std::optional(static_cast<std::size_t>(found - table.names.begin()));
}

/// Refuses a forecast in another unit than the values that came have.
inline void check_unit(const std::string& name, const std::string& unit, const totograph::io::Table& table,
                       std::size_t column) {
    if (column >= table.units.size() || table.units[column] == unit) {
        return;
    }
    const auto in_words = [](const std::string& text) {
        return text.empty() ? "no unit" : "'" + printable(text) + "'";
    };
    LastForecastColumns::fail(name, "it has '" + printable(table.names[column]) + "' in " + in_words(unit) +
                                        ", and the values that came are read in " + in_words(table.units[column]) +
                                        ", the unit of their first row; write both in one");
}

/// Why a series has no score; empty where the table has its column. With `targets`, the table has these alone.
inline std::string unread_words(const totograph::io::Table& table, const std::vector<std::string>& targets,
                                const std::string& series) {
    if (column_of(table, series)) {
        return "";
    }
    return targets.empty() ? "not scored, for the file has no such column" : "not scored, for --targets leaves it out";
}

inline std::string score_line(const totograph::serve::AccuracyEntry& entry, std::size_t steps, double band,
                              const std::string& unread) {
    std::string line = printable(entry.group) + ": ";
    if (!unread.empty()) {
        return line + unread + "\n";
    }
    if (entry.window == 0) {
        return line + "none of " + plural(static_cast<std::int64_t>(steps), "step") + " has come yet\n";
    }
    line += count_text(static_cast<std::int64_t>(entry.window)) + " of " +
            plural(static_cast<std::int64_t>(steps), "step") + " came, MAE " + short_number(entry.mae, 3) + ", RMSE " +
            short_number(entry.rmse, 3) + ", bias " + short_number(entry.bias, 3);
    if (entry.banded > 0) {
        line +=
            ", " + short_number(100 * entry.coverage, 3) + "% within the band of " + short_number(100 * band, 3) + "%";
    }
    return line + "\n";
}

}  // namespace detail

/// A line for each series of an earlier forecast: how far it was from what the table holds now. Steps are matched by
/// their times, series by name. Throws `Error` (`invalid_file`) for a file that no forecast has written.
/// @param text  the file that `--output` wrote
/// @param name  what messages call it
/// @param targets  the columns that the table was limited to; empty: none, it has all
inline std::string score_last(std::string_view text, const std::string& name, const totograph::io::Table& table,
                              const std::vector<std::string>& targets = {}) {
    totograph::io::CsvRecords records(text, name, ',');
    std::vector<totograph::io::CsvField> record;
    if (!records.next(record)) {
        detail::LastForecastColumns::fail(name, "it is empty");
    }
    const std::size_t width = record.size();
    const detail::LastForecastColumns columns(record, name, table.timestamp_name);
    const auto rows = detail::rows_by_time(table);
    constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
    totograph::serve::OnlineAccuracy accuracy({.groups = all, .waiting = all, .window = all});
    std::map<std::string, std::size_t> steps;
    std::map<std::size_t, double> centres;  // of columns, each found once: files are long
    while (records.next(record)) {
        if (record.size() == 1 && record[0].text.empty()) {
            continue;
        }
        if (record.size() != width) {
            detail::LastForecastColumns::fail(name, "its line " + std::to_string(record[0].line) + " has " +
                                                        std::to_string(record.size()) + " fields, not " +
                                                        std::to_string(width));
        }
        const std::string& series = record[1].text;
        const std::optional<std::size_t> column = detail::column_of(table, series);
        if (column) {
            detail::check_unit(name, columns.unit(record), table, *column);
        }
        // Floats have no digits for a step of 1 at a level of 1e9.
        if (column && !centres.contains(*column)) {
            centres.emplace(*column, level_of(table.columns[*column]));
        }
        const double level = column ? centres.at(*column) : 0;
        const auto above_level = [&](std::size_t field) {
            return static_cast<float>(detail::decimal_or_nan(record[field].text) - level);
        };
        const auto found = rows.find(detail::time_key(record[0].text, table.clock));
        const totograph::Index row = found == rows.end() ? -1 : found->second;
        ++steps[series];
        const float centre = above_level(columns.centre());
        if (columns.has_band()) {
            const float low = above_level(columns.low());
            const float high = above_level(columns.high());
            accuracy.expect(series, row, {&centre, 1}, {&low, 1}, {&high, 1});
        } else {
            accuracy.expect(series, row, {&centre, 1});
        }
        if (row >= 0 && column) {
            const auto value = static_cast<float>(table.columns[*column][static_cast<std::size_t>(row)] - level);
            (void)accuracy.observe(series, row, static_cast<double>(value));
        }
    }
    std::string lines;
    for (const totograph::serve::AccuracyEntry& entry : accuracy.read()) {
        lines += detail::score_line(entry, steps[entry.group], columns.band(),
                                    detail::unread_words(table, targets, entry.group));
    }
    return lines;
}

}  // namespace examples
