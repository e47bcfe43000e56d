// SPDX-License-Identifier: Apache-2.0
//
// stress: makes the same requests of a mode of the executors and of the plain ones, in turns, and says whether values,
// latencies, memory and caches are as they should be; measures what builds, sizes and steps of the compiler cost; puts
// eager beside compiled for models of tokens and candles; and compares forecasts with those of another build. The parts
// are in stress/; run_stress.hpp is the part that uses totograph, and `totograph::serve::stress` is what a test of
// one's own would call.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <ostream>
#include <string>
#include <system_error>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/build_identity.hpp>

#include "common/exit_codes.hpp"
#include "common/format.hpp"
#include "common/output_files.hpp"
#include "common/progress.hpp"
#include "common/run_program.hpp"
#include "models/ablation.hpp"
#include "models/device.hpp"
#include "models/model.hpp"
#include "stress/command_line.hpp"
#include "stress/grid_model.hpp"
#include "stress/listed_models.hpp"
#include "stress/options.hpp"
#include "stress/run_batches.hpp"
#include "stress/run_grid.hpp"
#include "stress/run_stress.hpp"
#include "stress/stress_data.hpp"

namespace {

using namespace examples;
namespace serve = totograph::serve;

constexpr int exit_failed = 7;

/// The metrics that come with the library: installed beside this program, or in the sources.
std::filesystem::path bundled_metrics() {
    std::error_code failed;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
    std::filesystem::path installed = (program.parent_path() / TOTOGRAPH_METRICS_FROM_PROGRAM).lexically_normal();
    return !failed && std::filesystem::exists(installed, failed) ? installed : TOTOGRAPH_BUNDLED_METRICS;
}

StressResult ablate(const Options& options, const std::vector<serve::StressData>& data, Stage& stage) {
    stage = Stage::checkpoint;
#ifdef TOTOGRAPH_ABLATION
    const std::filesystem::path checkpoint = checkpoint_or_demo(options.checkpoint);
#ifdef TOTOGRAPH_ABLATION_CUDA
    if (options.backend == "cuda") {
        const auto variants = device_ablations(checkpoint, 0);
        stage = Stage::forecast;
        return run_ablations(variants, options, data, serve::build_identity());
    }
#endif
    if (!options.backend.empty() && options.backend != "cpu") {
        stage = Stage::arguments;
        detail::reject("--ablate has no variants for --backend " + totograph::io::in_quotes(options.backend) +
                       " in this program; use cpu, or cuda in a build with -DTOTOGRAPH_CUDA=ON.");
    }
    const auto variants = ablations(checkpoint, options.threads);
    stage = Stage::forecast;
    return run_ablations(variants, options, data, serve::build_identity());
#else
    (void)options;
    (void)data;
    stage = Stage::arguments;
    detail::reject(
        "This program was built without the variants that --ablate measures, which take long to compile; configure "
        "with -DTOTOGRAPH_ABLATION=ON.");
#endif
}

void check_outputs(const Options& options) {
    for (const std::filesystem::path& path : {options.json, options.markdown}) {
        if (!path.empty()) {
            OutputFiles::check(path);
        }
    }
    if (options.task == Task::save) {
        OutputFiles::check(options.forecasts);
    }
}

StressResult save(const serve::BackendRegistry& registry, const Options& options,
                  const std::vector<serve::StressData>& data, const serve::BuildIdentity& build, Stage& stage) {
    const serve::DriftSet set = run_save(registry, options, data, build);
    stage = Stage::output;
    save_forecasts(set, options.forecasts);
    StressResult result;
    result.text = "Kept " + plural(static_cast<std::int64_t>(set.cases.size()), "forecast") + " in " +
                  options.forecasts.string() + ".\n";
    return result;
}

/// A task other than `--ablate`.
StressResult run_task(const Options& options, const std::vector<serve::StressData>& data, Stage& stage) {
    const serve::BuildIdentity build = serve::build_identity();
    stage = Stage::checkpoint;
    serve::BackendRegistry registry;
    add_backends(registry, model_of(checkpoint_or_demo(options.checkpoint)));
    stage = Stage::forecast;
    Progress progress(std::cerr, !options.quiet && isatty(STDERR_FILENO) == 1);
    switch (options.task) {
        case Task::list: return run_list(registry, options);
        case Task::build_latency: return run_build_latency(registry, options, build);
        case Task::batches:
            return run_batches(registry, options, build, [&](std::size_t done, std::size_t all) {
                progress.stage(count_text(static_cast<std::int64_t>(done)) + " of " +
                                   plural(static_cast<std::int64_t>(all), "size"),
                               static_cast<double>(done) / static_cast<double>(all));
            });
        case Task::against: stage = Stage::input; return run_against(registry, options, build);
        case Task::save: return save(registry, options, data, build, stage);
        default: break;
    }
    // What other programs do on a device is not measured where none is used.
    const bool uses_device = options.backend.starts_with("cuda") || options.baseline.starts_with("cuda");
    return run_stress(registry, options, data, build,
                      uses_device ? device_memory_probe() : std::function<std::size_t()>(),
                      [&](std::size_t done, std::size_t all) {
                          progress.stage(count_text(static_cast<std::int64_t>(done)) + " of " +
                                             plural(static_cast<std::int64_t>(all), "comparison"),
                                         static_cast<double>(done) / static_cast<double>(all));
                      });
}

/// The tables of a model of tokens or candles.
StressResult tabulate(const GridModel& model, const Options& options, Stage& stage) {
    stage = Stage::arguments;
    detail::check_grid_options(model, options);
    stage = Stage::checkpoint;
    serve::BackendRegistry registry;
    model.add_backend(registry, options.checkpoint);
    add_grid_devices(model.name, registry, options.checkpoint);
    stage = Stage::forecast;
    // A line after each size: a thread that paints would allocate while allocations are counted.
    const bool tells = !options.quiet && isatty(STDERR_FILENO) == 1;
    return run_grid(model, registry, options, serve::build_identity(), [&](std::size_t done, std::size_t all) {
        if (tells) {
            std::cerr << "stress: " + count_text(static_cast<std::int64_t>(done)) + " of " +
                             plural(static_cast<std::int64_t>(all), "size") + " measured\n";
        }
    });
}

/// Any task, and what it reads before.
StressResult answer(const Options& options, Stage& stage) {
    stage = options.untrained.empty() ? Stage::checkpoint : Stage::arguments;
    if (const GridModel* const model = grid_model_of(options.untrained, options.checkpoint)) {
        return tabulate(*model, options, stage);
    }
    if (options.task == Task::grid) {
        stage = Stage::arguments;
        detail::reject(
            "--vary-batch and --vary-context are one task for models of tokens and candles alone: name one of the two, "
            "or such a model with --untrained, or a nanoVLM with --checkpoint.");
    }
    stage = Stage::input;
    std::vector<serve::StressData> data;
    if (options.task != Task::against && options.task != Task::list && options.task != Task::build_latency &&
        options.task != Task::batches) {
        data = read_data(options, bundled_metrics());
    }
    return options.task == Task::ablate ? ablate(options, data, stage) : run_task(options, data, stage);
}

int run(const Options& options, Stage& stage) {
    stage = Stage::output;
    check_outputs(options);
    const StressResult result = answer(options, stage);
    stage = Stage::output;
    // What took minutes is kept, whoever reads standard output has left or not.
    OutputFiles files;
    if (!options.json.empty()) {
        files.add(options.json, result.json);
    }
    if (!options.markdown.empty()) {
        files.add(options.markdown, result.text);
    }
    files.commit();
    print(result.text);
    return result.passed ? exit_ok : exit_failed;
}

}  // namespace

int main(int argument_count, char** arguments) {
    return run_program(
        "stress", "fewer --sizes",
        [&](std::ostream& answer) { return parse_command_line(argument_count, arguments, answer); }, run);
}
