// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <totograph/graph/facts.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/passes/weight_identity.hpp>
#include <totograph/graph/plan/tables.hpp>

namespace totograph {

/// The tables of a program with all iterations of its loop written out, as if no loop had been found. Made when the
/// program is about to run, so that it costs the compiler nothing.
class Unrolled {
public:
    constexpr explicit Unrolled(const ProgramTables& tables) : short_(tables), loop_(tables.loop) {
        nodes_ = unroll<Node>(loop_.nodes, tables.nodes, [&](Node node, int iteration) { return at(node, iteration); });
        steps_ = unroll<Step>(loop_.steps, tables.steps, [&](Step step, int iteration) { return at(step, iteration); });
        states_ = unroll<StateSlot>(loop_.states, tables.states, [&](StateSlot slot, int iteration) {
            slot.node = loop_.nodes.at(slot.node, iteration);
            slot.layer += iteration * loop_.period * slot.layer_step;
            slot.layer_step = 0;
            return slot;
        });
        buffers_ = unroll<Buffer>(loop_.buffers, tables.buffers, [&](Buffer buffer, int iteration) {
            buffer.node = loop_.nodes.at(buffer.node, iteration);
            buffer.first_step = loop_.steps.at(buffer.first_step, iteration);
            return buffer;
        });
        find_last_steps();
        find_weights();
    }
    // Tables point into it.
    Unrolled(const Unrolled&) = delete;
    Unrolled& operator=(const Unrolled&) = delete;
    constexpr ~Unrolled() = default;

    [[nodiscard]] constexpr ProgramTables tables() const {
        return {nodes_, short_.kernels, steps_, weights_, states_, buffers_, short_.arena_bytes, short_.recorded_nodes,
                {}};
    }

private:
    /// The entries of a table, each as `make(entry, iteration)` has it.
    template <class Entry, class Make>
    constexpr std::vector<Entry> unroll(const LoopPart& part, std::span<const Entry> entries, const Make& make) const {
        const int count = loop_.unrolled(part, entries.size());
        std::vector<Entry> result;
        result.reserve(static_cast<std::size_t>(count));
        for (int i = 0; i < count; ++i) {
            const Loop::Place place = loop_.place(part, i);
            result.push_back(make(entries[static_cast<std::size_t>(place.entry)], place.iteration));
        }
        return result;
    }

    [[nodiscard]] constexpr Node at(Node node, int iteration) const {
        for (int i = 0; i < node.input_count; ++i) {
            int& input = node.inputs[static_cast<std::size_t>(i)];
            input = loop_.nodes.at(input, iteration);
        }
        node.layer += iteration * loop_.period * node.layer_step;
        node.layer_step = 0;
        node.iteration = -1;
        return node;
    }

    [[nodiscard]] constexpr Reference at(Reference reference, int iteration) const {
        switch (reference.space) {
            case Space::none: break;
            case Space::weight: reference.index = loop_.weights.at(reference.index, iteration); break;
            case Space::state: reference.index = loop_.states.at(reference.index, iteration); break;
            case Space::arena: reference.index = loop_.buffers.at(reference.index, iteration); break;
        }
        if (reference.position >= 0) {
            reference.position = loop_.states.at(reference.position, iteration);
        }
        return reference;
    }

    [[nodiscard]] constexpr Step at(Step step, int iteration) const {
        step.node = loop_.nodes.at(step.node, iteration);
        step.output = at(step.output, iteration);
        step.input = at(step.input, iteration);
        step.weight = at(step.weight, iteration);
        for (Reference& operand : step.operands) {
            operand = at(operand, iteration);
        }
        return step;
    }

    /// Of the written iteration, only the last one is followed by what follows the loop: before, its intermediates live
    /// as long as those of the iteration before it.
    constexpr void find_last_steps() {
        const LoopPart& part = loop_.buffers;
        const LoopPart& steps = loop_.steps;
        for (int i = 0; i < static_cast<int>(buffers_.size()); ++i) {
            const Loop::Place place = loop_.place(part, i);
            const bool is_repeated = part.has(place.entry) && place.iteration + 1 < loop_.times;
            const Buffer& as = short_.buffers[static_cast<std::size_t>(place.entry - (is_repeated ? part.count : 0))];
            int iteration = place.iteration + (is_repeated ? 1 : 0);
            if (place.entry < part.first - part.count && as.last_step >= steps.first) {
                iteration = loop_.times - 1;  // all iterations read it
            }
            buffers_[static_cast<std::size_t>(i)].last_step = steps.at(as.last_step, iteration);
        }
    }

    constexpr void find_weights() {
        weights_ = unroll<PreparedWeight>(loop_.weights, short_.weights, [&](PreparedWeight weight, int iteration) {
            weight.node = loop_.nodes.at(weight.node, iteration);
            weight.second_node = weight.second_node < 0 ? -1 : loop_.nodes.at(weight.second_node, iteration);
            return weight;
        });
        const GraphView graph{nodes_};
        const auto identities = detail::find_identities(graph, find_weight_expressions(graph));
        for (PreparedWeight& weight : weights_) {
            weight.identity = detail::identity_of(identities, weight.node, weight.second_node, weight.packed);
        }
    }

    ProgramTables short_;
    Loop loop_;
    std::vector<Node> nodes_;
    std::vector<Step> steps_;
    std::vector<PreparedWeight> weights_;
    std::vector<StateSlot> states_;
    std::vector<Buffer> buffers_;
};

/// The tables of a `Program` with its loop written out: what the model that was recorded comes to.
template <class Program>
ProgramTables tables_of() {
    if constexpr (Program::loop.times == 1) {
        return short_tables_of<Program>();
    } else {
        static const Unrolled unrolled(short_tables_of<Program>());
        return unrolled.tables();
    }
}

/// Bytes that the prepared weights of programs take together, each distinct one once, in whole blocks of so many bytes.
template <class... Programs>
constexpr std::size_t shared_weight_bytes(DType storage, std::size_t block = 1) {
    std::vector<std::uint64_t> counted;
    std::size_t bytes = 0;
    const auto count = [&](const ProgramTables& tables) {
        for (const PreparedWeight& weight : tables.weights) {
            bool is_known = false;
            for (const std::uint64_t other : counted) {
                is_known = is_known || other == weight.identity;
            }
            if (!is_known) {
                counted.push_back(weight.identity);
                bytes += (weight_bytes(tables, weight, storage) + block - 1) / block * block;
            }
        }
    };
    const auto count_all = [&]<class Program>(std::type_identity<Program>) {
        if constexpr (Program::loop.times == 1) {
            count(short_tables_of<Program>());
        } else {
            const Unrolled unrolled(short_tables_of<Program>());  // a layer of one program is another one's by its name
            count(unrolled.tables());
        }
    };
    (count_all(std::type_identity<Programs>()), ...);
    return bytes;
}

}  // namespace totograph
