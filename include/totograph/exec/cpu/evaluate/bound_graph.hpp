// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/list.hpp>
#include <totograph/exec/cpu/evaluate/check_positions.hpp>
#include <totograph/exec/cpu/evaluate/evaluate_with_eigen.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/exec/cpu/shared_tensors.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// A graph with memory for each of its nodes, run one by one in the order in which they were recorded. Expressions of
/// weights alone are computed once for all graphs of one checkpoint that read them.
class BoundGraph {
public:
    /// The code of an opaque node.
    using OpaqueFunction = void (*)(const TensorData* inputs, const TensorData& out) noexcept;

    BoundGraph() = default;

    /// Prepares a graph, whose nodes must outlive this. `state` gives the memory of a state node; `opaque` has the code
    /// of each node that is opaque, at its place, and may be empty for a graph without such nodes.
    template <class State>
    BoundGraph(GraphView graph, const Weights& weights, const State& state, std::span<const OpaqueFunction> opaque = {})
        : graph_(graph),
          opaque_(opaque),
          is_known_(find_weight_expressions(graph)),
          tensors_(static_cast<std::size_t>(graph.size())) {
        std::vector<std::size_t> offsets(tensors_.size(), 0);
        std::size_t bytes = 0;
        std::vector<int> weight_nodes;
        for (int id = 0; id < graph.size(); ++id) {
            const Node& node = graph[id];
            const auto place = static_cast<std::size_t>(id);
            tensors_[place] = {nullptr, node.dtype, node.shape};
            if (node.op == Op::state) {
                tensors_[place].data = state(node);
            } else if (is_known_[place] != 0) {
                if (is_read_at_run_time(id)) {
                    weight_nodes.push_back(id);
                }
            } else {
                offsets[place] = bytes;
                bytes += aligned_size(bytes_of(node));
            }
        }
        weights_ = weights.prepared<SharedTensors>()->get(graph, weight_nodes, weights.source());
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            tensors_[static_cast<std::size_t>(weight_nodes[i])].data = weights_[i]->data();  // nobody writes to it
        }
        intermediates_ = Arena(bytes);
        for (int id = 0; id < graph.size(); ++id) {
            if (runs(id)) {
                const auto place = static_cast<std::size_t>(id);
                tensors_[place].data = intermediates_.data() + offsets[place];
            }
        }
    }

    /// Runs all nodes. Allocates, and throws when there is no memory. Throws `Error` (`position_out_of_bounds`) before
    /// a node that would use a position beyond its axis; the states are then what the nodes before it left.
    template <class Scalar = float>
    void run() const {
        for (int id = 0; id < graph_.size(); ++id) {
            if (!runs(id)) {
                continue;
            }
            const Node& node = graph_[id];
            const auto place = static_cast<std::size_t>(id);
            const auto count = static_cast<std::size_t>(node.input_count);
            std::array<TensorData, max_inputs> inputs{};
            for (std::size_t i = 0; i < count; ++i) {
                inputs[i] = tensors_[static_cast<std::size_t>(node.inputs[i])];
            }
            check_positions(graph_, node, std::span(inputs.data(), count));
            if (node.op == Op::store) {
                evaluate(node, std::span(inputs.data() + 1, count - 1), inputs[0]);
            } else if (node.op == Op::opaque) {
                opaque_[place](inputs.data(), tensors_[place]);
            } else {
                evaluate_with_eigen<Scalar>(node, std::span(inputs.data(), count), tensors_[place]);
            }
        }
    }

    /// Bytes of intermediates.
    [[nodiscard]] std::size_t intermediate_bytes() const noexcept { return intermediates_.size(); }
    /// Bytes of what was computed from the weights, whether or not others read the same.
    [[nodiscard]] std::size_t weight_bytes() const noexcept {
        std::size_t total = 0;
        for (const auto& weight : weights_) {
            total += weight->size();
        }
        return total;
    }

private:
    static std::size_t bytes_of(const Node& node) {
        return static_cast<std::size_t>(node.shape.size()) * size_in_bytes(node.dtype);
    }

    /// Whether a node is computed in each run.
    [[nodiscard]] bool runs(int id) const {
        return is_known_[static_cast<std::size_t>(id)] == 0 && graph_[id].op != Op::state;
    }

    [[nodiscard]] bool is_read_at_run_time(int id) const {
        for (int reader = id + 1; reader < graph_.size(); ++reader) {
            const Node& node = graph_[reader];
            for (int i = 0; i < node.input_count && runs(reader); ++i) {
                if (node.inputs[static_cast<std::size_t>(i)] == id) {
                    return true;
                }
            }
        }
        return false;
    }

    GraphView graph_;
    std::span<const OpaqueFunction> opaque_;
    List<char> is_known_;
    std::vector<TensorData> tensors_;
    std::vector<std::shared_ptr<const Arena>> weights_;
    Arena intermediates_;
};

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
