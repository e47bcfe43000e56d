// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include <totograph/version.hpp>

#include "../common/command_line_parts.hpp"
#include "../intake/command_line.hpp"
#include "options.hpp"

namespace examples {

namespace detail {

inline constexpr const char* help_footer = R"(
The file has one row a time step and a column for each series; or a row for each value, with --series and --value.
Separator, header, clock, dates and numbers are found out, and what was decided is told; blank fields are gaps. Rows
are put in the order of time, with gaps for missing ones.
Exogenous columns are known ahead: append rows that hold their future values and leave the targets blank there.
--holdout puts beside the forecast, in chart, table and CSV, what came (the truth) and a baseline, the value of one
season before, with the errors of both:
  MAE   mean absolute error of the median
  MASE  MAE in units of the mean seasonal difference of the history
In the CSV, mean and standard_deviation are those of the samples: rare wild ones take them far from the median. A model
that forecasts quantiles has neither.

Examples:
  forecast metrics.csv
      draw all columns of metrics.csv and the 60 steps that may follow
  forecast metrics.csv --targets cpu,memory --horizon 300 --output forecast.csv --svg forecast.svg
      forecast two columns, keep the numbers and a picture
  forecast metrics.csv --holdout --quantiles 0.05,0.95 --table --chart
      hide the last 60 rows, forecast them, print and draw both
  forecast usage.csv --min 0 --max 100
      forecast percentages
  forecast sales.csv --targets sold --exogenous price,holiday --timestamp day --horizon 28 --table
      use columns whose next 28 values are in the file
  forecast metrics.csv --explain
      print the program that the compiler made for this request

Exit codes:
  0  all went well
  1  anything not named below
  2  the command line is wrong
  3  the input file cannot be read or used
  4  the checkpoint cannot be read or does not fit the model
  5  more is asked for than the model takes
  6  an output cannot be written (none is half written)
  8  the model gave values that are no finite numbers
)";

inline void add_data_options(CLI::App& app, Options& options) {
    const std::string group = "Data";
    add_list(app, "--targets", options.targets, split_list,
             "Columns to forecast (default: all but timestamps and exogenous ones)")
        ->type_name("A,B,...")
        ->group(group);
    add_list(app, "--exogenous", options.exogenous, split_list, "Columns that explain the targets and are not forecast")
        ->type_name("C,D,...")
        ->group(group);
    app.add_option("--context", options.context, "Use the last N rows (default: as many as the model takes)")
        ->type_name("N")
        ->check(whole_number<std::int64_t>())
        ->group(group);
    app.add_flag("--independent", options.independent, "Forecast each target by itself, blind to the others")
        ->group(group);
    app.add_flag("--holdout", options.holdout,
                 "Hide the last rows, forecast them, and compare with what they\nhold and with a baseline: the value "
                 "of one season before")
        ->group(group);
    app.add_option("--score-last", options.score_last,
                   "Say how far an earlier forecast, which --output wrote, was\nfrom what has come since")
        ->type_name("FILE.csv")
        ->group(group);
    app.add_option("--season", options.season,
                   "Rows in the baseline's season (default: as the timestamps\nsuggest; 1: the last value)")
        ->type_name("N")
        ->check(whole_number<std::int64_t>())
        ->group(group);
}

inline void add_forecast_options(CLI::App& app, Options& options) {
    const std::string group = "Forecast";
    app.add_option("--horizon", options.horizon, "Steps to forecast (default: 60)")
        ->type_name("N")
        ->check(whole_number<std::int64_t>())
        ->group(group);
    app.add_flag("--extend", options.extend, "Go on from the medians where the model's horizon ends")->group(group);
    app.add_option("--samples", options.samples,
                   "Futures to draw; 0 forecasts the mean alone (default: 128;\nToto 2.0 draws none, for it forecasts "
                   "quantiles)")
        ->type_name("N")
        ->check(whole_number<std::int64_t>())
        ->group(group);
    app.add_option("--seed", options.seed, "Seed of the random numbers (default: 0)")
        ->type_name("N")
        ->check(whole_number<std::uint64_t>())
        ->group(group);
    add_list(app, "--quantiles", options.quantiles, split_numbers,
             "Quantiles to report beside the median (default: 0.1,0.9;\nof Toto 2.0 between these)")
        ->type_name("Q,Q,...")
        ->group(group);
    app.add_option("--min", options.bounds.low, "The series are never below this: clip the forecast (counts: 0)")
        ->type_name("X")
        ->group(group);
    app.add_option("--max", options.bounds.high, "The series are never above this (percentages: 100)")
        ->type_name("X")
        ->group(group);
    app.add_option("--checkpoint", options.checkpoint,
                   "Toto 1.0 or 2.0: a folder, a file, or the model's folder in\na Hugging Face cache\n(default: "
                   "the small model that comes with totograph)")
        ->type_name("PATH")
        ->group(group);
    app.add_option(
           "--package", options.package,
           "A package to forecast with, or a folder of some, in place\nof the models that the program has compiled in")
        ->type_name("PATH")
        ->group(group);
    app.add_option("--backend", options.backend,
                   "What computes: cpu, or in builds for devices cuda; where\nbatches are compiled, --independent "
                   "forecasts columns as one\n(default: what TOTOGRAPH_BACKEND names, or cpu)")
        ->type_name("NAME")
        ->group(group);
    app.add_option("--threads", options.threads, "Threads to compute with (default: one a core)")
        ->type_name("N")
        ->check(whole_number<int>())
        ->group(group);
}

inline void add_output_options(CLI::App& app, Options& options) {
    const std::string group = "Output";
    app.add_flag("--chart", options.chart,
                 "Draw a chart in the terminal (default, unless one of the\nother things that print is asked for)")
        ->group(group);
    app.add_flag("--no-chart", options.no_chart, "Draw no chart")->group(group);
    app.add_flag("--table", options.table, "Print the forecast as a table")->group(group);
    app.add_option("--output", options.output, "Write the forecast as CSV (-: to standard output)")
        ->type_name("FILE.csv")
        ->group(group);
    app.add_option("--svg", options.svg, "Draw the forecast into an SVG file")->type_name("FILE.svg")->group(group);
    app.add_flag("--explain", options.explain, "Print the program that the compiler made for the request")
        ->group(group);
    app.add_option("--dot", options.dot, "Write that program as a Graphviz graph")->type_name("FILE.dot")->group(group);
    app.add_option("--explain-html", options.explain_html, "Write a page about it, with what each step took here")
        ->type_name("FILE.html")
        ->group(group);
    app.add_flag("--quiet", options.quiet, "No progress and no notes")->group(group);
}

}  // namespace detail

/// Reads the command line. Nothing comes back when all is said already (`--help`, `--version`, printed to `out`).
/// Throws `Error(invalid_argument)` with one sentence for a command line that cannot be used.
inline std::optional<Options> parse_command_line(int argument_count, const char* const* arguments, std::ostream& out) {
    CLI::App app("Forecasts the time series in a CSV file with a Toto transformer.", "forecast");
    app.footer(detail::help_footer);
    app.get_formatter()->column_width(30);
    Options options;
    app.add_option("file", options.input, "CSV file with the series, perhaps gzipped (-: standard input)")
        ->required()
        ->type_name("FILE.csv");
    app.set_version_flag("--version", "forecast " + std::string(totograph::version), "Print the version and stop");
    add_intake_options(app, options.intake);
    add_file_options(app, options.intake);
    detail::add_data_options(app, options);
    detail::add_forecast_options(app, options);
    detail::add_output_options(app, options);
    if (!detail::parse(app, "forecast", argument_count, arguments, out, "Name the CSV file to forecast")) {
        return std::nullopt;
    }
    options.sampling = detail::given_sampling(app);
    check_options(options);
    return options;
}

}  // namespace examples
