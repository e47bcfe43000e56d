// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {

/// What a column of timestamps says, row by row.
struct Clock {
    enum class Kind {
        none,      ///< There is no such column.
        labels,    ///< Its text is nothing that could be read as times.
        instants,  ///< `times` are nanoseconds since 1970-01-01T00:00Z.
        numbers    ///< `times` are numbers: epoch times, or a counter.
    };
    /// The time of a row whose cell is empty.
    static constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::min();
    static constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();

    Kind kind = Kind::none;
    std::vector<std::int64_t> times;  ///< Empty for `none` and `labels`.
    TimestampStyle style;             ///< How the instants are spelled, the last one above all (`join_style`).
    int decimals = 0;                 ///< Numbers are counted in units of the last of so many decimals, nine at most.
    std::int64_t epoch_unit = 0;      ///< Nanoseconds in one count of an epoch time; 0 for a counter.

    [[nodiscard]] bool is_known() const noexcept { return kind == Kind::instants || kind == Kind::numbers; }
    /// A time in the spelling of the column.
    [[nodiscard]] std::string text(std::int64_t time) const;
};

/// How far `to` is behind `from`; where that is no 64-bit number, the nearest one.
std::int64_t time_between(std::int64_t from, std::int64_t to);

/// Reads a whole number: an epoch time or a counter.
std::optional<std::int64_t> parse_whole_number(std::string_view text);

/// The number of decimals of a plain number; 0 for whole ones and for those with an exponent.
int decimals_of(std::string_view text);

/// A number as a count of units of 10^-`decimals`, exactly for plain decimals; nothing for what is no number, has more
/// decimals, or lies beyond 4e18 such units (which keeps differences and continuations clear of overflow).
std::optional<std::int64_t> parse_count(std::string_view text, int decimals);

/// Numbers have as many decimals as times have, down to nanoseconds; further ones are rounded, as those of days in a
/// spreadsheet.
inline constexpr int most_decimals = 9;

/// `parse_count` of a number that may have more decimals, which are rounded.
std::optional<std::int64_t> rounded_count(std::string_view text, int decimals);

/// Nanoseconds in the unit of a number that lies where epoch times of the years 2001 to 2096 do; 0 elsewhere.
/// The number is a count of units of 10^-`decimals`.
std::int64_t epoch_unit_of(std::int64_t count, int decimals);

/// "20260105" as a timestamp whose parts touch.
std::optional<Timestamp> parse_compact_date(std::string_view text);

/// A date of digits alone: a month ("202601"), a day ("20260105"), and what adds an hour, minutes and seconds to it
/// ("2026010514", "202601051430", "20260105143000"); but for days, of the years 1900 to 2100, as counters and epoch
/// times hardly ever are. An hour of 24 is midnight at the end of the day.
std::optional<Timestamp> parse_date_in_digits(std::string_view text);

/// Whether the dates of a column decide which of their parts is the day.
struct DateDecision {
    std::optional<DateOrder> order;  ///< Nothing where they do not.
    bool is_unclear = false;         ///< Both orders fit all of them.
};

/// Decides the order of dates by all timestamps of a column; empty ones do not count.
DateDecision decide_dates(const std::vector<std::string>& stamps);

namespace detail {

bool read_instants(const std::vector<std::string>& stamps, DateOrder order, Clock& clock);

/// Reads dates in digits, all of one length.
bool read_dates_in_digits(const std::vector<std::string>& stamps, Clock& clock);

/// Whether two spellings of plain decimals are one number, to the last digit: zeros at either end do not count.
bool is_same_decimal(std::string_view a, std::string_view b);

bool read_numbers(const std::vector<std::string>& stamps, Clock& clock);

}  // namespace detail

/// Reads a column of timestamps: dates and times in the order `order` where they do not begin with their year, dates
/// in digits (`parse_date_in_digits`), or numbers. `labels` where they are none of these, or not all of one kind.
Clock read_clock(const std::vector<std::string>& stamps, DateOrder order = DateOrder::year_first);

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/time/impl/clock.hpp>
#endif
