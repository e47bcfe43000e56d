// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <totograph/io/csv/cells.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/number_cell.hpp>

namespace examples {

/// Reads fields of lines as values. A stream cannot look ahead: what could have a decimal comma or a decimal point is
/// read as its separator suggests, until a number tells.
class FieldValues {
public:
    /// `gaps` must outlive this object.
    FieldValues(std::optional<totograph::io::DecimalMark> mark, const totograph::io::GapWords& gaps)
        : mark_(mark), gaps_(gaps) {}

    /// The value of a field in the unit of its variate, which the first one decides; NaN at gaps, and nothing where it
    /// is no value.
    std::optional<double> read(std::string_view text, std::string& unit, char separator) {
        using namespace totograph::io;
        DecimalMark mark = mark_.value_or(DecimalMark::point);
        if (parse_decimal(text).kind != DecimalKind::number || uses_comma_) {
            if (const std::optional<NumberParts> parts = split_number(text)) {
                unit = unit.empty() ? std::string(parts->unit) : unit;
                mark = mark_.value_or(mark_of(parts->digits, separator));
            }
        }
        const CellValue cell = read_cell(text, mark, unit, gaps_);
        return cell.problem == CellProblem::none ? std::optional(cell.value) : std::nullopt;
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
