// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/graph/explain/text.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::detail {

/// How many inputs an instruction has: as many as any node of its operation.
inline int argument_count(const Instruction& instruction, std::span<const Node> nodes) {
    const auto like = std::find_if(nodes.begin(), nodes.end(), [&instruction](const Node& node) {
        return node.op == instruction.op && node.custom == instruction.custom;
    });
    return like == nodes.end() ? 0 : like->input_count;
}

inline std::string op_text(Op op, const CustomOperation* custom) {
    return std::string(custom != nullptr ? custom->name : name(op));
}

/// The instructions of a chain, one a line: `%3 = multiply %0 %1`.
inline std::string instructions_text(const Chain& chain, std::span<const Node> nodes, std::string_view indent) {
    std::string text;
    for (int i = 0; i < chain.count; ++i) {
        const Instruction& instruction = chain.instructions[static_cast<std::size_t>(i)];
        text += std::string(indent) + "%" + std::to_string(chain.given + i) + " = " +
                op_text(instruction.op, instruction.custom);
        if (instruction.op == Op::constant) {
            text += " " + number_text(instruction.immediate, 9);
        } else if (instruction.op == Op::cast) {
            text += "_to_" + std::string(name(instruction.dtype));
        }
        const int arguments = argument_count(instruction, nodes);
        for (int which = 0; which < arguments; ++which) {
            text += " %" + std::to_string(instruction.arguments[static_cast<std::size_t>(which)]);
        }
        text += "\n";
    }
    return text;
}

/// What a value that a chain is given is to a reader.
enum class GivenKind {
    plain,
    result,        ///< Of a GEMM or a reduction.
    model_weight,  ///< From the checkpoint.
    row_factor,    ///< One value for each row of a GEMM.
    whole,         ///< As large as the result of a GEMM.
};

/// What a chain does in words: `bias`, `residual`, `rotary` where it is one of these, else the names of operations with
/// their constants. In the order in which they run; constants and repeats are not told again (`bias x2`).
class ChainWords {
public:
    ChainWords(const Chain& chain, std::vector<GivenKind> given, std::span<const Node> nodes)
        : chain_(chain), given_(std::move(given)), nodes_(nodes) {
        find_rotaries();
        for (int i = 0; i < chain.count; ++i) {
            const std::string word = words_of_instruction(i);
            if (word.empty()) {
                continue;
            }
            const auto known = std::find_if(counted_.begin(), counted_.end(),
                                            [&word](const auto& other) { return other.first == word; });
            if (known != counted_.end()) {
                ++known->second;
            } else {
                counted_.emplace_back(word, 1);
            }
        }
    }

    [[nodiscard]] std::vector<std::string> words() const {
        std::vector<std::string> result;
        for (const auto& [word, count] : counted_) {
            result.push_back(count == 1 ? word : word + " x" + std::to_string(count));
        }
        return result;
    }

private:
    [[nodiscard]] const Instruction& at(int place) const {
        return chain_.instructions[static_cast<std::size_t>(place)];
    }
    /// The instruction that makes a value; null for what the chain is given.
    [[nodiscard]] const Instruction* maker(int value) const {
        return value < chain_.given ? nullptr : &at(value - chain_.given);
    }
    [[nodiscard]] bool is_constant(int value) const {
        return maker(value) != nullptr && maker(value)->op == Op::constant;
    }
    [[nodiscard]] GivenKind kind_of(int value) const {
        return value < chain_.given ? given_[static_cast<std::size_t>(value)] : GivenKind::plain;
    }
    [[nodiscard]] bool starts_from_result() const {
        return std::find(given_.begin(), given_.end(), GivenKind::result) != given_.end();
    }

    /// x cosine + rotate_pairs(x) sine: four instructions that are one thing to a reader.
    void find_rotaries() {
        hidden_.assign(static_cast<std::size_t>(chain_.count), false);
        is_rotary_.assign(static_cast<std::size_t>(chain_.count), false);
        for (int i = 0; i < chain_.count; ++i) {
            const Instruction& sum = at(i);
            if (sum.op != Op::add) {
                continue;
            }
            const Instruction* left = maker(sum.arguments[0]);
            const Instruction* right = maker(sum.arguments[1]);
            if (left == nullptr || right == nullptr || left->op != Op::multiply || right->op != Op::multiply) {
                continue;
            }
            const int rotated =
                find_rotated(*left, *right) >= 0 ? find_rotated(*left, *right) : find_rotated(*right, *left);
            if (rotated >= 0) {
                is_rotary_[static_cast<std::size_t>(i)] = true;
                for (const int value : {sum.arguments[0], sum.arguments[1], rotated}) {
                    hidden_[static_cast<std::size_t>(value - chain_.given)] = true;
                }
            }
        }
    }

    /// The factor of `turned` that is a rotated factor of `plain`, or -1.
    [[nodiscard]] int find_rotated(const Instruction& plain, const Instruction& turned) const {
        for (const std::size_t side : {0U, 1U}) {
            const Instruction* rotation = maker(turned.arguments[side]);
            if (rotation != nullptr && rotation->op == Op::rotate_pairs &&
                (rotation->arguments[0] == plain.arguments[0] || rotation->arguments[0] == plain.arguments[1])) {
                return turned.arguments[side];
            }
        }
        return -1;
    }

    [[nodiscard]] std::string words_of_instruction(int place) const {
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
        const int first = instruction.arguments[0];
        const int second = instruction.arguments[1];
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

    const Chain& chain_;
    std::vector<GivenKind> given_;
    std::span<const Node> nodes_;
    std::vector<bool> hidden_;
    std::vector<bool> is_rotary_;
    std::vector<std::pair<std::string, int>> counted_;
};

}  // namespace totograph::detail
