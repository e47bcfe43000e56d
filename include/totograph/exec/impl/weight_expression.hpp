// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/weight_expression.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

namespace totograph {

TOTOGRAPH_INLINE WeightExpression::WeightExpression(GraphView graph, const PreparedWeight& weight) : graph_(graph) {
    const int first = number_of(weight.node);
    const int second = weight.second_node < 0 ? -1 : number_of(weight.second_node);
    append({weight.packed ? 1 : 0, first, second});
}

TOTOGRAPH_INLINE int WeightExpression::number_of(int id) {
    if (const auto known = number_of_node_.find(id); known != number_of_node_.end()) {
        return known->second;
    }
    const Node& node = graph_[id];
    std::vector<int> inputs;
    inputs.reserve(static_cast<std::size_t>(node.input_count));
    for (int i = 0; i < node.input_count; ++i) {
        inputs.push_back(number_of(node.inputs[static_cast<std::size_t>(i)]));
    }
    std::string line;
    line.swap(text_);  // `append` writes to `text_`
    // By name: numbers change when an operation is added.
    text_ += name(node.op);
    text_ += ' ';
    text_ += name(node.dtype);
    text_ += ' ';
    append({node.layer, node.shape.rank});
    for (int axis = 0; axis < node.shape.rank; ++axis) {
        append({node.shape[axis]});
    }
    for (const Index attribute : node.attributes) {
        append({attribute});
    }
    for (std::size_t i = 0; node.op == Op::attention && i < node.attention.numbers().size(); ++i) {
        append({node.attention.numbers()[i]});
    }
    for (const int input : inputs) {
        append({input});
    }
    append({std::bit_cast<std::int64_t>(node.immediate),
            static_cast<Index>(reinterpret_cast<std::uintptr_t>(node.custom))});
    is_lasting_ = is_lasting_ && node.custom == nullptr;
    text_ += node.name;
    text_ += '\n';
    line.swap(text_);
    const auto [place, is_new] = number_of_line_.try_emplace(line, static_cast<int>(number_of_line_.size()));
    if (is_new) {
        text_ += line;
    }
    number_of_node_.emplace(id, place->second);
    return place->second;
}

TOTOGRAPH_INLINE void WeightExpression::append(std::initializer_list<Index> values) {
    for (const Index value : values) {
        text_ += std::to_string(value);
        text_ += ' ';
    }
}

}  // namespace totograph
