// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv.hpp>
#include <totograph/io/csv_records.hpp>
#include <totograph/io/decimal.hpp>

#include "../common/format.hpp"
#include "../common/text.hpp"
#include "../common/timestamp.hpp"
#include "options.hpp"

namespace examples {

/// One line as it was read: a value for each variate, NaN where there is none.
struct Observation {
    std::string timestamp;  ///< Empty without timestamps.
    std::vector<float> values;
};

/// Turns lines into observations. The header, or the number of variates, says what a line holds.
class ObservationReader {
    using Record = std::vector<totograph::io::CsvField>;

public:
    explicit ObservationReader(const Options& options) : options_(options) {
        for (std::int64_t variate = 0; variate < options.variates; ++variate) {
            names_.push_back(std::to_string(variate + 1));
            fields_.push_back(static_cast<std::size_t>(variate));
        }
        width_ = names_.size();
    }

    [[nodiscard]] bool needs_header() const { return names_.empty(); }
    /// The variates; known for sure once a line could be used.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    /// Whether lines bear timestamps; known for sure once a line could be used.
    [[nodiscard]] bool has_timestamps() const { return timestamp_.has_value(); }

    /// Takes the header. Throws `Error(invalid_series)` when it cannot be one or names no variate, and
    /// `Error(invalid_argument)` when it lacks a column that was asked for.
    void read_header(const std::string& line) {
        using totograph::io::DecimalKind;
        const Record header = split(line);
        width_ = header.size();
        std::vector<std::string> all;
        bool only_numbers = true;
        for (const totograph::io::CsvField& field : header) {
            only_numbers = only_numbers && totograph::io::parse_decimal(field.text).kind != DecimalKind::text;
            if (field.text.empty() || std::find(all.begin(), all.end(), field.text) != all.end()) {
                refuse_header("has an empty name or one twice; give each column a name of its own");
            }
            all.push_back(field.text);
        }
        if (only_numbers) {
            refuse_header("holds numbers where the names of the columns should be; say --variates if there is none");
        }
        if (!options_.timestamp.empty()) {
            timestamp_ = place_of(options_.timestamp, all);
            is_decided_ = true;
        }
        if (timestamp_ && all.size() == 1) {
            refuse_no_variates(all.front());
        }
        for (const std::string& name : options_.columns.empty() ? all : options_.columns) {
            const std::size_t place = place_of(name, all);
            if (place != timestamp_ || !options_.columns.empty()) {
                names_.push_back(name);
                fields_.push_back(place);
            }
        }
        is_decided_ = is_decided_ || std::find(options_.columns.begin(), options_.columns.end(), all.front()) !=
                                         options_.columns.end();
        if (timestamp_ && std::find(fields_.begin(), fields_.end(), *timestamp_) != fields_.end()) {
            detail::reject("The column '" + options_.timestamp + "' is in --timestamp and in --columns; name it once.");
        }
    }

    /// Reads a line; a sentence that says what is wrong with it comes back in `problem` instead when it cannot be used.
    /// The first line that can be used settles whether the first field is a timestamp. Throws `Error(invalid_series)`
    /// when there is nothing beside it.
    std::optional<Observation> read(const std::string& line, std::string& problem) {
        problem.clear();
        Record record;
        try {
            record = split(line);
        } catch (const totograph::Error&) {
            problem = "its quotes do not match, or it holds a NUL byte";
            return std::nullopt;
        }
        if (is_decided_) {
            return read_fields(record, problem);
        }
        // A line that is torn must not say how all others are to be read: what it suggests is kept only when it can be
        // read so.
        ObservationReader guessed = *this;
        if (!guessed.guess(record, problem)) {
            return std::nullopt;
        }
        std::optional<Observation> observation = guessed.read_fields(record, problem);
        if (observation) {
            names_ = std::move(guessed.names_);
            fields_ = std::move(guessed.fields_);
            width_ = guessed.width_;
            timestamp_ = guessed.timestamp_;
            is_decided_ = true;
        }
        return observation;
    }

private:
    std::optional<Observation> read_fields(const Record& record, std::string& problem) const {
        if (record.size() != width_) {
            problem = field_count(record) + ", not " + std::to_string(width_);
            return std::nullopt;
        }
        Observation observation;
        if (timestamp_) {
            observation.timestamp = record[*timestamp_].text;
        }
        for (std::size_t variate = 0; variate < fields_.size(); ++variate) {
            const std::string& text = record[fields_[variate]].text;
            const totograph::io::Decimal number = totograph::io::parse_decimal(text);
            if (!is_gap(text) && number.kind != totograph::io::DecimalKind::number) {
                problem = "'" + printable(shortened(text, 40)) + "' for " + printable(names_[variate]) +
                          " is not a finite number";
                return std::nullopt;
            }
            observation.values.push_back(is_gap(text) ? std::nanf("") : static_cast<float>(number.value));
        }
        return observation;
    }

    /// Guesses by a line whether the first field is a timestamp; says in `problem` why not when it cannot tell.
    bool guess(const Record& record, std::string& problem) {
        const std::string& first = record.front().text;
        const bool is_date = parse_timestamp(first).has_value();
        if (options_.variates > 0) {
            // Without a header one field more than there are variates is a timestamp.
            const bool has_more = record.size() == width_ + 1;
            if (record.size() != width_ && !has_more) {
                problem = field_count(record) + ", not " + std::to_string(width_) + ", or one more with a timestamp";
                return false;
            }
            if (has_more && !is_date && !parse_whole_number(first)) {
                problem = "'" + printable(shortened(first, 40)) + "' is no timestamp";
                return false;
            }
            const bool all_gaps = std::all_of(record.begin(), record.end(),
                                              [](const totograph::io::CsvField& field) { return is_gap(field.text); });
            if (all_gaps) {
                problem = "it is blank, and comes before all others";
                return false;
            }
            decide(has_more);
            width_ += has_more ? 1 : 0;
            return true;
        }
        if (record.size() != width_) {
            problem = field_count(record) + ", not " + std::to_string(width_);
            return false;
        }
        if (is_gap(first)) {
            problem = "its first field is blank, so it cannot tell if times are there (say --timestamp or --columns)";
            return false;
        }
        if (!is_date && totograph::io::parse_decimal(first).kind != totograph::io::DecimalKind::number) {
            problem = "'" + printable(shortened(first, 40)) + "' is neither a finite number nor a timestamp";
            return false;
        }
        if (is_date && width_ == 1) {
            refuse_no_variates(names_.front());
        }
        decide(is_date);
        return true;
    }

    static std::string field_count(const Record& record) {
        return "it has " + plural(static_cast<std::int64_t>(record.size()), "field");
    }

    [[nodiscard]] Record split(const std::string& line) const {
        Record record;
        if (!totograph::io::CsvRecords(line, "standard input", options_.separator).next(record)) {
            record.emplace_back();  // an empty line is one empty field
        }
        return record;
    }

    [[noreturn]] static void refuse_header(const std::string& what) {
        throw totograph::Error(totograph::ErrorCode::invalid_series, "The first line " + what + ".");
    }

    [[noreturn]] static void refuse_no_variates(const std::string& timestamps) {
        throw totograph::Error(totograph::ErrorCode::invalid_series,
                               "There is nothing to forecast: the only column, '" + printable(timestamps) +
                                   "', holds timestamps. Give at least one variate beside it.");
    }

    static std::size_t place_of(const std::string& name, const std::vector<std::string>& all) {
        const auto found = std::find(all.begin(), all.end(), name);
        if (found == all.end()) {
            std::string known;
            for (const std::string& other : all) {
                known += (known.empty() ? "" : ", ") + printable(other);
            }
            detail::reject("The header has no column '" + name + "'; it has: " + known + ".");
        }
        return static_cast<std::size_t>(found - all.begin());
    }

    static bool is_gap(std::string_view text) {
        static const std::vector<std::string> gaps = totograph::io::CsvOptions().gaps;
        return text.empty() || std::find(gaps.begin(), gaps.end(), text) != gaps.end();
    }

    /// Settles whether the first field is a timestamp. Until then it counted as the first variate of a header, and not
    /// at all without one.
    void decide(bool is_timestamp) {
        is_decided_ = true;
        if (!is_timestamp) {
            return;
        }
        timestamp_ = 0;
        if (options_.variates > 0) {
            std::for_each(fields_.begin(), fields_.end(), [](std::size_t& field) { ++field; });
        } else if (fields_.front() == 0) {
            names_.erase(names_.begin());
            fields_.erase(fields_.begin());
        }
    }

    const Options& options_;
    std::vector<std::string> names_;
    std::vector<std::size_t> fields_;  // where a line holds each variate
    std::size_t width_ = 0;            // fields of a line
    std::optional<std::size_t> timestamp_;
    bool is_decided_ = false;  // whether it is known if the first field is a timestamp
};

}  // namespace examples
