// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/io/csv/table.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/regular_rows.hpp>
#include <totograph/io/time/timestamp.hpp>
#include <totograph/models/kronos/candles.hpp>
#include <totograph/models/kronos/config.hpp>

#include "../common/format.hpp"
#include "../common/small_spread_note.hpp"
#include "../intake/options.hpp"
#include "candle_note.hpp"
#include "column_roles.hpp"
#include "refuse_candles.hpp"

namespace examples {

/// The candles of a table, as f32, and their times as seconds of wall time.
struct CandleTable {
    std::array<std::vector<float>, totograph::kronos::column_count> columns;  ///< Empty where the table has none.
    std::vector<std::int64_t> times;
    std::vector<std::string> stamps;
    totograph::io::Clock clock;  ///< How stamps are spelled; without their times.
    std::vector<CandleNote> notes;

    /// A time in the spelling of the table.
    [[nodiscard]] std::string stamp(std::int64_t time) const {
        constexpr std::int64_t second = totograph::io::nanoseconds_per_second;
        if (clock.kind == totograph::io::Clock::Kind::instants) {
            return clock.text((time - clock.style.offset_seconds) * second);
        }
        return clock.text(clock.epoch_unit >= second ? time / (clock.epoch_unit / second)
                                                     : time * (second / clock.epoch_unit));
    }

    [[nodiscard]] std::size_t rows() const { return times.size(); }

    /// Some rows, with the times to forecast behind them.
    [[nodiscard]] totograph::kronos::Candles candles(std::size_t first, std::size_t count,
                                                     std::span<const std::int64_t> future) const {
        const auto part = [&](const std::vector<float>& column) {
            return column.empty() ? std::span<const float>() : std::span(column).subspan(first, count);
        };
        return {.open = part(columns[0]),
                .high = part(columns[1]),
                .low = part(columns[2]),
                .close = part(columns[3]),
                .volume = part(columns[4]),
                .amount = part(columns[5]),
                .time = std::span(times).subspan(first, count),
                .future_time = future};
    }
};

/// Which candles forecasts see: so many before each window of so many candles that is hidden at the end, or the newest
/// where none is.
struct SeenCandles {
    std::size_t context = std::numeric_limits<std::size_t>::max();
    std::size_t windows = 0;
    std::size_t horizon = 0;
};

namespace detail {

/// A column as f32, which holds what the reader lets pass. Refuses gaps.
inline std::vector<float> candle_column(const std::vector<double>& column, std::string_view name,
                                        const std::vector<std::string>& stamps, const std::string& file) {
    std::vector<float> values;
    values.reserve(column.size());
    for (std::size_t row = 0; row < column.size(); ++row) {
        values.push_back(static_cast<float>(column[row]));
        if (!std::isfinite(values.back())) {
            refuse_candles("The file " + file + " has no number for " + std::string(name) + " at " +
                           totograph::io::in_quotes(stamps[row]) + "; fill it, or leave the row out.");
        }
    }
    return values;
}

/// Refuses a table whose rows do not all have a time.
inline void check_clock(const totograph::io::Table& table, const std::string& file) {
    using totograph::io::Clock;
    const Clock& clock = table.clock;
    const bool is_epoch = clock.kind == Clock::Kind::numbers && clock.epoch_unit > 0;
    if (clock.kind != Clock::Kind::instants && !is_epoch) {
        refuse_candles("The file " + file +
                       " has no column of dates and times, which a Kronos model reads; name it with --timestamp.");
    }
    const auto timeless = std::find(clock.times.begin(), clock.times.end(), Clock::unknown);
    if (timeless != clock.times.end()) {
        refuse_candles("The file " + file + " has no time in row " +
                       std::to_string(timeless - clock.times.begin() + 1) + "; fill it, or leave the row out.");
    }
}

/// Refuses times of two rows, one behind the other, whose seconds do not ascend.
[[noreturn]] inline void refuse_times(const totograph::io::Table& table, std::size_t row, const std::string& file) {
    const std::string before = totograph::io::in_quotes(table.timestamps[row - 1]);
    const std::string after = totograph::io::in_quotes(table.timestamps[row]);
    if (table.clock.times[row] > table.clock.times[row - 1]) {
        refuse_candles("The file " + file + " has two candles in one second, " + before + " and " + after +
                       ", which a Kronos model cannot tell apart; take longer candles.");
    }
    refuse_candles("The file " + file + " has candles out of order: " + after + " does not come after " + before +
                   "; leave --as-is out to have them sorted, or sort them, oldest first, each time once.");
}

/// The seconds that a row's own zone adds to UTC, where it says one: a market opens at one hour in summer and winter.
inline std::int64_t zone_of(const totograph::io::Table& table, std::size_t row) {
    const totograph::io::TimestampStyle& style = table.clock.style;
    if (style.zone.empty()) {
        return style.offset_seconds;
    }
    const auto stamp = totograph::io::parse_timestamp(table.timestamps[row], style.order);
    return stamp ? stamp->style.offset_seconds : style.offset_seconds;
}

/// The times of rows that have some, as seconds: each in its own zone, or all in the last row's.
inline std::vector<std::int64_t> seconds_of(const totograph::io::Table& table, bool has_own_zone) {
    using totograph::io::Clock;
    constexpr std::int64_t nanoseconds = totograph::io::nanoseconds_per_second;
    const Clock& clock = table.clock;
    std::vector<std::int64_t> times;
    for (std::size_t row = 0; row < clock.times.size(); ++row) {
        const std::int64_t time = clock.times[row];
        if (clock.kind == Clock::Kind::numbers) {
            times.push_back(clock.epoch_unit >= nanoseconds ? time * (clock.epoch_unit / nanoseconds)
                                                            : time / (nanoseconds / clock.epoch_unit));
        } else {
            times.push_back(time / nanoseconds - (time % nanoseconds < 0 ? 1 : 0) +
                            (has_own_zone ? zone_of(table, row) : clock.style.offset_seconds));
        }
    }
    return times;
}

/// The times of rows that have some, as seconds of wall time. Clocks that are set back have an hour twice: where there
/// are candles in it, all times are in the last row's zone, which has each once.
inline std::vector<std::int64_t> candle_times(const totograph::io::Table& table, const std::string& file) {
    std::vector<std::int64_t> times = seconds_of(table, true);
    if (std::adjacent_find(times.begin(), times.end(), std::greater_equal<>()) == times.end()) {
        return times;
    }
    times = seconds_of(table, false);
    const auto first = std::adjacent_find(times.begin(), times.end(), std::greater_equal<>());
    if (first != times.end()) {
        refuse_times(table, static_cast<std::size_t>(first - times.begin()) + 1, file);
    }
    return times;
}

/// "open, high and close".
inline std::string list_words(const std::vector<std::string>& words) {
    std::string text = words.front();
    for (std::size_t i = 1; i < words.size(); ++i) {
        text += (i + 1 < words.size() ? ", " : " and ") + words[i];
    }
    return text;
}

/// Tells the units that the cells of columns have, which nothing that is written has room for.
inline void tell_units(CandleTable& table, const std::vector<std::string>& units,
                       const std::array<std::optional<RoleColumn>, totograph::kronos::column_count>& roles) {
    std::vector<std::pair<std::string, std::vector<std::string>>> found;  // a unit, and the roles that have it
    for (std::size_t i = 0; i < roles.size(); ++i) {
        const std::string unit = roles[i] && !units.empty() ? units[roles[i]->position] : "";
        if (unit.empty()) {
            continue;
        }
        const auto known = std::find_if(found.begin(), found.end(), [&](const auto& one) { return one.first == unit; });
        auto& names =
            known == found.end() ? found.emplace_back(unit, std::vector<std::string>()).second : known->second;
        names.emplace_back(totograph::kronos::column_names[i]);
    }
    if (found.empty()) {
        return;
    }
    std::string text;
    for (const auto& [unit, names] : found) {
        text += (text.empty() ? "The numbers of " : ", those of ") + list_words(names) + " are in " +
                totograph::io::in_quotes(unit);
    }
    text += "; charts, scores and CSV leave units out.";
    table.notes.push_back({text, text});
}

/// Refuses a candle without an amount whose volume times its prices is beyond what the model reads.
inline void check_amounts(const CandleTable& table, const std::string& file) {
    const totograph::kronos::Candles candles = table.candles(0, table.rows(), {});
    if (candles.volume.empty() || !candles.amount.empty()) {
        return;
    }
    for (std::size_t row = 0; row < table.rows(); ++row) {
        if (!std::isfinite(totograph::kronos::amount_of(candles, row))) {
            refuse_candles(
                "The file " + file + " has a candle at " + totograph::io::in_quotes(table.stamps[row]) +
                " whose volume times the mean of its prices, which stands in for the column 'amount' that is "
                "not there, is beyond the range of 32-bit floats (3.4e38); add that column, or give prices "
                "and volumes in larger units.");
        }
    }
}

/// Tells of candles whose high is below their low, which have their columns exchanged, or are wrong.
inline void tell_high_below_low(CandleTable& table, const std::string& file) {
    std::int64_t count = 0;
    std::size_t first = 0;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        if (table.columns[1][row] < table.columns[2][row]) {
            first = count == 0 ? row : first;
            ++count;
        }
    }
    if (count > 0) {
        table.notes.push_back({"high below low", "The file " + file + " has " + plural(count, "candle") +
                                                     " whose high is below the low, the first at " +
                                                     totograph::io::in_quotes(table.stamps[first]) +
                                                     "; the values are taken as they are."});
    }
}

/// Tells of prices that vary by so little, among those that a forecast sees, that what Kronos adds to their standard
/// deviation (`KronosConfig::deviation_epsilon`) is a tenth of it or more, as those of coins of 0.00001 do.
inline void tell_small_spread(CandleTable& table, const std::string& file, const SeenCandles& seen) {
    constexpr double least = 10 * totograph::kronos::KronosConfig::deviation_epsilon;
    const auto is_small = [&](std::size_t end) {
        const std::size_t begin = end - std::min(seen.context, end);
        return std::any_of(table.columns.begin(), table.columns.begin() + 4, [&](const auto& prices) {
            const auto first = prices.begin();
            const double deviation = deviation_of(std::vector<double>(first + static_cast<std::ptrdiff_t>(begin),
                                                                      first + static_cast<std::ptrdiff_t>(end)));
            return deviation > 0 && deviation < least;
        });
    };
    bool is_any = seen.windows == 0 && is_small(table.rows());
    for (std::size_t window = 1; !is_any && window <= seen.windows && window * seen.horizon < table.rows(); ++window) {
        is_any = is_small(table.rows() - window * seen.horizon);
    }
    if (is_any) {
        table.notes.push_back({"small spread", "The prices that a forecast sees of the file " + file +
                                                   " have a standard deviation below 0.0001, to which Kronos adds "
                                                   "0.00001: it sees them flatter than they are, and bands are too "
                                                   "wide. Multiply them by a number that takes it above 0.001, and "
                                                   "divide the forecast by it."});
    }
}

}  // namespace detail

/// The candles of a table that was read with its rows as they stand. What is to become of rows that are out of order or
/// repeated says `intake`; notes tell it. Throws `Error(invalid_file)` with one sentence when a column is missing or
/// holds gaps, times are missing, or rows cannot be put in order.
inline CandleTable candle_table(totograph::io::Table table, const std::string& file_name, const IntakeOptions& intake,
                                const SeenCandles& seen = {}) {
    const std::string file = totograph::io::in_quotes(file_name);
    CandleTable result;
    detail::check_clock(table, file);
    if (!intake.as_is) {
        using totograph::io::RowPolicy;
        totograph::io::put_in_order(table, file_name, intake.strict ? RowPolicy::strict : RowPolicy::repair,
                                    "Where a column says whose candle a row is, name it with --symbol-column.");
    }
    std::transform(table.notes.begin(), table.notes.end(), std::back_inserter(result.notes),
                   [&](const std::string& note) { return note_of_reader(note, file_name); });
    std::array<std::optional<RoleColumn>, totograph::kronos::column_count> roles;
    for (std::size_t i = 0; i < roles.size(); ++i) {
        const auto role = static_cast<totograph::kronos::Column>(i);
        roles[i] = find_role(table.names, role, file);
        if (!roles[i] && role < totograph::kronos::Column::volume) {
            detail::refuse_missing_role(role, table.names, file);
        }
        if (roles[i] && roles[i]->is_stand_in) {
            const std::string note = "Column " + totograph::io::in_quotes(table.names[roles[i]->position]) +
                                     " is taken for " + detail::role_name(role) + ".";
            result.notes.push_back({note, note});
        }
    }
    for (std::size_t i = 0; i < roles.size(); ++i) {
        if (roles[i]) {
            result.columns[i] = detail::candle_column(table.columns[roles[i]->position],
                                                      totograph::kronos::column_names[i], table.timestamps, file);
        }
    }
    detail::tell_units(result, table.units, roles);
    result.times = detail::candle_times(table, file);
    result.stamps = std::move(table.timestamps);
    result.clock = std::move(table.clock);
    result.clock.times = {};
    detail::check_amounts(result, file);
    detail::tell_high_below_low(result, file);
    detail::tell_small_spread(result, file, seen);
    return result;
}

}  // namespace examples
