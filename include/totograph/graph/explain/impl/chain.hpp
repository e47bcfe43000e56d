// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/explain/chain.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::detail {

TOTOGRAPH_INLINE int argument_count(const Instruction& instruction, std::span<const Node> nodes) {
    const auto like = std::find_if(nodes.begin(), nodes.end(), [&instruction](const Node& node) {
        return node.op == instruction.op && node.custom == instruction.custom;
    });
    return like == nodes.end() ? 0 : like->input_count;
}

TOTOGRAPH_INLINE std::string instructions_text(const Chain& chain, std::span<const Node> nodes,
                                               std::string_view indent) {
    std::string text;
    for (int i = 0; i < chain.count; ++i) {
        const Instruction& instruction = chain.instructions.items[i];
        text += std::string(indent) + "%" + std::to_string(chain.given + i) + " = " +
                op_text(instruction.op, instruction.custom);
        if (instruction.op == Op::constant) {
            text += " " + number_text(instruction.immediate, 9);
        } else if (instruction.op == Op::cast) {
            text += "_to_" + std::string(name(instruction.dtype));
        }
        const int arguments = argument_count(instruction, nodes);
        for (int which = 0; which < arguments; ++which) {
            text += " %" + std::to_string(instruction.arguments.items[which]);
        }
        text += "\n";
    }
    return text;
}

TOTOGRAPH_INLINE ChainWords::ChainWords(const Chain& chain, std::vector<GivenKind> given, std::span<const Node> nodes)
    : chain_(chain), given_(std::move(given)), nodes_(nodes) {
    find_rotaries();
    for (int i = 0; i < chain.count; ++i) {
        const std::string word = words_of_instruction(i);
        if (word.empty()) {
            continue;
        }
        const auto known =
            std::find_if(counted_.begin(), counted_.end(), [&word](const auto& other) { return other.first == word; });
        if (known != counted_.end()) {
            ++known->second;
        } else {
            counted_.emplace_back(word, 1);
        }
    }
}

TOTOGRAPH_INLINE std::vector<std::string> ChainWords::words() const {
    std::vector<std::string> result;
    for (const auto& [word, count] : counted_) {
        result.push_back(count == 1 ? word : word + " x" + std::to_string(count));
    }
    return result;
}

TOTOGRAPH_INLINE void ChainWords::find_rotaries() {
    hidden_.assign(static_cast<std::size_t>(chain_.count), false);
    is_rotary_.assign(static_cast<std::size_t>(chain_.count), false);
    for (int i = 0; i < chain_.count; ++i) {
        const Instruction& sum = at(i);
        if (sum.op != Op::add) {
            continue;
        }
        const Instruction* left = maker(sum.arguments.items[0]);
        const Instruction* right = maker(sum.arguments.items[1]);
        if (left == nullptr || right == nullptr || left->op != Op::multiply || right->op != Op::multiply) {
            continue;
        }
        const int rotated =
            find_rotated(*left, *right) >= 0 ? find_rotated(*left, *right) : find_rotated(*right, *left);
        if (rotated >= 0) {
            is_rotary_[static_cast<std::size_t>(i)] = true;
            for (const int value : {sum.arguments.items[0], sum.arguments.items[1], rotated}) {
                hidden_[static_cast<std::size_t>(value - chain_.given)] = true;
            }
        }
    }
}

TOTOGRAPH_INLINE int ChainWords::find_rotated(const Instruction& plain, const Instruction& turned) const {
    for (const std::size_t side : {0U, 1U}) {
        const Instruction* rotation = maker(turned.arguments[side]);
        if (rotation != nullptr && rotation->op == Op::rotate_pairs &&
            (rotation->arguments.items[0] == plain.arguments.items[0] ||
             rotation->arguments.items[0] == plain.arguments.items[1])) {
            return turned.arguments[side];
        }
    }
    return -1;
}

TOTOGRAPH_INLINE std::string ChainWords::words_of_instruction(int place) const {
    const Instruction& instruction = at(place);
    if (hidden_[static_cast<std::size_t>(place)] || instruction.op == Op::constant) {
        return {};
    }
    if (is_rotary_[static_cast<std::size_t>(place)]) {
        return "rotary";
    }
    if (instruction.op == Op::cast) {
        return "cast to " + std::string(name(instruction.dtype));
    }
    std::string plain = op_text(instruction.op, instruction.custom);
    if (instruction.custom != nullptr || argument_count(instruction, nodes_) != 2) {
        return plain;
    }
    const int first = instruction.arguments.items[0];
    const int second = instruction.arguments.items[1];
    if (is_constant(second)) {
        return plain + " " + number_text(maker(second)->immediate);
    }
    if (is_constant(first)) {
        const std::string number = number_text(maker(first)->immediate);
        return instruction.op == Op::subtract ? number + " minus"
               : instruction.op == Op::divide ? number + " over"
                                              : plain + " " + number;
    }
    if (instruction.op == Op::multiply && first == second) {
        return "square";
    }
    const auto either = [&](GivenKind kind) { return kind_of(first) == kind || kind_of(second) == kind; };
    if (instruction.op == Op::add && either(GivenKind::model_weight)) {
        return "bias";
    }
    if (instruction.op == Op::add && either(GivenKind::whole) && starts_from_result()) {
        return "residual";
    }
    if (instruction.op == Op::multiply && either(GivenKind::row_factor) && starts_from_result()) {
        return "row scale";
    }
    return instruction.op == Op::multiply && either(GivenKind::model_weight) ? "scale" : plain;
}

}  // namespace totograph::detail
