// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <totograph/core/bucket.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/stress/plan.hpp>

#include "../common/checks.hpp"
#include "../common/format.hpp"

namespace examples {

/// What the program does.
enum class Task {
    stress,
    list,           ///< Names backends, modes and buckets.
    vary,           ///< A table along one of a request's sizes.
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
    std::string timestamp;
    char separator = ',';

    totograph::serve::StressLevel level = totograph::serve::StressLevel::quick;
    totograph::serve::Mode mode = totograph::serve::Mode::max_autotune;
    std::string backend;
    std::string baseline;  ///< Backend of the baseline; empty: the same.
    std::filesystem::path checkpoint;
    int threads = 0;
    int iterations = 0;
    std::uint64_t seed = 0;
    std::vector<std::int64_t> buckets;  ///< By number, from 1; empty: all, for tables the first.
    std::vector<std::int64_t> batches;
    std::vector<std::int64_t> variates;
    std::vector<std::int64_t> contexts;
    std::vector<std::int64_t> horizons;
    std::vector<std::int64_t> samples;

    std::string precision = "f32";
    std::optional<double> mae;
    std::optional<double> jumps;
    std::optional<double> slowest;
    std::optional<double> growth;  ///< In MiB.

    totograph::Index totograph::Bucket::*axis = nullptr;  ///< Of `Task::vary`,
    std::string axis_name;                                ///< and its name.
    std::filesystem::path forecasts;                      ///< Of `Task::save` and `Task::against`.
    std::filesystem::path json;
    std::filesystem::path markdown;
    bool quiet = false;

    /// Whether sizes of requests were named one by one.
    [[nodiscard]] bool names_sizes() const {
        return !batches.empty() || !variates.empty() || !contexts.empty() || !horizons.empty() || !samples.empty();
    }

    [[nodiscard]] totograph::serve::StressThresholds thresholds() const {
        using totograph::serve::StressThresholds;
        StressThresholds chosen = precision == "bf16" ? StressThresholds::bf16() : StressThresholds::f32();
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

inline void check_stress(const Options& options) {
    if (options.precision != "f32" && options.precision != "bf16") {
        reject("--precision is f32 or bf16, but it is '" + options.precision + "'.");
    }
    check_at_least(options.threads, 0, "--threads");
    check_at_least(options.iterations, 0, "--iterations");
    for (const auto* list :
         {&options.buckets, &options.batches, &options.variates, &options.contexts, &options.horizons}) {
        for (const std::int64_t value : *list) {
            check_at_least(value, 1, "A bucket's number, and a size of requests,");
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
    const std::array outputs{&options.json, &options.markdown,
                             options.task == Task::save ? &options.forecasts : &options.json};
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        for (const std::filesystem::path& input : options.inputs) {
            std::error_code ignored;
            if (!outputs[i]->empty() && std::filesystem::equivalent(*outputs[i], input, ignored)) {
                reject("An output is an input file, which would be lost; name another file.");
            }
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (outputs[i] != outputs[j] && !outputs[i]->empty() &&
                outputs[i]->lexically_normal() == outputs[j]->lexically_normal()) {
                reject("Two outputs are the same file; name two.");
            }
        }
    }
    const bool has_json = options.task == Task::stress || options.task == Task::vary || options.task == Task::against;
    if (!has_json && !options.json.empty()) {
        reject("--json keeps the report of a stress run, of a table along an axis, or of --against; leave it out.");
    }
}

}  // namespace detail

}  // namespace examples
