// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate.hpp>
#include <totograph/exec/cuda/check.hpp>
#include <totograph/exec/cuda/memory.hpp>
#include <totograph/exec/weight_expression.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::cuda {

/// a b for each b of a batch, summed in double. One thread an element: it runs once, when weights are prepared.
template <class T>
__global__ void compose_weights(const T* a, const T* b, T* out, Index parts, Index outer, Index inner, Index depth) {
    for (Index item = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; item < parts * outer * depth;
         item += static_cast<Index>(gridDim.x) * blockDim.x) {
        const Index column = item % depth;
        const Index row = item / depth % outer;
        const Index part = item / depth / outer;
        double total = 0;
        for (Index k = 0; k < inner; ++k) {
            total +=
                static_cast<double>(a[row * inner + k]) * static_cast<double>(b[(part * inner + k) * depth + column]);
        }
        out[item] = static_cast<T>(total);
    }
}

/// Computes weight expressions of a graph from the checkpoint, on the host but for what takes long.
class WeightEvaluator {
public:
    WeightEvaluator(GraphView graph, const TensorSource& source)
        : graph_(graph), source_(source), results_(static_cast<std::size_t>(graph.size())) {}

    /// The value of a node that depends on weights and constants alone.
    cpu::TensorData operator()(int id) {
        auto& memory = results_[static_cast<std::size_t>(id)];
        const Node& node = graph_[id];
        cpu::TensorData out{nullptr, node.dtype, node.shape};
        if (memory.data() == nullptr) {
            Arena fresh(static_cast<std::size_t>(node.shape.size()) * size_in_bytes(node.dtype));
            out.data = fresh.data();
            if (node.op == Op::weight) {
                source_.read(full_name(node), node.shape, {out.floats(), static_cast<std::size_t>(node.shape.size())});
            } else {
                std::vector<cpu::TensorData> inputs;
                inputs.reserve(static_cast<std::size_t>(node.input_count));
                for (int i = 0; i < node.input_count; ++i) {
                    inputs.push_back((*this)(node.inputs[static_cast<std::size_t>(i)]));
                }
                if (node.op == Op::matrix_product) {
                    multiply(inputs[0], inputs[1], out);
                } else {
                    cpu::evaluate(node, inputs, out);
                }
            }
            memory = std::move(fresh);
        }
        out.data = memory.data();
        return out;
    }

    /// Frees everything computed so far.
    void forget() { results_ = std::vector<Arena>(static_cast<std::size_t>(graph_.size())); }

private:
    static void multiply(const cpu::TensorData& a, const cpu::TensorData& b, const cpu::TensorData& out) {
        const auto bytes = [](const cpu::TensorData& tensor) {
            return static_cast<std::size_t>(tensor.shape.size()) * sizeof(float);
        };
        const DeviceMemory left(bytes(a));
        const DeviceMemory right(bytes(b));
        const DeviceMemory result(bytes(out));
        check(cudaMemcpy(left.data(), a.data, bytes(a), cudaMemcpyHostToDevice), "copying weights");
        check(cudaMemcpy(right.data(), b.data, bytes(b), cudaMemcpyHostToDevice), "copying weights");
        compose_weights<<<1024, 256>>>(
            reinterpret_cast<const float*>(left.data()), reinterpret_cast<const float*>(right.data()),
            reinterpret_cast<float*>(result.data()), b.shape[0], a.shape[0], a.shape[1], b.shape[-1]);
        check(cudaGetLastError(), "composing weights");
        check(cudaMemcpy(out.data, result.data(), bytes(out), cudaMemcpyDeviceToHost), "copying weights");
    }

    GraphView graph_;
    const TensorSource& source_;
    std::vector<Arena> results_;
};

/// The type of a product's weights on the device.
template <class Storage>
struct DeviceTensor {
    std::shared_ptr<const DeviceMemory> memory;  ///< Shared with the tensors that were prepared together with it.
    const std::byte* data = nullptr;
};

/// What executors have put on devices from one checkpoint. Forecasters share it; entries never change. Weights of
/// products are row-major `[columns, depth]`, as `Storage` (`float` or `BFloat16`); pairs lie one after the other.
template <class Storage>
class DeviceWeights {
public:
    std::vector<DeviceTensor<Storage>> get(GraphView graph, std::span<const PreparedWeight> wanted,
                                           const TensorSource& source) {
        const std::scoped_lock lock(mutex_);
        int index = 0;
        check(cudaGetDevice(&index), "asking for the device in use");
        const std::string device = "device " + std::to_string(index) + "\n";
        std::vector<std::string> keys;
        std::vector<std::size_t> missing;
        std::unordered_map<std::string, std::size_t> offsets;
        std::size_t bytes = 0;
        for (const PreparedWeight& weight : wanted) {
            keys.push_back(device + WeightExpression(graph, weight).text());
        }
        // Weights of products first, next to each other: those that share an input can then be multiplied as one.
        for (const bool packed : {true, false}) {
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                if (wanted[i].packed == packed && !entries_.contains(keys[i]) && !offsets.contains(keys[i])) {
                    offsets[keys[i]] = bytes;
                    missing.push_back(i);
                    bytes += padded(bytes_of(graph, wanted[i]));
                }
            }
        }
        // One layer at a time, whose tensors are read once.
        std::sort(missing.begin(), missing.end());
        if (!missing.empty()) {
            prepare(graph, wanted, source, keys, missing, offsets, bytes);
        }
        std::vector<DeviceTensor<Storage>> tensors;
        for (const std::string& key : keys) {
            tensors.push_back(entries_.at(key));
        }
        return tensors;
    }

    /// Bytes of everything on the device so far.
    [[nodiscard]] std::size_t bytes() const {
        const std::scoped_lock lock(mutex_);
        return bytes_;
    }

private:
    static std::size_t padded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

    static std::size_t bytes_of(GraphView graph, const PreparedWeight& weight) {
        const Node& node = graph[weight.node];
        const auto size = static_cast<std::size_t>(node.shape.size());
        return !weight.packed            ? size * size_in_bytes(node.dtype)
               : weight.second_node >= 0 ? 2 * size * sizeof(Storage)
                                         : size * sizeof(Storage);
    }

    void prepare(GraphView graph, std::span<const PreparedWeight> wanted, const TensorSource& source,
                 const std::vector<std::string>& keys, const std::vector<std::size_t>& missing,
                 const std::unordered_map<std::string, std::size_t>& offsets, std::size_t bytes) {
        auto memory = std::make_shared<DeviceMemory>(bytes);
        WeightEvaluator evaluator(graph, source);
        int last_layer = -1;
        std::vector<Storage> stored;
        for (const std::size_t i : missing) {
            const PreparedWeight& weight = wanted[i];
            // Layers share nothing but small constants; keeping one layer at a time bounds the memory.
            const int layer = layer_of(graph, weight.node);
            if (layer != last_layer) {
                evaluator.forget();
                last_layer = layer;
            }
            std::byte* to = memory->data() + offsets.at(keys[i]);
            if (weight.packed) {
                stored.clear();
                for (const int node : {weight.node, weight.second_node}) {
                    if (node >= 0) {
                        const cpu::TensorData tensor = evaluator(node);
                        std::transform(tensor.floats(), tensor.floats() + tensor.shape.size(),
                                       std::back_inserter(stored), [](float value) { return Storage(value); });
                    }
                }
                check(cudaMemcpy(to, stored.data(), stored.size() * sizeof(Storage), cudaMemcpyHostToDevice),
                      "copying weights");
            } else {
                check(cudaMemcpy(to, evaluator(weight.node).data, bytes_of(graph, weight), cudaMemcpyHostToDevice),
                      "copying weights");
            }
        }
        // A copy from pageable memory may still be on its way, and streams of executors do not wait for it.
        check(cudaDeviceSynchronize(), "copying weights");
        for (const auto& [key, offset] : offsets) {
            entries_[key] = {memory, memory->data() + offset};
        }
        bytes_ += bytes;
    }

    static int layer_of(GraphView graph, int id) {
        const Node& node = graph[id];
        int layer = node.layer;
        for (int i = 0; i < node.input_count && layer < 0; ++i) {
            layer = layer_of(graph, node.inputs[static_cast<std::size_t>(i)]);
        }
        return layer;
    }

    mutable std::mutex mutex_;
    std::unordered_map<std::string, DeviceTensor<Storage>> entries_;
    std::size_t bytes_ = 0;
};

}  // namespace totograph::cuda
