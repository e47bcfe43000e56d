// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/shared_tensors.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/exec/cpu/host_matmul.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/team.hpp>
#include <totograph/exec/weight_expression.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

TOTOGRAPH_INLINE std::vector<std::shared_ptr<const Arena>> SharedTensors::get(GraphView graph,
                                                                              std::span<const int> nodes,
                                                                              const TensorSource& source) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    std::vector<std::string> texts;
    texts.reserve(nodes.size());
    std::size_t missing = 0;
    for (const int id : nodes) {
        PreparedWeight weight;
        weight.node = id;
        texts.push_back(WeightExpression(graph, weight).text());
        missing += known_.contains(texts.back()) ? 0 : bytes_of(graph[id]);
    }
    Team team(Team::threads_for(missing));
    WeightEvaluator evaluator(graph, source, &team);
    std::vector<std::shared_ptr<const Arena>> tensors;
    tensors.reserve(nodes.size());
    int last_layer = -1;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto known = known_.find(texts[i]);
        std::shared_ptr<const Arena> tensor = known == known_.end() ? nullptr : known->second.lock();
        if (!tensor) {
            // Layers share nothing but small constants; keeping one layer at a time bounds the memory.
            const int layer = layer_of(graph, nodes[i]);
            if (layer != last_layer) {
                evaluator.forget();
                last_layer = layer;
            }
            Arena value(bytes_of(graph[nodes[i]]));
            evaluator.write(nodes[i], value.data());
            tensor = std::make_shared<const Arena>(std::move(value));
            known_.insert_or_assign(texts[i], tensor);
        }
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
