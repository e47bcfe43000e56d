// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/plan/plan.hpp>
#include <totograph/graph/program.hpp>

namespace totograph::test {

/// A model planned while the test runs, which compiles faster than a `Program`.
struct Planned {
    Graph graph;
    Plan plan;
};

inline Planned plan_of(const Graph& recorded, Passes passes = Passes{}) {
    Graph graph = rewrite(recorded, passes);
    Plan plan = make_plan(graph, passes);
    return {std::move(graph), std::move(plan)};
}

/// Fails with what is wrong with a model, where something is.
inline void require_recorded(const Graph& graph) {
    REQUIRE_MESSAGE(graph.error.kind == ModelErrorKind::none, std::string(graph.error.message()));
}

template <class Model>
Planned plan_of(Passes passes = Passes{}) {
    const Graph recorded = record<Model>();
    require_recorded(recorded);
    return plan_of(recorded, passes);
}

inline int count_nodes(const Graph& graph, Op op) {
    return static_cast<int>(
        std::count_if(graph.nodes.begin(), graph.nodes.end(), [op](const Node& node) { return node.op == op; }));
}

inline const Kernel& kernel_of(const Planned& planned, const Step& step) {
    return planned.plan.kernels[static_cast<std::size_t>(step.kernel)];
}

inline int count_steps(const Planned& planned, KernelKind kind) {
    return static_cast<int>(std::count_if(planned.plan.steps.begin(), planned.plan.steps.end(),
                                          [&](const Step& step) { return kernel_of(planned, step).kind == kind; }));
}

namespace detail {

/// Elements of what a reference points into.
inline Index size_of(const Planned& planned, const Reference& reference) {
    const auto index = static_cast<std::size_t>(reference.index);
    switch (reference.space) {
        case Space::weight: return planned.graph[planned.plan.weights[index].node].shape.size();
        case Space::state: return planned.plan.states[index].shape.size();
        case Space::arena: {
            // A buffer is named after the node that it holds, or after the store that it serves.
            return planned.graph[planned.plan.buffers[index].node].shape.size();
        }
        case Space::none: break;
    }
    return 0;
}

/// One more than the last element that a loop touches, with any position at its end.
inline Index reach(const Shape& shape, const Strides& strides, const Reference& reference) {
    Index last = reference.offset;
    for (int axis = 0; axis < shape.rank; ++axis) {
        const Index stride = strides[static_cast<std::size_t>(axis)];
        CHECK(stride >= 0);
        last += (shape[axis] - 1) * stride;
    }
    return last + 1;
}

/// How often each element of a buffer is written.
inline void count_writes(const Kernel& kernel, const Reference& output, std::vector<int>& writes) {
    const Shape& shape = kernel.iteration;
    for (Index item = 0; item < shape.size(); ++item) {
        Index left = item;
        Index element = output.offset;
        for (int axis = shape.rank - 1; axis >= 0; --axis) {
            element += left % shape[axis] * kernel.output_strides[static_cast<std::size_t>(axis)];
            left /= shape[axis];
        }
        ++writes[static_cast<std::size_t>(element)];
    }
}

}  // namespace detail

/// What must hold of every plan.
inline void check_plan(const Planned& planned) {
    const auto& [graph, plan] = planned;
    struct Life {
        int first_write = -1;
        int last_use = -1;
        bool is_read = false;
        std::vector<int> writes{};  ///< Of a concatenation's elements, whose parts several steps may write.
    };
    std::vector<Life> lives(plan.buffers.size());
    std::vector<int> kernel_uses(plan.kernels.size(), 0);
    int state_writes = 0;
    for (int number = 0; number < static_cast<int>(plan.steps.size()); ++number) {
        const Step& step = plan.steps[static_cast<std::size_t>(number)];
        const Kernel& kernel = kernel_of(planned, step);
        ++kernel_uses[static_cast<std::size_t>(step.kernel)];
        const auto read = [&](const Reference& reference, Index reach) {
            CAPTURE(number);
            CHECK(reference.space != Space::none);
            CHECK(reach <= detail::size_of(planned, reference));
            CHECK(reference.offset >= 0);
            if (reference.space == Space::arena) {
                Life& life = lives[static_cast<std::size_t>(reference.index)];
                CHECK(life.first_write >= 0);
                CHECK(life.first_write < number);
                life.last_use = number;
                life.is_read = true;
            }
        };
        for (int i = 0; i < kernel.operand_count; ++i) {
            const auto place = static_cast<std::size_t>(i);
            const Operand& operand = kernel.operands[place];
            const bool has_shape = kernel.kind == KernelKind::structural;
            read(step.operands[place],
                 detail::reach(has_shape ? operand.shape : kernel.iteration, operand.strides, step.operands[place]));
        }
        if (kernel.kind == KernelKind::gemm) {
            read(step.input, step.input.offset + (kernel.rows() - 1) * kernel.input_stride + kernel.k);
            CHECK(plan.weights[static_cast<std::size_t>(step.weight.index)].packed);
        }
        CHECK((step.output.space == Space::arena || step.output.space == Space::state));
        CHECK(detail::reach(kernel.iteration, kernel.output_strides, step.output) <=
              detail::size_of(planned, step.output));
        state_writes += step.output.space == Space::state ? 1 : 0;
        if (step.output.space == Space::arena) {
            Life& life = lives[static_cast<std::size_t>(step.output.index)];
            const Node& node = graph[plan.buffers[static_cast<std::size_t>(step.output.index)].node];
            if (node.op == Op::concatenate && kernel.kind != KernelKind::structural) {
                life.writes.resize(static_cast<std::size_t>(node.shape.size()));
                detail::count_writes(kernel, step.output, life.writes);
                CHECK(!life.is_read);
            } else {
                CHECK(life.first_write < 0);  // each buffer has one writer
                CHECK(step.output.offset == 0);
            }
            life.first_write = life.first_write < 0 ? number : life.first_write;
            life.last_use = number;
        }
    }
    for (const Life& life : lives) {
        CHECK(std::all_of(life.writes.begin(), life.writes.end(), [](int writes) { return writes == 1; }));
    }
    CHECK(state_writes == count_nodes(graph, Op::store));
    for (const int uses : kernel_uses) {
        CHECK(uses > 0);
    }
    int overlaps = 0;
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        const Buffer& buffer = plan.buffers[i];
        CHECK(buffer.offset % buffer_alignment == 0);
        CHECK(buffer.offset + buffer.bytes <= plan.arena_bytes);
        CHECK(buffer.bytes >=
              static_cast<std::size_t>(graph[buffer.node].shape.size()) * size_in_bytes(graph[buffer.node].dtype));
        for (std::size_t j = 0; j < i; ++j) {
            const Buffer& other = plan.buffers[j];
            const bool together =
                lives[i].first_write <= lives[j].last_use && lives[j].first_write <= lives[i].last_use;
            const bool apart =
                buffer.offset + buffer.bytes <= other.offset || other.offset + other.bytes <= buffer.offset;
            overlaps += together && !apart ? 1 : 0;
        }
    }
    CHECK(overlaps == 0);
}

}  // namespace totograph::test
