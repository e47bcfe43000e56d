// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <totograph/io/csv/cells.hpp>
#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/number_cell.hpp>

#include "../common/text.hpp"

namespace examples {

/// The unit of a variate, as in files: that of its first value that is not zero.
struct FieldUnit {
    std::string name;  ///< Empty without.
    bool is_known = false;
};

/// Reads fields of lines as values. A stream cannot look ahead: what could have a decimal comma or a decimal point is
/// read as the numbers of its column so far tell, or else those of all columns; where none does, as the separator
/// suggests.
class FieldValues {
public:
    /// `gaps` must outlive this object.
    FieldValues(std::optional<totograph::io::DecimalMark> mark, const totograph::io::GapWords& gaps)
        : mark_(mark), gaps_(gaps) {}

    /// What the numbers of the first lines tell of all columns.
    void look_at(const totograph::io::MarkEvidence& marks) { all_.add(marks); }

    /// The value of a field in the unit of its variate, which it decides where that is not known. What the numbers of
    /// its column tell of marks is in `column`, and so is then what this one does.
    totograph::io::CellValue read(std::string_view text, FieldUnit& unit, totograph::io::MarkEvidence& column,
                                  char separator) {
        using namespace totograph::io;
        DecimalMark mark = mark_.value_or(DecimalMark::point);
        const bool is_plain = parse_decimal(text).kind == DecimalKind::number;
        std::optional<NumberParts> parts;
        MarkEvidence evidence;
        if (!is_plain || uses_comma_ || column.is_comma || all_.is_comma) {
            parts = split_number(text);
            evidence = parts ? evidence_of(parts->digits) : evidence;
            mark = parts ? mark_.value_or(mark_of(evidence, column, separator)) : mark;
        } else if (!column.is_point) {
            evidence = evidence_of(text.starts_with('+') ? text.substr(1) : text);
        }
        const std::string_view own = parts ? parts->unit : std::string_view();
        const CellValue cell = read_cell(text, mark, unit.is_known ? std::string_view(unit.name) : own, gaps_);
        const bool is_number = cell.problem == CellProblem::none && !std::isnan(cell.value) && (is_plain || parts);
        if (is_number) {
            look_for_mistake(text, evidence, column, mark);
            column.add(evidence);
            all_.add(evidence);
        }
        // Nothing is as much in every unit.
        if (!unit.is_known && is_number && (cell.value != 0 || !own.empty())) {
            unit = {std::string(own), true};
        }
        return cell;
    }

    /// A sentence about decimal commas, once, after they were first met; and one about numbers that were read with the
    /// wrong mark.
    std::optional<std::string> take_note() {
        if (!mistake_.empty()) {
            return std::exchange(mistake_, "");
        }
        if (!uses_comma_ || mark_ || has_told_) {
            return std::nullopt;
        }
        has_told_ = true;
        return "Numbers are read with decimal commas (--decimal point is the other way).";
    }

private:
    /// What has one comma or point before three digits was read as the separator suggests; a number with two of them
    /// may tell that they part thousands.
    void look_for_mistake(std::string_view text, const totograph::io::MarkEvidence& evidence,
                          const totograph::io::MarkEvidence& column, totograph::io::DecimalMark mark) {
        if (mark_ || has_told_mistake_) {
            return;
        }
        const bool is_told = column.is_comma != column.is_point || all_.is_comma != all_.is_point;
        if (evidence.is_comma == evidence.is_point) {
            const bool has_comma = mark == totograph::io::DecimalMark::comma;
            guessed_comma_ |= !is_told && evidence.has_unclear_comma && has_comma;
            guessed_point_ |= !is_told && evidence.has_unclear_point && !has_comma;
        } else if (!is_told && (evidence.is_comma ? guessed_point_ : guessed_comma_)) {
            has_told_mistake_ = true;
            mistake_ = "'" + printable(shortened(std::string(text), 40)) + "' tells that " +
                       (evidence.is_comma ? "points" : "commas") +
                       " stand between thousands. Numbers before it, with one of them, were read as decimals; say "
                       "--decimal " +
                       (evidence.is_comma ? "comma" : "point") + " to have them right from the start.";
        }
    }

    totograph::io::DecimalMark mark_of(const totograph::io::MarkEvidence& evidence,
                                       const totograph::io::MarkEvidence& column, char separator) {
        using totograph::io::DecimalMark;
        bool is_comma = (evidence.has_unclear_comma && separator != ',') || (evidence.has_unclear_point && uses_comma_);
        for (const totograph::io::MarkEvidence* told : {&evidence, &column, &std::as_const(all_)}) {
            if (told->is_comma != told->is_point) {
                is_comma = told->is_comma;
                break;
            }
        }
        const bool has_mark = evidence.is_comma || evidence.has_unclear_comma || evidence.has_unclear_point;
        uses_comma_ = (uses_comma_ || (is_comma && has_mark)) && !evidence.is_point;
        return is_comma ? DecimalMark::comma : DecimalMark::point;
    }

    std::optional<totograph::io::DecimalMark> mark_;
    const totograph::io::GapWords& gaps_;
    totograph::io::MarkEvidence all_;  // of all columns
    bool uses_comma_ = false;
    bool has_told_ = false;
    bool guessed_comma_ = false;  // whether a mark that could part thousands was read so, and nothing had told
    bool guessed_point_ = false;
    bool has_told_mistake_ = false;
    std::string mistake_;
};

}  // namespace examples
