// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/columns.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/csv/names.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/source.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/clock_parts.hpp>
#include <totograph/io/time/regular_rows.hpp>

namespace totograph::io::detail {

TOTOGRAPH_INLINE ColumnChoice::ColumnChoice(const CsvSource& source, const std::vector<ColumnProfile>& profiles,
                                            const CsvOptions& options)
    : source_(source), profiles_(profiles), options_(options) {
    for (std::size_t position = 0; position < names().size(); ++position) {
        positions_.emplace(names()[position], position);
    }
    is_asked_.resize(names().size());
    choose_named();
    if (!clock_) {
        choose_clock();
    }
    join_clock();
    if (is_long()) {
        choose_value();
    } else if (options.columns.empty()) {
        choose_all();
    } else {
        check_asked();
    }
}

TOTOGRAPH_INLINE std::size_t ColumnChoice::position_of(const std::string& name) const {
    const auto found = positions_.find(name);
    if (found == positions_.end()) {
        fail(ErrorCode::invalid_argument, "The file " + source_.file() + " has no column " + in_quotes(name) +
                                              ". Its columns are: " + name_list(names()) + ".");
    }
    return found->second;
}

TOTOGRAPH_INLINE std::size_t ColumnChoice::ask(const std::string& name) {
    const std::size_t position = position_of(name);
    if (is_asked_[position]) {
        fail(ErrorCode::invalid_argument,
             "The column " + in_quotes(name) + " of " + source_.file() + " is asked for twice" +
                 (position == clock_ ? ", as values and as timestamps." : ".") + " Ask for it once.");
    }
    is_asked_[position] = true;
    return position;
}

TOTOGRAPH_INLINE void ColumnChoice::choose_named() {
    if (options_.timestamp) {
        clock_ = ask(*options_.timestamp);
    }
    for (const std::string& name : options_.series) {
        series_.push_back(ask(name));
    }
    if (options_.value) {
        values_.push_back(ask(*options_.value));
    } else if (options_.series.empty()) {
        for (const std::string& name : options_.columns) {
            values_.push_back(ask(name));
        }
    }
}

TOTOGRAPH_INLINE bool ColumnChoice::holds_dates(std::size_t position) const {
    const ColumnProfile& profile = profiles_[position];
    constexpr std::size_t digits_of_day = 8;
    return profile.is_date() || (profile.is_date_in_digits() && profile.first_cell.size() == digits_of_day &&
                                 is_clock_name(names()[position]));
}

TOTOGRAPH_INLINE ClockParts ColumnChoice::with_times_of(std::size_t dates) const {
    const auto is_free = [&](std::size_t position) { return may_be_clock(position) || position == clock_; };
    if (!holds_dates(dates)) {
        return {};
    }
    if (const std::optional<std::size_t> times = find_time_of_day(names(), profiles_, dates, is_free)) {
        return {{dates, ClockPart::Role::date}, {*times, ClockPart::Role::time_of_day}};
    }
    return find_hours(names(), profiles_, dates, is_free);
}

TOTOGRAPH_INLINE ClockParts ColumnChoice::with_dates_of(std::size_t times) const {
    for (std::size_t position = 0; position < names().size(); ++position) {
        if (!may_be_clock(position) || !holds_dates(position)) {
            continue;
        }
        if (profiles_[times].is_time_of_day()) {
            return {{position, ClockPart::Role::date}, {times, ClockPart::Role::time_of_day}};
        }
        ClockParts parts = with_times_of(position);
        if (std::any_of(parts.begin(), parts.end(), [&](const ClockPart& part) { return part.position == times; })) {
            return parts;
        }
    }
    return {};
}

TOTOGRAPH_INLINE void ColumnChoice::join_clock() {
    if (!clock_) {
        choose_counting(true);
    }
    if (!clock_) {
        parts_ =
            find_calendar_columns(names(), profiles_, [&](std::size_t position) { return may_be_clock(position); });
    }
    if (!clock_ && parts_.empty()) {
        choose_counting(false);
    }
    if (clock_) {
        parts_ = holds_dates(*clock_) ? with_times_of(*clock_) : with_dates_of(*clock_);
    }
    if (!parts_.empty()) {
        clock_ = parts_.front().position;
        tell_joined();
    } else if (clock_) {
        parts_ = {{*clock_, ClockPart::Role::stamp}};
    }
}

TOTOGRAPH_INLINE void ColumnChoice::tell_joined() {
    std::string columns;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
        columns += (part == 0                   ? ""
                    : part + 1 == parts_.size() ? " and "
                                                : ", ") +
                   in_quotes(names()[parts_[part].position], 40);
    }
    const bool is_date = parts_.front().role == ClockPart::Role::date;
    const bool has_24 = std::any_of(parts_.begin(), parts_.end(), [&](const ClockPart& part) {
        return part.role == ClockPart::Role::hour && profiles_[part.position].largest == 24;
    });
    clock_note_ = "Columns " + columns + " are taken together as the clock." +
                  (has_24 ? " Hour 24 is midnight at the end of the day." : "") +
                  (is_date ? "" : " Ask for one of them by name to have it as values.");
    notes_.push_back(clock_note_);
}

TOTOGRAPH_INLINE void ColumnChoice::choose_clock() {
    std::optional<std::size_t> constant;
    for (std::size_t position = 0; position < names().size(); ++position) {
        if (may_be_clock(position) && profiles_[position].is_time()) {
            if (!profiles_[position].is_constant || !with_times_of(position).empty()) {
                clock_ = position;
                return;
            }
            constant = constant.value_or(position);
        }
    }
    // A constant date is a clock only where there is but one row.
    if (constant && profiles_[*constant].times == 1) {
        clock_ = constant;
    }
}

TOTOGRAPH_INLINE void ColumnChoice::choose_counting(bool epochs_alone) {
    std::optional<std::size_t> other;
    for (std::size_t position = 0; position < names().size(); ++position) {
        if (!may_be_clock(position) || !profiles_[position].is_numeric()) {
            continue;
        }
        const CountingColumn column = counting(profiles_[position]);
        const bool is_date = holds_dates_in_digits(position);
        const bool is_epoch = column.is_epoch && (!profiles_[position].is_constant || profiles_[position].numbers == 1);
        const bool is_named = is_clock_name(names()[position]) || (position == 0 && source_.has_index());
        const bool is_counter = !epochs_alone && column.is_regular && column.is_rising;
        if (is_named && (is_epoch || is_date || is_counter)) {
            set_counting(position, is_epoch && !is_date, is_date);
            return;
        }
        // Counters of events pass through the same numbers. Their steps vary, and one by itself is what is asked
        // about.
        if (column.is_epoch && column.is_even && !other && has_other_numbers(position)) {
            other = position;
        }
    }
    if (other) {
        const bool is_date = holds_dates_in_digits(*other);
        set_counting(*other, !is_date, is_date);
    }
}

TOTOGRAPH_INLINE bool ColumnChoice::holds_dates_in_digits(std::size_t position) const {
    const ColumnProfile& profile = profiles_[position];
    if (!profile.is_date_in_digits()) {
        // Days with a wrong one among them are a clock none the less.
        return profile.is_numeric() && parse_compact_date(profile.first_cell).has_value();
    }
    return !profile.is_constant || profile.numbers == 1 || !with_times_of(position).empty();
}

TOTOGRAPH_INLINE bool ColumnChoice::has_other_numbers(std::size_t position) const {
    for (std::size_t other = 0; other < profiles_.size(); ++other) {
        if (other != position && profiles_[other].is_numeric()) {
            return true;
        }
    }
    return false;
}

TOTOGRAPH_INLINE void ColumnChoice::set_counting(std::size_t position, bool is_epoch, bool is_date) {
    clock_ = position;
    const bool is_index = position == 0 && source_.has_index();
    clock_note_ = "Column " + in_quotes(names()[position]) +
                  (is_epoch   ? " holds epoch times: it is taken as the clock"
                   : is_date  ? " holds dates: it is taken as the clock"
                   : is_index ? " without a name counts the rows: it is taken as the clock"
                              : " counts up in equal steps: it is taken as the clock") +
                  ". Ask for it by name to have it as values.";
    notes_.push_back(clock_note_);
}

TOTOGRAPH_INLINE void ColumnChoice::check_numeric(std::size_t position) const {
    const ColumnProfile& profile = profiles_[position];
    const std::string column = "column " + in_quotes(names()[position]);
    if (profile.texts > 0) {
        fail(ErrorCode::invalid_file, source_.at_line(profile.first_text_line) + ", " + column + ": " +
                                          in_quotes(profile.first_text) +
                                          " is not a number. If it means a missing value, say so (--gap WORD)" +
                                          (is_long() ? "." : "; else choose other columns by their names."));
    }
    if (profile.times > 0) {
        fail(ErrorCode::invalid_file,
             "In " + source_.file() + ", " + column + " holds times, not numbers. Name it as the clock (--timestamp).");
    }
    if (profile.has_other_unit) {
        const auto words = [](const std::string& unit) {
            return unit.empty() ? "without a unit" : "in " + in_quotes(unit);
        };
        fail(ErrorCode::invalid_file, source_.at_line(profile.other_unit_line) + ", " + column + ": a value " +
                                          words(profile.other_unit) + " stands below values " + words(profile.unit) +
                                          ", and there is no telling the one from the other.");
    }
}

TOTOGRAPH_INLINE void ColumnChoice::check_asked() {
    std::vector<std::string> texts;
    for (std::size_t position = 0; position < names().size(); ++position) {
        if (is_asked_[position] && !is_clock(position) && !profiles_[position].is_empty()) {
            check_numeric(position);
        } else if (!is_asked_[position] && !is_clock(position) && profiles_[position].texts > 0) {
            labels_.push_back(position);
            texts.push_back(names()[position]);
        }
    }
    tell_unread_clock(texts);
    tell_constant_clocks();
}

TOTOGRAPH_INLINE bool ColumnChoice::is_constant_clock(std::size_t position) const {
    const ColumnProfile& profile = profiles_[position];
    const bool is_number = is_clock_name(names()[position]) &&
                           (profile.is_date_in_digits() || (profile.is_numeric() && counting(profile).is_epoch));
    return !clock_ && !is_asked_[position] && profile.is_constant && profile.filled() > 1 &&
           (profile.is_time() || is_number);
}

TOTOGRAPH_INLINE void ColumnChoice::tell_constant_clocks() {
    for (std::size_t position = 0; position < names().size(); ++position) {
        if (is_constant_clock(position)) {
            notes_.push_back("Column " + in_quotes(names()[position]) + " has one time in all rows, " +
                             in_quotes(profiles_[position].first_cell) +
                             ", and is left out; the rows are taken in the order of the file, the oldest first.");
        }
    }
}

TOTOGRAPH_INLINE void ColumnChoice::choose_all() {
    std::vector<std::string> empty;
    std::vector<std::string> texts;
    std::vector<std::string> times;
    std::vector<std::string> mixed;
    for (std::size_t position = 0; position < names().size(); ++position) {
        const ColumnProfile& profile = profiles_[position];
        if (is_clock(position)) {
            continue;
        }
        if (is_row_number(position)) {
            notes_.push_back("Column " + in_quotes(names()[position]) +
                             " without a name counts the rows and is left out. Ask for it by name to have it as "
                             "values.");
        } else if (profile.is_empty()) {
            // Nobody misses a column that has neither a name nor values: the line ends with separators.
            empty.push_back(names()[position]);
        } else if (profile.is_numeric()) {
            const bool is_clock_too = is_second_clock(position) || is_constant_clock(position);
            is_clock_too ? times.push_back(names()[position]) : values_.push_back(position);
        } else if (profile.is_time()) {
            times.push_back(names()[position]);
        } else if (profile.texts > 0 && profile.texts <= profile.numbers) {
            check_numeric(position);
        } else {
            // Values in several units may be labels, such as 12A and 12B.
            labels_.push_back(position);
            (profile.numbers == profile.filled() ? mixed : texts).push_back(names()[position]);
        }
    }
    tell_doubtful();
    tell_left_out(texts, "hold text");
    tell_left_out(mixed, "hold values in several units");
    texts.insert(texts.end(), mixed.begin(), mixed.end());
    tell_unread_clock(texts);
    tell_left_out(empty, "hold no value");
    if (clock_) {
        tell_left_out(times, "hold further times");
    }
    tell_constant_clocks();
    if (values_.empty() && !mixed.empty()) {
        check_numeric(position_of(mixed.front()));
    }
    if (values_.empty()) {
        fail(ErrorCode::invalid_file, clock_ && names().size() == 1
                                          ? "The file " + source_.file() + " has only the column of timestamps " +
                                                in_quotes(names()[*clock_]) + ", and none of values."
                                          : "The file " + source_.file() +
                                                " has no column of numbers; its columns are: " + name_list(names()) +
                                                ".");
    }
}

TOTOGRAPH_INLINE bool ColumnChoice::is_row_number(std::size_t position) const {
    const std::vector<double>& counts = profiles_[position].counts;
    if (position != 0 || !source_.has_index() || !clock_ || counts.size() < 2 ||
        counts.size() != profiles_[position].filled()) {
        return false;
    }
    const bool begins = counts.front() == 0 || counts.front() == 1;
    return begins && std::adjacent_find(counts.begin(), counts.end(),
                                        [](double one, double next) { return next != one + 1; }) == counts.end();
}

TOTOGRAPH_INLINE void ColumnChoice::tell_doubtful() {
    if (clock_ || values_.size() < 2 || values_.front() != 0 || profiles_[0].counts.size() < 3) {
        return;
    }
    const CountingColumn column = counting(profiles_[0]);
    if (column.is_regular && column.is_rising) {
        notes_.push_back("Column " + in_quotes(names()[0]) +
                         " rises in equal steps like a clock or a row number, and is taken as values. Name it as "
                         "the clock (--timestamp) if it holds times.");
    }
}

TOTOGRAPH_INLINE void ColumnChoice::tell_unread_clock(const std::vector<std::string>& texts) {
    const auto clock =
        std::find_if(texts.begin(), texts.end(), [](const std::string& name) { return is_clock_name(name); });
    if (!clock_ && clock != texts.end()) {
        if (options_.dates || options_.rows == RowPolicy::strict) {
            fail(ErrorCode::invalid_file,
                 "Column " + in_quotes(*clock) + " of " + source_.file() +
                     " has no times that can be read. Give them a spelling that can, such as 2024-01-31 10:00, or " +
                     (options_.dates ? "leave --date-format out."
                                     : "leave --strict out to have the rows in the order of the file."));
        }
        notes_.push_back("Column " + in_quotes(*clock) +
                         " has no times that can be read; the rows are taken in the order of the file, the oldest "
                         "first.");
    }
}

TOTOGRAPH_INLINE void ColumnChoice::tell_left_out(const std::vector<std::string>& left_out, const std::string& why) {
    if (!left_out.empty()) {
        const bool is_one = left_out.size() == 1;
        const std::string verb = is_one ? "holds" + why.substr(4) : why;
        notes_.push_back((is_one ? "Column " : "Columns ") + name_list(left_out) + " " + verb +
                         (is_one ? " and is left out." : " and are left out."));
    }
}

TOTOGRAPH_INLINE void ColumnChoice::choose_value() {
    if (values_.empty()) {
        std::vector<std::string> candidates;
        for (std::size_t position = 0; position < names().size(); ++position) {
            if (!is_asked_[position] && !is_clock(position) && !is_row_number(position) &&
                profiles_[position].is_numeric()) {
                values_.push_back(position);
                candidates.push_back(names()[position]);
            }
        }
        if (values_.size() != 1) {
            fail(ErrorCode::invalid_argument,
                 "The file " + source_.file() + " has " +
                     (values_.empty() ? "no column of numbers"
                                      : "several columns of numbers, " + name_list(candidates)) +
                     "; name the one that holds the values (--value COLUMN).");
        }
    }
    check_numeric(values_.front());
    for (std::size_t position = 0; position < names().size(); ++position) {
        if (!is_asked_[position] && !is_clock(position) && profiles_[position].texts > 0) {
            labels_.push_back(position);
        }
    }
    if (series_.empty()) {
        fail(ErrorCode::invalid_argument,
             "The values of " + source_.file() +
                 " are in one column; name the columns that tell the series apart, too (--series COLUMN).");
    }
}

}  // namespace totograph::io::detail
