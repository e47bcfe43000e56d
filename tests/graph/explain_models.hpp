// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/graph/facts.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/plan/plan.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/rms_norm.hpp>

namespace totograph::tests {

/// Two equal layers of 4 rows, then a head. Small enough to count everything about it by hand.
struct SmallModel {
    static constexpr void record(Recorder& r) {
        Tensor x = r.state("input", {4, 8});
        for (int layer = 0; layer < 2; ++layer) {
            const Tensor normed = nn::rms_norm(x, r.weight("layers.{}.norm", {8}, layer), 1e-6);
            const Tensor hidden = silu(linear(normed, r.weight("layers.{}.up.weight", {16, 8}, layer),
                                              r.weight("layers.{}.up.bias", {16}, layer)));
            x = x + linear(hidden, r.weight("layers.{}.down.weight", {8, 16}, layer),
                           r.weight("layers.{}.down.bias", {8}, layer));
        }
        r.store(r.state("output", {4, 2}), linear(x, r.weight("head.weight", {2, 8}), r.weight("head.bias", {2})));
    }
};

/// A model planned at run time, which spares the compiler the work.
class Planned {
public:
    template <class Record>
    explicit Planned(Record record) {
        Recorder recorder;
        record(recorder);
        graph_ = rewrite(recorder.take_graph(), Passes{});
        plan_ = make_plan(graph_, Passes{});
    }

    [[nodiscard]] const Graph& graph() const { return graph_; }
    [[nodiscard]] ProgramTables tables() const { return tables_of(graph_, plan_); }
    [[nodiscard]] StepFacts step(std::size_t place, DType storage = DType::f32) const {
        return facts_of(plan_.kernels[static_cast<std::size_t>(plan_.steps[place].kernel)], storage);
    }

private:
    Graph graph_;
    Plan plan_;
};

}  // namespace totograph::tests
