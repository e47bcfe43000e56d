// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/explain/cpu_explanation.hpp>

#include <cstddef>
#include <utility>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/shared_states.hpp>
#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/forecast_plan.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/node_facts.hpp>
#include <totograph/serve/explain/explanation.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE std::vector<ProgramSummary> name_programs(const ForecastPlan& plan) {
    std::vector<ProgramSummary> programs(plan.program_count());
    for (std::size_t i = 0; i < programs.size(); ++i) {
        programs[i].name = plan.names[i];
        programs[i].runs = plan.runs(i, plan.bucket.horizon);
    }
    return programs;
}

TOTOGRAPH_INLINE Explanation explain_fused(const FusedFacts& facts, int threads) {
    Explanation explanation;
    explanation.bucket = facts.plan.bucket;
    std::vector<ProgramSummary> programs = name_programs(facts.plan);
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
    explanation.state_bytes = facts.state_bytes + facts.plan.result_size() * sizeof(float);
    explanation.cache_bytes = facts.cache_bytes;
    explanation.arena_bytes = facts.arena_bytes;
    explanation.workspace_bytes = facts.scratch_bytes * static_cast<std::size_t>(threads);
    return explanation;
}

TOTOGRAPH_INLINE Explanation explain_eager(const RecordedForecast& recorded) {
    Explanation explanation;
    explanation.bucket = recorded.plan.bucket;
    std::vector<ProgramSummary> programs = name_programs(recorded.plan);
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
    const SharedStates shared(recorded.graphs);
    explanation.state_bytes = shared.bytes() + recorded.plan.result_size() * sizeof(float);
    explanation.cache_bytes = shared.cache_bytes();
    return explanation;
}

}  // namespace totograph::serve::detail
