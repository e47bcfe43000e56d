// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/prepared_weights.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/held_log.hpp>
#include <totograph/core/log.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/gemm/packed_matrix.hpp>
#include <totograph/exec/cpu/host_matmul.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/prepared_cache.hpp>
#include <totograph/exec/team.hpp>
#include <totograph/exec/weight_expression.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/io/cache/cache_folder.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace prepared_weights_detail {

inline std::size_t bytes_of(GraphView graph, const PreparedWeight& weight) {
    const auto bytes = static_cast<std::size_t>(graph[weight.node].shape.size()) * sizeof(float);
    return weight.second_node < 0 ? bytes : 2 * bytes;
}

/// All that the bytes of a packed matrix depend on, beside its weights.
template <class Storage>
std::string layout() {
#define TOTOGRAPH_DETAIL_TEXT(name) #name
#define TOTOGRAPH_DETAIL_TEXT_OF(name) TOTOGRAPH_DETAIL_TEXT(name)
    return "cpu " TOTOGRAPH_DETAIL_TEXT_OF(TOTOGRAPH_SIMD_NAMESPACE) ", panels of " + std::to_string(panel_width) +
           ", " + std::string(name(dtype_of<Storage>)) + ", composed in the order of k";
#undef TOTOGRAPH_DETAIL_TEXT_OF
#undef TOTOGRAPH_DETAIL_TEXT
}

/// Fills a matrix on the evaluator's team, a panel at a time.
template <class Storage>
void pack(const PreparedWeight& weight, WeightEvaluator& evaluator, PackedMatrix<Storage>& packed) {
    const bool is_pair = packed.is_paired();
    const auto first = evaluator.ranges(weight.node);
    const auto second = evaluator.ranges(is_pair ? weight.second_node : weight.node);
    std::vector<Arena> buffers(static_cast<std::size_t>(evaluator.team().threads()));
    evaluator.team().for_each(packed.panels(), [&](Index panel, int thread) {
        const Index begin = panel * packed.columns_per_panel() * packed.k();
        const Index count = packed.columns_in(panel) * packed.k();
        Arena& memory = buffers[static_cast<std::size_t>(thread)];
        if (memory.data() == nullptr) {
            memory = Arena(static_cast<std::size_t>(panel_width * packed.k()) * sizeof(float));
        }
        auto* const buffer = reinterpret_cast<float*>(memory.data());
        const float* const rows = first(begin, count, buffer);
        packed.fill_panel(panel, rows, is_pair ? second(begin, count, buffer + count) : nullptr);
    });
}

template <class Storage>
PreparedTensor<Storage> prepare(GraphView graph, const PreparedWeight& weight, WeightEvaluator& evaluator,
                                const WeightExpression& expression, PreparedCache& cache) {
    using Packed = PackedMatrix<Storage>;
    PreparedTensor<Storage> tensor;
    const Node& node = graph[weight.node];
    if (!weight.packed) {
        tensor.plain = Arena(static_cast<std::size_t>(node.shape.size()) * size_in_bytes(node.dtype));
        evaluator.write(weight.node, tensor.plain.data());
        return tensor;
    }
    const bool is_pair = weight.second_node >= 0;
    const std::size_t bytes = Packed::bytes_for(node.shape[0], node.shape[1], is_pair);
    const bool keeps = cache.keeps(expression, bytes);
    if (keeps) {
        if (auto found = cache.find(expression.text(), bytes, evaluator.team()); found.owner) {
            tensor.packed = std::make_unique<Packed>(node.shape[0], node.shape[1], is_pair, found.bytes.data(),
                                                     std::move(found.owner));
            return tensor;
        }
    }
    tensor.packed = std::make_unique<Packed>(node.shape[0], node.shape[1], is_pair);
    pack(weight, evaluator, *tensor.packed);
    if (keeps) {
        const auto* data = reinterpret_cast<const std::byte*>(tensor.packed->panel(0));
        cache.keep(expression.text(), {data, bytes}, evaluator.team());
    }
    return tensor;
}

}  // namespace prepared_weights_detail

template <class Storage>
std::vector<std::shared_ptr<const PreparedTensor<Storage>>> PreparedWeights<Storage>::get(
    GraphView graph, std::span<const PreparedWeight> wanted, const TensorSource& source, Evaluate evaluate) {
    const totograph::detail::HeldLog held;  // a sink may make a forecaster, which comes here
    const std::scoped_lock lock(mutex_);
    std::vector<WeightExpression> expressions;
    expressions.reserve(wanted.size());
    std::size_t missing = 0;
    for (const PreparedWeight& weight : wanted) {
        expressions.emplace_back(graph, weight);
        missing += entries_.contains(expressions.back().text()) ? 0 : prepared_weights_detail::bytes_of(graph, weight);
    }
    const auto begin = std::chrono::steady_clock::now();
    Team team(Team::threads_for(missing));
    WeightEvaluator evaluator(graph, source, &team, HostMatmul{evaluate});
    PreparedCache cache =
        missing == 0 ? PreparedCache()
                     : PreparedCache(io::large_cache_folder(), source, prepared_weights_detail::layout<Storage>());
    std::vector<std::shared_ptr<const PreparedTensor<Storage>>> tensors;
    std::size_t prepared = 0;
    int last_layer = -1;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        auto entry = entries_.find(expressions[i].text());
        if (entry == entries_.end()) {
            // Layers share nothing but small constants; keeping one layer at a time bounds the memory.
            const int layer = layer_of(graph, wanted[i].node);
            if (layer != last_layer) {
                evaluator.forget();
                last_layer = layer;
            }
            // Kept only when it is whole: what throws is prepared again by the next call.
            auto tensor = std::make_shared<const PreparedTensor<Storage>>(
                prepared_weights_detail::prepare<Storage>(graph, wanted[i], evaluator, expressions[i], cache));
            prepared += tensor->bytes();
            entry = entries_.emplace(expressions[i].text(), std::move(tensor)).first;
        }
        tensors.push_back(entry->second);
    }
    if (missing != 0) {
        cache_report_.add(cache.report());
        log(LogTopic::capture, [&] { return describe_preparation(prepared, begin, cache.report()); });
    }
    return tensors;
}

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
