// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <totograph/io/csv/cells.hpp>
#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/number_cell.hpp>

namespace examples {

/// The unit of a variate, as in files: that of its first value that is not zero.
struct FieldUnit {
    std::string name;  ///< Empty without.
    bool is_known = false;
};

/// Reads fields of lines as values. A stream cannot look ahead: what could have a decimal comma or a decimal point is
/// read as its separator suggests, until a number tells.
class FieldValues {
public:
    /// `gaps` must outlive this object.
    FieldValues(std::optional<totograph::io::DecimalMark> mark, const totograph::io::GapWords& gaps)
        : mark_(mark), gaps_(gaps) {}

    /// The value of a field in the unit of its variate, which it decides where that is not known.
    totograph::io::CellValue read(std::string_view text, FieldUnit& unit, char separator) {
        using namespace totograph::io;
        DecimalMark mark = mark_.value_or(DecimalMark::point);
        const bool is_plain = parse_decimal(text).kind == DecimalKind::number;
        std::optional<NumberParts> parts;
        if (!is_plain || uses_comma_) {
            parts = split_number(text);
            mark = parts ? mark_.value_or(mark_of(parts->digits, separator)) : mark;
        }
        const std::string_view own = parts ? parts->unit : std::string_view();
        const CellValue cell = read_cell(text, mark, unit.is_known ? std::string_view(unit.name) : own, gaps_);
        const bool is_number = cell.problem == CellProblem::none && !std::isnan(cell.value) && (is_plain || parts);
        // Nothing is as much in every unit.
        if (!unit.is_known && is_number && (cell.value != 0 || !own.empty())) {
            unit = {std::string(own), true};
        }
        return cell;
    }

    /// A sentence about decimal commas, once, after they were first met.
    std::optional<std::string> take_note() {
        if (!uses_comma_ || mark_ || has_told_) {
            return std::nullopt;
        }
        has_told_ = true;
        return "Numbers are read with decimal commas (--decimal point is the other way).";
    }

private:
    totograph::io::DecimalMark mark_of(std::string_view digits, char separator) {
        using totograph::io::DecimalMark;
        const totograph::io::MarkEvidence evidence = totograph::io::evidence_of(digits);
        const bool is_comma = evidence.is_comma || (evidence.has_unclear_comma && separator != ',') ||
                              (evidence.has_unclear_point && uses_comma_);
        uses_comma_ = (uses_comma_ || is_comma) && !evidence.is_point;
        return is_comma ? DecimalMark::comma : DecimalMark::point;
    }

    std::optional<totograph::io::DecimalMark> mark_;
    const totograph::io::GapWords& gaps_;
    bool uses_comma_ = false;
    bool has_told_ = false;
};

}  // namespace examples
