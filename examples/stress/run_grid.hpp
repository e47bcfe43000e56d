// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/grid/grid_checks.hpp>
#include <totograph/diagnostics/grid/grid_json.hpp>
#include <totograph/diagnostics/grid/grid_markdown.hpp>
#include <totograph/diagnostics/grid/measure_grid.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/build_identity.hpp>
#include <totograph/serve/mode.hpp>

#include "../common/checks.hpp"
#include "allocations.hpp"
#include "device_calls.hpp"
#include "grid_columns.hpp"
#include "grid_model.hpp"
#include "options.hpp"
#include "run_stress.hpp"

// Eager beside compiled for a model of tokens or candles, over contexts and batches.
namespace examples {

namespace detail {

/// The contexts and batches that were named, or the model's; of an axis that is not asked for, the first.
inline std::vector<totograph::Bucket> grid_sizes(const GridModel& model, const Options& options) {
    const auto chosen = [](const std::vector<std::int64_t>& named, std::span<const totograph::Index> all, bool varies) {
        std::vector<totograph::Index> values(named.begin(), named.end());
        if (values.empty()) {
            values.assign(all.begin(), varies ? all.end() : all.begin() + 1);
        }
        return values;
    };
    return totograph::serve::plan_grid(model.one, chosen(options.contexts, model.contexts, options.varies_context),
                                       chosen(options.batches, model.batches, options.varies_batch));
}

/// What runs in each column.
inline std::string columns_text(const std::vector<totograph::serve::GridColumn>& columns,
                                const totograph::serve::BackendResources& resources) {
    std::string text;
    for (const auto& column : columns) {
        const std::string where = column.backend->runs_on(resources);
        text += "- '" + std::string(column.backend->name()) + "' in mode " + std::string(name(column.mode)) +
                (where.empty() ? "" : " on " + where) + ", " + std::string(column.backend->precision()) + ": " +
                column.backend->describe(column.mode) + ".\n";
    }
    return text;
}

/// Refuses what such a table has no place for. Throws `Error(invalid_argument)`.
inline void check_grid_options(const GridModel& model, const Options& options) {
    const std::string of_model = "The model " + std::string(model.name);
    if (!options.varies_batch && !options.varies_context) {
        reject(
            of_model +
            " has one task in this program: its tables over batches and contexts. Add --vary-batch, --vary-context or "
            "both.");
    }
    if (!options.variates.empty() || !options.horizons.empty() || !options.samples.empty() ||
        !options.buckets.empty()) {
        reject(of_model +
               " was compiled for one number of steps ahead; leave out --variates, --horizons, --samples and --sizes, "
               "and name --contexts and --batches.");
    }
    const auto refuse_axis = [&](const auto& named, bool varies, const std::string& name, const std::string& option) {
        if (named.size() > 1 && !varies) {
            reject(name + " names " + std::to_string(named.size()) + " values, but one is used without " + option +
                   ". Name one, or add " + option + ".");
        }
    };
    refuse_axis(options.contexts, options.varies_context, "--contexts", "--vary-context");
    refuse_axis(options.batches, options.varies_batch, "--batches", "--vary-batch");
    if (options.mae || options.jumps || options.slowest || options.growth || !options.precision.empty() ||
        !options.columns.empty() || !options.intake.timestamp.empty() || !options.intake.separator.empty()) {
        reject(
            "The tables of eager beside compiled do not use --mae, --jumps, --slowest, --growth, --precision, "
            "--columns, --timestamp and --separator. Leave them out.");
    }
    if (totograph::serve::effective_mode(options.mode) == totograph::serve::Mode::eager) {
        reject(
            "The mode under test is eager, which leaves nothing to compare with eager. Name another with "
            "--execution-mode, and unset TOTOGRAPH_MODE and TOTOGRAPH_DISABLE.");
    }
    if (!options.inputs.empty()) {
        reject("This task reads no series; leave out " +
               totograph::io::in_quotes(options.inputs.front().string(), totograph::io::longest_quote) + ".");
    }
}

}  // namespace detail

/// The tables, and whether compiled results are eager's. `registry` has the model's backends.
inline StressResult run_grid(const GridModel& model, const totograph::serve::BackendRegistry& registry,
                             const Options& options, const totograph::serve::BuildIdentity& build,
                             const StressProgress& progress) {
    using namespace totograph::serve;
    const BackendResources resources{.threads = options.threads};
    const auto columns = detail::grid_columns(registry, {options.backend, options.baseline, options.mode}, resources);
    const GridWords words = model.words();
    const bool on_device = columns.back().backend->name().starts_with("cuda");
    const GridOptions grid_options{.rounds = options.iterations > 0 ? options.iterations : iterations_of(options.level),
                                   .resources = resources,
                                   .words = words,
                                   .allocations = allocations,
                                   .device_calls = on_device ? device_calls_probe() : std::function<DeviceCalls()>(),
                                   .progress = progress};
    const auto rows = measure_grid(
        columns, detail::grid_sizes(model, options),
        [&](const totograph::Bucket& sizes) { return model.request(sizes, options.seed); }, grid_options);
    const auto checks = check_grid(rows, words);
    const bool passed = all_passed(checks);
    return {"# Eager beside compiled: " + std::string(passed ? "passed" : "FAILED") + "\n\nThe model " +
                std::string(model.name) +
                (options.untrained.empty() ? "" : " with untrained weights: its " + words.values + " mean nothing") +
                ". Built with " + to_string(build) + ".\n\n" + detail::columns_text(columns, resources) + "\n" +
                grid_markdown(rows, words, checks),
            grid_json(rows, checks,
                      {.model = std::string(model.name),
                       .checkpoint = options.checkpoint.string(),
                       .threads = options.threads,
                       .build = build}),
            passed};
}

}  // namespace examples
