// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/exec/cpu/evaluate/bound_graph.hpp>
#include <totograph/exec/cpu/evaluate/opaque_functions.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/exec/state_layout.hpp>
#include <totograph/exec/weights.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/unroll.hpp>

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
        ((bound_[program++] = bind<Programs>(weights)), ...);
    }

    /// Runs one of the programs. Allocates, unlike the fused executor, and throws when there is no memory.
    template <std::size_t which>
    void run() {
        static_assert(
            which < sizeof...(Programs),
            "totograph: an executor runs the programs that it was made of, numbered from 0 on; it has none of "
            "this number.");
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
    /// A program with all iterations of its loops: a plan stands for several by one.
    template <class Program>
    BoundGraph bind(const Weights& weights) const {
        const auto memory_of = [this](const Node& node) { return state(node.name, node.layer); };
        if constexpr (Program::loops.count == 0) {
            return BoundGraph(Program::graph, weights, memory_of, opaque_functions<Program>);
        } else {
            const GraphView graph{tables_of<Program>().nodes};
            static const std::vector<BoundGraph::OpaqueFunction> opaque = [&] {
                std::vector<BoundGraph::OpaqueFunction> functions;
                for (int id = 0; id < graph.size(); ++id) {
                    const int entry = Program::loops.place(&Loop::nodes, id).entry;
                    functions.push_back(opaque_functions<Program>[static_cast<std::size_t>(entry)]);
                }
                return functions;
            }();
            return BoundGraph(graph, weights, memory_of, opaque);
        }
    }

    std::shared_ptr<ThreadPool> pool_;
    Arena memory_;
    std::array<BoundGraph, sizeof...(Programs)> bound_;
};

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
