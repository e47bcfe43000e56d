// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/layout.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/number_cell.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/time/named_date.hpp>
#include <totograph/io/time/timestamp.hpp>

namespace totograph::io {
namespace detail {

TOTOGRAPH_INLINE std::vector<SampledLine> sample_lines(std::string_view text, std::size_t begin, std::size_t number,
                                                       std::size_t most) {
    std::vector<SampledLine> lines;
    while (begin < text.size() && lines.size() < most) {
        SampledLine line{begin, begin, number, {}};
        bool in_quotes = false;
        for (; line.end < text.size(); ++line.end) {
            const char letter = text[line.end];
            in_quotes = in_quotes != (letter == '"');
            const bool is_end = letter == '\n' || letter == '\r';
            if (is_end && !in_quotes) {
                break;
            }
            number += letter == '\n' ? 1 : 0;
            if (const std::size_t kind = guessed_separators.find(letter);
                kind != std::string_view::npos && !in_quotes) {
                ++line.counts[kind];
            }
        }
        begin = std::min(line.end + 1, text.size());
        if (line.end < text.size() && text[line.end] == '\r' && begin < text.size() && text[begin] == '\n') {
            ++begin;
        }
        ++number;
        lines.push_back(line);
    }
    return lines;
}

TOTOGRAPH_INLINE char guess_separator(const std::vector<SampledLine>& lines) {
    char most_frequent = ',';
    std::size_t most = 0;
    for (std::size_t kind = 0; kind < guessed_separators.size(); ++kind) {
        const auto has_none = [&](const SampledLine& line) { return line.counts[kind] == 0; };
        const auto first = std::find_if_not(lines.begin(), lines.end(), has_none);
        if (first == lines.end()) {
            continue;
        }
        const bool is_everywhere = std::all_of(
            first, lines.end(), [&](const SampledLine& line) { return line.counts[kind] == first->counts[kind]; });
        if (is_everywhere && (first == lines.begin() || lines.end() - first > 1)) {
            return guessed_separators[kind];
        }
        if (first->counts[kind] > most) {
            most = first->counts[kind];
            most_frequent = guessed_separators[kind];
        }
    }
    return most_frequent;
}

}  // namespace detail

TOTOGRAPH_INLINE CellKind kind_of_cell(std::string_view cell, const GapWords& gaps) {
    if (cell.empty()) {
        return CellKind::blank;
    }
    if (parse_decimal(cell).kind == DecimalKind::number) {
        return gaps.has_numbers() && gaps.hold(cell) ? CellKind::gap_word : CellKind::number;
    }
    if (gaps.hold(cell)) {
        return CellKind::gap_word;
    }
    const auto is = [&](std::string_view a, std::string_view b, std::string_view c) {
        return cell == a || cell == b || cell == c;
    };
    if (is("true", "True", "TRUE") || is("false", "False", "FALSE")) {
        return CellKind::truth;
    }
    // Before numbers: "2024 Jan" is none that has a unit.
    if (std::string_view rest = cell; take_named_date(rest) && parse_timestamp(cell)) {
        return CellKind::time;
    }
    if (const std::optional<NumberParts> parts = split_number(cell);
        parts && (parse_digits(parts->digits, DecimalMark::point).kind != DecimalKind::text ||
                  parse_digits(parts->digits, DecimalMark::comma).kind != DecimalKind::text)) {
        return CellKind::number;
    }
    const DateReading reading = date_reading(cell);
    const bool is_time = reading.can_be_day_first || reading.can_be_month_first || parse_timestamp(cell).has_value();
    return is_time ? CellKind::time : CellKind::text;
}

namespace detail {

TOTOGRAPH_INLINE LineCells cells_of(std::string_view line, char separator, const GapWords& gaps) {
    LineCells cells;
    while (true) {
        bool in_quotes = false;
        std::size_t end = 0;
        for (; end < line.size() && (in_quotes || line[end] != separator); ++end) {
            in_quotes = in_quotes != (line[end] == '"');
        }
        std::string_view cell = without_blanks(line.substr(0, end));
        if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') {
            cell = cell.substr(1, cell.size() - 2);
        }
        ++cells.fields;
        cells.filled += cell.empty() ? 0 : 1;
        cells.is_text = cells.is_text && (cell.empty() || kind_of_cell(cell, gaps) == CellKind::text);
        if (end == line.size()) {
            return cells;
        }
        line.remove_prefix(end + 1);
    }
}

TOTOGRAPH_INLINE std::size_t titles_with_separators(std::string_view text, const std::vector<SampledLine>& lines,
                                                    char separator) {
    const std::size_t kind = guessed_separators.find(separator);
    if (kind == std::string_view::npos || lines.size() < 3 || lines.back().counts[kind] == 0) {
        return 0;
    }
    const std::size_t count = lines.back().counts[kind];
    std::size_t first = lines.size();  // of the lines with as many fields as the last
    while (first > 0 && lines[first - 1].counts[kind] == count) {
        --first;
    }
    if (first + 2 >= lines.size()) {
        return 0;
    }
    const GapWords gaps;
    const auto cells = [&](std::size_t i) {
        return cells_of(text.substr(lines[i].begin, lines[i].end - lines[i].begin), separator, gaps);
    };
    std::size_t header = first;
    for (LineCells here = cells(header); header + 2 < lines.size() && 2 * here.filled <= here.fields;) {
        here = cells(++header);
    }
    const bool any_separator = std::any_of(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(header),
                                           [&](const SampledLine& line) { return line.counts[kind] > 0; });
    const LineCells names = cells(header);
    const bool is_header = names.is_text && 2 * names.filled > names.fields && !cells(header + 1).is_text;
    return any_separator && is_header ? header : 0;
}

TOTOGRAPH_INLINE void pass_over(CsvLayout& layout, const std::vector<SampledLine>& lines, std::size_t titles) {
    layout.begin = lines[titles].begin;
    layout.line = lines[titles].number;
    layout.skipped += titles;
    layout.has_titles = true;
}

}  // namespace detail

TOTOGRAPH_INLINE CsvLayout find_layout(std::string_view text, std::optional<char> separator) {
    constexpr std::size_t sampled = 20;
    CsvLayout layout;
    while (layout.begin < text.size()) {
        const std::size_t end = std::min(text.find_first_of("\r\n", layout.begin), text.size());
        const std::string_view line = text.substr(layout.begin, end - layout.begin);
        const bool names_separator =
            line.size() == 5 && line.starts_with("sep=") && guessed_separators.find(line[4]) != std::string_view::npos;
        if (!detail::is_blank_line(line) && !detail::is_comment(line) && !names_separator) {
            break;
        }
        if (detail::is_comment(line)) {
            layout.comment = without_blanks(line.substr(line.starts_with("//") ? 2 : 1));
        }
        if (names_separator && !separator) {
            separator = line[4];
        }
        layout.skipped += detail::is_blank_line(line) ? 0 : 1;
        const bool is_pair = text.substr(end).starts_with("\r\n");
        layout.begin = std::min(end + (is_pair ? 2 : 1), text.size());
        ++layout.line;
    }
    std::vector<detail::SampledLine> lines = detail::sample_lines(text, layout.begin, layout.line, sampled);
    std::erase_if(lines, [&](const detail::SampledLine& line) {
        return detail::is_blank_line(text.substr(line.begin, line.end - line.begin));
    });
    for (const char candidate : separator ? std::string(1, *separator) : std::string(guessed_separators)) {
        if (const std::size_t titles = detail::titles_with_separators(text, lines, candidate); titles > 0) {
            layout.separator = candidate;
            detail::pass_over(layout, lines, titles);
            return layout;
        }
    }
    layout.separator = separator.value_or(detail::guess_separator(lines));
    const std::size_t kind = guessed_separators.find(layout.separator);
    for (std::size_t i = 0; i + 1 < lines.size() && kind != std::string_view::npos; ++i) {
        if (lines[i].counts[kind] > 0) {
            // Titles end before a header, which is in letters, and which a row follows with as many fields.
            const std::string_view header = text.substr(lines[i].begin, lines[i].end - lines[i].begin);
            const bool has_letters = std::any_of(header.begin(), header.end(), [](char letter) {
                return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
            });
            if (i > 0 && has_letters && lines[i].counts[kind] == lines[i + 1].counts[kind]) {
                detail::pass_over(layout, lines, i);
            }
            break;
        }
    }
    return layout;
}

TOTOGRAPH_INLINE bool is_header(const std::vector<CsvField>& first, const std::vector<CsvField>& second,
                                const GapWords& gaps) {
    bool any_text = false;
    bool any_plain = false;
    bool all_times = true;
    bool any_number_below = false;
    bool any_other_below = false;  // than numbers and gaps
    bool are_over_data = false;    // as names are: in quotes that data lacks, or times over numbers
    for (std::size_t i = 0; i < first.size(); ++i) {
        const CellKind kind = kind_of_cell(without_blanks(first[i].text), gaps);
        const CellKind below = i < second.size() ? kind_of_cell(without_blanks(second[i].text), gaps) : CellKind::blank;
        const bool is_quoted_alone = first[i].is_quoted && below != CellKind::blank && !second[i].is_quoted;
        if (kind == CellKind::time && below == kind && !is_quoted_alone) {
            return false;
        }
        any_text = any_text || kind == CellKind::text;
        any_plain = any_plain || (kind != CellKind::blank && kind != CellKind::text && !first[i].is_quoted);
        all_times = all_times && kind == CellKind::time;
        any_number_below = any_number_below || below == CellKind::number;
        any_other_below =
            any_other_below || (below != CellKind::number && below != CellKind::blank && below != CellKind::gap_word);
        are_over_data = are_over_data || is_quoted_alone || (kind == CellKind::time && below == CellKind::number);
    }
    const bool are_times_over_numbers = all_times && any_number_below && !any_other_below;
    if (any_text || are_times_over_numbers ||
        (first.front().text.empty() && !second.empty() && !second.front().text.empty())) {
        return true;
    }
    const bool any_time = std::any_of(first.begin(), first.end(), [&](const CsvField& field) {
        return kind_of_cell(without_blanks(field.text), gaps) == CellKind::time;
    });
    const bool may_be_data = any_time && !all_times && !are_over_data && !second.empty();
    return !any_plain && !may_be_data;
}

}  // namespace totograph::io
