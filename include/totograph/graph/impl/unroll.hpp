// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/unroll.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/core/list.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/passes/weight_identity.hpp>
#include <totograph/graph/plan/tables.hpp>

namespace totograph {

TOTOGRAPH_INLINE Unrolled::Unrolled(const ProgramTables& tables) : short_(tables), loops_(tables.loops) {
    nodes_ = unroll<Node>(&Loop::nodes, tables.nodes, [&](Node node, LoopTurn turn) { return at(node, turn); });
    steps_ = unroll<Step>(&Loop::steps, tables.steps, [&](Step step, LoopTurn turn) { return at(step, turn); });
    states_ = unroll<StateSlot>(&Loop::states, tables.states, [&](StateSlot slot, LoopTurn turn) {
        slot.layer = loops_.layer_of(short_.nodes[static_cast<std::size_t>(slot.node)], turn);
        slot.layer_step = 0;
        slot.node = loops_.at(&Loop::nodes, slot.node, turn);
        return slot;
    });
    buffers_ = unroll<Buffer>(&Loop::buffers, tables.buffers, [&](Buffer buffer, LoopTurn turn) {
        buffer.node = loops_.at(&Loop::nodes, buffer.node, turn);
        buffer.first_step = loops_.at(&Loop::steps, buffer.first_step, turn);
        return buffer;
    });
    find_last_steps();
    find_weights();
}

TOTOGRAPH_INLINE ProgramTables Unrolled::tables() const {
    return {nodes_, short_.kernels, steps_, weights_, states_, buffers_, short_.arena_bytes, short_.recorded_nodes, {}};
}

TOTOGRAPH_INLINE Node Unrolled::at(Node node, LoopTurn turn) const {
    for (int i = 0; i < node.input_count; ++i) {
        int& input = node.inputs.items[i];
        input = loops_.at(&Loop::nodes, input, turn);
    }
    node.layer = loops_.layer_of(node, turn);
    node.layer_step = 0;
    node.loop = 0;
    node.iteration = -1;
    return node;
}

TOTOGRAPH_INLINE Reference Unrolled::at(Reference reference, LoopTurn turn) const {
    switch (reference.space) {
        case Space::none: break;
        case Space::weight: reference.index = loops_.at(&Loop::weights, reference.index, turn); break;
        case Space::state: reference.index = loops_.at(&Loop::states, reference.index, turn); break;
        case Space::arena: reference.index = loops_.at(&Loop::buffers, reference.index, turn); break;
    }
    if (reference.position >= 0) {
        reference.position = loops_.at(&Loop::states, reference.position, turn);
    }
    return reference;
}

TOTOGRAPH_INLINE Step Unrolled::at(Step step, LoopTurn turn) const {
    step.node = loops_.at(&Loop::nodes, step.node, turn);
    step.output = at(step.output, turn);
    step.input = at(step.input, turn);
    step.weight = at(step.weight, turn);
    for (Reference& operand : step.operands) {
        operand = at(operand, turn);
    }
    return step;
}

TOTOGRAPH_INLINE void Unrolled::find_last_steps() {
    for (int i = 0; i < static_cast<int>(buffers_.size()); ++i) {
        auto [entry, turn] = loops_.place(&Loop::buffers, i);
        for (int number = 0; number < loops_.count; ++number) {
            const Loop& loop = loops_[number];
            if (loop.buffers.has(entry) && loops_.iteration_of(number, turn) + 1 < loop.times) {
                entry -= loop.buffers.count;
                ++turn.iteration;
                break;
            }
            if (entry < loop.buffers.first - loop.buffers.count &&
                short_.buffers[static_cast<std::size_t>(entry)].last_step >= loop.steps.first) {
                turn = {number + 1, 0};  // all iterations read it
            }
        }
        const int last = short_.buffers[static_cast<std::size_t>(entry)].last_step;
        buffers_[static_cast<std::size_t>(i)].last_step = loops_.at(&Loop::steps, last, turn);
    }
}

TOTOGRAPH_INLINE void Unrolled::find_weights() {
    weights_ = unroll<PreparedWeight>(&Loop::weights, short_.weights, [&](PreparedWeight weight, LoopTurn turn) {
        weight.node = loops_.at(&Loop::nodes, weight.node, turn);
        weight.second_node = weight.second_node < 0 ? -1 : loops_.at(&Loop::nodes, weight.second_node, turn);
        return weight;
    });
    const List<std::uint64_t> identities = detail::unrolled_identities(short_);
    for (std::size_t i = 0; i < weights_.size(); ++i) {
        weights_[i].identity = identities[i];
    }
}

}  // namespace totograph
