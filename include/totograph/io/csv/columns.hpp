// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/source.hpp>
#include <totograph/io/time/clock_parts.hpp>

namespace totograph::io::detail {

/// Chooses what each column of a file is: the clock, values, names of series, or left out.
class ColumnChoice {
public:
    ColumnChoice(const CsvSource& source, const std::vector<ColumnProfile>& profiles, const CsvOptions& options);

    /// The column of the clock, or the first of those that are the clock together.
    [[nodiscard]] std::optional<std::size_t> clock() const { return clock_; }
    /// All of them; empty without a clock.
    [[nodiscard]] const ClockParts& clock_parts() const { return parts_; }
    [[nodiscard]] const std::vector<std::size_t>& values() const { return values_; }
    [[nodiscard]] const std::vector<std::size_t>& series() const { return series_; }
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }
    /// The sentence about a clock that is more than a column of dates; empty without.
    [[nodiscard]] const std::string& clock_note() const { return clock_note_; }
    /// The columns of text that nobody asked for, in long form too.
    [[nodiscard]] const std::vector<std::size_t>& labels() const { return labels_; }

private:
    [[nodiscard]] const std::vector<std::string>& names() const { return source_.names(); }
    [[nodiscard]] bool is_long() const { return !options_.series.empty() || options_.value; }

    [[noreturn]] static void fail(ErrorCode code, const std::string& what) { throw Error(code, what); }

    [[nodiscard]] std::size_t position_of(const std::string& name) const;

    /// The position of a column that is asked for, once.
    std::size_t ask(const std::string& name);

    void choose_named();

    [[nodiscard]] bool may_be_clock(std::size_t position) const { return !is_asked_[position]; }
    [[nodiscard]] bool is_clock(std::size_t position) const {
        return std::any_of(parts_.begin(), parts_.end(),
                           [&](const ClockPart& part) { return part.position == position; });
    }

    /// A column of dates and what belongs to it: times of day, or hours. Empty where it is by itself.
    [[nodiscard]] ClockParts with_times_of(std::size_t dates) const;

    /// The same for a column that was asked for as the clock, and holds times of day or hours: with its dates.
    [[nodiscard]] ClockParts with_dates_of(std::size_t times) const;

    /// Whether a column holds dates alone, as such or as numbers that are called so.
    [[nodiscard]] bool holds_dates(std::size_t position) const;

    /// A date and a time of day or an hour in two columns, or years and months, are the clock together.
    void join_clock();

    void tell_joined();

    void choose_clock();

    /// Among columns of numbers: epoch times and dates in digits, and unless these are `epochs_alone` what counts rows.
    void choose_counting(bool epochs_alone);

    /// Whether a column of numbers holds dates in digits that may be the clock.
    [[nodiscard]] bool holds_dates_in_digits(std::size_t position) const;

    [[nodiscard]] bool has_other_numbers(std::size_t position) const;

    void set_counting(std::size_t position, bool is_epoch, bool is_date);

    /// Throws for a column that cannot be read as numbers though it was asked for.
    void check_numeric(std::size_t position) const;

    void check_asked();

    void choose_all();

    /// Whether a column is the first of a data frame, and counts its rows beside a clock.
    [[nodiscard]] bool is_row_number(std::size_t position) const;

    /// A first column that counts is a row number more often than a series.
    void tell_doubtful();

    [[nodiscard]] bool is_second_clock(std::size_t position) const {
        return clock_ && is_clock_name(names()[position]) &&
               (profiles_[position].is_date_in_digits() || counting(profiles_[position]).is_epoch);
    }

    /// Whether a column that nobody asked for would be the clock, where there is none, if it did not say one time
    /// alone.
    [[nodiscard]] bool is_constant_clock(std::size_t position) const;

    void tell_constant_clocks();

    /// Rows that are newest first go unnoticed where their times cannot be read. Throws where the format of dates is
    /// given, or rows must be as they should.
    void tell_unread_clock(const std::vector<std::string>& texts);

    void tell_left_out(const std::vector<std::string>& left_out, const std::string& why);

    void choose_value();

    const CsvSource& source_;
    const std::vector<ColumnProfile>& profiles_;
    const CsvOptions& options_;
    std::unordered_map<std::string, std::size_t> positions_;
    std::vector<bool> is_asked_;
    std::optional<std::size_t> clock_;
    ClockParts parts_;
    std::string clock_note_;
    std::vector<std::size_t> values_;
    std::vector<std::size_t> series_;
    std::vector<std::size_t> labels_;
    std::vector<std::string> notes_;
};

}  // namespace totograph::io::detail

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/columns.hpp>
#endif
