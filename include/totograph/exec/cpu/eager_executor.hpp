// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include <totograph/core/arena.hpp>
#include <totograph/exec/cpu/evaluate/bound_graph.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/structural_kernels.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/exec/state_layout.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/passes/location.hpp>

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
        const auto memory_of = [this](const Node& node) { return state(node.name, node.layer); };
        std::size_t program = 0;
        ((bound_[program++] = BoundGraph(Programs::graph, weights, memory_of, OpaqueTable<Programs>::functions)), ...);
    }

    /// Runs one of the programs. Allocates, unlike the fused executor, and throws when there is no memory.
    template <std::size_t which>
    void run() {
        bound_[which].run();
    }

    [[nodiscard]] void* state(std::string_view name, int layer = -1) const noexcept {
        const auto* entry = Layout::find(name, layer);
        return entry == nullptr ? nullptr : memory_.data() + entry->offset;
    }

    /// Bytes of states, intermediates, and the weights of each program, counted as if nothing else read them: equal
    /// ones of other programs and executors of the same `Weights` are the same memory. (The fused executor's weights
    /// stay with the `Weights`, and are not counted by it.)
    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        std::size_t total = memory_.size();
        for (const BoundGraph& bound : bound_) {
            total += bound.intermediate_bytes() + bound.weight_bytes();
        }
        return total;
    }
    [[nodiscard]] int threads() const noexcept { return 1; }

private:
    /// A node of the graph in the form that `run_opaque` takes.
    template <class Program, int id>
    struct OpaqueNode {
        using Operations = typename Program::Operations;
        static constexpr Kernel kernel = [] {
            Kernel result;
            const Node& node = Program::graph[id];
            result.dtype = node.dtype;
            result.iteration = node.shape;
            result.custom = node.custom;
            result.operand_count = node.input_count;
            for (int i = 0; i < node.input_count; ++i) {
                auto& operand = result.operands[static_cast<std::size_t>(i)];
                operand.dtype = Program::graph.input(node, i).dtype;
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
        static constexpr BoundGraph::OpaqueFunction function() {
            if constexpr (Program::graph[id].op == Op::opaque) {
                return &run_opaque_node<Program, id>;
            } else {
                return nullptr;
            }
        }
        static constexpr auto functions = []<int... id>(std::integer_sequence<int, id...>) {
            return std::array<BoundGraph::OpaqueFunction, sizeof...(id)>{function<id>()...};
        }
        (std::make_integer_sequence<int, Program::graph.size()>());
    };

    std::shared_ptr<ThreadPool> pool_;
    Arena memory_;
    std::array<BoundGraph, sizeof...(Programs)> bound_;
};

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
