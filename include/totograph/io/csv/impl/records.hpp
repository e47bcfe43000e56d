// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/records.hpp>

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/text.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE void check_csv_separator(char separator) {
    const auto byte = static_cast<unsigned char>(separator);
    const bool is_usable = separator == '\t' || (byte >= 0x20 && byte < 0x7f && std::isalnum(byte) == 0 &&
                                                 std::string_view("\".+-").find(separator) == std::string_view::npos);
    if (!is_usable) {
        throw Error(ErrorCode::invalid_argument, "The CSV separator " + in_quotes(std::string_view(&separator, 1)) +
                                                     " cannot be used; take a comma, a semicolon, a tab or the like.");
    }
}

TOTOGRAPH_INLINE CsvRecords::CsvRecords(std::string_view text, std::string_view file_name, char separator,
                                        std::size_t first_line, bool goes_on)
    : text_(text), file_(in_quotes(file_name, longest_quote)), separator_(separator), line_(first_line) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (!goes_on && text_.starts_with(byte_order_mark)) {
        position_ = byte_order_mark.size();
    }
}

TOTOGRAPH_INLINE bool CsvRecords::next(std::vector<CsvField>& record) {
    record.clear();
    if (position_ == text_.size()) {
        return false;
    }
    skip_run();
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
        skip_run();
        if (position_ == text_.size()) {
            return true;
        }
        if (at_line_end()) {
            const char end = text_[position_++];
            position_ += end == '\r' && peek() == '\n' ? 1 : 0;
            ++line_;
            return true;
        }
        position_ += separator_ == ' ' ? 0 : 1;
    }
}

TOTOGRAPH_INLINE void CsvRecords::skip_blanks() {
    while (position_ < text_.size() && !is_separator(text_[position_]) &&
           (text_[position_] == ' ' || text_[position_] == '\t')) {
        ++position_;
    }
}

TOTOGRAPH_INLINE void CsvRecords::skip_run() {
    while (separator_ == ' ' && position_ < text_.size() && is_separator(text_[position_])) {
        ++position_;
    }
}

TOTOGRAPH_INLINE void CsvRecords::check_byte(char character) const {
    if (character == '\0') {
        fail(line_, "holds a NUL byte, so it is not plain text. Save the file as UTF-8 text.");
    }
}

TOTOGRAPH_INLINE void CsvRecords::read_plain(CsvField& field) {
    const std::size_t begin = position_;
    for (; !at_field_end(); ++position_) {
        check_byte(text_[position_]);
    }
    field.text = without_blanks(text_.substr(begin, position_ - begin));
}

TOTOGRAPH_INLINE void CsvRecords::read_quoted(CsvField& field) {
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

}  // namespace totograph::io
