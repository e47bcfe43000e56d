// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/exec/cpu/evaluate.hpp>
#include <totograph/exec/cpu/evaluate_with_eigen.hpp>
#include <totograph/exec/cpu/prepared_weights.hpp>
#include <totograph/exec/cpu/structural_kernels.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/exec/state_layout.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/location.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// Runs programs node by node, in the order in which they were recorded, each node with a buffer of its own: the
/// readable reference. Expressions of weights alone are computed once.
template <class... Programs>
class EagerExecutor {
public:
    using Layout = StateLayout<Programs...>;

    /// The pool is not used: the reference runs on the caller's thread.
    EagerExecutor(const Weights& weights, std::shared_ptr<ThreadPool> pool)
        : pool_(std::move(pool)), memory_(Layout::bytes) {
        std::size_t program = 0;
        ((bind<Programs>(bound_[program++], weights.source())), ...);
    }

    /// Runs one of the programs. Allocates, unlike the fused executor, and throws when there is no memory.
    template <std::size_t which>
    void run() {
        using Program = std::tuple_element_t<which, std::tuple<Programs...>>;
        const Bound& bound = bound_[which];
        for (int id = 0; id < Program::graph.size(); ++id) {
            const Node& node = Program::graph[id];
            const auto place = static_cast<std::size_t>(id);
            if (bound.is_known[place] != 0 || node.op == Op::state) {
                continue;
            }
            std::array<TensorData, max_inputs> inputs{};
            for (std::size_t i = 0; i < static_cast<std::size_t>(node.input_count); ++i) {
                inputs[i] = bound.tensors[static_cast<std::size_t>(node.inputs[i])];
            }
            const auto count = static_cast<std::size_t>(node.input_count);
            if (node.op == Op::store) {
                evaluate(node, std::span(inputs.data() + 1, count - 1), inputs[0]);
            } else if (node.op == Op::opaque) {
                OpaqueTable<Program>::functions[place](inputs.data(), bound.tensors[place]);
            } else {
                evaluate_with_eigen(node, std::span(inputs.data(), count), bound.tensors[place]);
            }
        }
    }

    [[nodiscard]] void* state(std::string_view name, int layer = -1) const noexcept {
        const auto* entry = Layout::find(name, layer);
        return entry == nullptr ? nullptr : memory_.data() + entry->offset;
    }

    /// Bytes of states and intermediates together.
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        std::size_t total = memory_.size();
        for (const Bound& bound : bound_) {
            total += bound.intermediates.size();
        }
        return total;
    }
    [[nodiscard]] int threads() const noexcept { return 1; }

private:
    /// A program's nodes with their memory.
    struct Bound {
        std::vector<char> is_known;
        std::vector<TensorData> tensors;
        std::vector<Arena> weights;
        Arena intermediates;
    };

    using OpaqueFunction = void (*)(const TensorData* inputs, const TensorData& out) noexcept;

    /// A node of the graph in the form that `run_opaque` takes.
    template <class Program, int id>
    struct OpaqueNode {
        using Operations = typename Program::Operations;
        static constexpr Kernel kernel = [] {
            Kernel result;
            const Node& node = Program::graph[id];
            result.iteration = node.shape;
            result.custom = node.custom;
            result.operand_count = node.input_count;
            for (int i = 0; i < node.input_count; ++i) {
                auto& operand = result.operands[static_cast<std::size_t>(i)];
                operand.shape = Program::graph.input(node, i).shape;
                operand.strides = contiguous_strides(operand.shape);
            }
            return result;
        }();
    };

    template <class Program, int id>
    static void run_opaque_node(const TensorData* inputs, const TensorData& out) noexcept {
        KernelCall call;
        for (std::size_t i = 0; i < static_cast<std::size_t>(Program::graph[id].input_count); ++i) {
            call.operands[i] = inputs[i].data;
        }
        call.output = out.data;
        structural_detail::run_opaque<OpaqueNode<Program, id>>(OpaqueNode<Program, id>::kernel, call);
    }

    /// The code of each opaque node of a program; null for other nodes.
    template <class Program>
    struct OpaqueTable {
        template <int id>
        static constexpr OpaqueFunction function() {
            if constexpr (Program::graph[id].op == Op::opaque) {
                return &run_opaque_node<Program, id>;
            } else {
                return nullptr;
            }
        }
        static constexpr auto functions = []<int... id>(std::integer_sequence<int, id...>) {
            return std::array<OpaqueFunction, sizeof...(id)>{function<id>()...};
        }
        (std::make_integer_sequence<int, Program::graph.size()>());
    };

    template <class Program>
    void bind(Bound& bound, const TensorSource& source) {
        const GraphView graph = Program::graph;
        const auto nodes = static_cast<std::size_t>(graph.size());
        bound.is_known = find_weight_expressions(graph);
        bound.tensors.resize(nodes);
        std::vector<std::size_t> offsets(nodes, 0);
        std::size_t bytes = 0;
        WeightEvaluator evaluator(graph, source);
        for (int id = 0; id < graph.size(); ++id) {
            const Node& node = graph[id];
            const auto place = static_cast<std::size_t>(id);
            bound.tensors[place] = {nullptr, node.dtype, node.shape};
            if (node.op == Op::state) {
                bound.tensors[place].data = state(node.name, node.layer);
            } else if (bound.is_known[place] != 0) {
                if (is_read_at_run_time(graph, bound.is_known, id)) {
                    const TensorData value = evaluator(id);
                    Arena kept(static_cast<std::size_t>(node.shape.size()) * size_in_bytes(node.dtype));
                    std::memcpy(kept.data(), value.data, kept.size());
                    bound.tensors[place].data = kept.data();
                    bound.weights.push_back(std::move(kept));
                    evaluator.forget();
                }
            } else {
                offsets[place] = bytes;
                bytes += aligned_size(static_cast<std::size_t>(node.shape.size()) * size_in_bytes(node.dtype));
            }
        }
        bound.intermediates = Arena(bytes);
        for (int id = 0; id < graph.size(); ++id) {
            const auto place = static_cast<std::size_t>(id);
            if (bound.is_known[place] == 0 && graph[id].op != Op::state) {
                bound.tensors[place].data = bound.intermediates.data() + offsets[place];
            }
        }
    }

    template <class AnyGraph>
    static bool is_read_at_run_time(const AnyGraph& graph, const std::vector<char>& is_known, int id) {
        for (int reader = id + 1; reader < graph.size(); ++reader) {
            const Node& node = graph[reader];
            for (int i = 0; i < node.input_count; ++i) {
                if (node.inputs[static_cast<std::size_t>(i)] == id && is_known[static_cast<std::size_t>(reader)] == 0) {
                    return true;
                }
            }
        }
        return false;
    }

    std::shared_ptr<ThreadPool> pool_;
    Arena memory_;
    std::array<Bound, sizeof...(Programs)> bound_;
};

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
