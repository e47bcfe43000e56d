// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/stress/latencies.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/explain/explanation.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve {

/// How the values of a run are to those of the first run of its row.
struct GridAgreement {
    Index values = 0;                   ///< Of one call.
    Index equal = 0;                    ///< Of these, as the first run has them.
    std::optional<Index> other_step{};  ///< The first step with one that is not.
    Index distinct = 0;                 ///< Different values: where these are few, equality says little.
    Index not_valid = 0;                ///< No numbers, or none that the model can give.
    bool repeats = true;                ///< Each call gave the bits of the one before.
    /// Whether it has to be equal: both runs compute in f32, or launch the same kernels.
    bool is_required = true;

    [[nodiscard]] bool is_equal() const { return equal == values; }
};

/// A backend in a mode, with requests of one size.
struct GridRun {
    std::string backend;
    std::string device;     ///< What it runs on; empty: the host.
    std::string precision;  ///< Of its GEMMs: `f32`, `tf32`, `bf16`.
    Mode mode = Mode::eager;
    Explanation plan{};              ///< What was known before it ran: memory, programs, graphs.
    double first_build_seconds = 0;  ///< With weights prepared, threads or GEMMs tuned, where none was before.
    Latencies build{};               ///< Made again, in seconds.
    double first_seconds = 0;        ///< The first call.
    Latencies call{};                ///< Calls after that, of all steps.
    Latencies one_step{};            ///< Of the first step alone; none where there is but one.
    std::size_t held_bytes = 0;      ///< Beside shared weights.
    Index captures = 0;              ///< Graphs that were captured when it was made.
    Index captured_later = 0;        ///< Graphs that calls captured, as the executor reports or as counted.
    Index replays = 0;               ///< Graphs that a call replayed as the executor reports, furthest from the plan.
    /// The same as counted; nothing: not counted.
    std::optional<Index> counted_replays{};
    /// What a call of all steps asks the allocator for beyond one of a single step, in the worst round; nothing: not
    /// counted.
    std::optional<Index> allocations{};
    /// How often the host waited for a device in a call, in the worst round; nothing: not counted.
    std::optional<Index> waits{};
    GridAgreement agreement{};

    /// Whether calls of this run replay graphs. Mode `eager`, mode `default` and the CPU have none.
    [[nodiscard]] bool replays_graphs() const { return plan.graph_launches > 0; }
    /// How many graphs more or fewer than planned a call replayed, as the executor reports or as counted.
    [[nodiscard]] Index graph_breaks() const {
        return std::max(from_plan(replays), from_plan(counted_replays.value_or(plan.graph_launches)));
    }
    /// How far a number of replays is from the plan.
    [[nodiscard]] Index from_plan(Index of_replays) const { return std::abs(of_replays - plan.graph_launches); }
};

/// Requests of one size, with all backends and modes. The first run is the one that the others are compared with.
struct GridRow {
    Bucket sizes;
    std::vector<GridRun> runs;
};

}  // namespace totograph::serve
