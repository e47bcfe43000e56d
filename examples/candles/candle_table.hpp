// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/table.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/timestamp.hpp>
#include <totograph/models/kronos/candles.hpp>

namespace examples {

/// The candles of a table, as f32, and their times as seconds of wall time.
struct CandleTable {
    std::array<std::vector<float>, totograph::kronos::column_count> columns;  ///< Empty where the table has none.
    std::vector<std::int64_t> times;
    std::vector<std::string> stamps;
    totograph::io::Clock clock;  ///< How stamps are spelled; without their times.

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

namespace detail {

[[noreturn]] inline void refuse_candles(const std::string& sentence) {
    throw totograph::Error(totograph::ErrorCode::invalid_file, sentence);
}

[[noreturn]] inline void refuse_missing_column(std::string_view name, const std::vector<std::string>& columns,
                                               const std::string& file) {
    std::string names;
    for (const std::string& column : columns) {
        names += names.empty() ? "" : ", ";
        names += column;
    }
    refuse_candles("The file " + file + " has no column of numbers '" + std::string(name) +
                   "'; candles need open, high, low and close. Its columns of numbers are: " + names + ".");
}

/// The column of this name, whatever the case of its letters.
inline const std::vector<double>* find_column(const totograph::io::Table& table, std::string_view name) {
    for (std::size_t i = 0; i < table.names.size(); ++i) {
        const bool is_same =
            std::equal(name.begin(), name.end(), table.names[i].begin(), table.names[i].end(),
                       [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
        if (is_same) {
            return &table.columns[i];
        }
    }
    return nullptr;
}

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

inline std::vector<std::int64_t> candle_times(const totograph::io::Table& table, const std::string& file) {
    using totograph::io::Clock;
    const Clock& clock = table.clock;
    const bool is_epoch = clock.kind == Clock::Kind::numbers && clock.epoch_unit > 0;
    if (clock.kind != Clock::Kind::instants && !is_epoch) {
        refuse_candles("The file " + file +
                       " has no column of dates and times, which a Kronos model reads; name it with --timestamp.");
    }
    std::vector<std::int64_t> times;
    for (std::size_t row = 0; row < clock.times.size(); ++row) {
        if (clock.times[row] == Clock::unknown) {
            refuse_candles("The file " + file + " has no time in row " + std::to_string(row + 1) +
                           "; fill it, or leave the row out.");
        }
        constexpr std::int64_t nanoseconds = totograph::io::nanoseconds_per_second;
        std::int64_t time = clock.times[row];
        if (is_epoch) {
            time = clock.epoch_unit >= nanoseconds ? time * (clock.epoch_unit / nanoseconds)
                                                   : time / (nanoseconds / clock.epoch_unit);
        } else {
            time = time / nanoseconds - (time % nanoseconds < 0 ? 1 : 0) + clock.style.offset_seconds;
        }
        if (row > 0 && time <= times.back()) {
            refuse_candles("The file " + file +
                           " has candles out of order: " + totograph::io::in_quotes(table.timestamps[row]) +
                           " does not come after " + totograph::io::in_quotes(table.timestamps[row - 1]) +
                           "; sort the rows, oldest first, each time once.");
        }
        times.push_back(time);
    }
    return times;
}

}  // namespace detail

/// The candles of a table. Throws `Error(invalid_file)` with one sentence when a column is missing or holds gaps, or
/// times are missing or out of order.
inline CandleTable candle_table(const totograph::io::Table& table, const std::string& file_name) {
    const std::string file = totograph::io::in_quotes(file_name);
    CandleTable result;
    for (std::size_t i = 0; i < result.columns.size(); ++i) {
        const std::string_view name = totograph::kronos::column_names[i];
        const std::vector<double>* const column = detail::find_column(table, name);
        const bool may_be_missing = i >= static_cast<std::size_t>(totograph::kronos::Column::volume);
        if (column != nullptr) {
            result.columns[i] = detail::candle_column(*column, name, table.timestamps, file);
        } else if (!may_be_missing) {
            detail::refuse_missing_column(name, table.names, file);
        }
    }
    result.times = detail::candle_times(table, file);
    result.stamps = table.timestamps;
    result.clock = table.clock;
    result.clock.times = {};
    return result;
}

}  // namespace examples
