// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/columns.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/layout.hpp>
#include <totograph/io/csv/number_cell.hpp>
#include <totograph/io/csv/options.hpp>
#include <totograph/io/csv/profile.hpp>
#include <totograph/io/time/clock_parts.hpp>
#include <totograph/io/time/regular_rows.hpp>

#include "line_table.hpp"
#include "usual_cells.hpp"

namespace examples {

/// What the columns of a stream are, by its first lines together.
struct TableColumns {
    totograph::io::ClockParts clock;  ///< Empty where they show none.
    std::vector<std::size_t> values;
    std::vector<bool> are_numbers;   ///< Of all columns: whether they hold numbers already.
    std::size_t date_digits = 0;     ///< So many digits are a time of the clock ("202401"); 0: it is spelled otherwise.
    std::vector<std::string> notes;  ///< What is left out, and why.
    std::vector<totograph::io::MarkEvidence> marks;  ///< Of all columns: what their numbers tell of decimal marks.
};

namespace detail {

inline std::vector<UsualCells> usual_cells(const LineTable& table, const totograph::io::CsvOptions& options,
                                           const totograph::io::GapWords& gaps) {
    std::vector<UsualCells> cells;
    for (const std::string& name : table.source()->names()) {
        const bool is_asked = std::find(options.columns.begin(), options.columns.end(), name) != options.columns.end();
        cells.emplace_back(is_asked, totograph::io::is_clock_name(name));
    }
    table.each_row([&](const LineRecord& row) {
        for (std::size_t position = 0; position < cells.size(); ++position) {
            const std::string& cell = row[position].text;
            cells[position].add(cell, totograph::io::kind_of_cell(cell, gaps));
        }
    });
    return cells;
}

/// As the reader of files profiles columns, but for cells that are mistakes.
inline std::vector<totograph::io::ColumnProfile> usual_profiles(const LineTable& table,
                                                                const std::vector<UsualCells>& cells,
                                                                const totograph::io::GapWords& gaps) {
    using namespace totograph::io;
    const std::vector<std::string>& names = table.source()->names();
    std::vector<ColumnProfile> profiles(names.size());
    const ColumnProfiler profiler(gaps);
    table.each_row([&](const LineRecord& row) {
        for (std::size_t position = 0; position < profiles.size(); ++position) {
            const std::string& cell = row[position].text;
            if (cells[position].hold(cell, kind_of_cell(cell, gaps))) {
                profiler.add(profiles[position], row[position], position == 0 || is_clock_name(names[position]));
            }
        }
    });
    for (std::size_t position = 0; position < profiles.size(); ++position) {
        ColumnProfile& profile = profiles[position];
        profile.has_other_unit = false;  // which is a mistake, too
        // What is blank may come later; without a name it is what separators at the end of lines make.
        const bool is_named = !table.has_header() || names[position] != "column_" + std::to_string(position + 1);
        if (profile.is_empty() && is_named) {
            profile.numbers = 1;
            profile.are_whole = false;
            profile.can_be_clock = false;
        }
    }
    return profiles;
}

/// Whether a column that would be the clock has said one time so far: lines may come in bursts.
inline bool has_constant_clock(const LineTable& table, const std::vector<totograph::io::ColumnProfile>& profiles,
                               const totograph::io::CsvOptions& options) {
    const std::vector<std::string>& names = table.source()->names();
    for (std::size_t position = 0; position < names.size(); ++position) {
        const totograph::io::ColumnProfile& profile = profiles[position];
        const bool is_asked =
            std::find(options.columns.begin(), options.columns.end(), names[position]) != options.columns.end();
        const bool is_clock =
            profile.is_time() || (profile.is_numeric() && totograph::io::is_clock_name(names[position]));
        if (!is_asked && is_clock && profile.is_constant && profile.filled() > 1) {
            return true;
        }
    }
    return false;
}

/// Whether a column that is called as clocks are holds text.
inline bool has_unread_clock(const LineTable& table, const std::vector<totograph::io::ColumnProfile>& profiles) {
    const std::vector<std::string>& names = table.source()->names();
    for (std::size_t position = 0; position < names.size(); ++position) {
        if (profiles[position].texts > 0 && totograph::io::is_clock_name(names[position])) {
            return true;
        }
    }
    return false;
}

}  // namespace detail

/// Chooses as the reader of files does. Nothing where the rows do not tell: there are less than two, they have one
/// time, or no column of them holds numbers. Throws `Error(invalid_file)` where the clock cannot be read and must be,
/// by
/// `--strict` or `--date-format`.
inline std::optional<TableColumns> choose_table_columns(const LineTable& table,
                                                        const totograph::io::CsvOptions& options,
                                                        const totograph::io::GapWords& gaps) {
    using namespace totograph::io;
    if (table.rows() < 2) {
        return std::nullopt;
    }
    const std::vector<UsualCells> cells = detail::usual_cells(table, options, gaps);
    const std::vector<ColumnProfile> profiles = detail::usual_profiles(table, cells, gaps);
    try {
        const totograph::io::detail::ColumnChoice choice(*table.source(), profiles, options);
        if (choice.clock_parts().empty() && detail::has_constant_clock(table, profiles, options)) {
            return std::nullopt;
        }
        TableColumns columns{choice.clock_parts(), choice.values(), {}, 0, choice.notes(), {}};
        for (const ColumnProfile& profile : profiles) {
            columns.marks.push_back(profile.marks);
        }
        if (columns.clock.size() == 1 && profiles[columns.clock[0].position].is_date_in_digits()) {
            columns.date_digits = profiles[columns.clock[0].position].first_cell.size();
        }
        for (const UsualCells& column : cells) {
            columns.are_numbers.push_back(column.are_numbers());
        }
        return columns;
    } catch (const totograph::Error&) {
        if (detail::has_unread_clock(table, profiles) && (options.dates || options.rows == RowPolicy::strict)) {
            throw;
        }
        return std::nullopt;  // what is wrong with a line is told when it is read
    }
}

}  // namespace examples
