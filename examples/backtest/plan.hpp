// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/table.hpp>

#include "../common/format.hpp"
#include "../common/names_where.hpp"
#include "../common/text.hpp"
#include "../intake/column_groups.hpp"
#include "../intake/season.hpp"
#include "../intake/timeline.hpp"
#include "options.hpp"

namespace examples {

/// Some neighbouring columns forecast from one origin: what is computed, kept and resumed as a whole.
struct Task {
    std::size_t first_series = 0;
    std::size_t series = 0;
    std::int64_t origin = 0;  ///< The row of the first forecast step.
};

/// All that is to be computed.
struct Plan {
    std::int64_t season = 1;
    std::int64_t windows = 0;
    std::vector<Task> tasks;
    std::vector<std::size_t> unscored;  ///< Columns of which no window can be scored.
    bool in_batches = false;            ///< The columns of a task are series of their own, and not variates of one.
    std::vector<std::string> notes;     ///< Sentences that the user should read.
};

namespace detail {

[[noreturn]] inline void reject_series(const std::string& sentence) {
    throw totograph::Error(totograph::ErrorCode::invalid_series, sentence);
}

inline void check_columns_hold_values(const totograph::io::Table& table) {
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        const std::vector<double>& values = table.columns[column];
        if (std::all_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
            reject_series("Column '" + printable(table.names[column]) +
                          "' holds no value at all, so there is nothing to test; name the others with --columns.");
        }
    }
}

/// The rows up to the last one in which some column has a value.
inline std::int64_t rows_with_values(const totograph::io::Table& table) {
    auto rows = static_cast<std::int64_t>(table.rows());
    const auto is_blank = [&](std::int64_t row) {
        return std::all_of(table.columns.begin(), table.columns.end(), [&](const std::vector<double>& column) {
            return std::isnan(column[static_cast<std::size_t>(row)]);
        });
    };
    while (rows > 0 && is_blank(rows - 1)) {
        --rows;
    }
    return rows;
}

/// The columns without a window that can be scored: one has a value in the rows that its forecast sees, up to `context`
/// before its origin, and in those up to `horizon` from it on.
inline std::vector<std::size_t> unscored_columns(const totograph::io::Table& table, const std::vector<Task>& tasks,
                                                 std::int64_t context, std::int64_t horizon) {
    std::vector<std::size_t> unscored;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        std::vector<std::int64_t> known{0};  // values in the rows before each one
        for (const double value : table.columns[column]) {
            known.push_back(known.back() + (std::isnan(value) ? 0 : 1));
        }
        const auto any = [&](std::int64_t first, std::int64_t last) {
            return known[static_cast<std::size_t>(last)] > known[static_cast<std::size_t>(first)];
        };
        const bool is_scored = std::any_of(tasks.begin(), tasks.end(), [&](const Task& task) {
            return task.first_series <= column && column < task.first_series + task.series &&
                   any(std::max<std::int64_t>(task.origin - context, 0), task.origin) &&
                   any(task.origin, task.origin + horizon);
        });
        if (!is_scored) {
            unscored.push_back(column);
        }
    }
    return unscored;
}

}  // namespace detail

/// How many of `series` have no window that can be scored, and the names of the first few; empty where `names` is.
inline std::string unscored_words(const std::vector<std::string>& names, std::size_t series) {
    if (names.empty()) {
        return "";
    }
    return count_text(static_cast<std::int64_t>(names.size())) + " of " +
           count_text(static_cast<std::int64_t>(series)) + " series " +
           (names.size() == 1 ? "has no window that can be scored, and is"
                              : "have no window that can be scored, and are") +
           " left out of the means: " + names_where(names, [](std::size_t) { return true; }) + ".";
}

/// Lays out the windows: the last ends with the last value of the file, each earlier one begins `stride` rows before
/// the next; at most `most_series` columns are forecast at once. Throws `Error(invalid_series)` for a file that is too
/// short, for columns without values, and where no window of any column can be scored.
inline Plan make_plan(const totograph::io::Table& table, const Timeline& timeline, const Options& options,
                      std::size_t most_series) {
    detail::check_columns_hold_values(table);
    const std::int64_t rows = detail::rows_with_values(table);
    const std::int64_t horizon = options.horizons.back();
    Plan plan;
    if (const auto blank = static_cast<std::int64_t>(table.rows()) - rows; blank > 0) {
        plan.notes.push_back("The last " + plural(blank, "row") + " of the file hold no values and are left out.");
    }
    plan.season = options.season > 0 ? options.season : season_of(timeline);
    const auto least_history = [&] { return std::max<std::int64_t>(2 * plan.season, 16); };
    if (options.season == 0 && least_history() + horizon > rows) {
        plan.notes.push_back("The file is too short for a season of " + count_text(plan.season) +
                             " rows; the baseline repeats the last value instead.");
        plan.season = 1;
    }
    const std::int64_t free = rows - horizon - least_history();
    if (free < 0) {
        detail::reject_series("The file has " + plural(rows, "row") + ", but a window needs at least " +
                              std::to_string(least_history() + horizon) + ": " + std::to_string(least_history()) +
                              " of history and " + std::to_string(horizon) +
                              " to forecast. Use a smaller --horizon or --season, or a longer file.");
    }
    const std::int64_t stride = options.stride > 0 ? options.stride : horizon;
    const std::int64_t most = free / stride + 1;
    plan.windows = options.windows > 0 ? options.windows : std::min<std::int64_t>(most, 20);
    if (plan.windows > most) {
        detail::reject_series("The file has " + plural(rows, "row") + ", which hold " + plural(most, "window") +
                              " of " + plural(horizon, "step") + " every " + plural(stride, "row") + ", but " +
                              std::to_string(plan.windows) + " were asked for; use --windows " + std::to_string(most) +
                              " or a smaller --stride.");
    }
    const std::vector<ColumnGroup> groups = divide_columns(table.columns.size(), most_series);
    for (std::int64_t window = plan.windows; window-- > 0;) {
        for (const ColumnGroup& group : groups) {
            plan.tasks.push_back({group.first, group.count, rows - horizon - window * stride});
        }
    }
    plan.unscored = detail::unscored_columns(table, plan.tasks, options.context, horizon);
    if (plan.unscored.size() == table.columns.size()) {
        detail::reject_series("No window of any series can be scored: one needs a value in the " +
                              plural(options.context, "row") + " before it and one in its " + plural(horizon, "step") +
                              ". Use a smaller --horizon or --stride, more --windows or a longer --context.");
    }
    if (!plan.unscored.empty()) {
        std::vector<std::string> names;
        for (const std::size_t column : plan.unscored) {
            names.push_back(table.names[column]);
        }
        plan.notes.push_back(unscored_words(names, table.columns.size()) +
                             " A window needs a value in the rows that its forecast sees and one in its steps.");
    }
    if (options.together && groups.size() > 1) {
        plan.notes.push_back(groups_note(groups, table.names, most_series));
    }
    return plan;
}

}  // namespace examples
