// SPDX-License-Identifier: Apache-2.0
//
// backtest: forecasts the series in a CSV file from many rows of their past, compares with what came, and reports how
// good that was, against the value of one season ago. The parts are in backtest/; run_backtest.hpp is the part that
// uses totograph.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <optional>
#include <ostream>
#include <span>
#include <string>

#include <totograph/io/cache/checksum.hpp>
#include <totograph/io/checkpoint/checkpoint_files.hpp>
#include <totograph/io/csv/table.hpp>
#include <totograph/io/random_access_file.hpp>
#include <totograph/io/text_file.hpp>

#include "backtest/command_line.hpp"
#include "backtest/journal.hpp"
#include "backtest/options.hpp"
#include "backtest/plan.hpp"
#include "backtest/report.hpp"
#include "backtest/report_svg.hpp"
#include "backtest/run_backtest.hpp"
#include "common/below_range_note.hpp"
#include "common/exit_codes.hpp"
#include "common/model_sizes.hpp"
#include "common/output_files.hpp"
#include "common/progress.hpp"
#include "common/run_program.hpp"
#include "common/sampling.hpp"
#include "common/small_spread_note.hpp"
#include "intake/read_input.hpp"
#include "intake/timeline.hpp"
#include "models/model.hpp"

namespace {

using namespace examples;

constexpr int exit_interrupted = 130;

std::atomic<bool> interrupted = false;

/// The first signal lets the windows at hand be finished; the next one ends the program.
void on_interrupt(int signal_number) {
    interrupted = true;
    std::signal(signal_number, SIG_DFL);
}

/// What the results depend on, as one short name.
std::string key_of(const Options& options, const std::string& input, const CheckpointModel& model, const Plan& plan) {
    totograph::io::Checksum sum;
    const auto add = [&](const std::string& text) { sum.add(std::to_string(text.size())).add(":").add(text); };
    const auto add_file = [&](const std::filesystem::path& path) {
        const totograph::io::RandomAccessFile file(path);
        sum.add(std::to_string(file.size())).add(":");
        std::string part(std::size_t{1} << 20U, '\0');
        for (std::size_t at = 0; at < file.size(); at += part.size()) {
            part.resize(std::min(part.size(), file.size() - at));
            file.read(at, std::as_writable_bytes(std::span(part)));
            sum.add(part);
        }
    };
    add(std::string(totograph::version));
    add(input);
    const totograph::io::CheckpointFiles files = totograph::io::find_checkpoint(model.checkpoint);
    if (!files.config.empty()) {
        add_file(files.config);
    }
    for (const std::string& weights : files.weights) {
        add_file(weights);
    }
    if (!options.package.empty()) {
        add_file(options.package);
    }
    for (const std::string& column : options.columns) {
        add(column);
    }
    std::ostringstream settings;
    settings << options.columns.size() << ' ' << intake_text(options.intake) << ' ' << plan.season << ' '
             << plan.windows << ' ' << options.stride << ' ' << options.context << ' ' << options.samples << ' '
             << options.seed << ' ' << options.together << ' ' << options.extend;
    for (const std::int64_t horizon : options.horizons) {
        settings << ' ' << horizon;
    }
    if (model.device != nullptr) {
        settings << ' ' << model.device->name();  // it draws other numbers for series of a batch, and rounds otherwise
    }
    add(settings.str());
    return sum.text();
}

std::string subtitle(const Options& options, const Plan& plan, const totograph::io::Table& table) {
    const auto unscored = static_cast<std::int64_t>(plan.unscored.size());
    return plural(static_cast<std::int64_t>(table.columns.size()), "series") +
           (unscored > 0 ? " (" + count_text(unscored) + " without a score), " : ", ") +
           plural(plan.windows, "window") + " each, " + plural(options.context, "step") + " of history, " +
           (options.samples > 0 ? plural(options.samples, "sample") + ", seed " + std::to_string(options.seed)
                                : "quantiles of the model") +
           (options.together ? ", series together" : "");
}

void check_outputs(const Options& options) {
    for (const std::filesystem::path& path : {options.csv, options.svg}) {
        if (!path.empty()) {
            OutputFiles::check(path);
        }
    }
}

/// What is to be forecast of a table. Shortens the context to what the model was compiled for, and tells what is worth
/// knowing.
Plan plan_of(const totograph::io::Table& table, Options& options, const CheckpointModel& model, Stage& stage) {
    const ModelSizes most = model.most;
    stage = Stage::arguments;
    check_sampling(options.sampling, model.title, model.levels);
    if (!model.levels.empty()) {
        options.samples = 0;
    }
    check_horizon(options.horizons.back(), options.extend, most, "--horizon");
    stage = Stage::input;
    const std::int64_t given_context = options.context;
    options.context = std::min(options.context, most.context);
    const totograph::Index in_batch = options.together ? 1
                                                       : batch_at_once(model, {.variates = 1,
                                                                               .context = options.context,
                                                                               .horizon = options.horizons.back(),
                                                                               .samples = options.samples});
    const totograph::Index most_series = options.together ? most.variates
                                         : in_batch > 1   ? in_batch
                                                          : model.variates_at_once;
    Plan plan = make_plan(table, Timeline(table), options, static_cast<std::size_t>(most_series));
    plan.in_batches = in_batch > 1;
    for (const std::string& note :
         {context_note(given_context, most), extend_note(options.horizons.back(), most),
          small_spread_note(table.names, table.columns, model.levels), below_range_note(table.names, table.columns)}) {
        plan.notes.push_back(note);
    }
    if (!options.quiet) {
        print_notes("backtest", plan.notes);
    }
    return plan;
}

void tell_finished(const Journal& journal, const Plan& plan) {
    if (journal.finished().empty() && journal.damaged() == 0) {
        return;
    }
    std::cerr << "backtest: " << count_text(static_cast<std::int64_t>(journal.finished().size())) << " of "
              << count_text(static_cast<std::int64_t>(plan.tasks.size())) << " forecasts are done already ("
              << journal.path().string() << ")"
              << (journal.damaged() > 0 ? "; " + plural(journal.damaged(), "damaged line") + " left out" : "") << ".\n";
}

/// Makes the forecasts that the journal lacks. Nothing comes back when a signal ended that, which is told.
std::optional<AllScores> scores_of(const totograph::io::Table& table, const Options& options, const Plan& plan,
                                   const AnyModel& model, Journal& journal) {
    const auto all = static_cast<std::int64_t>(plan.tasks.size());
    std::size_t done = 0;
    Progress progress(std::cerr, !options.quiet && isatty(STDERR_FILENO) == 1);
    std::optional<AllScores> scores =
        run_backtest(table, options, plan, model, journal, interrupted, [&](std::size_t now) {
            done = now;
            progress.stage(count_text(static_cast<std::int64_t>(now)) + " of " + plural(all, "forecast"),
                           static_cast<double>(now) / static_cast<double>(all));
        });
    progress.finish();
    if (!scores) {
        std::cerr << "backtest: Interrupted. " << count_text(static_cast<std::int64_t>(done)) << " of "
                  << plural(all, "forecast") << " are kept in " << journal.path().string()
                  << "; repeat the command to go on.\n";
    }
    return scores;
}

void write_report(const AllScores& scores, const totograph::io::Table& table, const Options& options, const Plan& plan,
                  std::span<const double> model_levels) {
    const std::vector<ReportRow> rows = report_rows(scores, table.names, options.horizons, model_levels);
    OutputFiles files;
    if (!options.csv.empty()) {
        files.add(options.csv, report_csv(rows));
    }
    if (!options.svg.empty()) {
        files.add(options.svg, report_svg("Backtest of " + input_name(options.input.filename()),
                                          subtitle(options, plan, table), rows, plan.season));
    }
    print(report_table(rows, plan.season));
    files.commit();
}

int run(const Options& given, Stage& stage) {
    Options options = given;
    stage = Stage::output;
    check_outputs(options);
    stage = Stage::input;
    const std::string text = read_input_text(options.input);
    const totograph::io::Table table = read_table(text, options.input, options.intake, options.columns);
    if (!options.quiet) {
        print_notes("backtest", table.notes);
    }
    stage = Stage::checkpoint;
    const std::filesystem::path checkpoint = checkpoint_or_demo(options.checkpoint);
    CheckpointModel known = model_of(checkpoint, options.package, options.backend);
    stage = Stage::arguments;
    const CheckpointModel found = on_backend(std::move(known), options.backend);
    if (const std::string note = threads_note(found, options.threads); !note.empty() && !options.quiet) {
        print_notes("backtest", {note});
    }
    if (found.device != nullptr) {
        options.threads = 1;  // one forecaster fills it, and another would only hold memory
    }
    const Plan plan = plan_of(table, options, found, stage);
    stage = Stage::checkpoint;
    const std::unique_ptr<AnyModel> model = open_model(found);
    const std::string key = key_of(options, text, found, plan);

    stage = Stage::output;
    const bool keeps_journal = !options.journal.empty();
    Journal journal(keeps_journal ? options.journal : std::filesystem::path("backtest-" + key + ".journal"), key);
    if (!options.quiet) {
        tell_finished(journal, plan);
    }
    stage = Stage::forecast;
    const std::optional<AllScores> scores = scores_of(table, options, plan, *model, journal);
    if (!scores) {
        return exit_interrupted;
    }
    stage = Stage::output;
    write_report(*scores, table, options, plan, model->levels());
    if (!keeps_journal) {
        journal.remove();
    }
    return exit_ok;
}

}  // namespace

int main(int argument_count, char** arguments) {
    std::signal(SIGINT, on_interrupt);
    std::signal(SIGTERM, on_interrupt);
    return run_program(
        "backtest", "fewer --threads, or a smaller --context",
        [&](std::ostream& answer) { return parse_command_line(argument_count, arguments, answer); }, run,
        [](const totograph::Error& error, Stage stage) {
            // All that is read was read before the first forecast: only the journal can fail amid them.
            const bool is_journal = stage == Stage::forecast && error.code() == totograph::ErrorCode::io_failure;
            return is_journal ? exit_output : exit_code(error.code(), stage);
        });
}
