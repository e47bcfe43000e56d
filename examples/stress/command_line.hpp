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
#include <utility>
#include <vector>

#include <totograph/io/text.hpp>
#include <totograph/version.hpp>

#include "../common/command_line_parts.hpp"
#include "options.hpp"

namespace examples {

namespace detail {

inline constexpr const char* stress_footer = R"(
A request is made of the mode under test and, in turns, of mode eager, after both have been warmed up and have made one
of its size. It is cut from the columns of the files, at other rows each time. These questions are asked:
  requests    no error
  finite      no NaN, no infinity, and no 0 in place of one
  accuracy    the mean deviation of no variate in no forecast is beyond --mae, in units of the series' scale
  jumps       no more sampled futures drew another component of the mixture than eager's than rounding explains
  repeats     a request that is repeated gives the same bits
  recaptures  nothing was built or captured after warm-up
  speed       the mode takes no longer than the planned program without it, by the lower quartile of each size:
              than mode default, with the same threads and kernels; default itself, on a device, than eager
  memory      no more is held than was planned
  growth      nothing grows while requests repeat
  caches      no cache file had to be ignored
With --backend cpu, mode eager computes on one thread, and the mode under test on --threads. On a device, mode eager
launches the same kernels one by one: compare values with another executor as well, with --baseline cpu.

Examples:
  stress
      three rounds of the bundled model on the bundled metrics
  stress metrics.csv --mode production-check --backend cpu --execution-mode default --json report.json
      twenty rounds of every compiled size on a file of one's own, the report kept
  stress --sizes 1 --vary-context
      latencies of the first size's contexts from 16 on
  stress --untrained tiny --vary-batch --vary-context
      eager beside compiled for prompts of a nanoVLM, in latency, memory and graphs
  stress --save forecasts.safetensors; stress --against forecasts.safetensors
      keep forecasts, and compare those of another build, mode or device with them

Exit codes:
  0  all went well
  1  anything not named below
  2  the command line is wrong
  3  an input file cannot be read or used
  4  the checkpoint cannot be read or does not fit the model
  5  more is asked for than anything was compiled for
  6  an output cannot be written
  7  the answer to one of the questions is no, or forecasts have drifted
)";

inline std::vector<std::int64_t> split_whole_numbers(const std::string& text, const std::string& option) {
    std::vector<std::int64_t> numbers;
    for (const std::string& piece : split_list(text, option)) {
        std::int64_t value = 0;
        const auto read = std::from_chars(piece.data(), piece.data() + piece.size(), value);
        if (read.ec != std::errc() || read.ptr != piece.data() + piece.size()) {
            reject(std::string(option)
                       .append(" expects whole numbers like 1,2, but got ")
                       .append(totograph::io::in_quotes(piece))
                       .append("."));
        }
        numbers.push_back(value);
    }
    return numbers;
}

/// What comes without a heading. `level` and `mode` are names, with their defaults.
inline void add_common(CLI::App& app, Options& options, std::string& level, std::string& mode) {
    const auto number = [&](const std::string& name, auto& value, const std::string& words) {
        using Number = std::remove_reference_t<decltype(value)>;
        app.add_option(name, value, words)->type_name("N")->check(whole_number<Number>());
    };
    app.add_option("files", options.inputs, "CSV files with series (default: the bundled metrics)")
        ->type_name("FILE.csv");
    app.set_version_flag("--version", "stress " + std::string(totograph::version), "Print the version and stop");
    app.add_option("--mode", level, "quick, full or production-check: 3, 10 or 20 rounds\n(default: quick)")
        ->type_name("NAME");
    app.add_option("--execution-mode", mode, "The mode under test (default: max-autotune)")->type_name("NAME");
    app.add_option("--backend", options.backend, "Its backend (default: the first that can be used)")
        ->type_name("NAME");
    app.add_option("--baseline", options.baseline, "The backend of the eager baseline (default: the same)")
        ->type_name("NAME");
    app.add_option("--checkpoint", options.checkpoint,
                   "Toto 1.0 or 2.0: a folder, a file, or the model's folder in\na Hugging Face cache\n(default: "
                   "the small model that comes with totograph); with\n--vary-batch and --vary-context a nanoVLM, too")
        ->type_name("PATH");
    app.add_option("--untrained", options.untrained,
                   "A model of tokens or candles without training in place of\nit, such as tiny")
        ->type_name("MODEL");
    number("--threads", options.threads, "Threads that a forecast may use (default: all)");
    number("--iterations", options.iterations,
           "Rounds (default: as --mode says; quick makes one of a size\nfor which eager takes long)");
    number("--seed", options.seed, "Seed of samples, rows and columns (default: 0)");
    app.add_option("--json", options.json, "Write the report as JSON")->type_name("FILE.json");
    app.add_option("--markdown", options.markdown, "Write what is printed as Markdown")->type_name("FILE.md");
    app.add_flag("--quiet", options.quiet, "No progress");
}

inline void add_requests(CLI::App& app, Options& options) {
    const auto group = [&](CLI::Option* option, const char* type) { option->group("Requests")->type_name(type); };
    group(add_list(app, "--columns", options.columns, split_list, "Columns to use (default: all)"), "A,B,...");
    group(app.add_option("--timestamp", options.intake.timestamp,
                         "Column of timestamps (default: the first of dates, times or\nepoch times)"),
          "COLUMN");
    group(app.add_option("--separator", options.intake.separator,
                         "What stands between fields: a character, tab or space (any\nnumber of blanks; default: as "
                         "the first lines tell)"),
          "CHARACTER");
    const auto sizes = [&](const char* name, std::vector<std::int64_t>& list, const char* words) {
        group(add_list(app, name, list, split_whole_numbers, words), "N,N,...");
    };
    sizes("--sizes", options.buckets,
          "Compiled sizes to use, as --list counts them\n(default: all; for tables the first)");
    sizes("--batches", options.batches, "Series in a request (these five: as --mode plans)");
    sizes("--variates", options.variates, "Variates of a series");
    sizes("--contexts", options.contexts, "Rows of history");
    sizes("--horizons", options.horizons, "Steps to forecast");
    sizes("--samples", options.samples, "Futures to draw; 0 for the mean");
}

inline void add_thresholds(CLI::App& app, Options& options) {
    const auto number = [&](const char* name, std::optional<double>& value, const char* words) {
        app.add_option(name, value, words)->type_name("NUMBER")->group("Thresholds");
    };
    app.add_option(
           "--precision", options.precision,
           "f32 or bf16: the defaults of what follows; in bf16, medians\nare compared in place of samples (default: "
           "bf16 for cuda\nand cuda-regional, else f32)")
        ->type_name("NAME")
        ->group("Thresholds");
    number("--mae", options.mae, "Mean deviation, of a series' scale (default: 1e-4, bf16 5e-3)");
    number("--jumps", options.jumps, "Share of drawn values after which a future may differ\n(default: 5e-5)");
    number("--slowest", options.slowest, "Latency, of the planned program's (default: 1.1)");
    number("--growth", options.growth, "MiB that the process may grow by (default: 16)");
}

/// The names of the tasks that are asked for go to `chosen`, which must live as long as `app`.
inline void add_tasks(CLI::App& app, Options& options, std::vector<std::string>& chosen) {
    using totograph::Bucket;
    const std::string tasks = "In place of the questions";
    const auto task = [&](const char* name, Task kind, const char* words, auto... more) {
        app.add_flag_callback(
               name,
               [&options, &chosen, name, kind, more...] {
                   options.task = kind;
                   chosen.emplace_back(name);
                   if constexpr (sizeof...(more) > 0) {
                       options.axis = (more, ...);
                       options.varies_batch = options.varies_batch || options.axis == &Bucket::batch;
                       options.varies_context = options.varies_context || options.axis == &Bucket::context;
                       options.axis_name = std::string(name).substr(std::string("--vary-").size());
                   }
               },
               words)
            ->group(tasks);
    };
    task("--list", Task::list, "Name backends, modes and compiled sizes");
    task("--vary-batch", Task::batches,
         "A table over the series in a request, 1 to 256, and the\nnumbers of --samples, with each backend, and from "
         "where on\n"
         "another than the CPU is the faster one",
         &Bucket::batch);
    task("--vary-variates", Task::vary, "A table over the variates of a series", &Bucket::variates);
    task("--vary-context", Task::vary,
         "A table over the rows of history; with --vary-batch, of a\nmodel of tokens or candles, eager beside compiled "
         "for each\ncontext and batch",
         &Bucket::context);
    task("--vary-horizon", Task::vary, "A table over the steps to forecast", &Bucket::horizon);
    task("--build-latency", Task::build_latency, "A table of what building takes in each mode");
    task("--ablate", Task::ablate,
         "A table of what each step of the compiler is worth; with\n--backend cuda, of what makes launches fast");
    const auto file_task = [&](const char* name, Task kind, const char* words) {
        const auto take = [&options, &chosen, name, kind](const std::string& path) {
            options.task = kind;
            options.forecasts = path;
            chosen.emplace_back(name);
        };
        app.add_option_function<std::string>(name, take, words)->type_name("FILE")->group(tasks);
    };
    file_task("--save", Task::save, "Keep a forecast of each request");
    file_task("--against", Task::against, "Compare with forecasts that were kept");
}

}  // namespace detail

/// Reads the command line. Nothing comes back when all is said already (`--help`, `--version`, printed to `out`).
/// Throws `Error(invalid_argument)` with one sentence for a command line that cannot be used.
inline std::optional<Options> parse_command_line(int argument_count, const char* const* arguments, std::ostream& out) {
    CLI::App app("Puts a Toto transformer under load and says whether a mode of its executors can be trusted.",
                 "stress");
    app.footer(detail::stress_footer);
    app.get_formatter()->column_width(30);
    Options options;
    std::string level(name(options.level));
    std::string mode(name(options.mode));
    std::vector<std::string> chosen;
    detail::add_common(app, options, level, mode);
    detail::add_requests(app, options);
    detail::add_thresholds(app, options);
    detail::add_tasks(app, options, chosen);
    if (!detail::parse(app, "stress", argument_count, arguments, out)) {
        return std::nullopt;
    }
    const bool is_both = chosen.size() == 2 && options.varies_batch && options.varies_context;
    const bool is_one = chosen.size() == 1 && (options.varies_batch || options.varies_context);
    if (is_both || (is_one && !options.untrained.empty())) {
        options.task = Task::grid;
    } else if (chosen.size() > 1) {
        detail::reject(chosen[0] + " and " + chosen[1] + " are two tasks; name one.");
    }
    options.level = totograph::serve::stress_level_of(level);
    options.mode = totograph::serve::mode_of(mode, "--execution-mode");
    detail::check_stress(options);
    return options;
}

}  // namespace examples
