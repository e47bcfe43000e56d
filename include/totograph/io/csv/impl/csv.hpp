// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/csv.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/csv/cells.hpp>
#include <totograph/io/csv/columns.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/long_form.hpp>
#include <totograph/io/csv/names.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/series_labels.hpp>
#include <totograph/io/csv/source.hpp>
#include <totograph/io/csv/stacked_rows.hpp>
#include <totograph/io/csv/table.hpp>
#include <totograph/io/csv/text_encoding.hpp>
#include <totograph/io/csv/writer.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/text_file.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/clock_parts.hpp>
#include <totograph/io/time/regular_rows.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE Table CsvReader::read() {
    profile();
    const ColumnChoice choice(source_, profiles_, options_);
    decide_marks(choice);
    read_rows(choice);
    read_times(choice);
    tell(choice);
    if (!options_.series.empty()) {
        table_ =
            pivot(std::move(table_), series_, file_name_, options_.rows,
                  [&](const std::vector<std::int64_t>& times) { return names_of(labels_of_series(times, choice)); });
    } else {
        refuse_long_form(choice);
    }
    make_regular(table_, file_name_, options_.rows);
    choose_series();
    return std::move(table_);
}

TOTOGRAPH_INLINE void CsvReader::profile() {
    profiles_ = profile_columns(source_, gaps_, &rows_);
    if (rows_ == 0) {
        throw Error(ErrorCode::invalid_file,
                    "The file " + source_.file() + " names its columns but has no rows below that.");
    }
}

TOTOGRAPH_INLINE void CsvReader::decide_marks(const ColumnChoice& choice) {
    for (std::size_t i = 0; i < std::min(profiles_.size(), options_.marks.size()); ++i) {
        MarkEvidence& own = profiles_[i].marks;
        if (own.is_comma == own.is_point) {
            own.add(options_.marks[i]);
        }
    }
    MarkEvidence file;
    for (const ColumnProfile& column : profiles_) {
        file.add(column.marks);
    }
    for (const std::size_t position : choice.values()) {
        const MarkEvidence& column = profiles_[position].marks;
        const std::optional<DecimalMark> mark =
            options_.decimal ? options_.decimal : decide_mark(column, file, source_.separator());
        if (!mark) {
            throw Error(ErrorCode::invalid_file,
                        "In " + source_.file() + ", column " + in_quotes(source_.names()[position]) +
                            " has numbers whose decimal mark could be a point or a comma. Say which it is "
                            "(--decimal point, --decimal comma).");
        }
        marks_.push_back(*mark);
        const bool has_comma = column.is_comma || (*mark == DecimalMark::comma && column.has_unclear_comma);
        uses_comma_ = uses_comma_ || (*mark == DecimalMark::comma && has_comma);
    }
}

TOTOGRAPH_INLINE void CsvReader::read_rows(const ColumnChoice& choice) {
    const std::vector<std::size_t>& values = choice.values();
    table_.columns.resize(values.size());
    for (std::vector<double>& column : table_.columns) {
        column.reserve(rows_);
    }
    source_.each_row([&](const CsvSource::Record& record) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            table_.columns[i].push_back(value_of(record[values[i]], values[i], marks_[i]));
        }
        if (choice.clock()) {
            table_.timestamps.push_back(clock_text(choice.clock_parts(), record));
        }
        if (!choice.series().empty()) {
            series_.push_back(series_name(record, choice));
        }
    });
}

TOTOGRAPH_INLINE std::string CsvReader::series_name(const CsvSource::Record& record, const ColumnChoice& choice) {
    std::string name;
    for (const std::size_t position : choice.series()) {
        name += (name.empty() ? "" : " ") + record[position].text;
    }
    return name.empty() ? "(blank)" : name;
}

TOTOGRAPH_INLINE double CsvReader::value_of(const CsvField& field, std::size_t position, DecimalMark mark) {
    const ColumnProfile& column = profiles_[position];
    const CellValue cell = read_cell(without_blanks(field.text), mark, column.unit, gaps_);
    words_ += cell.is_word ? 1 : 0;
    if (cell.problem == CellProblem::none) {
        return cell.value;
    }
    const std::string where =
        source_.at_line(field.line) + ", column " + in_quotes(source_.names()[position]) + ": " + in_quotes(field.text);
    if (cell.problem == CellProblem::overflowing) {
        throw Error(ErrorCode::invalid_file, where +
                                                 " is beyond the range of a float, about 3.4e38. If it means a "
                                                 "missing value, say so (--gap WORD).");
    }
    if (cell.problem == CellProblem::unit) {
        throw Error(ErrorCode::invalid_file,
                    where + " is not in the unit of the column, " + in_quotes(column.unit) + ".");
    }
    throw Error(ErrorCode::invalid_file,
                where + " is not a number where decimals stand behind a " +
                    (mark == DecimalMark::comma ? "comma" : "point") +
                    ". Say if it is the other one (--decimal), or if this means a missing value (--gap WORD).");
}

TOTOGRAPH_INLINE void CsvReader::read_times(const ColumnChoice& choice) {
    for (const std::size_t position : choice.values()) {
        table_.names.push_back(source_.names()[position]);
        table_.units.push_back(profiles_[position].unit);
    }
    if (!choice.clock()) {
        return;
    }
    name_clock(choice.clock_parts());
    std::vector<std::string> stamps;
    stamps.reserve(table_.timestamps.size());
    const ColumnProfile& profile = profiles_[*choice.clock()];
    const bool is_joined = choice.clock_parts().size() > 1;
    const bool has_others = is_joined || (profile.is_time() && profile.times < profile.filled());
    for (const std::string& text : table_.timestamps) {
        const std::string_view stamp = without_blanks(text);
        const bool is_none = gaps_.hold(stamp) || (has_others && kind_of_cell(stamp, gaps_) != CellKind::time);
        stamps.emplace_back(is_none ? std::string_view() : stamp);
    }
    DateOrder order = options_.dates.value_or(DateOrder::year_first);
    if (!options_.dates && (is_joined || profile.times > 0)) {
        order = order_of(stamps);
    }
    table_.clock = read_clock(stamps, order);
    if (table_.clock.kind == Clock::Kind::labels) {
        refuse_unread(stamps, order);
        table_.notes.push_back("The timestamps in column " + in_quotes(table_.timestamp_name) +
                               " cannot be read as times; the rows are taken in the order of the file.");
    }
    check_order(stamps, choice.clock_parts());
}

TOTOGRAPH_INLINE std::vector<std::int64_t> known_times(std::vector<std::int64_t> times) {
    std::erase(times, Clock::unknown);
    return times;
}

TOTOGRAPH_INLINE std::string order_words(DateOrder order) {
    return order == DateOrder::day_first     ? "with the day first (--date-format dmy)"
           : order == DateOrder::month_first ? "with the month first (--date-format mdy)"
                                             : "with the year first (--date-format ymd)";
}

TOTOGRAPH_INLINE void CsvReader::refuse_unread(const std::vector<std::string>& stamps, DateOrder order) const {
    if (!options_.dates && options_.rows != RowPolicy::strict) {
        return;
    }
    const auto unread = std::find_if(stamps.begin(), stamps.end(), [&](const std::string& stamp) {
        return !stamp.empty() && !parse_timestamp(stamp, order);
    });
    const std::string what = "The timestamps in column " + in_quotes(table_.timestamp_name) + " of " + source_.file() +
                             (unread == stamps.end() ? "" : ", such as " + in_quotes(*unread) + ",") +
                             " cannot be read as times";
    if (!options_.dates) {
        throw Error(ErrorCode::invalid_file, what + ". Without --strict the rows are taken in the order of the file.");
    }
    throw Error(ErrorCode::invalid_file, what + " " + order_words(order) +
                                             ". Say the order that they have, or leave --date-format out to have it "
                                             "found.");
}

TOTOGRAPH_INLINE void CsvReader::check_order(const std::vector<std::string>& stamps, const ClockParts& parts) {
    const bool is_spelled = parts.front().role == ClockPart::Role::stamp || parts.front().role == ClockPart::Role::date;
    if (!options_.dates || *options_.dates == DateOrder::year_first || !is_spelled) {
        return;
    }
    const std::string column = "The timestamps in column " + in_quotes(table_.timestamp_name) + " of " + source_.file();
    if (table_.clock.kind == Clock::Kind::numbers) {
        table_.notes.push_back(column + " are numbers, of which --date-format says nothing.");
        return;
    }
    // Names of months and quarters say by themselves what is what.
    if (table_.clock.kind != Clock::Kind::instants || !table_.clock.style.pattern.empty()) {
        return;
    }
    const auto is_without_order = [](const std::string& stamp) {
        return stamp.empty() || parse_timestamp(stamp) || parse_date_in_digits(stamp);
    };
    if (std::all_of(stamps.begin(), stamps.end(), is_without_order)) {
        const auto first = std::find_if(stamps.begin(), stamps.end(), [](const auto& stamp) { return !stamp.empty(); });
        throw Error(ErrorCode::invalid_file,
                    column + ", such as " + in_quotes(*first) +
                        ", begin with the year, and "
                        "are not " +
                        order_words(*options_.dates) +
                        ". Say the order that they have, or leave --date-format out to have it "
                        "found.");
    }
}

TOTOGRAPH_INLINE void CsvReader::name_clock(const ClockParts& parts) {
    for (const ClockPart& part : parts) {
        table_.timestamp_name += (table_.timestamp_name.empty() ? "" : " ") + source_.names()[part.position];
    }
    while (parts.size() > 1 && table_.find(table_.timestamp_name)) {
        table_.timestamp_name += " clock";
    }
}

TOTOGRAPH_INLINE DateOrder CsvReader::order_of(const std::vector<std::string>& stamps) const {
    const DateDecision dates = decide_dates(stamps);
    if (dates.is_unclear) {
        const auto first = std::find_if(stamps.begin(), stamps.end(),
                                        [](const std::string& stamp) { return date_reading(stamp).can_be_day_first; });
        throw Error(ErrorCode::invalid_file,
                    "The dates of " + source_.file() + ", such as " + in_quotes(*first) +
                        ", could begin with the day or with the month, and none of them tells. Say which "
                        "(--date-format dmy, --date-format mdy).");
    }
    return dates.order.value_or(DateOrder::year_first);
}

TOTOGRAPH_INLINE void CsvReader::tell(const ColumnChoice& choice) {
    std::vector<std::string>& notes = table_.notes;
    notes.insert(notes.begin(), choice.notes().begin(), choice.notes().end());
    notes.insert(notes.begin(), source_.notes().begin(), source_.notes().end());
    if (words_ > 0) {
        std::string word;
        for (const std::size_t position : choice.values()) {
            word = word.empty() ? profiles_[position].first_gap_word : word;
        }
        notes.push_back(std::to_string(words_) + (words_ == 1 ? " cell" : " cells") + " of " + source_.file() +
                        " hold" + (words_ == 1 ? "s" : "") + " a word for a missing value (" + in_quotes(word) +
                        "): a gap.");
    }
    tell_wide(choice);
    if (uses_comma_) {
        notes.push_back("The numbers of " + source_.file() +
                        " are read with decimal commas (--decimal point is "
                        "the other way).");
    }
}

TOTOGRAPH_INLINE void CsvReader::tell_wide(const ColumnChoice& choice) {
    constexpr std::size_t fewest = 6;
    const std::size_t columns = choice.values().size();
    if (table_.clock.is_known() || columns < fewest || columns < 2 * rows_) {
        return;
    }
    const auto is_time = [&](std::size_t position) {
        return kind_of_cell(source_.names()[position], gaps_) == CellKind::time;
    };
    if (std::all_of(choice.values().begin(), choice.values().end(), is_time)) {
        table_.notes.push_back("The " + std::to_string(columns) + " columns of " + source_.file() +
                               " are named by times, such as " + in_quotes(source_.names()[choice.values().front()]) +
                               ". If each row is a series, transpose the table: a series is read down a column.");
    }
}

TOTOGRAPH_INLINE void CsvReader::refuse_long_form(const ColumnChoice& choice) {
    if (!table_.clock.is_known() || options_.rows == RowPolicy::as_they_stand) {
        return;
    }
    const StackedRows rows = stacked_rows(table_);
    if (rows.are_many()) {
        if (!choice.labels().empty()) {
            refuse_series(rows, labels_of_series(table_.clock.times, choice));
        }
        refuse_numbered(rows, choice);
    }
    if (rows.are_stretches) {
        table_.notes.push_back(std::to_string(rows.different) +
                               " rows stand together with other values than the first ones of their times. If they are "
                               "a further series, name the columns that say so (--series COLUMN), or add one.");
    }
}

TOTOGRAPH_INLINE void CsvReader::refuse_numbered(const StackedRows& rows, const ColumnChoice& choice) {
    std::vector<std::size_t> numbers;
    for (std::size_t position = 0; position < profiles_.size() && numbers.size() < most_labels; ++position) {
        const bool is_clock = std::any_of(choice.clock_parts().begin(), choice.clock_parts().end(),
                                          [&](const ClockPart& part) { return part.position == position; });
        if (!is_clock && profiles_[position].is_numeric() && profiles_[position].are_whole) {
            numbers.push_back(position);
        }
    }
    const std::vector<std::int64_t>& times = table_.clock.times;
    if (const auto number = series_number(known_times(times), read_labels(numbers, times))) {
        refuse_series(rows, {numbers[*number]});
    }
}

TOTOGRAPH_INLINE void CsvReader::refuse_series(const StackedRows& rows, const std::vector<std::size_t>& series) {
    if (series.empty()) {
        return;
    }
    std::vector<std::string> names;
    names.reserve(series.size());
    for (const std::size_t position : series) {
        names.push_back(source_.names()[position]);
    }
    const std::optional<std::size_t> value = likely_value(table_, names, read_labels(series, table_.clock.times));
    if (!value) {
        return;
    }
    throw Error(ErrorCode::invalid_file,
                "The file " + source_.file() + " has " + std::to_string(rows.rows) + " rows at " +
                    std::to_string(rows.times) + (rows.times == 1 ? " time" : " times") +
                    ": several series stand below each other. Say which columns name them, and which one "
                    "holds the values (--series " +
                    as_argument(names_of(series)) + " --value " + as_argument(table_.names[*value]) + ").");
}

TOTOGRAPH_INLINE std::vector<std::size_t> CsvReader::labels_of_series(const std::vector<std::int64_t>& times,
                                                                      const ColumnChoice& choice) {
    std::vector<std::size_t> positions = choice.series();
    const std::size_t given_count = positions.size();
    const std::size_t count = std::min(choice.labels().size(), most_labels);
    positions.insert(positions.end(), choice.labels().begin(),
                     choice.labels().begin() + static_cast<std::ptrdiff_t>(count));
    std::vector<std::size_t> given(given_count);
    std::iota(given.begin(), given.end(), std::size_t{0});
    std::vector<std::size_t> chosen = io::labels_of_series(known_times(times), read_labels(positions, times), given);
    for (std::size_t& label : chosen) {
        label = positions[label];
    }
    return chosen.size() > given_count ? chosen : std::vector<std::size_t>();
}

TOTOGRAPH_INLINE std::string CsvReader::names_of(const std::vector<std::size_t>& positions) const {
    std::string names;
    for (const std::size_t position : positions) {
        names += names.empty() ? "" : ",";
        // With quotes where a name has commas: a list on a command line has them, too.
        append_csv_text(names, source_.names()[position], ',', false, gaps_);
    }
    return names;
}

TOTOGRAPH_INLINE std::vector<LabelNumbers> CsvReader::read_labels(const std::vector<std::size_t>& positions,
                                                                  const std::vector<std::int64_t>& times) {
    std::vector<LabelNumbers> labels(positions.size());
    std::vector<std::unordered_map<std::string, std::size_t>> known(positions.size());
    std::size_t row = 0;
    source_.each_row([&](const CsvSource::Record& record) {
        if (times[row++] == Clock::unknown) {
            return;
        }
        for (std::size_t label = 0; label < positions.size(); ++label) {
            const std::size_t next = known[label].size();
            labels[label].push_back(known[label].emplace(record[positions[label]].text, next).first->second);
        }
    });
    return labels;
}

TOTOGRAPH_INLINE void CsvReader::choose_series() {
    if (options_.series.empty() || options_.columns.empty()) {
        return;
    }
    Table chosen;
    for (const std::string& name : options_.columns) {
        const std::optional<std::size_t> position = table_.find(name);
        if (!position) {
            throw Error(ErrorCode::invalid_argument, "The file " + source_.file() + " has no series " +
                                                         in_quotes(name) +
                                                         ". Its series are: " + name_list(table_.names) + ".");
        }
        chosen.names.push_back(name);
        chosen.units.push_back(table_.units[*position]);
        chosen.columns.push_back(table_.columns[*position]);
    }
    table_.names = std::move(chosen.names);
    table_.units = std::move(chosen.units);
    table_.columns = std::move(chosen.columns);
}

}  // namespace detail

TOTOGRAPH_INLINE Table parse_csv(std::string_view text, std::string_view file_name, const CsvOptions& options) {
    if (options.separator) {
        check_csv_separator(*options.separator);
    }
    refuse_packed(text, file_name);
    std::string decoded;
    const std::string_view plain = as_utf8(text, decoded);
    refuse_markup(plain, file_name);
    return detail::CsvReader(plain, file_name, options).read();
}

}  // namespace totograph::io
