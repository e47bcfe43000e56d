// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/time/clock_parts.hpp>

#include "../common/text.hpp"
#include "column_guess.hpp"
#include "field_values.hpp"
#include "header_line.hpp"
#include "line_columns.hpp"
#include "line_format.hpp"
#include "options.hpp"

namespace examples {

/// One line as it was read: a value for each variate, NaN where there is none.
struct Observation {
    std::string timestamp;  ///< Empty without timestamps.
    std::vector<double> values;
};

/// Turns lines into observations. The header, or the number of variates, says what a line holds.
class ObservationReader {
public:
    /// `options` must outlive this object.
    explicit ObservationReader(const Options& options)
        : format_(options),
          columns_(LineColumns::counted(options.variates)),
          guess_(format_),
          values_(format_.csv.decimal, format_.gaps) {
        set_names();
        needs_header_ = columns_.all.empty();
    }
    ObservationReader(const ObservationReader&) = delete;
    ObservationReader& operator=(const ObservationReader&) = delete;
    ~ObservationReader() = default;

    [[nodiscard]] bool needs_header() const { return needs_header_; }
    /// The variates; known for sure once a line could be used.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    /// Whether lines bear timestamps; known for sure once a line could be used.
    [[nodiscard]] bool has_timestamps() const { return columns_.timestamp.has_value(); }
    /// Sentences about what was decided since the last call.
    [[nodiscard]] std::vector<std::string> take_notes() {
        if (std::optional<std::string> note = values_.take_note()) {
            notes_.push_back(std::move(*note));
        }
        return std::exchange(notes_, {});
    }

    /// Finds the clock by the first lines together. To be called before any of them is read.
    void find_clock(const std::vector<std::string>& lines) { format_.find_clock(lines); }

    /// Takes the first line. Throws `Error(invalid_file)` when it is no text, `Error(invalid_series)` when it names no
    /// variate, and `Error(invalid_argument)` when it lacks a column that was asked for.
    FirstLine read_header(const std::string& line) {
        const FirstLine kind = read_header_line(line, format_, columns_, notes_);
        if (kind != FirstLine::nothing) {
            is_decided_ = columns_.timestamp && !format_.options.columns.empty();
            needs_header_ = false;
            set_names();
        }
        return kind;
    }

    /// Reads a line; a sentence that says what is wrong with it comes back in `problem` instead when it cannot be used.
    /// The first line that can be used decides which field is the timestamp. Throws `Error(invalid_series)` when there
    /// is nothing beside it.
    std::optional<Observation> read(const std::string& line, std::string& problem) {
        problem.clear();
        LineFormat::Record record;
        try {
            record = format_.split(line);
        } catch (const totograph::Error&) {
            problem = "its quotes do not match, or it holds a NUL byte";
            return std::nullopt;
        }
        return is_decided_ ? read_fields(record, problem) : decide(record, problem);
    }

private:
    /// A line that is torn must not say how all others are to be read: what it suggests is kept only when it can be
    /// read so.
    std::optional<Observation> decide(const LineFormat::Record& record, std::string& problem) {
        guess_.drop_labels(record, columns_, notes_);
        LineColumns before = columns_;
        std::optional<Observation> observation;
        if (guess_.guess(record, columns_, problem)) {
            observation = read_fields(record, problem);
        }
        if (!observation) {
            columns_ = std::move(before);
            columns_.timestamp.reset();
            columns_.parts.clear();
            units_.clear();
        } else if (!guess_.note().empty()) {
            notes_.push_back(guess_.note());
        }
        is_decided_ = observation.has_value();
        set_names();
        return observation;
    }

    void set_names() {
        names_.clear();
        for (std::size_t variate = 0; variate < columns_.fields.size(); ++variate) {
            names_.push_back(columns_.name_of(variate));
        }
    }

    std::optional<Observation> read_fields(const LineFormat::Record& record, std::string& problem) {
        if (record.size() != columns_.width) {
            problem = detail::field_count(record) + ", not " + std::to_string(columns_.width);
            return std::nullopt;
        }
        Observation observation;
        if (columns_.timestamp) {
            observation.timestamp = columns_.parts.empty() ? record[*columns_.timestamp].text
                                                           : totograph::io::clock_text(columns_.parts, record);
        }
        units_.resize(columns_.fields.size());
        for (std::size_t variate = 0; variate < columns_.fields.size(); ++variate) {
            const std::string& text = record[columns_.fields[variate]].text;
            const std::optional<double> value = values_.read(text, units_[variate], format_.used_separator());
            if (!value) {
                problem = "'" + printable(shortened(text, 40)) + "' for " + printable(columns_.name_of(variate)) +
                          " is not a finite number" + (units_[variate].empty() ? "" : " of its unit");
                return std::nullopt;
            }
            observation.values.push_back(*value);
        }
        return observation;
    }

    LineFormat format_;
    LineColumns columns_;
    ColumnGuess guess_;
    FieldValues values_;
    std::vector<std::string> names_;  // of the variates
    std::vector<std::string> units_;  // of the variates
    std::vector<std::string> notes_;
    bool needs_header_ = true;
    bool is_decided_ = false;  // whether it is known which field is the timestamp
};

}  // namespace examples
