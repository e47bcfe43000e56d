// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/names.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/csv/text_encoding.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/clock_parts.hpp>

#include "../common/format.hpp"
#include "../common/text.hpp"
#include "../intake/options.hpp"
#include "clock_columns.hpp"
#include "field_values.hpp"
#include "options.hpp"

namespace examples {

/// One line as it was read: a value for each variate, NaN where there is none.
struct Observation {
    std::string timestamp;  ///< Empty without timestamps.
    std::vector<double> values;
};

/// What the first lines of a stream are.
enum class FirstLine {
    header,   ///< It names the columns.
    nothing,  ///< It is a comment or blank; the next line is the first one.
    data      ///< There is no header: it is an observation already.
};

/// Turns lines into observations. The header, or the number of variates, says what a line holds. Fields, clock and
/// header are told apart as in files, by what a line shows.
class ObservationReader {
    using Record = std::vector<totograph::io::CsvField>;
    using Kind = totograph::io::CellKind;

public:
    explicit ObservationReader(const Options& options)
        : options_(options),
          csv_(csv_options(options.intake)),
          gaps_(options.intake.gaps),
          values_(csv_.decimal, gaps_) {
        for (std::int64_t variate = 0; variate < options.variates; ++variate) {
            all_.push_back(std::to_string(variate + 1));
            fields_.push_back(static_cast<std::size_t>(variate));
        }
        set_names();
        width_ = all_.size();
        needs_header_ = all_.empty();
    }

    [[nodiscard]] bool needs_header() const { return needs_header_; }
    /// The variates; known for sure once a line could be used.
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
    /// Whether lines bear timestamps; known for sure once a line could be used.
    [[nodiscard]] bool has_timestamps() const { return timestamp_.has_value(); }
    /// Sentences about what was decided since the last call.
    [[nodiscard]] std::vector<std::string> take_notes() {
        if (std::optional<std::string> note = values_.take_note()) {
            notes_.push_back(std::move(*note));
        }
        return std::exchange(notes_, {});
    }

    /// Finds the clock by the first lines together, as in files: the header, if there is one, and what follows it. To
    /// be called before any of them is read.
    void look_ahead(const std::vector<std::string>& lines) {
        if (options_.variates > 0 || lines.empty()) {
            return;
        }
        std::string text;
        for (const std::string& line : lines) {
            text += line + "\n";
        }
        const totograph::io::CsvLayout layout = totograph::io::find_layout(text, csv_.separator);
        totograph::io::CsvOptions csv = csv_;
        csv.columns = options_.columns;
        ahead_ = find_clock_columns(lines, layout.separator, csv, gaps_);
    }

    /// Takes the first line. Throws `Error(invalid_file)` when it is no text, `Error(invalid_series)` when it names no
    /// variate, and `Error(invalid_argument)` when it lacks a column that was asked for.
    FirstLine read_header(const std::string& line) {
        using namespace totograph::io;
        refuse_packed(line, "standard input");
        const EncodingMark mark = encoding_of(line);
        if (mark.encoding != TextEncoding::utf8) {
            throw totograph::Error(totograph::ErrorCode::invalid_file,
                                   "Standard input is UTF-16; convert it first (iconv -f utf-16 -t utf-8).");
        }
        const std::string_view text = std::string_view(line).substr(mark.length);
        const CsvLayout layout = find_layout(text, csv_.separator ? csv_.separator : separator_);
        check_csv_separator(layout.separator);
        if (layout.begin == text.size()) {
            separator_ = text.starts_with("sep=") ? std::optional(layout.separator) : separator_;
            return FirstLine::nothing;
        }
        separator_ = layout.separator;
        Record header;
        try {
            header = split(text);
        } catch (const totograph::Error&) {
            throw totograph::Error(totograph::ErrorCode::invalid_series,
                                   "The first line cannot be read: its quotes do not match, or it holds a NUL byte.");
        }
        const bool is_named = is_header(header, {}, gaps_);
        name_columns(std::move(header), is_named);
        needs_header_ = false;
        return is_named ? FirstLine::header : FirstLine::data;
    }

    /// Reads a line; a sentence that says what is wrong with it comes back in `problem` instead when it cannot be used.
    /// The first line that can be used settles which field is the timestamp. Throws `Error(invalid_series)` when there
    /// is nothing beside it.
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
        drop_labels(record);
        const std::vector<std::size_t> fields = fields_;
        const std::size_t width = width_;
        std::optional<Observation> observation;
        if (guess(record, problem)) {
            observation = read_fields(record, problem);
        }
        if (!observation) {
            fields_ = fields;
            width_ = width;
            timestamp_.reset();
            parts_.clear();
            units_.clear();
            clock_note_.clear();
        } else if (!clock_note_.empty()) {
            notes_.push_back(clock_note_);
        }
        is_decided_ = observation.has_value();
        set_names();
        return observation;
    }

private:
    void name_columns(Record header, bool is_named) {
        std::vector<std::string> given;
        for (totograph::io::CsvField& field : header) {
            given.push_back(is_named ? std::move(field.text) : "");
        }
        width_ = given.size();
        has_index_ = is_named && given.front().empty();
        totograph::io::ColumnNames unique = totograph::io::unique_names(std::move(given));
        if (!unique.renamed.empty()) {
            notes_.push_back("Several columns are called '" + printable(unique.renamed) +
                             "'; repeated names get a number, as '" + printable(unique.new_name) + "' did.");
        }
        if (!is_named) {
            notes_.emplace_back("There is no header; the columns are called column_1 and so on.");
        }
        all_ = std::move(unique.names);
        std::unordered_map<std::string_view, std::size_t> places;
        for (std::size_t place = 0; place < all_.size(); ++place) {
            places.emplace(all_[place], place);
        }
        if (csv_.timestamp) {
            timestamp_ = place_of(*csv_.timestamp, places);
            is_decided_ = !options_.columns.empty();
        }
        if (timestamp_ && ahead_ && ahead_->parts.size() > 1) {
            take_clock_ahead();
            notes_.push_back(clock_note_);
        }
        if (timestamp_ && all_.size() == 1) {
            refuse_no_variates(all_.front());
        }
        for (const std::string& name : options_.columns) {
            fields_.push_back(place_of(name, places));
        }
        if (timestamp_ && std::find(fields_.begin(), fields_.end(), *timestamp_) != fields_.end()) {
            detail::reject("The column '" + *csv_.timestamp + "' is in --timestamp and in --columns; name it once.");
        }
        for (std::size_t place = 0; place < all_.size() && options_.columns.empty(); ++place) {
            if (!is_clock_column(place)) {
                fields_.push_back(place);
            }
        }
        set_names();
    }

    /// Takes the clock that the first lines show.
    void take_clock_ahead() {
        parts_ = ahead_->parts;
        timestamp_ = parts_.front().position;
        clock_note_ = ahead_->note;
    }

    [[nodiscard]] bool is_clock_column(std::size_t place) const {
        return place == timestamp_ ||
               std::any_of(parts_.begin(), parts_.end(),
                           [&](const totograph::io::ClockPart& part) { return part.position == place; });
    }

    void set_names() {
        names_.clear();
        for (std::size_t variate = 0; variate < fields_.size(); ++variate) {
            // Without a header a timestamp moves the fields, and not the names.
            names_.push_back(all_[options_.variates > 0 ? variate : fields_[variate]]);
        }
    }

    std::optional<Observation> read_fields(const Record& record, std::string& problem) {
        if (record.size() != width_) {
            problem = field_count(record) + ", not " + std::to_string(width_);
            return std::nullopt;
        }
        Observation observation;
        if (timestamp_) {
            observation.timestamp =
                parts_.empty() ? record[*timestamp_].text : totograph::io::clock_text(parts_, record);
        }
        units_.resize(fields_.size());
        for (std::size_t variate = 0; variate < fields_.size(); ++variate) {
            const std::string& text = record[fields_[variate]].text;
            const std::optional<double> value = values_.read(text, units_[variate], separator());
            if (!value) {
                problem = "'" + printable(shortened(text, 40)) + "' for " +
                          printable(all_[options_.variates > 0 ? variate : fields_[variate]]) +
                          " is not a finite number" + (units_[variate].empty() ? "" : " of its unit");
                return std::nullopt;
            }
            observation.values.push_back(*value);
        }
        return observation;
    }

    /// Leaves out columns that nobody asked for by name, where two lines that follow each other hold text in them: one
    /// could be torn.
    void drop_labels(const Record& record) {
        if (record.size() != width_ || options_.variates > 0 || !options_.columns.empty()) {
            return;
        }
        std::vector<std::size_t> texts;
        for (std::size_t place = 0; place < record.size(); ++place) {
            if (!is_clock_column(place) && totograph::io::kind_of_cell(record[place].text, gaps_) == Kind::text) {
                texts.push_back(place);
            }
        }
        if (!texts.empty() && texts == texts_ && texts.size() < fields_.size()) {
            std::vector<std::string> left_out;
            std::erase_if(fields_, [&](std::size_t place) {
                const bool is_text = std::binary_search(texts.begin(), texts.end(), place);
                if (is_text) {
                    left_out.push_back(all_[place]);
                }
                return is_text;
            });
            if (!left_out.empty()) {
                notes_.push_back("Text is left out: " + totograph::io::name_list(left_out) + ".");
            }
        }
        texts_ = std::move(texts);
    }

    /// Guesses by a line which field is the timestamp; says in `problem` why not when it cannot tell.
    bool guess(const Record& record, std::string& problem) {
        return options_.variates > 0 ? guess_by_count(record, problem) : guess_by_fields(record, problem);
    }

    /// Without a header one field more than there are variates is a timestamp.
    bool guess_by_count(const Record& record, std::string& problem) {
        const std::string& first = record.front().text;
        const bool has_more = record.size() == width_ + 1;
        if (record.size() != width_ && !has_more) {
            problem = field_count(record) + ", not " + std::to_string(width_) + ", or one more with a timestamp";
            return false;
        }
        const bool is_time =
            kind_of_cell(first, gaps_) == Kind::time || totograph::io::parse_whole_number(first) || is_epoch(first);
        if (has_more && !is_time) {
            problem = "'" + printable(shortened(first, 40)) + "' is no timestamp";
            return false;
        }
        const bool all_gaps = std::all_of(record.begin(), record.end(), [&](const totograph::io::CsvField& field) {
            const Kind kind = totograph::io::kind_of_cell(field.text, gaps_);
            return kind == Kind::blank || kind == Kind::gap_word;
        });
        if (all_gaps) {
            problem = "it is blank, and comes before all others";
            return false;
        }
        if (has_more) {
            timestamp_ = 0;
            ++width_;
            std::for_each(fields_.begin(), fields_.end(), [](std::size_t& field) { ++field; });
        }
        return true;
    }

    bool guess_by_fields(const Record& record, std::string& problem) {
        if (record.size() != width_) {
            problem = field_count(record) + ", not " + std::to_string(width_);
            return false;
        }
        if (csv_.timestamp) {
            timestamp_ = static_cast<std::size_t>(std::find(all_.begin(), all_.end(), *csv_.timestamp) - all_.begin());
            if (ahead_ && ahead_->parts.size() > 1) {
                take_clock_ahead();
                clock_note_.clear();  // it has been told
            }
            return true;
        }
        if (ahead_ && !ahead_->parts.empty() && ahead_->parts.back().position < record.size()) {
            take_clock_ahead();
        }
        const auto is_asked = [&](std::size_t place) {
            return !options_.columns.empty() && std::find(fields_.begin(), fields_.end(), place) != fields_.end();
        };
        for (const bool by_number : {false, true}) {
            for (std::size_t place = 0; place < record.size() && !timestamp_; ++place) {
                if (is_clock(record[place].text, place, by_number) && !is_asked(place)) {
                    timestamp_ = place;
                }
            }
        }
        const std::string& first = record.front().text;
        const Kind kind = totograph::io::kind_of_cell(first, gaps_);
        if (!timestamp_ && options_.columns.empty() && (kind == Kind::blank || kind == Kind::gap_word)) {
            problem = "its first field is blank, so it cannot tell if times are there (say --timestamp or --columns)";
            return false;
        }
        if (!timestamp_ && kind == Kind::text && fields_.front() == 0) {
            problem = "'" + printable(shortened(first, 40)) + "' is neither a finite number nor a timestamp";
            return false;
        }
        if (timestamp_ && options_.columns.empty()) {
            std::erase_if(fields_, [&](std::size_t place) { return is_clock_column(place); });
            if (fields_.empty()) {
                refuse_no_variates(all_.front());
            }
        }
        return true;
    }

    /// Whether a field is a date, or, by number, an epoch time in a column that is called as clocks are, or the number
    /// of a row.
    bool is_clock(const std::string& text, std::size_t place, bool by_number) {
        if (!by_number) {
            return totograph::io::kind_of_cell(text, gaps_) == Kind::time;
        }
        const bool is_index = place == 0 && has_index_;
        const bool is_counted = (totograph::io::is_clock_name(all_[place]) && is_epoch(text)) ||
                                (is_index && totograph::io::parse_whole_number(text));
        if (is_counted) {
            clock_note_ = "Column '" + printable(all_[place]) + "' " +
                          (is_epoch(text) ? "holds epoch times" : "counts the lines") +
                          ": it is taken as the clock. Name it in --columns to have it as values.";
        }
        return is_counted;
    }

    static bool is_epoch(std::string_view text) {
        const totograph::io::Decimal number = totograph::io::parse_decimal(text);
        return number.kind == totograph::io::DecimalKind::number &&
               (totograph::io::detail::epoch_power(number.value) >= 0 || totograph::io::parse_compact_date(text));
    }

    static std::string field_count(const Record& record) {
        return "it has " + plural(static_cast<std::int64_t>(record.size()), "field");
    }

    [[nodiscard]] char separator() const { return csv_.separator.value_or(separator_.value_or(',')); }

    [[nodiscard]] Record split(std::string_view line) const {
        Record record;
        if (!totograph::io::CsvRecords(line, "standard input", separator()).next(record)) {
            record.emplace_back();  // an empty line is one empty field
        }
        return record;
    }

    [[noreturn]] static void refuse_no_variates(const std::string& timestamps) {
        throw totograph::Error(totograph::ErrorCode::invalid_series,
                               "There is nothing to forecast: the only column, '" + printable(timestamps) +
                                   "', holds timestamps. Give at least one variate beside it.");
    }

    [[nodiscard]] std::size_t place_of(const std::string& name,
                                       const std::unordered_map<std::string_view, std::size_t>& places) const {
        const auto found = places.find(name);
        if (found == places.end()) {
            detail::reject("The header has no column '" + name + "'; it has: " + totograph::io::name_list(all_) + ".");
        }
        return found->second;
    }

    const Options& options_;
    totograph::io::CsvOptions csv_;
    totograph::io::GapWords gaps_;
    FieldValues values_;
    std::optional<char> separator_;    // as the header tells
    std::vector<std::string> all_;     // the names of all columns
    std::vector<std::string> names_;   // and of the variates
    std::vector<std::size_t> fields_;  // where a line holds each variate
    std::vector<std::string> units_;   // of the variates
    std::size_t width_ = 0;            // fields of a line
    std::optional<std::size_t> timestamp_;
    std::optional<StreamClockColumns> ahead_;  // the clock as the first lines show it together
    totograph::io::ClockParts parts_;          // the columns that are the clock together; empty for one alone
    std::vector<std::size_t> texts_;           // the columns of text in the line before, as long as nothing is decided
    std::vector<std::string> notes_;
    std::string clock_note_;
    bool needs_header_ = true;
    bool has_index_ = false;
    bool is_decided_ = false;  // whether it is known which field is the timestamp
};

}  // namespace examples
