// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/facts.hpp>

#include <totograph/core/inline.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/plan/plan.hpp>

namespace totograph {

TOTOGRAPH_INLINE ProgramTables tables_of(const Graph& rewritten, const Plan& plan) {
    return {
        rewritten.nodes, plan.kernels, plan.steps, plan.weights, plan.states, plan.buffers, plan.arena_bytes, 0, {}};
}

}  // namespace totograph
