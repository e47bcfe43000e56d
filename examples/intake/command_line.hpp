// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "../common/command_line_parts.hpp"
#include "options.hpp"

namespace examples {

/// Adds the options about a CSV input that all programs have, in a group of their own.
inline void add_intake_options(CLI::App& app, IntakeOptions& intake) {
    const std::string group = "Input";
    app.add_option("--timestamp,--time", intake.timestamp,
                   "Column of timestamps (default: the first of dates, times or\nepoch times)")
        ->type_name("COLUMN")
        ->group(group);
    app.add_option("--separator", intake.separator,
                   "What stands between fields: a character, tab or space (any\nnumber of blanks; default: as the "
                   "first lines tell)")
        ->type_name("CHARACTER")
        ->group(group);
    app.add_option("--decimal", intake.decimal,
                   "What stands before decimals: point or comma (default: as numbers tell)")
        ->type_name("MARK")
        ->group(group);
    app.add_option("--date-format", intake.date_format,
                   "Order of dates: ymd, mdy or dmy (default: as the column tells)")
        ->type_name("ORDER")
        ->group(group);
    detail::add_list(app, "--gap", intake.gaps, detail::split_list,
                     "Words for a missing value, besides NaN, null, - and the like")
        ->type_name("WORD,...")
        ->group(group);
    app.add_flag("--strict", intake.strict, "Rows out of order, repeated or missing are an error")->group(group);
    app.add_flag("--as-is", intake.as_is, "Take rows as they stand: sort, drop and fill none")->group(group);
}

/// Adds those that only whole files can have.
inline void add_file_options(CLI::App& app, IntakeOptions& intake) {
    const std::string group = "Input";
    app.add_option("--header", intake.header,
                   "Whether the first line names the columns: yes or no (default: as it looks)")
        ->type_name("YES")
        ->group(group);
    detail::add_list(app, "--series", intake.series, detail::split_list,
                     "For files with a row for each value: the columns that name the\nseries")
        ->type_name("COLUMN,...")
        ->group(group);
    app.add_option("--value", intake.value, "For such files: the column of values (default: the one of numbers)")
        ->type_name("COLUMN")
        ->group(group);
}

}  // namespace examples
