// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

namespace totograph {

/// A buffer that outlives a run.
struct StateSlot {
    /// As the model names it.
    std::string_view name;
    /// The layer that has it for its own, or -1.
    int layer = -1;
    DType dtype = DType::f32;
    Shape shape;
    int node = 0;
    StateUse use = StateUse::any;
    int layer_step = 0;  ///< From each iteration of the program's loop to the next one.
};

/// A planned program: steps in order, the distinct kernels that they call, and where everything lies.
struct Plan {
    /// The distinct ones.
    List<Kernel> kernels;
    /// In the order in which they run.
    List<Step> steps;
    /// Computed before the first run.
    List<PreparedWeight> weights;
    /// Buffers that outlive a run.
    List<StateSlot> states;
    /// Intermediates.
    List<Buffer> buffers;
    /// Of all intermediates together.
    std::size_t arena_bytes = 0;
};

/// The states of a graph, without a plan.
constexpr Plan list_states(const Graph& graph) {
    Plan plan;
    const int count = graph.size();
    const Node* const nodes = graph.nodes.data();
    for (int id = 0; id < count; ++id) {
        const Node& node = nodes[id];
        if (node.op == Op::state) {
            plan.states.push_back({node.name, node.layer, node.dtype, node.shape, id, node.use, node.layer_step});
        }
    }
    return plan;
}

}  // namespace totograph
