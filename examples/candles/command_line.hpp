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

inline constexpr const char* candles_footer = R"(
The file has one row a candle and columns open, high, low and close, perhaps volume and amount, and a column of times.
Names may be those of providers: o, open_price, <OPEN>, 1. open, Close/Last, Vol., and Price where there is no close.
Rows out of order are sorted and those that repeat another one left out, which a note tells; with --strict they are an
error. Nights and weekends are no gaps.
With a column 'symbol' it holds the candles of many; a folder has a file for each. Histories may differ in length.
The times to come go on as those of the file do: nights, weekends and breaks that it shows are left out.
A model is a published Kronos tokenizer with its predictor, each a folder. It draws paths; what it is worth on a market
is for you to find out: --holdout and --backtest are a beginning.

Examples:
  candles btc.csv --tokenizer Kronos-Tokenizer-base --predictor Kronos-small --horizon 24
      draw the close of the next 24 candles
  candles btc.csv --tokenizer T --predictor P --paths 200 --temperature 0.6 --output bands.csv --all-paths paths.csv
      keep bands and all paths
  candles stocks.csv --symbols AAA,BBB --tokenizer T --predictor P --backtest 8 --horizon 12
      forecast the last 8 windows of 12 candles of two symbols, and tell how good that was
  candles btc.csv --untrained mini
      see the program at work, with weights that know nothing

Exit codes are those of 'forecast --help'.
)";

inline void add_forecast_options(CLI::App& app, CandlesCommand& options) {
    const std::string group = "Forecast";
    app.add_option("--horizon", options.horizon, "Candles to forecast (default: 24)")
        ->type_name("N")
        ->check(whole_number<std::int64_t>())
        ->group(group);
    app.add_option("--context", options.context,
                   "Use the last N candles (default: as many as the program was compiled for)")
        ->type_name("N")
        ->check(whole_number<std::int64_t>())
        ->group(group);
    app.add_option("--paths", options.paths, "Paths to draw (default: 20)")
        ->type_name("N")
        ->check(whole_number<std::int64_t>())
        ->group(group);
    add_draw_options(app, options.draw, group,
                     {.temperature = "Below 1, paths differ less (default: 1)",
                      .top_k = "Draw from the K likeliest ids; 1: no chance; 0: from all (default)",
                      .top_p = "Draw from the likeliest ids of this share, unless --top-k says (default: 0.9)"});
    app.add_flag("--consistent", options.consistent, "Put low and high around open and close; no negative volume")
        ->group(group);
    app.add_option("--backtest", options.backtest, "Forecast the last N windows of --horizon candles, and score them")
        ->type_name("N")
        ->check(whole_number<std::int64_t>())
        ->group(group);
    app.add_flag("--holdout", options.holdout, "Hide the last candles, forecast them, and compare with what they hold")
        ->group(group);
}

inline void add_model_options(CLI::App& app, CandlesCommand& options) {
    const std::string group = "Model";
    app.add_option("--tokenizer", options.tokenizer, "Folder of the tokenizer")->type_name("PATH")->group(group);
    app.add_option("--predictor", options.predictor, "Folder of the predictor")->type_name("PATH")->group(group);
    app.add_option("--untrained", options.untrained, "A model without training in place of both, such as mini")
        ->type_name("MODEL")
        ->group(group);
    add_threads(app, options.threads)->group(group);
}

inline void add_candle_outputs(CLI::App& app, CandlesCommand& options) {
    const std::string group = "Output";
    add_list(app, "--quantiles", options.quantiles, split_numbers, "Quantiles of the paths (default: 0.1,0.9)")
        ->type_name("Q,Q,...")
        ->group(group);
    app.add_option("--output", options.output, "Write means and quantiles as CSV (-: to standard output)")
        ->type_name("FILE.csv")
        ->group(group);
    app.add_option("--all-paths", options.paths_output, "Write all paths as CSV")->type_name("FILE.csv")->group(group);
    app.add_option("--svg", options.svg, "Draw the chart as SVG, too")->type_name("FILE.svg")->group(group);
    app.add_flag("--no-chart", options.no_chart, "Draw no chart")->group(group);
    app.add_flag("--quiet", options.quiet, "No notes")->group(group);
}

}  // namespace detail

/// Reads the command line. Nothing comes back when all is said already. Throws `Error(invalid_argument)` with one
/// sentence for a command line that cannot be used.
inline std::optional<CandlesCommand> parse_candles_command(int argument_count, const char* const* arguments,
                                                           std::ostream& out) {
    CLI::App app("Forecasts candles with a Kronos model.", "candles");
    app.footer(detail::candles_footer);
    app.get_formatter()->column_width(30);
    CandlesCommand options;
    app.add_option("file", options.input,
                   "CSV file of candles, perhaps gzipped (-: standard input), or a folder of such files")
        ->required()
        ->type_name("PATH");
    detail::add_list(app, "--symbols", options.symbols, detail::split_list, "Forecast these alone (default: all)")
        ->type_name("NAME,NAME,...");
    app.add_option("--symbol-column", options.symbol_column,
                   "Column that names symbols (default: symbol or ticker, if there is one)")
        ->type_name("NAME");
    app.set_version_flag("--version", "candles " + std::string(totograph::version), "Print the version and stop");
    add_intake_options(app, options.intake);
    app.get_option("--strict")->description("Rows out of order or repeated are an error");  // markets have gaps
    add_file_options(app, options.intake);
    detail::add_model_options(app, options);
    detail::add_forecast_options(app, options);
    detail::add_candle_outputs(app, options);
    if (!detail::parse(app, "candles", argument_count, arguments, out, "Name the CSV file of candles")) {
        return std::nullopt;
    }
    check_options(options);
    return options;
}

}  // namespace examples
