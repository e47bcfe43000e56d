// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <doctest/doctest.h>

#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/plan/find_loop.hpp>
#include <totograph/graph/plan/plan.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/record/loop_choices.hpp>

#include "plans.hpp"

namespace totograph::test {

/// The tables of a `Program`, made while the test runs, which compiles many times as fast.
class LoopPlan {
public:
    template <class Model>
    static LoopPlan of(LoopChoices choices = 0, Passes passes = Passes{}) {
        for (;;) {
            const Graph recorded = record<Model>(choices);
            require_recorded(recorded);
            Planned planned = plan_of(recorded, passes);
            const auto found = totograph::detail::find_loops(planned.graph, planned.plan, choices);
            if (found.choices == choices) {
                return {std::move(planned), found.loops};
            }
            choices = found.choices;  // of a loop that is none, more is recorded
        }
    }

    [[nodiscard]] const Loops& loops() const { return loops_; }
    [[nodiscard]] ProgramTables tables() const {
        ProgramTables result = tables_of(planned_.graph, planned_.plan);
        result.loops = loops_;
        return result;
    }

private:
    LoopPlan(Planned planned, const Loops& loops) : planned_(std::move(planned)), loops_(loops) {}

    Planned planned_;
    Loops loops_;
};

}  // namespace totograph::test
