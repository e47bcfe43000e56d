// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <totograph/core/list.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/plan/tables.hpp>
#include <totograph/graph/record/loop_choices.hpp>

namespace totograph::detail {

/// Finds the iteration of a graph's loop that can stand for others: one whose nodes, steps, weights, states and buffers
/// are those of the iteration before it but for the layer, at the same places in the arena. Between two such iterations
/// a third one can run: it finds what the second would, and leaves what the first does.
class LoopFinder {
public:
    /// @param loop     which of the graph's loops
    /// @param period   iterations that are taken as one, so that an intermediate of each finds its place again
    /// @param written  which of those may stand for others; the one before it is compared with it. The first one is
    ///                 another, for it records what all of them share.
    constexpr LoopFinder(const Graph& graph, const Plan& plan, const ShortLoop& loop, int period, int written)
        : graph_(graph),
          nodes_(graph.nodes.data()),
          plan_(plan),
          short_(loop),
          written_(written),
          iterations_(graph.nodes.size(), -1) {
        loop_.period = period;
        loop_.number = loop.number;
        const Node* const nodes = graph.nodes.data();
        for (std::size_t id = 0; id < iterations_.size(); ++id) {
            const int iteration = nodes[id].iteration - loop.begin;
            iterations_[id] = iteration >= 0 && iteration < loop.recorded ? iteration / period : -1;
        }
    }

    /// The loop; `times` is 1 where no iteration can stand for others.
    constexpr Loop run() {
        const int left_out = short_.count - short_.recorded;
        const bool found = left_out % loop_.period == 0 && find_nodes() && find_steps() && find_states() &&
                           find_weights() && find_buffers() && steps_agree() && begin_is_apart();
        loop_.times = 1 + left_out / loop_.period;
        return found ? loop_ : Loop{};
    }

private:
    /// The entries of the written iteration among entries of which each belongs to a node; false unless those of it and
    /// of the iteration before it lie together, and are as many.
    template <class NodeOf>
    constexpr bool find_part(LoopPart& part, std::size_t entries, const NodeOf& node_of) const {
        const int* const iterations = iterations_.data();
        int first = -1;
        int before = 0;
        int count = 0;
        int last = -1;
        int place = 0;  // of an entry of the written iteration, if there were one
        for (int i = 0; i < static_cast<int>(entries); ++i) {
            const int node = node_of(static_cast<std::size_t>(i));
            const int iteration = iterations[node];
            const bool is_written = iteration == written_;
            if ((is_written && last != written_ && last != written_ - 1) || (iteration == written_ - 1 && count > 0)) {
                return false;
            }
            first = is_written && count == 0 ? i : first;
            before += iteration == written_ - 1 ? 1 : 0;
            count += is_written ? 1 : 0;
            if (is_written && i != first + count - 1) {
                return false;
            }
            last = iteration;
            const bool is_before = iteration < 0 ? node < loop_.nodes.first : iteration < written_;
            place = is_before ? i + 1 : place;
        }
        part = {count == 0 ? place : first, count};
        return before == count;
    }

    /// Whether an entry is what another one is in the iteration before.
    static constexpr bool follows(const LoopPart& part, int before, int entry) {
        return before == (entry < part.first - part.count ? entry : entry - part.count);
    }
    /// The same for what may be missing, -1.
    static constexpr bool follows_or_missing(const LoopPart& part, int before, int entry) {
        return before < 0 ? entry == before : follows(part, before, entry);
    }
    /// The same for what belongs to the iteration itself, as its own nodes do.
    static constexpr bool is_own(const LoopPart& part, int before, int entry) {
        return part.has(entry) && before == entry - part.count;
    }

    constexpr bool find_nodes() {
        LoopPart& part = loop_.nodes;
        bool same = find_part(part, graph_.nodes.size(), [](std::size_t i) { return static_cast<int>(i); });
        for (int id = part.first; same && id < part.first + part.count; ++id) {
            const Node& before = nodes_[id - part.count];
            const Node& node = nodes_[id];
            same = is_alike(node, before) && node.layer - node.layer_step * loop_.period == before.layer;
            for (int i = 0; same && i < node.input_count; ++i) {
                const auto place = static_cast<std::size_t>(i);
                same = follows(part, before.inputs[place], node.inputs[place]);
            }
        }
        return same && part.count > 0;
    }

    constexpr bool find_steps() {
        LoopPart& part = loop_.steps;
        const Step* const steps = plan_.steps.data();
        bool same = find_part(part, plan_.steps.size(), [&](std::size_t i) { return steps[i].node; });
        for (int i = part.first; same && i < part.first + part.count; ++i) {
            const Step& step = plan_.steps[static_cast<std::size_t>(i)];
            const Step& before = plan_.steps[static_cast<std::size_t>(i - part.count)];
            same = step.kernel == before.kernel && is_own(loop_.nodes, before.node, step.node);
        }
        return same && part.count > 0;
    }

    constexpr bool find_states() {
        LoopPart& part = loop_.states;
        const StateSlot* const states = plan_.states.data();
        bool same = find_part(part, plan_.states.size(), [&](std::size_t i) { return states[i].node; });
        for (int i = part.first; same && i < part.first + part.count; ++i) {
            same = is_own(loop_.nodes, plan_.states[static_cast<std::size_t>(i - part.count)].node,
                          plan_.states[static_cast<std::size_t>(i)].node);
        }
        return same && states_are_apart();
    }

    /// The iteration of the model's loop that recorded a node; -1 for none.
    [[nodiscard]] constexpr int recorded_by(int node) const {
        const int iteration = nodes_[node].iteration - short_.begin;
        return iteration >= 0 && iteration < short_.recorded ? iteration : -1;
    }

    /// Whether no state of the loop is, in some iteration, another one of the graph: the planner has kept them apart.
    [[nodiscard]] constexpr bool states_are_apart() const {
        for (const StateSlot& slot : plan_.states) {
            const int own = slot.layer_step == 0 ? -1 : recorded_by(slot.node);
            if (own < 0) {
                continue;
            }
            for (const StateSlot& other : plan_.states) {
                if (&slot != &other && slot.name == other.name && may_meet(slot, own, other)) {
                    return false;
                }
            }
        }
        return true;
    }
    /// Whether a state that iteration `own` of the loop has recorded is another one in some iteration.
    [[nodiscard]] constexpr bool may_meet(const StateSlot& slot, int own, const StateSlot& other) const {
        const int step = slot.layer_step;
        const int iteration = recorded_by(other.node);
        if (other.layer_step != 0 && iteration >= 0) {
            // The layers of both in one iteration. A multiple of the step between them is another iteration's state.
            const int apart = other.layer - slot.layer - (iteration - own) * step;
            return other.layer_step != step || (apart != 0 && apart % step == 0);
        }
        const int first = slot.layer - own * step;  // it may count down
        int layer = other.layer;
        int layers = 1;
        for (const ShortLoop& loop : graph_.loops) {
            const int recorded = nodes_[other.node].iteration - loop.begin;
            if (other.layer_step != 0 && recorded >= 0 && recorded < loop.recorded) {
                layer = other.layer - recorded * other.layer_step;
                layers = loop.count;
            }
        }
        bool meet = false;
        for (int i = 0; i < layers; ++i) {
            const int apart = layer + i * other.layer_step - first;
            meet = meet || (apart % step == 0 && apart / step >= 0 && apart / step < short_.count);
        }
        return meet;
    }

    /// Raises `count` to one more than the largest number of a weight that steps from `first` to before `end` read.
    constexpr void count_weights(int& count, int first, int end) const {
        const Step* const steps = plan_.steps.data();
        const auto look = [&](const Reference& reference) {
            count = reference.space == Space::weight && reference.index >= count ? reference.index + 1 : count;
        };
        for (int i = first; i < end; ++i) {
            const Step& one = steps[i];
            look(one.input);
            look(one.weight);
            const int operands = kernel_of(one).operand_count;
            for (int operand = 0; operand < operands; ++operand) {
                look(one.operands.items[operand]);
            }
        }
    }

    [[nodiscard]] constexpr const Kernel& kernel_of(const Step& step) const {
        return plan_.kernels[static_cast<std::size_t>(step.kernel)];
    }

    constexpr bool find_weights() {
        LoopPart& part = loop_.weights;
        const LoopPart& steps = loop_.steps;
        int before = 0;
        count_weights(before, 0, steps.first - steps.count);
        part.first = before;
        count_weights(part.first, steps.first - steps.count, steps.first);
        int end = part.first;
        count_weights(end, steps.first, steps.first + steps.count);
        part.count = end - part.first;
        bool same = part.first - part.count == before;
        for (int i = part.first; same && i < part.first + part.count; ++i) {
            const PreparedWeight& weight = plan_.weights[static_cast<std::size_t>(i)];
            const PreparedWeight& other = plan_.weights[static_cast<std::size_t>(i - part.count)];
            same = weight.packed == other.packed && is_own(loop_.nodes, other.node, weight.node) &&
                   follows_or_missing(loop_.nodes, other.second_node, weight.second_node);
        }
        return same;
    }

    constexpr bool find_buffers() {
        LoopPart& part = loop_.buffers;
        const Step* const steps = plan_.steps.data();
        const Buffer* const buffers = plan_.buffers.data();
        bool same =
            find_part(part, plan_.buffers.size(), [&](std::size_t i) { return steps[buffers[i].first_step].node; });
        for (int i = part.first; same && i < part.first + part.count; ++i) {
            const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(i)];
            const Buffer& before = plan_.buffers[static_cast<std::size_t>(i - part.count)];
            same = buffer.bytes == before.bytes && buffer.offset == before.offset &&
                   is_own(loop_.nodes, before.node, buffer.node) &&
                   buffer.first_step == before.first_step + loop_.steps.count;
        }
        return same;
    }

    [[nodiscard]] constexpr bool agree(const Reference& before, const Reference& reference) const {
        if (before.space != reference.space || before.offset != reference.offset ||
            before.position_stride != reference.position_stride || before.last_position != reference.last_position ||
            before.capacity != reference.capacity ||
            !follows_or_missing(loop_.states, before.position, reference.position)) {
            return false;
        }
        switch (reference.space) {
            case Space::none: break;
            case Space::weight: return follows(loop_.weights, before.index, reference.index);
            case Space::state: return follows(loop_.states, before.index, reference.index);
            case Space::arena:
                return follows(loop_.buffers, before.index, reference.index) && have_one_place(before, reference);
        }
        return true;
    }
    [[nodiscard]] constexpr bool have_one_place(const Reference& a, const Reference& b) const {
        return plan_.buffers[static_cast<std::size_t>(a.index)].offset ==
               plan_.buffers[static_cast<std::size_t>(b.index)].offset;
    }

    [[nodiscard]] constexpr bool steps_agree() const {
        bool same = true;
        for (int i = loop_.steps.first; same && i < loop_.steps.first + loop_.steps.count; ++i) {
            const Step& step = plan_.steps[static_cast<std::size_t>(i)];
            const Step& before = plan_.steps[static_cast<std::size_t>(i - loop_.steps.count)];
            same = agree(before.output, step.output) && agree(before.input, step.input) &&
                   agree(before.weight, step.weight);
            for (int operand = 0; same && operand < kernel_of(step).operand_count; ++operand) {
                const auto place = static_cast<std::size_t>(operand);
                same = agree(before.operands[place], step.operands[place]);
            }
        }
        return same;
    }

    /// Whether no step before the loop touches a state that is numbered behind those of the loop, as one that stores
    /// early what is recorded late: what lies before the loop is read as it stands, and does not move with iterations.
    [[nodiscard]] constexpr bool begin_is_apart() const {
        const int end = loop_.states.first + loop_.states.count;
        bool same = true;
        const auto check = [&](const Reference& reference) {
            same = same && reference.position < end && (reference.space != Space::state || reference.index < end);
        };
        for (int i = 0; loop_.states.count > 0 && i < loop_.steps.first - loop_.steps.count; ++i) {
            const Step& step = plan_.steps[static_cast<std::size_t>(i)];
            check(step.output);
            check(step.input);
            for (int operand = 0; operand < kernel_of(step).operand_count; ++operand) {
                check(step.operands.items[operand]);
            }
        }
        return same;
    }

    const Graph& graph_;
    const Node* nodes_;
    const Plan& plan_;
    const ShortLoop& short_;
    int written_;
    List<int> iterations_;  ///< Of each node; -1 for none of the loop.
    Loop loop_;
};

/// A loop of a planned graph; `times` is 1 where its iterations differ.
constexpr Loop find_loop(const Graph& graph, const Plan& plan, const ShortLoop& of) {
    struct Choice {
        int period;
        int written;
    };
    for (const Choice choice : {Choice{1, 2}, Choice{1, 3}, Choice{2, 2}}) {
        if (of.recorded > choice.period * choice.written + choice.period - 1) {
            const Loop loop = LoopFinder(graph, plan, of, choice.period, choice.written).run();
            if (loop.times > 1) {
                return loop;
            }
        }
    }
    return {};
}

/// The loops of a planned graph, and what is to be recorded of them.
struct FoundLoops {
    Loops loops;
    /// As it was recorded, where all loops that were recorded in part are found; else with more of those that are not.
    LoopChoices choices = 0;
};

/// @param choices  with which the graph was recorded
constexpr FoundLoops find_loops(const Graph& graph, const Plan& plan, LoopChoices choices) {
    FoundLoops found{{}, choices};
    for (const ShortLoop& of : graph.loops) {
        const Loop loop = find_loop(graph, plan, of);
        if (loop.times == 1) {
            found.choices = with_more_of(found.choices, of.number);
        } else {
            found.loops.all[static_cast<std::size_t>(found.loops.count++)] = loop;
        }
    }
    return found;
}

}  // namespace totograph::detail
