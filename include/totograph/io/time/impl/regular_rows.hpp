// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/time/regular_rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/csv/table.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/time_step.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE void RowRepair::run() {
    drop_timeless();
    sort();
    drop_repeated();
    fill();
}

TOTOGRAPH_INLINE void RowRepair::put_in_order(std::string_view advice) {
    drop_timeless();
    sort();
    refuse_different(advice);
    drop_repeated();
}

TOTOGRAPH_INLINE void RowRepair::refuse_different(std::string_view advice) {
    std::vector<std::size_t> rows = repeated();
    std::erase_if(rows, [&](std::size_t row) { return is_same(row, row - 1); });
    if (!rows.empty()) {
        throw Error(ErrorCode::invalid_file, "The file " + file_ + " has " + rows_text(rows.size()) +
                                                 " with the time of another one and other values, such as " +
                                                 stamp(rows.front()) + "; keep one row of each time. " +
                                                 std::string(advice));
    }
}

TOTOGRAPH_INLINE void RowRepair::tell(const std::string& what, const std::string& done, const std::string& otherwise) {
    if (policy_ == RowPolicy::strict) {
        throw Error(ErrorCode::invalid_file, "The file " + file_ + " " + what + ". Without --strict " + done + ".");
    }
    table_.notes.push_back("The file " + file_ + " " + what + ": " + done + otherwise + ".");
}

TOTOGRAPH_INLINE void RowRepair::keep(const std::vector<std::size_t>& rows) {
    const auto choose = [&](auto& values) {
        std::remove_reference_t<decltype(values)> chosen;
        chosen.reserve(rows.size());
        for (const std::size_t row : rows) {
            chosen.push_back(std::move(values[row]));
        }
        values = std::move(chosen);
    };
    choose(table_.timestamps);
    choose(times());
    for (std::vector<double>& column : table_.columns) {
        choose(column);
    }
}

TOTOGRAPH_INLINE void RowRepair::drop_timeless() {
    const std::vector<std::size_t> rows = rows_where([&](std::size_t row) { return times()[row] != Clock::unknown; });
    if (const std::size_t lost = times().size() - rows.size(); lost > 0) {
        refuse_timeless();
        tell("has " + rows_text(lost) + " without a time", lost == 1 ? "it is left out" : "they are left out");
        keep(rows);
    }
}

TOTOGRAPH_INLINE void RowRepair::refuse_timeless() const {
    std::size_t lost = 0;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
        const auto has_value = [&](const auto& column) { return !std::isnan(column[row]); };
        const bool is_lost = table_.clock.times[row] == Clock::unknown &&
                             std::any_of(table_.columns.begin(), table_.columns.end(), has_value);
        lost += is_lost ? 1 : 0;
    }
    constexpr std::size_t few = 8;
    if (lost < few || 2 * lost < table_.rows()) {
        return;
    }
    throw Error(
        ErrorCode::invalid_file,
        "The file " + file_ + " has " + rows_text(lost) + " of " + std::to_string(table_.rows()) +
            " with values and without a time. If a time stands in the first of several rows alone, as in merged "
            "cells, fill it into all of them; else take the rows as they stand (--as-is).");
}

TOTOGRAPH_INLINE void RowRepair::sort() {
    const auto first = std::adjacent_find(times().begin(), times().end(), std::greater<>());
    if (first == times().end()) {
        return;
    }
    std::vector<std::size_t> rows(times().size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    if (std::is_sorted(times().rbegin(), times().rend())) {
        tell("has its newest row first", "the rows are turned round");
    } else {
        const auto row = static_cast<std::size_t>(first - times().begin());
        tell("has rows that are not in the order of time (" + stamp(row + 1) + " comes after " + stamp(row) + ")",
             "they are sorted");
    }
    // Rows of one time stay in the order of the file, whose first one is kept.
    std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) { return times()[a] < times()[b]; });
    keep(rows);
    spell_as_latest();
}

TOTOGRAPH_INLINE void RowRepair::spell_as_latest() {
    TimestampStyle& style = table_.clock.style;
    if (style.zone.empty()) {
        return;
    }
    if (std::optional<Timestamp> latest = parse_timestamp(table_.timestamps.back(), style.order)) {
        join_style(latest->style, style);
        style = std::move(latest->style);
    }
}

TOTOGRAPH_INLINE void RowRepair::drop_repeated() {
    const std::vector<std::size_t> lost = repeated();
    if (lost.empty()) {
        return;
    }
    refuse_one_time();
    const auto different = static_cast<std::size_t>(
        std::count_if(lost.begin(), lost.end(), [&](std::size_t row) { return !is_same(row, row - 1); }));
    const std::string what = "has " + rows_text(lost.size()) + " with the time of another one, such as " +
                             stamp(lost.front()) +
                             (different > 0 ? ", " + std::to_string(different) + " of them with other values" : "");
    refuse_repeated(what, different);
    tell(what, "the first row of each time is kept");
    keep(rows_where([&](std::size_t row) { return row == 0 || times()[row] != times()[row - 1]; }));
}

TOTOGRAPH_INLINE void RowRepair::refuse_one_time() const {
    const std::vector<std::int64_t>& all = table_.clock.times;
    if (all.size() < 3 || all.front() != all.back()) {
        return;
    }
    throw Error(ErrorCode::invalid_file,
                "All " + rows_text(all.size()) + " of the file " + file_ + " have one time, " + stamp(0) +
                    ", which puts them in no order. If another column holds the time, name it (--time COLUMN); if "
                    "columns say which series a row is of, name them (--series COLUMN); else take the rows as they "
                    "stand (--as-is).");
}

TOTOGRAPH_INLINE void RowRepair::refuse_repeated(const std::string& what, std::size_t different) const {
    if (different < 2 || 2 * different < table_.rows()) {
        return;
    }
    throw Error(ErrorCode::invalid_file,
                "The file " + file_ + " " + what + ", of " + std::to_string(table_.rows()) +
                    ": at least half of it would be lost, where times should hardly ever repeat. If another column "
                    "holds the time, name it (--time COLUMN); if columns say which series a row is of, name them "
                    "(--series COLUMN); else take the rows as they stand (--as-is).");
}

TOTOGRAPH_INLINE bool RowRepair::is_same(std::size_t a, std::size_t b) const {
    return std::all_of(table_.columns.begin(), table_.columns.end(), [&](const std::vector<double>& column) {
        return column[a] == column[b] || (std::isnan(column[a]) && std::isnan(column[b]));
    });
}

TOTOGRAPH_INLINE std::int64_t RowRepair::missing_before(std::size_t row, const TimeStep& step) {
    if (step.kind == TimeStep::Kind::months || step.kind == TimeStep::Kind::half_months) {
        return step.calendar_steps(times()[row - 1], times()[row]) - 1;
    }
    const double steps = static_cast<double>(time_between(times()[row - 1], times()[row])) / step.mean();
    return std::max<std::int64_t>(static_cast<std::int64_t>(std::round(std::min(steps, 1e15))) - 1, 0);
}

TOTOGRAPH_INLINE void RowRepair::fill() {
    const TimeStep step = find_time_step(table_.clock);
    if (step.kind == TimeStep::Kind::uneven) {
        if (times().size() > 2) {
            tell("has rows at uneven intervals of time", "each is taken as one step");
        }
        return;
    }
    std::int64_t missing = 0;
    std::size_t first = 0;
    const std::int64_t most = most_missing();
    for (std::size_t row = 1; row < times().size() && missing <= most; ++row) {
        const std::int64_t here = missing_before(row, step);
        first = first == 0 && here > 0 ? row : first;
        missing += std::min(here, most + 1);
    }
    if (missing == 0) {
        return;
    }
    if (missing > most) {
        throw Error(ErrorCode::invalid_file,
                    "The file " + file_ + " lacks more than " + std::to_string(most) +
                        " rows between its times, beginning behind " + stamp(first - 1) +
                        "; one of the times may be wrong. Take the rows as they stand (--as-is).");
    }
    const auto count = static_cast<std::size_t>(missing);
    tell("lacks " + rows_text(count) + " between its times, the first behind " + stamp(first - 1),
         count == 1 ? "it becomes a gap" : "they become gaps", " (--as-is takes the rows as they stand)");
    insert(step, count);
}

TOTOGRAPH_INLINE std::int64_t RowRepair::most_missing() const {
    const auto rows = static_cast<std::int64_t>(table_.rows());
    const auto columns = static_cast<std::int64_t>(std::max<std::size_t>(table_.columns.size(), 1));
    return std::min<std::int64_t>(std::max<std::int64_t>(20 * rows, 1000), (std::int64_t{1} << 28U) / columns);
}

TOTOGRAPH_INLINE void RowRepair::insert(const TimeStep& step, std::size_t count) {
    std::vector<std::size_t> sources;  // The row that each row comes from; `none` for new ones.
    constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
    Times all;
    std::vector<std::string> stamps;
    const std::size_t rows = times().size();
    sources.reserve(rows + count);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::int64_t missing = row == 0 ? 0 : missing_before(row, step);
        for (std::int64_t i = 1; i <= missing; ++i) {
            const std::int64_t time = step.later(times()[row - 1], i);
            sources.push_back(none);
            all.push_back(time);
            stamps.push_back(table_.clock.text(time));
        }
        sources.push_back(row);
        all.push_back(times()[row]);
        stamps.push_back(std::move(table_.timestamps[row]));
    }
    for (std::vector<double>& column : table_.columns) {
        std::vector<double> filled;
        filled.reserve(sources.size());
        for (const std::size_t source : sources) {
            filled.push_back(source == none ? std::numeric_limits<double>::quiet_NaN() : column[source]);
        }
        column = std::move(filled);
    }
    table_.timestamps = std::move(stamps);
    times() = std::move(all);
}

}  // namespace detail

TOTOGRAPH_INLINE void make_regular(Table& table, std::string_view file_name, RowPolicy policy) {
    if (table.clock.is_known() && policy != RowPolicy::as_they_stand) {
        detail::RowRepair(table, file_name, policy).run();
    }
}

TOTOGRAPH_INLINE void put_in_order(Table& table, std::string_view file_name, RowPolicy policy,
                                   std::string_view advice) {
    if (table.clock.is_known() && policy != RowPolicy::as_they_stand) {
        detail::RowRepair(table, file_name, policy).put_in_order(advice);
    }
}

}  // namespace totograph::io
