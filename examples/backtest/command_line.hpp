// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include <totograph/io/text.hpp>
#include <totograph/version.hpp>

#include "../common/command_line_parts.hpp"
#include "../intake/command_line.hpp"
#include "options.hpp"

namespace examples {

namespace detail {

inline constexpr const char* backtest_footer = R"(
The file has one row a time step and a column for each series; or a row for each value, with --series and --value.
Separator, header, clock, dates and numbers are found out, and what was decided is told; blank fields are gaps. Rows
are put in the order of time, with gaps for missing ones.
A window is a forecast of one series from one row on. It is compared with what came, and so is the baseline: the value
of one season before, between limits that held as often as they should in the series' past.
  MASE      mean absolute error of the median, in units of the history's mean seasonal difference
  ratio     MASE in units of the baseline's; over all series the geometric mean
            (of those above 0 and below infinity)
  CRPS      weighted quantile loss over the deciles: in units of the mean magnitude of what came
  coverage  how often what came lay inside the 50%, 80% and 90% intervals; Toto 2.0 does not tell the last
Finished windows are kept in a journal. A run that was interrupted goes on from there when the command is repeated.

Examples:
  backtest sales.csv --horizon 7,28 --season 7
  backtest metrics.csv --windows 50 --stride 60 --horizon 60 --csv scores.csv --svg scores.svg

Exit codes:
  0    all went well
  1    anything not named below
  2    the command line is wrong
  3    the input file cannot be read or used
  4    the checkpoint cannot be read or does not fit the model
  5    more is asked for than the model takes
  6    an output cannot be written, or the journal is another run's (finished windows are kept)
  8    the model gave values that are no finite numbers
  130  interrupted; finished windows are kept
)";

inline std::vector<std::int64_t> split_horizons(const std::string& text, const std::string& option) {
    std::vector<std::int64_t> horizons;
    for (const std::string& piece : split_list(text, option)) {
        std::int64_t value = 0;
        const auto read = std::from_chars(piece.data(), piece.data() + piece.size(), value);
        if (read.ec != std::errc() || read.ptr != piece.data() + piece.size()) {
            reject(std::string(option)
                       .append(" expects whole numbers like 24,96, but got ")
                       .append(totograph::io::in_quotes(piece))
                       .append("."));
        }
        horizons.push_back(value);
    }
    return horizons;
}

}  // namespace detail

/// Reads the command line. Nothing comes back when all is said already (`--help`, `--version`, printed to `out`).
/// Throws `Error(invalid_argument)` with one sentence for a command line that cannot be used.
inline std::optional<Options> parse_command_line(int argument_count, const char* const* arguments, std::ostream& out) {
    using detail::whole_number;
    CLI::App app("Measures how well a Toto transformer would have forecast the series in a CSV file.", "backtest");
    app.footer(detail::backtest_footer);
    app.get_formatter()->column_width(30);
    Options options;
    const auto number = [&](const std::string& name, auto& value, const std::string& words) {
        using Number = std::remove_reference_t<decltype(value)>;
        app.add_option(name, value, words)->type_name("N")->check(whole_number<Number>());
    };
    app.add_option("file", options.input, "CSV file with the series, perhaps gzipped (-: standard input)")
        ->required()
        ->type_name("FILE.csv");
    app.set_version_flag("--version", "backtest " + std::string(totograph::version), "Print the version and stop");
    detail::add_list(app, "--columns", options.columns, detail::split_list, "Series to test (default: all)")
        ->type_name("A,B,...");
    add_intake_options(app, options.intake);
    add_file_options(app, options.intake);
    detail::add_list(app, "--horizon", options.horizons, detail::split_horizons, "Steps to forecast (default: 24)")
        ->type_name("N,N,...");
    app.add_flag("--extend", options.extend, "Go on from the medians where the model's horizon ends");
    number("--windows", options.windows, "Windows of each series (default: as fit, at most 20)");
    number("--stride", options.stride, "Rows from one window to the next (default: the largest horizon)");
    number("--season", options.season, "Steps in a season (default: as the timestamps suggest)");
    number("--context", options.context, "Rows of history that a forecast sees (default: 512)");
    number("--samples", options.samples, "Futures to draw (default: 128)");
    number("--seed", options.seed, "Seed of the random numbers (default: 0)");
    app.add_flag("--together", options.together, "Let the series of a forecast see each other");
    app.add_option("--checkpoint", options.checkpoint,
                   "Toto 1.0 or 2.0: a folder, a file, or the model's folder in\na Hugging Face cache\n(default: "
                   "the small model that comes with totograph)")
        ->type_name("PATH");
    app.add_option(
           "--package", options.package,
           "A package to forecast with, or a folder of some, in place\nof the models that the program has compiled in")
        ->type_name("PATH");
    app.add_option(
           "--backend", options.backend,
           "What computes: cpu, or in builds for devices cuda, which\nforecasts series as a batch where batches are "
           "compiled\n(default: what TOTOGRAPH_BACKEND names, or cpu)")
        ->type_name("NAME");
    number("--threads", options.threads,
           "Forecasts to compute at the same time (default: one a core;\na device has one)");
    app.add_option("--journal", options.journal,
                   "Where finished windows are kept (default: a file in the\nworking directory, removed at the end)")
        ->type_name("FILE");
    app.add_option("--csv", options.csv, "Write the scores as CSV")->type_name("FILE.csv");
    app.add_option("--svg", options.svg, "Draw the scores into an SVG file")->type_name("FILE.svg");
    app.add_flag("--quiet", options.quiet, "No progress and no notes");
    if (!detail::parse(app, "backtest", argument_count, arguments, out, "Name the CSV file to test")) {
        return std::nullopt;
    }
    options.sampling = detail::given_sampling(app);
    detail::check_backtest(options);
    return options;
}

}  // namespace examples
