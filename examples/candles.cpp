// SPDX-License-Identifier: Apache-2.0
//
// candles: reads the candles of one symbol or of many, draws what may come with a Kronos model, and shows it as charts
// of candles, and bands and paths as CSV; or tells how good that was. The parts are in candles/; compile_model.hpp is
// the part that forecasts.

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/models/kronos/future_times.hpp>

#include "candles/candle_svg.hpp"
#include "candles/candle_terminal.hpp"
#include "candles/command_line.hpp"
#include "candles/compiled_model.hpp"
#include "candles/listed_models.hpp"
#include "candles/options.hpp"
#include "candles/output.hpp"
#include "candles/result.hpp"
#include "candles/symbols.hpp"
#include "charts/terminal.hpp"
#include "common/checks.hpp"
#include "common/format.hpp"
#include "common/output_files.hpp"
#include "common/run_program.hpp"
#include "intake/read_input.hpp"

namespace {

using namespace examples;

/// Windows at the end of each symbol that are hidden and forecast.
std::size_t hidden_windows(const CandlesCommand& options) {
    return options.backtest > 0 ? static_cast<std::size_t>(options.backtest) : options.holdout ? 1 : 0;
}

/// Windows that are forecast, of each symbol one behind the other: how many rows lie before each. Refuses tables that
/// are too short.
std::vector<CandleResult> windows_of(const std::vector<Symbol>& symbols, const CandlesCommand& options) {
    const auto horizon = static_cast<std::size_t>(options.horizon);
    const std::size_t hidden = hidden_windows(options);
    std::vector<CandleResult> windows;
    for (const Symbol& symbol : symbols) {
        const std::size_t rows = symbol.table.rows();
        if (rows < hidden * horizon + 2) {
            throw totograph::Error(
                totograph::ErrorCode::invalid_file,
                (symbols.size() == 1 ? "The file" : "The symbol " + totograph::io::in_quotes(symbol.name)) + " has " +
                    plural(static_cast<std::int64_t>(rows), "candle") + "; a forecast needs two or more" +
                    (hidden > 0 ? " before the " + std::to_string(hidden * horizon) + " that are hidden." : "."));
        }
        for (std::size_t window = hidden; window > 0; --window) {
            const std::size_t history = rows - window * horizon;
            const auto first = symbol.table.times.begin() + static_cast<std::ptrdiff_t>(history);
            windows.push_back({.symbol = &symbol, .history = history, .future = {first, first + options.horizon}});
        }
        if (hidden == 0) {
            windows.push_back({.symbol = &symbol,
                               .history = rows,
                               .future = totograph::kronos::future_times(symbol.table.times, options.horizon)});
        }
    }
    return windows;
}

/// Candles that a forecast sees, at most.
std::size_t context_of(const CandlesCommand& options, const CompiledCandleModel& model) {
    return static_cast<std::size_t>(options.context > 0 ? std::min(options.context, model.context) : model.context);
}

/// Forecasts all windows. The stage is that of the checkpoint until it is read.
void forecast_windows(std::vector<CandleResult>& windows, const CandlesCommand& options,
                      const CompiledCandleModel& model, Stage& stage) {
    const std::size_t most = context_of(options, model);
    std::vector<totograph::kronos::Candles> candles;
    for (CandleResult& window : windows) {
        const std::size_t used = std::min(window.history, most);
        window.place = static_cast<totograph::Index>(candles.size());
        candles.push_back(window.symbol->table.candles(window.history - used, used, window.future));
    }
    const CandleRequest request{.tokenizer = options.tokenizer,
                                .predictor = options.predictor,
                                .candles = candles,
                                .options = {.seed = options.draw.seed,
                                            .temperature = static_cast<float>(options.draw.temperature),
                                            .top_k = static_cast<std::int32_t>(options.draw.top_k),
                                            .top_p = static_cast<float>(options.draw.top_p),
                                            .paths = options.paths,
                                            .consistent = options.consistent},
                                .threads = options.threads,
                                .on_weights = [&stage] { stage = Stage::forecast; }};
    stage = options.untrained.empty() ? Stage::checkpoint : Stage::forecast;
    const auto forecast = std::make_shared<const totograph::kronos::CandleForecast>(model.forecast(request));
    if (!forecast->is_finite()) {
        throw totograph::Error(totograph::ErrorCode::not_finite,
                               "The model gave values that are no finite numbers; the checkpoint may be damaged.");
    }
    for (CandleResult& window : windows) {
        window.forecast = forecast;
    }
}

std::string subtitle(const CandlesCommand& options, const CompiledCandleModel& model) {
    return "Kronos " + std::string(model.name) + (options.untrained.empty() ? "" : ", untrained: it knows nothing") +
           ", " + plural(options.paths, "path") + ", seed " + std::to_string(options.draw.seed);
}

/// Charts and tables, or scores.
void write_results(const std::vector<CandleResult>& results, const CandlesCommand& options,
                   const CompiledCandleModel& model) {
    std::string printed;
    OutputFiles files;
    if (options.backtest > 0) {
        print(subtitle(options, model) + "\n" + backtest_text(results, options.backtest));
        return;
    }
    const std::string title = "Forecast of " + input_name(options.input.filename());
    const bool prints_chart = !options.no_chart && options.output != "-";
    bool names_all = false;  // the chart tells the score of each symbol
    if (prints_chart || !options.svg.empty()) {
        const CandleFigure figure = candle_figure(results, title, subtitle(options, model));
        if (prints_chart) {
            printed = candle_chart(figure, terminal_style(STDOUT_FILENO));
            names_all = figure.hidden_panels == 0;
        }
        if (!options.svg.empty()) {
            files.add(options.svg, candle_svg(figure));
        }
    }
    if (options.output == "-") {
        printed = bands_csv(results, options.quantiles);
    } else if (!options.output.empty()) {
        files.add(options.output, bands_csv(results, options.quantiles));
    }
    if (options.holdout && options.output != "-" && !names_all) {
        printed += (printed.empty() ? "" : "\n") + backtest_text(results, 1);
    }
    if (!options.paths_output.empty()) {
        files.add(options.paths_output, paths_csv(results));
    }
    print(printed);
    files.commit();
}

int run(const CandlesCommand& options, Stage& stage) {
    stage = Stage::output;
    for (const std::filesystem::path& path : {options.output, options.paths_output, options.svg}) {
        if (!path.empty() && path != "-") {
            OutputFiles::check(path);
        }
    }
    stage = options.untrained.empty() ? Stage::checkpoint : Stage::arguments;
    const CompiledCandleModel& model =
        options.untrained.empty() ? candle_model_of(options.predictor) : candle_model_named(options.untrained);
    stage = Stage::arguments;
    examples::detail::check_at_most(options.horizon, model.horizon, "--horizon");
    stage = Stage::input;
    const std::vector<Symbol> symbols = read_symbols(
        options, {context_of(options, model), hidden_windows(options), static_cast<std::size_t>(options.horizon)});
    std::vector<CandleResult> windows = windows_of(symbols, options);
    if (!options.quiet) {
        print_notes("candles", notes_of(symbols));
    }
    forecast_windows(windows, options, model, stage);
    stage = Stage::output;
    write_results(windows, options, model);
    return exit_ok;
}

}  // namespace

int main(int argument_count, char** arguments) {
    return run_program(
        "candles", "fewer --paths",
        [&](std::ostream& answer) { return parse_candles_command(argument_count, arguments, answer); }, run);
}
