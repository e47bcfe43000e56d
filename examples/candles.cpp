// SPDX-License-Identifier: Apache-2.0
//
// candles: reads the candles of one symbol in a CSV file, draws what may come with a Kronos model, and shows the close
// as a chart, and bands and paths as CSV. The parts are in candles/; compile_model.hpp is the part that forecasts.

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/models/kronos/future_times.hpp>

#include "candles/candle_table.hpp"
#include "candles/command_line.hpp"
#include "candles/compiled_model.hpp"
#include "candles/listed_models.hpp"
#include "candles/options.hpp"
#include "candles/output.hpp"
#include "common/checks.hpp"
#include "common/format.hpp"
#include "common/output_files.hpp"
#include "common/run_program.hpp"
#include "forecast/terminal.hpp"
#include "forecast/terminal_chart.hpp"
#include "intake/read_input.hpp"

namespace {

using namespace examples;

/// Rows stand as they are: a market has no candle at night, and that is no gap.
CandleTable read_candles(const CandlesCommand& options) {
    IntakeOptions intake = options.intake;
    intake.as_is = !intake.strict;
    return candle_table(read_table(read_input_text(options.input), options.input, intake, {}),
                        input_name(options.input));
}

/// The rows before those that are forecast. Refuses tables that are too short.
std::size_t history_rows(const CandleTable& table, const CandlesCommand& options) {
    const std::size_t hidden = options.holdout ? static_cast<std::size_t>(options.horizon) : 0;
    if (table.rows() < hidden + 2) {
        throw totograph::Error(totograph::ErrorCode::invalid_file,
                               "The file has " + plural(static_cast<std::int64_t>(table.rows()), "candle") +
                                   "; a forecast needs two or more" +
                                   (hidden > 0 ? " before the " + std::to_string(hidden) + " of the holdout." : "."));
    }
    return table.rows() - hidden;
}

CandleResult forecast_candles(const CandleTable& table, std::size_t history, const CandlesCommand& options,
                              const CompiledCandleModel& model) {
    const auto most =
        static_cast<std::size_t>(options.context > 0 ? std::min(options.context, model.context) : model.context);
    const std::size_t used = std::min(history, most);
    const std::span<const std::int64_t> times(table.times);
    std::vector<std::int64_t> future;
    if (options.holdout) {
        future.assign(times.begin() + static_cast<std::ptrdiff_t>(history), times.end());
    } else {
        future = totograph::kronos::future_times(times, options.horizon);
    }
    const CandleRequest request{.tokenizer = options.tokenizer,
                                .predictor = options.predictor,
                                .candles = table.candles(history - used, used, future),
                                .options = {.seed = options.seed,
                                            .temperature = static_cast<float>(options.temperature),
                                            .top_k = static_cast<std::int32_t>(options.top_k),
                                            .top_p = static_cast<float>(options.top_p),
                                            .paths = options.paths,
                                            .consistent = options.consistent},
                                .threads = options.threads};
    totograph::kronos::CandleForecast forecast = model.forecast(request);
    return {table, history, std::move(future), std::move(forecast)};
}

std::string subtitle(const CandlesCommand& options, const CompiledCandleModel& model) {
    return "Kronos " + std::string(model.name) + (options.untrained.empty() ? "" : ", untrained: it knows nothing") +
           ", " + plural(options.paths, "path") + ", seed " + std::to_string(options.seed);
}

int run(const CandlesCommand& options, Stage& stage) {
    stage = Stage::output;
    for (const std::filesystem::path& path : {options.output, options.paths_output}) {
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
    const CandleTable table = read_candles(options);
    const std::size_t history = history_rows(table, options);
    if (!options.quiet && table.columns[4].empty()) {
        print_notes("candles", {"The file has no column 'volume'; the model is told 0."});
    }
    stage = Stage::forecast;
    const CandleResult result = forecast_candles(table, history, options, model);
    if (!result.forecast.is_finite()) {
        throw totograph::Error(totograph::ErrorCode::not_finite,
                               "The model gave values that are no finite numbers; the checkpoint may be damaged.");
    }
    stage = Stage::output;
    std::string printed;
    OutputFiles files;
    if (!options.no_chart && options.output != "-") {
        const std::string title = "Forecast of " + input_name(options.input.filename());
        printed = terminal_chart(close_figure(result, title, subtitle(options, model)), terminal_style(STDOUT_FILENO));
    }
    if (options.output == "-") {
        printed = bands_csv(result, options.quantiles);
    } else if (!options.output.empty()) {
        files.add(options.output, bands_csv(result, options.quantiles));
    }
    if (!options.paths_output.empty()) {
        files.add(options.paths_output, paths_csv(result));
    }
    print(printed);
    files.commit();
    return exit_ok;
}

}  // namespace

int main(int argument_count, char** arguments) {
    return run_program(
        "candles", "fewer --paths",
        [&](std::ostream& answer) { return parse_candles_command(argument_count, arguments, answer); }, run);
}
