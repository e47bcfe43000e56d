// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

/// Throws `Error(invalid_argument)` for a separator that would be taken for a part of a number, a quote or a line.
inline void check_csv_separator(char separator) {
    const auto byte = static_cast<unsigned char>(separator);
    const bool is_usable = separator == '\t' || (byte >= 0x20 && byte < 0x7f && std::isalnum(byte) == 0 &&
                                                 std::string_view("\".+-").find(separator) == std::string_view::npos);
    if (!is_usable) {
        throw Error(ErrorCode::invalid_argument, "The CSV separator " + in_quotes(std::string_view(&separator, 1)) +
                                                     " cannot be used; take a comma, a semicolon, a tab or the like.");
    }
}

/// One field of a CSV file.
struct CsvField {
    std::string text;        ///< Unquoted; without the blanks at both ends when it was not in quotes.
    bool is_quoted = false;  ///< Whether it was in quotes.
    std::size_t line = 0;    ///< The line that it begins on, counted from 1.
};

/// Splits CSV text into records as RFC 4180 says: fields in double quotes may hold separators, line ends and doubled
/// quotes. A quote inside a field that does not begin with one is a letter. Line ends are `\n`, `\r\n` or `\r`. A UTF-8
/// byte order mark at the start is skipped.
class CsvRecords {
public:
    /// `text` must outlive this object; `file_name` is the name that messages give it, `first_line` the number of its
    /// first line.
    CsvRecords(std::string_view text, std::string_view file_name, char separator, std::size_t first_line = 1)
        : text_(text), file_(in_quotes(file_name, longest_quote)), separator_(separator), line_(first_line) {
        constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
        if (text_.starts_with(byte_order_mark)) {
            position_ = byte_order_mark.size();
        }
    }

    /// The most fields that a record may have.
    static constexpr std::size_t most_fields = 1'000'000;

    /// Reads the next record; false at the end of the text. An empty line is a record of one empty field.
    /// Throws `Error(invalid_file)` for text behind a closing quote, a quote that is never
    /// closed, NUL bytes, and more than `most_fields` fields.
    bool next(std::vector<CsvField>& record) {
        record.clear();
        if (position_ == text_.size()) {
            return false;
        }
        while (true) {
            if (record.size() == most_fields) {
                fail(line_, "has more than " + std::to_string(most_fields) + " fields, so it is no table.");
            }
            CsvField& field = record.emplace_back();
            field.line = line_;
            skip_blanks();
            if (position_ < text_.size() && text_[position_] == '"') {
                read_quoted(field);
            } else {
                read_plain(field);
            }
            if (position_ == text_.size()) {
                return true;
            }
            const char end = text_[position_++];
            if (end == '\n' || end == '\r') {
                if (end == '\r' && peek() == '\n') {
                    ++position_;
                }
                ++line_;
                return true;
            }
        }
    }

    /// Whether the last record that was read ends with the text, not with a line end.
    [[nodiscard]] bool is_torn() const {
        return position_ == text_.size() && position_ > 0 && text_.back() != '\n' && text_.back() != '\r';
    }
    /// Where the next record begins, in bytes.
    [[nodiscard]] std::size_t position() const { return position_; }
    /// The line that the next record begins on.
    [[nodiscard]] std::size_t line() const { return line_; }

private:
    void skip_blanks() {
        while (position_ < text_.size() && text_[position_] != separator_ &&
               (text_[position_] == ' ' || text_[position_] == '\t')) {
            ++position_;
        }
    }

    [[nodiscard]] char peek() const { return position_ < text_.size() ? text_[position_] : ' '; }

    [[nodiscard]] bool at_field_end() const {
        return position_ == text_.size() || text_[position_] == separator_ || text_[position_] == '\n' ||
               text_[position_] == '\r';
    }

    [[noreturn]] void fail(std::size_t line, const std::string& what) const {
        throw Error(ErrorCode::invalid_file, "Line " + std::to_string(line) + " of " + file_ + " " + what);
    }

    void check_byte(char character) const {
        if (character == '\0') {
            fail(line_, "holds a NUL byte, so it is not plain text. Save the file as UTF-8 text.");
        }
    }

    void read_plain(CsvField& field) {
        const std::size_t begin = position_;
        for (; !at_field_end(); ++position_) {
            check_byte(text_[position_]);
        }
        field.text = without_blanks(text_.substr(begin, position_ - begin));
    }

    void read_quoted(CsvField& field) {
        field.is_quoted = true;
        ++position_;
        while (true) {
            if (position_ == text_.size()) {
                fail(field.line, "begins a field in quotes that never ends. Close the quote.");
            }
            const char character = text_[position_++];
            check_byte(character);
            if (character == '"') {
                if (peek() != '"') {
                    break;
                }
                ++position_;
            }
            if (character == '\n' || (character == '\r' && peek() != '\n')) {
                ++line_;
            }
            field.text += character;
        }
        skip_blanks();
        if (!at_field_end()) {
            check_byte(text_[position_]);
            fail(line_, "has text behind a closing quote. Double the quotes inside a field.");
        }
    }

    std::string_view text_;
    std::string file_;
    char separator_;
    std::size_t position_ = 0;
    std::size_t line_;
};

}  // namespace totograph::io
