// SPDX-License-Identifier: Apache-2.0
//
// forecast: reads the time series in a CSV file, forecasts them with a Toto transformer, and shows the forecast as a
// chart, a table, CSV or SVG. The parts are in forecast/, one idea a header; run_forecast.hpp is the part that uses
// totograph.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/io/csv/table.hpp>

#include "charts/svg.hpp"
#include "charts/terminal.hpp"
#include "charts/terminal_chart.hpp"
#include "common/below_range_note.hpp"
#include "common/model_sizes.hpp"
#include "common/output_files.hpp"
#include "common/progress.hpp"
#include "common/run_program.hpp"
#include "common/small_spread_note.hpp"
#include "forecast/bounds_notes.hpp"
#include "forecast/command_line.hpp"
#include "forecast/holdout.hpp"
#include "forecast/input_groups.hpp"
#include "forecast/make_figure.hpp"
#include "forecast/options.hpp"
#include "forecast/output.hpp"
#include "forecast/run_forecast.hpp"
#include "forecast/score_last.hpp"
#include "forecast/series_input.hpp"
#include "intake/read_input.hpp"
#include "intake/timeline.hpp"

namespace {

using namespace examples;

totograph::io::Table read_table(const Options& options) {
    // Without targets all columns are read, and those that are not exogenous become targets.
    std::vector<std::string> columns = options.targets;
    if (!columns.empty()) {
        columns.insert(columns.end(), options.exogenous.begin(), options.exogenous.end());
    }
    return read_table(read_input_text(options.input), options.input, options.intake, std::move(columns));
}

SeriesInput read_input(const totograph::io::Table& table, const Options& options, const ModelSizes& most) {
    return series_input(table, {.targets = options.targets,
                                .exogenous = options.exogenous,
                                .context = options.context > 0 ? std::min(options.context, most.context) : most.context,
                                .horizon = options.horizon,
                                .holdout = options.holdout,
                                .independent = options.independent});
}

/// Says what the user should know, a line each.
void tell(const std::vector<std::string>& notes, const Options& options) {
    if (!options.quiet) {
        print_notes("forecast", notes);
    }
}

std::string subtitle(const SeriesInput& input, const Options& options, bool has_quantiles) {
    const auto series = static_cast<std::int64_t>(input.targets.size());
    std::string text = plural(series, "series") + ", " + plural(input.steps, "step") + " of history, " +
                       plural(input.horizon, "step") + " ahead, ";
    if (options.samples > 0) {
        text += plural(options.samples, "sample") + ", seed " + std::to_string(options.seed);
    } else {
        text += has_quantiles ? "quantiles of the model" : "mean forecast";
    }
    if (!input.exogenous.empty()) {
        text += ", " + plural(static_cast<std::int64_t>(input.exogenous.size()), "exogenous column");
        text += input.future_exogenous.empty() ? " (past only)" : " (future known)";
    }
    return text;
}

/// What the program prints and the files it writes, all made before the first byte leaves it.
struct Results {
    std::string printed;
    OutputFiles files;
};

void add_forecast(Results& results, const SeriesInput& input, const ForecastResult& forecast,
                  const totograph::io::Table& table, const Options& options) {
    const Timeline timeline(table);
    const Holdout holdout = holdout_scores(input, forecast, holdout_season(options.season, timeline, input.steps));
    Figure figure = make_figure(input, forecast, holdout, timeline);
    figure.title = "Forecast of " + input_name(options.input.filename());
    figure.subtitle = subtitle(input, options, forecast.mean.empty());
    if (options.table) {
        results.printed += forecast_table(input, forecast, holdout, timeline);
    }
    if (options.wants_chart()) {
        results.printed += terminal_chart(first_panels(figure, 20), terminal_style(STDOUT_FILENO));
    }
    if (!options.svg.empty()) {
        results.files.add(options.svg, svg_document(first_panels(figure, 60)));
    }
    if (options.output.empty()) {
        return;
    }
    const std::string csv = forecast_csv(input, forecast, holdout, timeline, table.timestamp_name);
    if (options.output_is_stdout()) {
        results.printed += csv;
    } else {
        results.files.add(options.output, csv);
    }
}

void add_explanation(Results& results, const SeriesInput& input, const CheckpointModel& model,
                     const std::filesystem::path& checkpoint, const Options& options, Stage& stage) {
    stage = Stage::forecast;
    const CompiledModel& compiled = compiled_in(model, "--explain");
    const ProgramDescription program = describe_program(input, options, compiled, model.most);
    const std::string page =
        options.explain_html.empty() ? "" : program_page(input, options, compiled, model.most, checkpoint);
    stage = Stage::output;
    if (options.explain) {
        results.printed += program.table;
    }
    if (!options.explain_html.empty()) {
        results.files.add(options.explain_html, page);
    }
    if (!options.dot.empty()) {
        results.files.add(options.dot, program.dot);
    }
}

/// Before long work, for nobody likes to lose it.
void check_outputs(const Options& options) {
    for (const std::filesystem::path& path : {options.output, options.svg, options.dot, options.explain_html}) {
        if (!path.empty() && path != "-") {
            OutputFiles::check(path);
        }
    }
}

int run(const Options& given, Stage& stage) {
    Options options = given;
    stage = Stage::output;
    check_outputs(options);
    stage = Stage::checkpoint;
    const std::filesystem::path checkpoint = checkpoint_or_demo(options.checkpoint);
    CheckpointModel known = model_of(checkpoint, options.package, options.backend);
    stage = Stage::arguments;
    const CheckpointModel model = on_backend(std::move(known), options.backend);
    tell({threads_note(model, options.threads)}, options);
    const ModelSizes most = model.most;
    resolve_for(options, model.title, model.levels);
    check_horizon(options.horizon, options.extend, most, "--horizon");
    stage = Stage::input;
    const totograph::io::Table table = read_table(options);
    tell(table.notes, options);
    const SeriesInput input = read_input(table, options, most);
    check_season(options.season, input.steps);
    tell(input.notes, options);
    tell({context_note(options.context, most), input_groups_note(input, most, options.independent),
          extend_note(options.horizon, most), small_spread_note(input.targets, input.history, model.levels),
          below_range_note(input.targets, input.history)},
         options);

    if (options.wants_forecast() || !options.explain_html.empty()) {
        stage = Stage::forecast;
        check_extension(input, options, model);
        stage = Stage::input;
    }
    Results results;
    if (!options.score_last.empty()) {  // before the forecast takes its place, if it is the same file
        results.printed +=
            score_last(read_input_text(options.score_last), options.score_last.string(), table, options.targets);
    }
    if (options.explains()) {
        add_explanation(results, input, model, checkpoint, options, stage);
    }
    if (options.wants_forecast()) {
        Progress progress(std::cerr, !options.quiet && isatty(STDERR_FILENO) == 1);
        const ForecastResult forecast =
            run_forecast(input, options, model, [&](Stage now, const std::string& words, double share) {
                stage = now;
                progress.stage(words, share);
            });
        progress.finish();
        tell(bounds_notes(input, forecast, options.bounds), options);
        stage = Stage::output;
        add_forecast(results, input, forecast, table, options);
    }
    print(results.printed);
    results.files.commit();
    return exit_ok;
}

}  // namespace

int main(int argument_count, char** arguments) {
    return run_program(
        "forecast", "a smaller --context, --samples or fewer columns",
        [&](std::ostream& answer) { return parse_command_line(argument_count, arguments, answer); }, run);
}
