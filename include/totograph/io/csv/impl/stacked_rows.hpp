// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/stacked_rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/io/csv/series_labels.hpp>
#include <totograph/io/csv/table.hpp>
#include <totograph/io/time/clock.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE bool has_series_below(const std::vector<std::int64_t>& times, const std::vector<bool>& is_different) {
    for (std::size_t begin = 0; begin < times.size();) {
        std::size_t end = begin + 1;
        std::size_t different = is_different[begin] ? 1 : 0;
        const bool rises = end < times.size() && times[end] > times[begin];
        while (end < times.size() && times[end] != times[end - 1] && (times[end] > times[end - 1]) == rises) {
            different += is_different[end++] ? 1 : 0;
        }
        if (end - begin >= least_stretch && 2 * different >= end - begin) {
            return true;
        }
        begin = end;
    }
    return false;
}

TOTOGRAPH_INLINE bool has_series_between(const std::vector<std::int64_t>& times,
                                         const std::vector<bool>& is_different) {
    std::map<std::int64_t, std::size_t> counts;  // rows of each time
    std::size_t different = 0;
    for (std::size_t row = 0; row < times.size(); ++row) {
        ++counts[times[row]];
        if (is_different[row]) {
            ++different;
            if (times[row] != times[row - 1]) {
                return false;
            }
        }
    }
    std::size_t most = 0;
    std::size_t changes = 0;
    for (auto time = counts.begin(), before = time; time != counts.end(); before = time++) {
        most = std::max(most, time->second);
        changes += time->second != before->second ? 1 : 0;
    }
    // Each series begins once and ends once.
    return different >= least_stretch && changes <= 2 * most;
}

TOTOGRAPH_INLINE bool come_regularly(const std::vector<std::size_t>& places) {
    std::map<std::size_t, std::size_t> counts;  // of the distances
    std::size_t most = 0;
    for (std::size_t i = 1; i < places.size(); ++i) {
        most = std::max(most, ++counts[places[i] - places[i - 1]]);
    }
    return 4 * most >= 3 * (places.size() - 1);
}

TOTOGRAPH_INLINE bool numbers_series(const std::vector<std::int64_t>& times, const LabelNumbers& numbers) {
    // What is said once in four rows at most is a name, over all rows and where series meet.
    const auto are_names = [](const LabelNumbers& said) {
        const std::size_t count = std::set<std::size_t>(said.begin(), said.end()).size();
        return count > 1 && 4 * count <= said.size();
    };
    std::map<std::int64_t, LabelNumbers> at;
    for (std::size_t row = 0; row < times.size(); ++row) {
        at[times[row]].push_back(numbers[row]);
    }
    LabelNumbers meeting;
    bool rise = true;
    bool fall = true;
    std::map<std::size_t, std::vector<std::size_t>> places;  // among the times, of each number
    std::size_t place = 0;
    for (const auto& [time, said] : at) {
        for (const std::size_t number : said) {
            places[number].push_back(place);
        }
        ++place;
        if (said.size() > 1) {
            meeting.insert(meeting.end(), said.begin(), said.end());
            const auto none = said.end();
            rise = rise && std::adjacent_find(said.begin(), said.end(), std::greater_equal<>()) == none;
            fall = fall && std::adjacent_find(said.begin(), said.end(), std::less_equal<>()) == none;
        }
    }
    // Flags and versions of rows that were written again come now and then.
    return (rise || fall) && are_names(numbers) && are_names(meeting) &&
           std::all_of(places.begin(), places.end(), [](const auto& number) { return come_regularly(number.second); });
}

TOTOGRAPH_INLINE bool counts_rows(const std::vector<double>& column) {
    const auto is_no_count = [](double value) { return !(std::floor(value) == value); };
    const auto none = column.end();
    return std::find_if(column.begin(), none, is_no_count) == none &&
           (std::adjacent_find(column.begin(), none, std::greater_equal<>()) == none ||
            std::adjacent_find(column.begin(), none, std::less_equal<>()) == none);
}

TOTOGRAPH_INLINE bool changes_within(const std::vector<double>& column, const LabelNumbers& series) {
    std::unordered_map<std::size_t, double> first;
    for (std::size_t row = 0; row < column.size(); ++row) {
        if (!std::isnan(column[row]) && first.emplace(series[row], column[row]).first->second != column[row]) {
            return true;
        }
    }
    return false;
}

}  // namespace detail

TOTOGRAPH_INLINE StackedRows stacked_rows(const Table& table) {
    StackedRows found;
    const std::vector<std::int64_t>& all = table.clock.times;
    if (std::adjacent_find(all.begin(), all.end(), std::greater_equal<>()) == all.end()) {
        // Those without a time come first then, and are one at most.
        found.rows = all.size() - (!all.empty() && all.front() == Clock::unknown ? 1 : 0);
        found.times = found.rows;
        return found;
    }
    std::vector<std::int64_t> times;
    std::vector<bool> is_different;
    std::unordered_map<std::int64_t, std::size_t> first;
    std::unordered_set<std::int64_t> repeated;
    for (std::size_t row = 0; row < all.size(); ++row) {
        const std::int64_t time = all[row];
        if (time == Clock::unknown) {
            continue;
        }
        const auto [place, is_new] = first.emplace(time, row);
        const std::size_t known = place->second;
        if (!is_new) {
            repeated.insert(time);
        }
        const bool is_same = std::all_of(table.columns.begin(), table.columns.end(), [&](const auto& column) {
            return column[known] == column[row] || std::isnan(column[known]) || std::isnan(column[row]);
        });
        times.push_back(time);
        is_different.push_back(!is_same);
        found.different += is_same ? 0 : 1;
    }
    found.rows = times.size();
    found.times = first.size();
    found.repeated = repeated.size();
    found.are_stretches =
        detail::has_series_below(times, is_different) || detail::has_series_between(times, is_different);
    return found;
}

TOTOGRAPH_INLINE std::optional<std::size_t> series_number(const std::vector<std::int64_t>& times,
                                                          const std::vector<LabelNumbers>& columns) {
    for (std::size_t column = 0; column < columns.size(); ++column) {
        if (detail::numbers_series(times, columns[column])) {
            return column;
        }
    }
    return std::nullopt;
}

TOTOGRAPH_INLINE std::optional<std::size_t> likely_value(const Table& table, const std::vector<std::string>& names,
                                                         const std::vector<LabelNumbers>& labels) {
    LabelNumbers series = labels.front();
    for (std::size_t label = 1; label < labels.size(); ++label) {
        series = detail::number_pairs(series, labels[label]);
    }
    std::optional<std::size_t> first;
    for (std::size_t place = 0; place < table.columns.size(); ++place) {
        if (std::find(names.begin(), names.end(), table.names[place]) != names.end()) {
            continue;
        }
        std::vector<double> column;  // of the rows that have a time
        for (std::size_t row = 0; row < table.rows(); ++row) {
            if (table.clock.times[row] != Clock::unknown) {
                column.push_back(table.columns[place][row]);
            }
        }
        if (detail::changes_within(column, series) && !detail::counts_rows(column)) {
            return place;
        }
        first = first.value_or(place);
    }
    return first;
}

}  // namespace totograph::io
