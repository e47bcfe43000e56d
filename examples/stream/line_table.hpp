// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/source.hpp>

#include "line_format.hpp"

namespace examples {

/// The first lines of a stream as a table, laid out as a file that held them would be: what stands above it, its
/// header, and its rows. A line that is torn says nothing about the others.
class LineTable {
public:
    /// `lines` and `gaps` must outlive this object. Throws `Error(invalid_series)` when the header cannot be read.
    LineTable(const std::vector<std::string>& lines, totograph::io::CsvOptions options,
              const totograph::io::GapWords& gaps)
        : lines_(lines) {
        using namespace totograph::io;
        std::vector<std::size_t> whole = whole_lines();
        options.separator = separator_ = find_layout(joined(whole), options.separator).separator;
        std::erase_if(whole, [&](std::size_t place) { return width_of(lines_[place]) == 0; });
        std::vector<std::size_t> places = usual_lines(whole);
        text_ = joined(places);
        const CsvLayout layout = find_layout(text_, separator_);
        if (layout.begin == text_.size()) {
            refuse_unreadable(whole);
            return;
        }
        source_.emplace(text_, "standard input", options, gaps);
        places.erase(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(layout.line - 1));
        const LineRecord first = split_line(lines_[places.front()], separator_);
        has_header_ = options.header.value_or(is_header(first, second_record(places), gaps));
        if (!has_header_) {
            refuse_unreadable(whole);
        }
        rows_at_ = places.front() + (has_header_ ? 1 : 0);
        std::copy_if(places.begin(), places.end(), std::back_inserter(rows_), [&](std::size_t place) {
            return place >= rows_at_ && row_at(place).size() == source_->names().size();
        });
    }
    LineTable(const LineTable&) = delete;
    LineTable& operator=(const LineTable&) = delete;
    ~LineTable() = default;

    /// The layout and the names; nothing where all lines are comments or blank.
    [[nodiscard]] const std::optional<totograph::io::detail::CsvSource>& source() const { return source_; }
    [[nodiscard]] char separator() const { return separator_; }
    [[nodiscard]] bool has_header() const { return has_header_; }
    /// How many of the lines come before the rows.
    [[nodiscard]] std::size_t rows_at() const { return rows_at_; }
    /// How many rows have as many fields as there are names.
    [[nodiscard]] std::size_t rows() const { return rows_.size(); }

    /// Calls `use` with each of them.
    template <class Use>
    void each_row(const Use& use) const {
        for (const std::size_t place : rows_) {
            use(row_at(place));
        }
    }

private:
    /// Those that do not begin in one line and end in another, as a file's may.
    [[nodiscard]] std::vector<std::size_t> whole_lines() const {
        std::vector<std::size_t> places;
        for (std::size_t place = 0; place < lines_.size(); ++place) {
            const std::string& line = lines_[place];
            const bool has_pairs = std::count(line.begin(), line.end(), '"') % 2 == 0;
            if (has_pairs && line.find_first_of(std::string_view("\0\n\r", 3)) == std::string::npos) {
                places.push_back(place);
            }
        }
        return places;
    }

    [[nodiscard]] std::string joined(const std::vector<std::size_t>& places) const {
        std::string text;
        for (const std::size_t place : places) {
            text += lines_[place] + "\n";
        }
        return text;
    }

    /// Those that have as many fields as most, and what stands above them.
    [[nodiscard]] std::vector<std::size_t> usual_lines(const std::vector<std::size_t>& places) const {
        std::vector<std::size_t> widths;
        widths.reserve(places.size());
        for (const std::size_t place : places) {
            widths.push_back(width_of(lines_[place]));
        }
        const std::size_t usual = usual_width(places, widths);
        std::vector<std::size_t> chosen;
        bool has_begun = false;
        for (std::size_t i = 0; i < places.size(); ++i) {
            const bool is_usual = widths[i] == usual && !is_above(lines_[places[i]]);
            has_begun = has_begun || is_usual;
            if (is_usual || !has_begun) {
                chosen.push_back(places[i]);
            }
        }
        return chosen;
    }

    /// How many fields a line has; 0 where its quotes do not match.
    [[nodiscard]] std::size_t width_of(const std::string& line) const {
        try {
            return split_line(line, separator_).size();
        } catch (const totograph::Error&) {
            return 0;
        }
    }

    /// How many fields most lines have. Those of one, before one of several, are titles, and count only where the
    /// others are too few to tell.
    [[nodiscard]] std::size_t usual_width(const std::vector<std::size_t>& places,
                                          const std::vector<std::size_t>& widths) const {
        std::map<std::size_t, std::size_t> all;
        std::map<std::size_t, std::size_t> below_titles;
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (is_above(lines_[places[i]])) {
                continue;
            }
            ++all[widths[i]];
            if (widths[i] > 1 || !below_titles.empty()) {
                ++below_titles[widths[i]];
            }
        }
        const auto most = [](const std::map<std::size_t, std::size_t>& counts) {
            std::pair<std::size_t, std::size_t> best;  // how many, and the width
            for (const auto& [width, count] : counts) {
                best = std::max(best, {count, width});
            }
            return best;
        };
        return most(below_titles).first > 1 ? most(below_titles).second : most(all).second;
    }

    /// Whether a line is one that may stand above a table, and is none of its lines.
    static bool is_above(const std::string& line) {
        return totograph::io::detail::is_blank_line(line) || totograph::io::detail::is_comment(line);
    }

    /// The record behind the first that is not blank; empty without.
    [[nodiscard]] LineRecord second_record(const std::vector<std::size_t>& places) const {
        for (std::size_t i = 1; i < places.size(); ++i) {
            if (LineRecord record = split_line(lines_[places[i]], separator_); !is_blank_record(record)) {
                return record;
            }
        }
        return {};
    }

    [[nodiscard]] LineRecord row_at(std::size_t place) const {
        LineRecord record = split_line(lines_[place], separator_);
        fit_record(record, source_->names().size());
        return record;
    }

    /// Throws where the first line that is no comment is none of those: it would have been the header.
    void refuse_unreadable(const std::vector<std::size_t>& whole) const {
        for (std::size_t place = 0; place < lines_.size(); ++place) {
            if (is_above(lines_[place])) {
                continue;
            }
            if (std::binary_search(whole.begin(), whole.end(), place)) {
                return;
            }
            throw totograph::Error(totograph::ErrorCode::invalid_series,
                                   "The first line cannot be read: its quotes do not match, or it holds a NUL byte.");
        }
    }

    const std::vector<std::string>& lines_;
    std::string text_;  // of those lines that count
    std::optional<totograph::io::detail::CsvSource> source_;
    std::vector<std::size_t> rows_;
    std::size_t rows_at_ = 0;
    char separator_ = ',';
    bool has_header_ = false;
};

}  // namespace examples
