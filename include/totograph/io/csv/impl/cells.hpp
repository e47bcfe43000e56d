// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/io/csv/cells.hpp>

#include <cmath>
#include <optional>
#include <string_view>

#include <totograph/core/inline.hpp>
#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/number_cell.hpp>
#include <totograph/io/csv/units.hpp>

namespace totograph::io {

TOTOGRAPH_INLINE CellValue read_cell(std::string_view cell, DecimalMark mark, std::string_view unit,
                                     const GapWords& gaps) {
    if (cell.empty()) {
        return {};
    }
    Decimal number;
    if (mark == DecimalMark::point) {
        number = parse_decimal(cell);
    }
    std::optional<NumberParts> parts;
    if (number.kind != DecimalKind::number) {
        if (gaps.hold_word(cell)) {
            return {.is_word = true};
        }
        if (cell.size() <= 5 && (cell[0] == 't' || cell[0] == 'T' || cell[0] == 'f' || cell[0] == 'F')) {
            const bool is_true = cell == "true" || cell == "True" || cell == "TRUE";
            if (is_true || cell == "false" || cell == "False" || cell == "FALSE") {
                return {.value = is_true ? 1.0 : 0.0};
            }
        }
        parts = split_number(cell);
        number = parts ? parse_digits(parts->digits, mark) : Decimal();
        if (number.kind != DecimalKind::number && gaps.hold(cell)) {
            return {.is_word = true};  // with the other mark
        }
    }
    if (number.kind == DecimalKind::overflowing) {
        return {.problem = CellProblem::overflowing};
    }
    if (number.kind != DecimalKind::number) {
        return {.problem = CellProblem::text};
    }
    const std::string_view own = parts ? parts->unit : std::string_view();
    if (own.empty() && gaps.hold_value(number.value)) {
        return {.is_word = true};
    }
    if (own == unit || number.value == 0) {
        return {.value = number.value};
    }
    const std::optional<double> factor = unit_factor(own, unit);
    if (!factor) {
        return {.problem = CellProblem::unit};
    }
    const double value = number.value * *factor;
    constexpr double beyond_float = 0x1.ffffffp127;
    return std::abs(value) < beyond_float ? CellValue{.value = value} : CellValue{.problem = CellProblem::overflowing};
}

TOTOGRAPH_INLINE std::optional<DecimalMark> decide_mark(const MarkEvidence& column, const MarkEvidence& file,
                                                        char separator) {
    if (column.is_comma && column.is_point) {
        return std::nullopt;
    }
    for (const MarkEvidence* evidence : {&column, &file}) {
        if (evidence->is_comma != evidence->is_point) {
            return evidence->is_comma ? DecimalMark::comma : DecimalMark::point;
        }
    }
    if (!column.has_unclear_comma && !column.has_unclear_point) {
        return DecimalMark::point;  // whole numbers
    }
    if (file.is_comma || (separator != ',' && file.has_unclear_comma && file.has_unclear_point)) {
        return std::nullopt;
    }
    // Decimals would be there in each number, and thousands are not: "980" above "1.010" may be either.
    const bool has_bare = column.has_short_whole && !column.has_long_whole;
    if (has_bare && (column.has_unclear_point || separator != ',')) {
        return std::nullopt;
    }
    // A comma that may stand inside a field is a decimal mark; in quotes, between other commas, it parts thousands.
    return column.has_unclear_comma && separator != ',' ? DecimalMark::comma : DecimalMark::point;
}

}  // namespace totograph::io
