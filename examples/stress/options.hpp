// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/diagnostics/stress/plan.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/mode.hpp>

#include "../common/check_files.hpp"
#include "../common/checks.hpp"
#include "../common/draw_options.hpp"
#include "../common/format.hpp"
#include "../intake/options.hpp"

namespace examples {

/// What the program does.
enum class Task {
    stress,
    list,           ///< Names backends, modes and buckets.
    vary,           ///< A table along one of a request's sizes.
    batches,        ///< A table of what batches cost with each backend.
    grid,           ///< Tables over contexts and batches, of a model of tokens or candles.
    build_latency,  ///< A table of builds in each mode.
    ablate,         ///< A table of what each step of the compiler is worth.
    save,           ///< Keeps forecasts.
    against,        ///< Compares with those that were kept.
};

/// What the command line asks for.
struct Options {
    Task task = Task::stress;
    std::vector<std::filesystem::path> inputs;  ///< Empty: the bundled metrics.
    std::vector<std::string> columns;
    IntakeOptions intake;

    totograph::serve::StressLevel level = totograph::serve::StressLevel::quick;
    totograph::serve::Mode mode = totograph::serve::Mode::max_autotune;
    std::string backend;
    std::string baseline;  ///< Backend of the baseline; empty: the same.
    std::filesystem::path checkpoint;
    std::string untrained;  ///< The model of tokens or candles whose untrained weights are used in place of it.
    int threads = 0;
    int iterations = 0;
    std::uint64_t seed = 0;
    std::vector<std::int64_t> buckets;  ///< By number, from 1; empty: all, for tables the first.
    std::vector<std::int64_t> batches;
    std::vector<std::int64_t> variates;
    std::vector<std::int64_t> contexts;
    std::vector<std::int64_t> horizons;
    std::vector<std::int64_t> samples;

    std::string precision;  ///< Empty: that of the backend.
    std::optional<double> mae;
    std::optional<double> jumps;
    std::optional<double> slowest;
    std::optional<double> growth;  ///< In MiB.

    totograph::Index totograph::Bucket::*axis = nullptr;  ///< Of `Task::vary`,
    std::string axis_name;                                ///< and its name.
    bool varies_batch = false;                            ///< --vary-batch is there,
    bool varies_context = false;                          ///< and --vary-context.
    std::filesystem::path forecasts;                      ///< Of `Task::save` and `Task::against`.
    std::filesystem::path json;
    std::filesystem::path markdown;
    bool quiet = false;

    /// Whether sizes of requests were named one by one.
    [[nodiscard]] bool names_sizes() const {
        return !batches.empty() || !variates.empty() || !contexts.empty() || !horizons.empty() || !samples.empty();
    }

    /// What forecasts of a backend of this program are held to.
    [[nodiscard]] totograph::serve::StressThresholds thresholds(std::string_view of_backend) const {
        using totograph::serve::StressThresholds;
        const bool is_rounded = of_backend == "cuda" || of_backend == "cuda-regional";  // GEMMs in tf32 or bf16
        const bool is_bf16 = precision.empty() ? is_rounded : precision == "bf16";
        StressThresholds chosen = is_bf16 ? StressThresholds::bf16() : StressThresholds::f32();
        chosen.mae = mae.value_or(chosen.mae);
        chosen.jumps = jumps.value_or(chosen.jumps);
        chosen.slowest = slowest.value_or(chosen.slowest);
        if (growth) {
            chosen.growth = static_cast<std::size_t>(*growth * 1024 * 1024);
        }
        return chosen;
    }
};

namespace detail {

/// The sizes of requests that were named, and which sizes they are.
inline std::array<std::pair<const std::vector<std::int64_t>*, totograph::Index totograph::Bucket::*>, 5> sizes_of(
    const Options& options) {
    using totograph::Bucket;
    return {{{&options.batches, &Bucket::batch},
             {&options.variates, &Bucket::variates},
             {&options.contexts, &Bucket::context},
             {&options.horizons, &Bucket::horizon},
             {&options.samples, &Bucket::samples}}};
}

/// That no output replaces an input or another output, and each input is named once.
inline void check_all_files(const Options& options) {
    std::vector<NamedPath> outputs{{"--json", options.json}, {"--markdown", options.markdown}};
    std::vector<NamedPath> inputs;
    for (const std::filesystem::path& input : options.inputs) {
        inputs.push_back({"input", input});
    }
    if (options.task == Task::save) {
        outputs.push_back({"--save", options.forecasts});
    } else if (options.task == Task::against) {
        inputs.push_back({"--against", options.forecasts});
    }
    check_files(outputs, inputs);
    for (std::size_t i = 0; i < options.inputs.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (is_same_file(options.inputs[i], options.inputs[j])) {
                reject("The file " +
                       totograph::io::in_quotes(options.inputs[i].string(), totograph::io::longest_quote) +
                       " is named twice; name it once.");
            }
        }
    }
}

/// That a task is asked for nothing that it would not look at.
inline void check_task(const Options& options) {
    const bool has_report = options.task != Task::list && options.task != Task::save;
    if (!has_report && !options.json.empty()) {
        reject("--json keeps reports and tables; --list and --save have none. Leave it out.");
    }
    const bool makes_requests = options.task == Task::stress || options.task == Task::vary ||
                                options.task == Task::batches || options.task == Task::grid ||
                                options.task == Task::save;
    if (!makes_requests && options.names_sizes()) {
        reject(
            "This task makes its own requests; leave out --batches, --variates, --contexts, --horizons and "
            "--samples.");
    }
    const bool reads_series = makes_requests && options.task != Task::batches && options.task != Task::grid;
    if (!reads_series && options.task != Task::ablate && !options.inputs.empty()) {
        reject("This task reads no series; leave out " +
               totograph::io::in_quotes(options.inputs.front().string(), totograph::io::longest_quote) + ".");
    }
    if (options.task == Task::vary || options.task == Task::batches) {
        for (const auto& [list, size] : sizes_of(options)) {
            const bool may_vary =
                size == options.axis || (options.task == Task::batches && size == &totograph::Bucket::samples);
            if (list->size() > 1 && !may_vary) {
                reject("A table is over one size; name no more than one value of the others.");
            }
        }
    }
}

inline void check_stress(const Options& options) {
    if (!options.untrained.empty() && !options.checkpoint.empty()) {
        reject(no_checkpoint_beside_untrained);
    }
    if (!options.precision.empty() && options.precision != "f32" && options.precision != "bf16") {
        reject("--precision is f32 or bf16, but it is " + totograph::io::in_quotes(options.precision) + ".");
    }
    check_threads(options.threads);
    check_at_least(options.iterations, 0, "--iterations");
    for (const auto* list :
         {&options.buckets, &options.batches, &options.variates, &options.contexts, &options.horizons}) {
        for (const std::int64_t value : *list) {
            check_at_least(value, 1, "The number of a compiled size, and a size of requests,");
        }
    }
    for (const std::int64_t value : options.samples) {
        check_at_least(value, 0, "--samples");
    }
    for (const auto& [value, name] : {std::pair{options.mae, "--mae"}, std::pair{options.jumps, "--jumps"},
                                      std::pair{options.slowest, "--slowest"}, std::pair{options.growth, "--growth"}}) {
        if (value && !(*value >= 0 && *value < 1e12)) {
            reject(std::string(name) + " must be a number from 0 on, but it is " + short_number(*value) + ".");
        }
    }
    check_all_files(options);
    check_task(options);
}

}  // namespace detail

}  // namespace examples
