// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/names.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io::detail {

/// A CSV text whose layout and header are known, to be read row by row as often as needed.
class CsvSource {
public:
    using Record = std::vector<CsvField>;

    CsvSource(std::string_view text, std::string_view file_name, const CsvOptions& options, const GapWords& gaps)
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

    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    [[nodiscard]] char separator() const { return layout_.separator; }
    /// Whether the first column has no name of its own, as the index of a data frame.
    [[nodiscard]] bool has_index() const { return has_index_; }
    [[nodiscard]] const std::string& file() const { return file_; }
    [[nodiscard]] std::string at_line(std::size_t line) const {
        return "Line " + std::to_string(line) + " of " + file_;
    }
    /// Sentences about the layout.
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

    /// Calls `use` with each row, as long as the header. Rows that are too short lack their last values; the last line
    /// of a file may be torn, and is left out then. Throws `Error(invalid_file)` for rows that are too long.
    template <class Use>
    void each_row(const Use& use) {
        CsvRecords records(text_.substr(begin_), file_name_, layout_.separator, line_);
        Record record;
        std::size_t blank_lines = 0;  // Gaps of a single column, but not at the end; nothing in other tables.
        std::size_t short_rows = 0;
        std::size_t first_short = 0;
        std::size_t torn = 0;
        while (records.next(record)) {
            const std::size_t line = record[0].line;
            if (record.size() == 1 && record[0].text.empty() && !record[0].is_quoted) {
                ++blank_lines;
                continue;
            }
            for (; names_.size() == 1 && blank_lines > 0; --blank_lines) {
                use(Record{CsvField{"", false, line - blank_lines}});
            }
            blank_lines = 0;
            if (record.size() < names_.size()) {
                if (records.is_torn()) {
                    torn = line;
                    break;
                }
                first_short = short_rows++ == 0 ? line : first_short;
            }
            fit(record);
            use(record);
        }
        tell_short(short_rows, first_short, torn);
    }

private:
    void read_header(std::optional<bool> has_header, const GapWords& gaps) {
        CsvRecords records(text_.substr(layout_.begin), file_name_, layout_.separator, layout_.line);
        Record first;
        if (!records.next(first)) {
            throw Error(ErrorCode::invalid_file,
                        "The file " + file_ + " is empty; it should begin with a header that names its columns.");
        }
        begin_ = layout_.begin + records.position();
        line_ = records.line();
        Record second;
        while (records.next(second) && second.size() == 1 && second[0].text.empty()) {
        }
        std::vector<std::string> given;
        if (has_header.value_or(is_header(first, second, gaps))) {
            for (const CsvField& field : first) {
                given.push_back(field.text);
            }
            // R writes no name for the names of rows, which it puts in quotes.
            Record third;
            const std::size_t width = first.size() + 1;
            const bool has_row_names = second.size() == width && is_row_name(second.front(), gaps) &&
                                       !second.back().text.empty() && (!records.next(third) || third.size() == width);
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

    static bool is_row_name(const CsvField& field, const GapWords& gaps) {
        return field.is_quoted || kind_of_cell(field.text, gaps) == CellKind::text;
    }

    /// The names of a file without a header: those of the comment before it, where there are as many.
    std::vector<std::string> names_in_comment(std::size_t count) {
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
                         (count > 1 ? " to 'column_" + std::to_string(count) + "'" : "") +
                         " (--header yes says it has).");
        return std::vector<std::string>(count);
    }

    void fit(Record& record) const {
        for (; record.size() > names_.size() && record.back().text.empty(); record.pop_back()) {
        }
        if (record.size() > names_.size()) {
            throw Error(ErrorCode::invalid_file, at_line(record[0].line) + " has " + std::to_string(record.size()) +
                                                     " fields, but the header has " + std::to_string(names_.size()) +
                                                     ". Between fields stands " +
                                                     in_quotes(std::string_view(&layout_.separator, 1)) +
                                                     "; name another separator if that is wrong (--separator).");
        }
        while (record.size() < names_.size()) {
            record.push_back(CsvField{"", false, record[0].line});
        }
    }

    void tell_short(std::size_t short_rows, std::size_t first_short, std::size_t torn) {
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

    std::string_view text_;
    std::string file_name_;
    std::string file_;
    CsvLayout layout_;
    std::vector<std::string> names_;
    std::vector<std::string> notes_;
    std::size_t begin_ = 0;  // of the rows
    std::size_t line_ = 1;
    bool has_index_ = false;
    bool has_told_ = false;
};

/// What the columns of a text hold; `rows`, where given, becomes the number of its rows.
inline std::vector<ColumnProfile> profile_columns(CsvSource& source, const GapWords& gaps,
                                                  std::size_t* rows = nullptr) {
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
