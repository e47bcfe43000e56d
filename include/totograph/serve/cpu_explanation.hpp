// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/shared_states.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/node_facts.hpp>
#include <totograph/serve/explanation.hpp>
#include <totograph/toto/collect.hpp>
#include <totograph/toto/eager_forecaster.hpp>
#include <totograph/toto/forecast_sizes.hpp>

// What the CPU runs for a bucket, from tables alone.
namespace totograph::serve::detail {

/// A fused forecaster's constants, without its type.
struct FusedFacts {
    toto::ForecastSizes sizes;
    bool has_cache = false;
    std::array<ProgramTables, 2> programs{};  ///< What begins a forecast, and what each further patch takes.
    DType storage = DType::f32;               ///< Of packed weights.
    std::size_t weight_bytes = 0;
    std::size_t state_bytes = 0;
    std::size_t cache_bytes = 0;
    std::size_t arena_bytes = 0;
    std::size_t scratch_bytes = 0;  ///< Of each thread.
};

/// The programs of a forecast without what they are: names, and how often each runs.
inline std::array<ProgramSummary, 2> name_programs(const toto::ForecastSizes& sizes, bool has_cache) {
    std::array<ProgramSummary, 2> programs;
    programs[0].name = has_cache ? "prefill" : "begin";
    programs[1].name = has_cache ? "decode" : "recompute";
    programs[1].runs = has_cache ? sizes.steps - 1 : sizes.steps;
    return programs;
}

inline Explanation explain_fused(const Bucket& bucket, const FusedFacts& facts, int threads) {
    Explanation explanation;
    explanation.bucket = bucket;
    std::array<ProgramSummary, 2> programs = name_programs(facts.sizes, facts.has_cache);
    for (std::size_t i = 0; i < programs.size(); ++i) {
        const ProgramTables& tables = facts.programs[i];
        const StepFacts run = facts_of(tables, facts.storage);
        ProgramSummary& program = programs[i];
        program.recorded_nodes = tables.recorded_nodes;
        program.nodes = static_cast<Index>(tables.nodes.size());
        program.kernels = static_cast<Index>(tables.kernels.size());
        program.steps = static_cast<Index>(tables.steps.size());
        program.launches = program.steps;
        program.flops = run.flops;
        program.bytes = run.bytes_read + run.bytes_written;
        program.weight_bytes = static_cast<Index>(weight_bytes(tables, facts.storage));
        explanation.programs.push_back(std::move(program));
    }
    explanation.shared_weight_bytes = facts.weight_bytes;
    explanation.state_bytes = facts.state_bytes + toto::result_size(facts.sizes, bucket) * sizeof(float);
    explanation.cache_bytes = facts.cache_bytes;
    explanation.arena_bytes = facts.arena_bytes;
    explanation.workspace_bytes = facts.scratch_bytes * static_cast<std::size_t>(threads);
    return explanation;
}

inline Explanation explain_eager(const toto::RecordedForecast& recorded) {
    Explanation explanation;
    explanation.bucket = recorded.bucket;
    std::array<ProgramSummary, 2> programs = name_programs(recorded.sizes, recorded.has_cache);
    for (std::size_t i = 0; i < programs.size(); ++i) {
        const Graph& graph = recorded.graphs[i];
        const NodeFacts facts = node_facts(GraphView{graph.nodes});
        ProgramSummary& program = programs[i];
        program.recorded_nodes = recorded.recorded_nodes[i];
        program.nodes = graph.size();
        program.kernels = facts.kinds;
        program.steps = facts.nodes;
        program.launches = facts.nodes;
        program.flops = facts.run.flops;
        program.bytes = facts.run.bytes_read + facts.run.bytes_written;
        program.weight_bytes = facts.weight_bytes;
        explanation.own_weight_bytes += static_cast<std::size_t>(facts.weight_bytes);
        explanation.arena_bytes += static_cast<std::size_t>(facts.intermediate_bytes);
        explanation.programs.push_back(std::move(program));
    }
    const SharedStates states(recorded.graphs);
    explanation.state_bytes = states.bytes() + toto::result_size(recorded.sizes, recorded.bucket) * sizeof(float);
    explanation.cache_bytes = states.bytes("prefix.") + states.bytes("suffix.");
    return explanation;
}

}  // namespace totograph::serve::detail
