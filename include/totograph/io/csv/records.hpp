// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>

namespace totograph::io {

/// Throws `Error(invalid_argument)` for a separator that would be taken for a part of a number, a quote or a line.
void check_csv_separator(char separator);

/// One field of a CSV file.
struct CsvField {
    std::string text;        ///< Unquoted; without the blanks at both ends when it was not in quotes.
    bool is_quoted = false;  ///< Whether it was in quotes.
    std::size_t line = 0;    ///< The line that it begins on, counted from 1.
};

/// Splits CSV text into records as RFC 4180 says: fields in double quotes may hold separators, line ends and doubled
/// quotes. A quote inside a field that does not begin with one is a letter. Line ends are `\n`, `\r\n` or `\r`. A UTF-8
/// byte order mark at the start is skipped. Where blanks are the separator, a run of blanks and tabs is one, and those
/// at the ends of a line are none, as in tables that are aligned; an empty field there is `""`.
class CsvRecords {
public:
    /// `text` must outlive this object; `file_name` is the name that messages give it, `first_line` the number of its
    /// first line. Where it `goes_on` behind other records, a byte order mark is text.
    CsvRecords(std::string_view text, std::string_view file_name, char separator, std::size_t first_line = 1,
               bool goes_on = false);

    /// The most fields that a record may have.
    static constexpr std::size_t most_fields = 1'000'000;

    /// Reads the next record; false at the end of the text. An empty line is a record of one empty field.
    /// Throws `Error(invalid_file)` for text behind a closing quote, a quote that is never
    /// closed, NUL bytes, and more than `most_fields` fields.
    bool next(std::vector<CsvField>& record);

    /// Whether the last record that was read ends with the text, not with a line end.
    [[nodiscard]] bool is_torn() const {
        return position_ == text_.size() && position_ > 0 && text_.back() != '\n' && text_.back() != '\r';
    }
    /// Where the next record begins, in bytes.
    [[nodiscard]] std::size_t position() const { return position_; }
    /// The line that the next record begins on.
    [[nodiscard]] std::size_t line() const { return line_; }

private:
    /// Skips blanks that are no separators.
    void skip_blanks();

    /// Skips a run of blanks, where these are the separator.
    void skip_run();

    [[nodiscard]] bool is_separator(char character) const {
        return character == separator_ || (separator_ == ' ' && character == '\t');
    }

    [[nodiscard]] char peek() const { return position_ < text_.size() ? text_[position_] : ' '; }

    [[nodiscard]] bool at_line_end() const { return text_[position_] == '\n' || text_[position_] == '\r'; }

    [[nodiscard]] bool at_field_end() const {
        return position_ == text_.size() || is_separator(text_[position_]) || at_line_end();
    }

    [[noreturn]] void fail(std::size_t line, const std::string& what) const {
        throw Error(ErrorCode::invalid_file, "Line " + std::to_string(line) + " of " + file_ + " " + what);
    }

    void check_byte(char character) const;

    void read_plain(CsvField& field);

    void read_quoted(CsvField& field);

    std::string_view text_;
    std::string file_;
    char separator_;
    std::size_t position_ = 0;
    std::size_t line_;
};

}  // namespace totograph::io

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/io/csv/impl/records.hpp>
#endif
