// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate.hpp>
#include <totograph/exec/cpu/evaluate_with_eigen.hpp>
#include <totograph/exec/cpu/packed_matrix.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/weight_expression.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// Computes weight expressions of a graph from the checkpoint, each node once, and forgets what is not needed any more.
class WeightEvaluator {
public:
    WeightEvaluator(GraphView graph, const TensorSource& source)
        : graph_(graph), source_(source), results_(static_cast<std::size_t>(graph.size())) {}

    /// The value of a node that depends on weights and constants alone.
    TensorData operator()(int id) {
        auto& memory = results_[static_cast<std::size_t>(id)];
        const Node& node = graph_[id];
        TensorData out{nullptr, node.dtype, node.shape};
        if (memory.data() == nullptr) {
            Arena fresh(static_cast<std::size_t>(node.shape.size()) * size_in_bytes(node.dtype));
            out.data = fresh.data();
            if (node.op == Op::weight) {
                source_.read(full_name(node), node.shape, {out.floats(), static_cast<std::size_t>(node.shape.size())});
            } else {
                std::vector<TensorData> inputs;
                inputs.reserve(static_cast<std::size_t>(node.input_count));
                for (int i = 0; i < node.input_count; ++i) {
                    inputs.push_back((*this)(node.inputs[static_cast<std::size_t>(i)]));
                }
                evaluate_with_eigen(node, inputs, out);
            }
            memory = std::move(fresh);
        }
        out.data = memory.data();
        return out;
    }

    /// Frees everything computed so far.
    void forget() { results_ = std::vector<Arena>(static_cast<std::size_t>(graph_.size())); }

private:
    GraphView graph_;
    const TensorSource& source_;
    std::vector<Arena> results_;
};

/// A weight as a kernel reads it.
template <class Storage>
struct PreparedTensor {
    Arena plain;                                    ///< Row-major, of the node's dtype.
    std::unique_ptr<PackedMatrix<Storage>> packed;  ///< For products.

    [[nodiscard]] std::size_t bytes() const { return plain.size() + (packed ? packed->bytes() : 0); }
};

/// What executors have prepared from one checkpoint, by the whole text of its expression: `PreparedWeight::identity` is
/// a hash, and two expressions of one hash must not become one weight. Forecasters share it; entries never change.
template <class Storage>
class PreparedWeights {
public:
    /// The prepared form of each of `wanted`, in order; prepares what is not there yet.
    std::vector<std::shared_ptr<const PreparedTensor<Storage>>> get(GraphView graph,
                                                                    std::span<const PreparedWeight> wanted,
                                                                    const TensorSource& source) {
        const std::scoped_lock lock(mutex_);
        WeightEvaluator evaluator(graph, source);
        std::vector<std::shared_ptr<const PreparedTensor<Storage>>> tensors;
        int last_layer = -1;
        for (const PreparedWeight& weight : wanted) {
            auto& entry = entries_[WeightExpression(graph, weight).text()];
            if (!entry) {
                // Layers share nothing but small constants; keeping one layer at a time bounds the memory.
                const int layer = layer_of(graph, weight.node);
                if (layer != last_layer) {
                    evaluator.forget();
                    last_layer = layer;
                }
                entry = std::make_shared<const PreparedTensor<Storage>>(prepare(graph, weight, evaluator));
            }
            tensors.push_back(entry);
        }
        return tensors;
    }

    /// Bytes of everything prepared so far.
    [[nodiscard]] std::size_t bytes() const {
        const std::scoped_lock lock(mutex_);
        std::size_t total = 0;
        for (const auto& [expression, tensor] : entries_) {
            total += tensor ? tensor->bytes() : 0;  // none where preparing it threw
        }
        return total;
    }

private:
    static int layer_of(GraphView graph, int id) {
        const Node& node = graph[id];
        int layer = node.layer;
        for (int i = 0; i < node.input_count && layer < 0; ++i) {
            layer = layer_of(graph, node.inputs[static_cast<std::size_t>(i)]);
        }
        return layer;
    }

    static PreparedTensor<Storage> prepare(GraphView graph, const PreparedWeight& weight, WeightEvaluator& evaluator) {
        PreparedTensor<Storage> tensor;
        const Node& node = graph[weight.node];
        const TensorData first = evaluator(weight.node);
        if (!weight.packed) {
            const auto bytes = static_cast<std::size_t>(node.shape.size()) * size_in_bytes(node.dtype);
            tensor.plain = Arena(bytes);
            std::memcpy(tensor.plain.data(), first.data, bytes);
            return tensor;
        }
        using Packed = PackedMatrix<Storage>;
        const Index columns = node.shape[0];
        const Index depth = node.shape[1];
        tensor.packed = std::make_unique<Packed>(
            weight.second_node < 0
                ? Packed::pack(first.floats(), columns, depth)
                : Packed::pack_pair(first.floats(), evaluator(weight.second_node).floats(), columns, depth));
        return tensor;
    }

    mutable std::mutex mutex_;
    std::unordered_map<std::string, std::shared_ptr<const PreparedTensor<Storage>>> entries_;
};

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
