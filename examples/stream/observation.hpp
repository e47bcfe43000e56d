// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/cells.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/names.hpp>
#include <totograph/io/csv/number_cell.hpp>
#include <totograph/io/time/clock_parts.hpp>
#include <totograph/io/time/timestamp.hpp>

#include "../common/text.hpp"
#include "column_guess.hpp"
#include "field_values.hpp"
#include "line_columns.hpp"
#include "line_format.hpp"
#include "options.hpp"
#include "stream_head.hpp"

namespace examples {

/// One line as it was read: a value for each variate, NaN where there is none.
struct Observation {
    std::string timestamp;  ///< Empty without timestamps.
    std::vector<double> values;
};

/// Turns lines into observations. The first lines, or the number of variates, say what a line holds.
class ObservationReader {
public:
    /// `options` must outlive this object.
    explicit ObservationReader(const Options& options)
        : format_(options),
          columns_(LineColumns::counted(options.variates)),
          guess_(format_),
          values_(format_.csv.decimal, format_.gaps) {
        set_variates();
        needs_header_ = columns_.all.empty();
    }
    explicit ObservationReader(const Options&& temporary) = delete;
    ObservationReader(const ObservationReader&) = delete;
    ObservationReader& operator=(const ObservationReader&) = delete;
    ~ObservationReader() = default;

    [[nodiscard]] bool needs_header() const { return needs_header_; }
    /// The variates; known for sure once a line could be used.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    /// Whether lines bear timestamps; known for sure once a line could be used.
    [[nodiscard]] bool has_timestamps() const { return columns_.timestamp.has_value(); }
    /// The order of dates: as the command line says, or as the first lines show together.
    [[nodiscard]] std::optional<totograph::io::DateOrder> dates() const {
        return format_.csv.dates ? format_.csv.dates : dates_;
    }
    /// How many digits are a time, as the first lines show together; 0 where times are spelled otherwise.
    [[nodiscard]] std::size_t date_digits() const { return date_digits_; }
    /// Sentences about what was decided since the last call.
    [[nodiscard]] std::vector<std::string> take_notes() {
        if (std::optional<std::string> note = values_.take_note()) {
            notes_.push_back(std::move(*note));
        }
        return std::exchange(notes_, {});
    }

    /// Whether these first lines tell which columns hold what.
    [[nodiscard]] bool is_told_by(const std::vector<std::string>& lines) const {
        try {
            const StreamHead head = read_stream_head(lines, format_);
            return head.is_decided && (format_.csv.dates || !head.dates.is_unclear);
        } catch (const totograph::Error&) {
            return true;  // to be told now
        }
    }

    /// Takes the first lines, and returns how many of them come before the rows; all, when they are comments or blank
    /// and the next ones are the first. Throws `Error(invalid_file)` when they are no text or hold no clock though they
    /// must, `Error(invalid_series)` when they name no variate, and `Error(invalid_argument)` when they lack a column
    /// that was asked for.
    std::size_t read_head(const std::vector<std::string>& lines) {
        StreamHead head = read_stream_head(lines, format_);
        if (!head.is_found) {
            return lines.size();
        }
        needs_header_ = false;
        format_.separator = head.separator;
        columns_ = std::move(head.columns);
        is_decided_ = head.is_decided;
        dates_ = head.dates.order;
        date_digits_ = head.date_digits;
        notes_.insert(notes_.end(), head.notes.begin(), head.notes.end());
        set_variates();
        for (std::size_t variate = 0; variate < variates_.size() && !head.are_numbers.empty(); ++variate) {
            variates_[variate].has_number = head.are_numbers[columns_.fields[variate]];
            variates_[variate].marks = head.marks[columns_.fields[variate]];
        }
        for (const totograph::io::MarkEvidence& marks : head.marks) {
            values_.look_at(marks);
        }
        return head.rows_at;
    }

    /// Whether a line holds nothing at all, not even a separator.
    [[nodiscard]] bool is_blank(const std::string& line) const {
        const char separator = format_.used_separator();
        return totograph::io::detail::is_blank_line(line) &&
               (separator == ' ' || line.find(separator) == std::string::npos);
    }

    /// Whether a blank line is a step without a value: in a single column, as in files, and not elsewhere.
    [[nodiscard]] bool has_blank_steps() const { return columns_.width == 1; }

    /// Reads a line; a sentence that says what is wrong with it comes back in `problem` instead when it cannot be used.
    /// Where the first lines did not tell, the first one that can be used decides which field is the timestamp. Throws
    /// `Error(invalid_series)` when there is nothing beside it.
    std::optional<Observation> read(const std::string& line, std::string& problem) {
        problem.clear();
        LineRecord record;
        try {
            record = format_.split(line);
        } catch (const totograph::Error&) {
            problem = "its quotes do not match, or it holds a NUL byte";
            return std::nullopt;
        }
        if (!columns_.are_counted) {
            fit_record(record, columns_.width);
        }
        return is_decided_ ? read_fields(record, problem) : decide(record, problem);
    }

private:
    /// What the lines so far say about a variate.
    struct Variate {
        FieldUnit unit;
        totograph::io::MarkEvidence marks;
        bool has_number = false;
        bool has_text = false;  // in place of numbers, which was told
    };

    /// A line that is torn must not say how all others are to be read: what it suggests is kept only when it can be
    /// read so.
    std::optional<Observation> decide(const LineRecord& record, std::string& problem) {
        guess_.drop_labels(record, columns_, notes_);
        LineColumns before = columns_;
        std::optional<Observation> observation;
        if (guess_.guess(record, columns_, problem)) {
            set_variates();
            observation = read_fields(record, problem);
        }
        if (!observation) {
            columns_ = std::move(before);
            columns_.timestamp.reset();
            columns_.parts.clear();
            set_variates();
        } else if (!guess_.note().empty()) {
            notes_.push_back(guess_.note());
        }
        is_decided_ = observation.has_value();
        return observation;
    }

    void set_variates() {
        names_.clear();
        for (std::size_t variate = 0; variate < columns_.fields.size(); ++variate) {
            names_.push_back(columns_.name_of(variate));
        }
        variates_.assign(names_.size(), {});
    }

    std::optional<Observation> read_fields(const LineRecord& record, std::string& problem) {
        if (record.size() != columns_.width) {
            problem = detail::field_count(record) + ", not " + std::to_string(columns_.width);
            return std::nullopt;
        }
        Observation observation;
        if (columns_.timestamp) {
            observation.timestamp = columns_.parts.empty() ? record[*columns_.timestamp].text
                                                           : totograph::io::clock_text(columns_.parts, record);
        }
        std::vector<std::size_t> new_units;
        std::vector<std::size_t> new_texts;
        for (std::size_t variate = 0; variate < columns_.fields.size(); ++variate) {
            Variate& known = variates_[variate];
            const std::string& text = record[columns_.fields[variate]].text;
            const bool had_unit = known.unit.is_known;
            const totograph::io::CellValue cell = values_.read(text, known.unit, known.marks, format_.used_separator());
            if (!had_unit && known.unit.is_known) {
                new_units.push_back(variate);
            }
            if (cell.problem == totograph::io::CellProblem::none) {
                observation.values.push_back(cell.value);
            } else if (is_remark(variate, text)) {
                new_texts.push_back(variate);
                observation.values.push_back(std::numeric_limits<double>::quiet_NaN());
            } else {
                problem = problem_of(variate, text, cell.problem);
                for (const std::size_t torn : new_units) {
                    variates_[torn].unit = {};
                }
                return std::nullopt;
            }
        }
        for (std::size_t variate = 0; variate < variates_.size(); ++variate) {
            variates_[variate].has_number |= !std::isnan(observation.values[variate]);
        }
        tell_units(new_units);
        tell_texts(new_texts, record);
        return observation;
    }

    /// Whether text stands in a column that was blank so far, and that nobody asked for: no line is lost by it.
    [[nodiscard]] bool is_remark(std::size_t variate, const std::string& text) const {
        using totograph::io::CellKind;
        const CellKind kind = format_.kind_of(text);
        return is_decided_ && !columns_.are_counted && format_.options.columns.empty() &&
               !variates_[variate].has_number && (kind == CellKind::text || kind == CellKind::time);
    }

    [[nodiscard]] std::string problem_of(std::size_t variate, const std::string& text,
                                         totograph::io::CellProblem problem) const {
        using totograph::io::CellProblem;
        const std::string field =
            "'" + printable(shortened(text, 40)) + "' for " + printable(shortened(names_[variate], 40));
        const std::string& unit = variates_[variate].unit.name;
        if (problem == CellProblem::unit) {
            return field + " is not in the unit of the values before it" +
                   (unit.empty() ? ", which have none" : ", '" + printable(unit) + "'");
        }
        const bool is_word = format_.kind_of(text) == totograph::io::CellKind::text;
        return field + " is not a finite number" +
               (is_word ? " (if it means a missing value, say so: --gap WORD)" : "");
    }

    void tell_units(const std::vector<std::size_t>& variates) {
        constexpr std::size_t most = 12;
        std::string units;
        std::size_t count = 0;
        for (const std::size_t variate : variates) {
            if (const std::string& unit = variates_[variate].unit.name; !unit.empty() && count++ < most) {
                units += (units.empty() ? "'" : ", '") + printable(shortened(names_[variate], 40)) + "' in '" +
                         printable(unit) + "'";
            }
        }
        if (count > 0) {
            notes_.push_back("Values are in the unit of the first one of their column: " + units +
                             (count > most ? " and " + std::to_string(count - most) + " others" : "") + ".");
        }
    }

    void tell_texts(const std::vector<std::size_t>& variates, const LineRecord& record) {
        std::vector<std::string> names;
        std::string first;
        for (const std::size_t variate : variates) {
            if (!std::exchange(variates_[variate].has_text, true)) {
                first = names.empty() ? record[columns_.fields[variate]].text : first;
                names.push_back(names_[variate]);
            }
        }
        if (!names.empty()) {
            const bool is_one = names.size() == 1;
            notes_.push_back((is_one ? "Column " : "Columns ") + totograph::io::name_list(names) +
                             (is_one ? ", blank so far, holds text" : ", blank so far, hold text") + ", such as '" +
                             printable(shortened(first, 40)) + "': a gap, until numbers come.");
        }
    }

    LineFormat format_;
    LineColumns columns_;
    ColumnGuess guess_;
    FieldValues values_;
    std::vector<std::string> names_;  // of the variates
    std::vector<Variate> variates_;
    std::vector<std::string> notes_;
    std::optional<totograph::io::DateOrder> dates_;
    std::size_t date_digits_ = 0;
    bool needs_header_ = true;
    bool is_decided_ = false;  // whether it is known which field is the timestamp
};

}  // namespace examples
