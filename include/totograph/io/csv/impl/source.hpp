// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/source.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/names.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/time/named_date.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io::detail {

TOTOGRAPH_INLINE CsvSource::CsvSource(std::string_view text, std::string_view file_name, const CsvOptions& options,
                                      const GapWords& gaps)
    : text_(text), file_name_(file_name), file_(in_quotes(file_name, longest_quote)) {
    layout_ = find_layout(text, options.separator);
    check_csv_separator(layout_.separator);
    if (layout_.skipped > 0 && layout_.has_titles) {
        notes_.push_back("The file " + file_ + " has " + std::to_string(layout_.skipped) +
                         (layout_.skipped == 1 ? " line" : " lines") + " before its table; " +
                         (layout_.skipped == 1 ? "it is" : "they are") + " passed over.");
    }
    read_header(options.header, gaps);
}

TOTOGRAPH_INLINE void CsvSource::read_header(std::optional<bool> has_header, const GapWords& gaps) {
    CsvRecords records(text_.substr(layout_.begin), file_name_, layout_.separator, layout_.line);
    Record first;
    if (!records.next(first)) {
        throw Error(ErrorCode::invalid_file,
                    "The file " + file_ + " is empty; it should begin with a header that names its columns.");
    }
    begin_ = layout_.begin + records.position();
    line_ = records.line();
    Record second;
    std::size_t second_at = begin_;
    while (records.next(second) && second.size() == 1 && second[0].text.empty()) {
        second_at = layout_.begin + records.position();
    }
    Record plain = first;
    use_ascii_digits(plain);
    use_ascii_digits(second);
    std::vector<std::string> given;
    if (has_header.value_or(is_header(plain, second, gaps))) {
        for (const CsvField& field : first) {
            given.push_back(field.text);
        }
        Record third;
        const std::size_t width = first.size() + 1;
        const bool has_row_names = second.size() == width &&
                                   (is_indented(second_at) || has_row_name(second, layout_.separator, gaps)) &&
                                   (!second.back().text.empty() || is_parted_date(first, second)) &&
                                   (!records.next(third) || third.size() == width);
        if (has_row_names) {
            given.insert(given.begin(), "");
        }
        has_index_ = given.front().empty();
    } else {
        begin_ = layout_.begin;
        line_ = layout_.line;
        given = names_in_comment(first.size());
    }
    ColumnNames unique = unique_names(std::move(given));
    if (!unique.renamed.empty()) {
        notes_.push_back("The file " + file_ + " has several columns " + in_quotes(unique.renamed) +
                         "; repeated names get a number, as " + in_quotes(unique.new_name) + " did.");
    }
    names_ = std::move(unique.names);
}

TOTOGRAPH_INLINE bool CsvSource::is_indented(std::size_t second_at) const {
    constexpr std::string_view blanks = " \t";
    const std::size_t name = text_.substr(layout_.begin).find_first_not_of(blanks);
    const std::string_view row = text_.substr(second_at);
    const std::size_t field = std::min(row.find_first_not_of(blanks), row.size());
    const std::size_t end = row.find_first_of(" \t\r\n", field);
    return layout_.separator == ' ' && name > 0 && name >= end;
}

TOTOGRAPH_INLINE bool CsvSource::is_parted_date(const Record& names, const Record& record) {
    return is_weekday(record[0].text) && names.size() >= 2 && is_clock_name(names[0].text) &&
           !is_clock_name(names[1].text) && parse_timestamp(record[0].text + ", " + record[1].text).has_value();
}

TOTOGRAPH_INLINE std::vector<std::string> CsvSource::names_in_comment(std::size_t count) {
    Record names;
    if (layout_.comment.find('"') == std::string::npos &&
        CsvRecords(layout_.comment, file_name_, layout_.separator).next(names) && names.size() == count) {
        std::vector<std::string> given;
        for (CsvField& field : names) {
            given.push_back(std::move(field.text));
        }
        return given;
    }
    notes_.push_back("The file " + file_ + " has no header; its columns are called 'column_1'" +
                     (count > 1 ? " to 'column_" + std::to_string(count) + "'" : "") + std::string(header_advice) +
                     ".");
    return std::vector<std::string>(count);
}

TOTOGRAPH_INLINE void CsvSource::fit(Record& record) const {
    for (; record.size() > names_.size() && record.back().text.empty(); record.pop_back()) {
    }
    if (record.size() > names_.size()) {
        throw Error(ErrorCode::invalid_file, at_line(record[0].line) + " has " + std::to_string(record.size()) +
                                                 " fields, but the header has " + std::to_string(names_.size()) +
                                                 ". Between fields stands " +
                                                 in_quotes(std::string_view(&layout_.separator, 1)) +
                                                 "; name another separator if that is wrong (--separator).");
    }
    // Nobody can tell which one of the values is missing where one blank is as good as ten.
    if (record.size() < names_.size() && layout_.separator == ' ') {
        throw Error(ErrorCode::invalid_file,
                    at_line(record[0].line) + " has " + std::to_string(record.size()) +
                        (record.size() == 1 ? " field" : " fields") + ", but the header has " +
                        std::to_string(names_.size()) +
                        ". Any number of blanks is one separator, so that a missing value cannot be placed: write "
                        "\"\" or NaN for it, or part fields by another separator (--separator).");
    }
    while (record.size() < names_.size()) {
        record.push_back(CsvField{"", false, record[0].line});
    }
}

TOTOGRAPH_INLINE void CsvSource::tell_short(std::size_t short_rows, std::size_t first_short, std::size_t torn) {
    if (has_told_) {
        return;
    }
    has_told_ = true;
    if (short_rows > 0) {
        notes_.push_back(at_line(first_short) +
                         (short_rows > 1 ? " and " + std::to_string(short_rows - 1) +
                                               (short_rows > 2 ? " others have" : " other have")
                                         : " has") +
                         " fewer fields than the header; what is missing are gaps.");
    }
    if (torn > 0) {
        notes_.push_back(at_line(torn) + ", the last one, is not whole; it is left out.");
    }
}

TOTOGRAPH_INLINE std::vector<ColumnProfile> profile_columns(CsvSource& source, const GapWords& gaps,
                                                            std::size_t* rows) {
    std::vector<ColumnProfile> profiles(source.names().size());
    std::size_t count = 0;
    std::vector<char> may_count;
    for (std::size_t position = 0; position < profiles.size(); ++position) {
        may_count.push_back(position == 0 || is_clock_name(source.names()[position]) ? 1 : 0);
    }
    const ColumnProfiler profiler(gaps);
    source.each_row([&](const CsvSource::Record& record) {
        ++count;
        for (std::size_t position = 0; position < profiles.size(); ++position) {
            profiler.add(profiles[position], record[position], may_count[position] != 0);
        }
    });
    if (rows != nullptr) {
        *rows = count;
    }
    return profiles;
}

}  // namespace totograph::io::detail
