// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <unordered_map>

#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph {

/// What a prepared weight is made of, as text: its expression node by node, the names of the tensors of the checkpoint
/// at its leaves, and its layout. Two prepared weights of one checkpoint hold the same numbers in the same layout if
/// their texts are equal, whatever the programs, and whether or not equal nodes had been merged there. Operations of
/// the user count by their code, not by their name: with one of them the text is a key for the memory of one process.
class WeightExpression {
public:
    WeightExpression(GraphView graph, const PreparedWeight& weight);

    [[nodiscard]] const std::string& text() const { return text_; }
    /// Whether the text means the same in every process that runs this version of the library.
    [[nodiscard]] bool is_lasting() const { return is_lasting_; }

private:
    /// The number of a node among the distinct ones; equal nodes have one number.
    int number_of(int id);

    void append(std::initializer_list<Index> values);

    GraphView graph_;
    std::string text_;
    bool is_lasting_ = true;
    std::unordered_map<std::string, int> number_of_line_;
    std::unordered_map<int, int> number_of_node_;
};

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/impl/weight_expression.hpp>
#endif
