// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/names.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/time/clock.hpp>

#include "../common/format.hpp"
#include "../common/text.hpp"
#include "line_columns.hpp"
#include "line_format.hpp"

namespace examples {

namespace detail {

inline bool is_epoch(std::string_view text) {
    const totograph::io::Decimal number = totograph::io::parse_decimal(text);
    return number.kind == totograph::io::DecimalKind::number &&
           (totograph::io::detail::epoch_power(number.value) >= 0 || totograph::io::parse_compact_date(text));
}

inline std::string field_count(const LineRecord& record) {
    return "it has " + plural(static_cast<std::int64_t>(record.size()), "field");
}

}  // namespace detail

/// Tells by a line which of its fields are the timestamp and which are variates, where the first lines together did not
/// tell: without a header, or when hardly any of them could be read.
class ColumnGuess {
    using Record = LineRecord;
    using Kind = totograph::io::CellKind;

public:
    /// `format` must outlive this object.
    explicit ColumnGuess(const LineFormat& format) : format_(format) {}

    /// Leaves out columns that nobody asked for by name, where two lines that follow each other hold text in them: one
    /// could be torn. What was left out is added to `notes`.
    void drop_labels(const Record& record, LineColumns& columns, std::vector<std::string>& notes) {
        if (record.size() != columns.width || options().variates > 0 || !options().columns.empty()) {
            return;
        }
        std::vector<std::size_t> texts;
        for (std::size_t place = 0; place < record.size(); ++place) {
            if (!columns.is_clock(place) && format_.kind_of(record[place].text) == Kind::text) {
                texts.push_back(place);
            }
        }
        if (!texts.empty() && texts == texts_ && texts.size() < columns.fields.size()) {
            std::vector<std::string> left_out;
            std::erase_if(columns.fields, [&](std::size_t place) {
                const bool is_text = std::binary_search(texts.begin(), texts.end(), place);
                if (is_text) {
                    left_out.push_back(columns.all[place]);
                }
                return is_text;
            });
            if (!left_out.empty()) {
                notes.push_back("Text is left out: " + totograph::io::name_list(left_out) + ".");
            }
        }
        texts_ = std::move(texts);
    }

    /// Sets which field of a line is the timestamp; says in `problem` why not, with `columns` half set, when it cannot
    /// tell. Throws `Error(invalid_series)` when there is nothing beside it.
    bool guess(const Record& record, LineColumns& columns, std::string& problem) {
        note_.clear();
        return columns.are_counted ? guess_by_count(record, columns, problem)
                                   : guess_by_fields(record, columns, problem);
    }

    /// A sentence about the last guess; empty when there is nothing to say.
    [[nodiscard]] const std::string& note() const { return note_; }

private:
    [[nodiscard]] const Options& options() const { return format_.options; }

    /// Without a header one field more than there are variates is a timestamp.
    bool guess_by_count(const Record& record, LineColumns& columns, std::string& problem) const {
        const std::string& first = record.front().text;
        const bool has_more = record.size() == columns.width + 1;
        if (record.size() != columns.width && !has_more) {
            problem = detail::field_count(record) + ", not " + std::to_string(columns.width) +
                      ", or one more with a timestamp";
            return false;
        }
        const bool is_time =
            format_.kind_of(first) == Kind::time || totograph::io::parse_whole_number(first) || detail::is_epoch(first);
        if (has_more && !is_time) {
            problem = "'" + printable(shortened(first, 40)) + "' is no timestamp";
            return false;
        }
        const bool all_gaps = std::all_of(record.begin(), record.end(), [&](const totograph::io::CsvField& field) {
            const Kind kind = format_.kind_of(field.text);
            return kind == Kind::blank || kind == Kind::gap_word;
        });
        if (all_gaps) {
            problem = "it is blank, and comes before all others";
            return false;
        }
        if (has_more) {
            columns.timestamp = 0;
            ++columns.width;
            std::for_each(columns.fields.begin(), columns.fields.end(), [](std::size_t& field) { ++field; });
        }
        return true;
    }

    bool guess_by_fields(const Record& record, LineColumns& columns, std::string& problem) {
        if (record.size() != columns.width) {
            problem = detail::field_count(record) + ", not " + std::to_string(columns.width);
            return false;
        }
        if (format_.csv.timestamp) {
            const auto& all = columns.all;
            columns.timestamp =
                static_cast<std::size_t>(std::find(all.begin(), all.end(), *format_.csv.timestamp) - all.begin());
            return true;
        }
        find_clock(record, columns);
        const std::string& first = record.front().text;
        const Kind kind = format_.kind_of(first);
        if (!columns.timestamp && options().columns.empty() && (kind == Kind::blank || kind == Kind::gap_word)) {
            problem = "its first field is blank, so it cannot tell if times are there (say --timestamp or --columns)";
            return false;
        }
        if (!columns.timestamp && kind == Kind::text && columns.fields.front() == 0) {
            problem = "'" + printable(shortened(first, 40)) + "' is neither a finite number nor a timestamp";
            return false;
        }
        if (columns.timestamp && options().columns.empty()) {
            std::erase_if(columns.fields, [&](std::size_t place) { return columns.is_clock(place); });
            if (columns.fields.empty()) {
                detail::refuse_no_variates(columns.all.front());
            }
        }
        return true;
    }

    /// The first field that is a clock: dates before numbers.
    void find_clock(const Record& record, LineColumns& columns) {
        const std::vector<std::size_t>& fields = columns.fields;
        const auto is_asked = [&](std::size_t place) {
            return !options().columns.empty() && std::find(fields.begin(), fields.end(), place) != fields.end();
        };
        for (std::size_t place = 0; place < record.size() && !columns.timestamp; ++place) {
            if (format_.kind_of(record[place].text) == Kind::time && !is_asked(place)) {
                columns.timestamp = place;
            }
        }
        for (std::size_t place = 0; place < record.size() && !columns.timestamp; ++place) {
            if (!is_asked(place) && is_number_clock(record[place].text, place, columns)) {
                columns.timestamp = place;
            }
        }
    }

    /// Whether a field is an epoch time in a column that is called as clocks are, or the number of a row.
    bool is_number_clock(const std::string& text, std::size_t place, const LineColumns& columns) {
        const std::string& name = columns.all[place];
        const bool is_index = place == 0 && columns.has_index;
        const bool is_clock = (totograph::io::is_clock_name(name) && detail::is_epoch(text)) ||
                              (is_index && totograph::io::parse_whole_number(text));
        if (is_clock) {
            note_ = "Column '" + printable(name) + "' " +
                    (detail::is_epoch(text) ? "holds epoch times" : "counts the lines") +
                    ": it is taken as the clock. Name it in --columns to have it as values.";
        }
        return is_clock;
    }

    const LineFormat& format_;
    std::vector<std::size_t> texts_;  // the columns of text in the line before
    std::string note_;
};

}  // namespace examples
