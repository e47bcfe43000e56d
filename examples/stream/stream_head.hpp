// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/names.hpp>
#include <totograph/io/csv/number_cell.hpp>
#include <totograph/io/csv/source.hpp>
#include <totograph/io/csv/text_encoding.hpp>
#include <totograph/io/text.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/clock_parts.hpp>
#include <totograph/io/time/timestamp.hpp>

#include "../common/checks.hpp"
#include "line_columns.hpp"
#include "line_format.hpp"
#include "line_table.hpp"
#include "table_columns.hpp"

namespace examples {

/// What the first lines of a stream show.
struct StreamHead {
    bool is_found = false;    ///< Not all of them are comments or blank.
    std::size_t rows_at = 0;  ///< How many of them come before the rows: titles and the header.
    char separator = ',';
    LineColumns columns;
    bool is_decided = false;            ///< Whether it is known which column is the clock, and which hold text.
    totograph::io::DateDecision dates;  ///< As the clock shows them.
    std::size_t date_digits = 0;        ///< So many digits are a time of the clock; 0: it is spelled otherwise.
    std::vector<bool> are_numbers;      ///< Of all columns, once that is decided: whether they hold numbers already.
    std::vector<totograph::io::MarkEvidence> marks;  ///< Of all columns, likewise: what they tell of decimal marks.
    std::vector<std::string> notes;                  ///< Sentences about what was decided.
};

namespace detail {

inline std::size_t place_of(const std::string& name, const std::unordered_map<std::string_view, std::size_t>& places,
                            const std::vector<std::string>& all) {
    const auto found = places.find(name);
    if (found == places.end()) {
        reject("The header has no column " + totograph::io::in_quotes(name) +
               "; it has: " + totograph::io::name_list(all) + ".");
    }
    return found->second;
}

/// The columns as far as their names and the command line tell.
inline LineColumns named_columns(const totograph::io::detail::CsvSource& source, const LineFormat& format) {
    LineColumns columns;
    columns.all = source.names();
    columns.width = columns.all.size();
    columns.has_index = source.has_index();
    const std::vector<std::string>& all = columns.all;
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t place = 0; place < all.size(); ++place) {
        places.emplace(all[place], place);
    }
    if (format.csv.timestamp) {
        columns.timestamp = place_of(*format.csv.timestamp, places, all);
        if (all.size() == 1) {
            refuse_no_variates(all.front());
        }
    }
    std::vector<std::size_t>& fields = columns.fields;
    for (const std::string& name : format.options.columns) {
        fields.push_back(place_of(name, places, all));
    }
    if (columns.timestamp && std::find(fields.begin(), fields.end(), *columns.timestamp) != fields.end()) {
        reject("The column " + totograph::io::in_quotes(*format.csv.timestamp) +
               " is in --timestamp and in --columns; name it once.");
    }
    for (std::size_t place = 0; place < all.size() && format.options.columns.empty(); ++place) {
        if (place != columns.timestamp) {
            fields.push_back(place);
        }
    }
    return columns;
}

/// What was decided about the layout. The advice to name an option that only the programs for files have is left out.
inline std::vector<std::string> layout_notes(const totograph::io::detail::CsvSource& source) {
    const std::string_view advice = totograph::io::detail::header_advice;
    std::vector<std::string> notes = source.notes();
    for (std::string& note : notes) {
        if (const std::size_t at = note.find(advice); at != std::string::npos) {
            note.erase(at, advice.size());
        }
    }
    return notes;
}

/// The order of dates that the rows show together; those that are none are mistakes.
inline totograph::io::DateDecision date_order(const LineTable& table, const totograph::io::ClockParts& clock,
                                              const totograph::io::GapWords& gaps) {
    using namespace totograph::io;
    std::vector<std::string> stamps;
    table.each_row([&](const LineRecord& row) {
        std::string stamp = clock.empty() ? std::string() : clock_text(clock, row);
        if (kind_of_cell(stamp, gaps) == CellKind::time) {
            stamps.push_back(std::move(stamp));
        }
    });
    return decide_dates(stamps);
}

/// The first line without its byte order mark. Throws `Error(invalid_file)` when it is no text.
inline std::string without_mark(const std::string& line) {
    using namespace totograph::io;
    refuse_packed(line, "standard input");
    const EncodingMark mark = encoding_of(line);
    if (mark.encoding != TextEncoding::utf8) {
        throw totograph::Error(totograph::ErrorCode::invalid_file,
                               "Standard input is UTF-16; convert it first (iconv -f utf-16 -t utf-8).");
    }
    std::string text = line.substr(mark.length);
    refuse_markup(text, "standard input");
    return text;
}

}  // namespace detail

/// Reads the first lines of a stream, which are one at least. Throws `Error(invalid_file)` when they are no text or
/// hold no clock though they must, `Error(invalid_series)` when they name no variate, and `Error(invalid_argument)`
/// when they lack a column that was asked for.
inline StreamHead read_stream_head(std::vector<std::string> lines, const LineFormat& format) {
    lines.front() = detail::without_mark(lines.front());
    const LineTable table(lines, format.csv, format.gaps);
    StreamHead head;
    if (!table.source()) {
        return head;
    }
    head.is_found = true;
    head.rows_at = table.rows_at();
    head.separator = table.separator();
    head.columns = detail::named_columns(*table.source(), format);
    head.notes = detail::layout_notes(*table.source());
    if (std::optional<TableColumns> chosen = choose_table_columns(table, format.csv, format.gaps)) {
        head.is_decided = true;
        head.are_numbers = std::move(chosen->are_numbers);
        head.marks = std::move(chosen->marks);
        head.notes.insert(head.notes.end(), chosen->notes.begin(), chosen->notes.end());
        head.date_digits = chosen->date_digits;
        head.dates = detail::date_order(table, chosen->clock, format.gaps);
        head.columns.take_clock(std::move(chosen->clock));
        if (format.options.columns.empty()) {
            head.columns.fields = std::move(chosen->values);
        }
    } else {
        head.is_decided = head.columns.timestamp && !format.options.columns.empty();
    }
    return head;
}

}  // namespace examples
