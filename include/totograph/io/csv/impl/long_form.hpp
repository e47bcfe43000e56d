// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/long_form.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/csv/names.hpp>
#include <totograph/io/csv/table.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/regular_rows.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE bool is_full_of_gaps(const std::vector<bool>& is_known) {
    constexpr std::ptrdiff_t few = 8;
    const auto first = std::find(is_known.begin(), is_known.end(), true);
    const auto end = std::find(is_known.rbegin(), is_known.rend(), true).base();
    const std::ptrdiff_t known = std::count(is_known.begin(), is_known.end(), true);
    return known >= few && 3 * (end - first - known) >= end - first;
}

}  // namespace detail

TOTOGRAPH_INLINE Table pivot(Table rows, const std::vector<std::string>& series, std::string_view file_name,
                             RowPolicy policy,
                             const std::function<std::string(const std::vector<std::int64_t>&)>& labels) {
    const std::string file = in_quotes(file_name, longest_quote);
    if (!rows.clock.is_known()) {
        throw Error(ErrorCode::invalid_file,
                    "The file " + file +
                        " has no column of times, which tell the values of its series that belong "
                        "together. Name it (--time COLUMN).");
    }
    std::vector<std::int64_t> times = rows.clock.times;
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    std::unordered_map<std::string_view, std::size_t> columns;
    std::vector<std::string> names;
    for (const std::string& name : series) {
        if (columns.emplace(name, names.size()).second) {
            names.push_back(name);
        }
    }
    const std::size_t most_cells = std::max<std::size_t>(64 * series.size(), 1'000'000);
    if (names.size() > most_cells / times.size()) {
        throw Error(ErrorCode::invalid_file, "The file " + file + " has " + std::to_string(names.size()) +
                                                 " series at " + std::to_string(times.size()) +
                                                 " times, of which hardly any is known. Name other columns to tell the "
                                                 "series apart (--series COLUMN).");
    }
    Table table;
    table.timestamp_name = std::move(rows.timestamp_name);
    table.columns.assign(names.size(), std::vector<double>(times.size(), std::numeric_limits<double>::quiet_NaN()));
    std::vector<std::vector<bool>> is_known(names.size(), std::vector<bool>(times.size()));
    table.timestamps.resize(times.size());
    std::vector<detail::RepeatedValues> repeats(names.size());
    std::size_t repeated = 0;
    for (std::size_t i = 0; i < series.size(); ++i) {
        const auto row =
            static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), rows.clock.times[i]) - times.begin());
        const std::size_t column = columns.at(series[i]);
        if (table.timestamps[row].empty()) {
            table.timestamps[row] = std::move(rows.timestamps[i]);
        }
        const double value = rows.columns[0][i];
        ++repeats[column].values;
        if (is_known[column][row]) {
            const double first = table.columns[column][row];
            const bool is_same = first == value || (std::isnan(first) && std::isnan(value)) ||
                                 rows.clock.times[i] == Clock::unknown;  // such rows are left out anyway
            ++repeats[column].repeated;
            repeats[column].different += is_same ? 0 : 1;
            ++repeated;
            continue;
        }
        is_known[column][row] = true;
        table.columns[column][row] = value;
    }
    for (std::size_t column = 0; column < names.size(); ++column) {
        if (repeats[column].are_many()) {
            const std::string others = labels ? labels(rows.clock.times) : "";
            throw Error(ErrorCode::invalid_file,
                        "The file " + file + " has " + std::to_string(repeats[column].values) +
                            " values of the series " + in_quotes(names[column]) + ", " +
                            std::to_string(repeats[column].repeated) + " of them at a time that has one already (" +
                            std::to_string(repeats[column].different) +
                            " with another number): several series go by that name. Name all the columns that tell "
                            "them apart (--series " +
                            (others.empty() ? "COLUMN,COLUMN" : as_argument(others)) + ").");
        }
    }
    if (repeated > 0 && policy == RowPolicy::strict) {
        throw Error(ErrorCode::invalid_file, "The file " + file + " has " + std::to_string(repeated) +
                                                 (repeated == 1 ? " value" : " values") +
                                                 " of a series at a time that has one already. Without --strict the "
                                                 "first of each is kept.");
    }
    std::vector<std::string> sparse;
    for (std::size_t column = 0; column < names.size(); ++column) {
        if (detail::is_full_of_gaps(is_known[column])) {
            sparse.push_back(names[column]);
        }
    }
    std::vector<std::string> reserved = {table.timestamp_name};
    reserved.insert(reserved.end(), names.begin(), names.end());
    reserved = unique_names(std::move(reserved)).names;
    table.names.assign(std::make_move_iterator(reserved.begin() + 1), std::make_move_iterator(reserved.end()));
    table.units.assign(table.names.size(), rows.units.empty() ? "" : rows.units[0]);
    table.notes = std::move(rows.notes);
    table.clock = std::move(rows.clock);
    table.clock.times = std::move(times);
    if (repeated > 0) {
        table.notes.push_back("The file " + file + " has " + std::to_string(repeated) +
                              (repeated == 1 ? " value" : " values") +
                              " of a series at a time that has one already; the first of each is kept.");
    }
    if (!sparse.empty()) {
        table.notes.push_back("The series of the file " + file + " have values at different times: of " +
                              name_list(sparse) +
                              " a third or more of the rows from the first value to the last become gaps. Forecasts of "
                              "them are poor; give series that share their times a file of their own.");
    }
    return table;
}

}  // namespace totograph::io
