// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <totograph/core/list.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/graph/graph.hpp>

// The reference implementation of every op: one node at a time, one number at a time, in double where that costs
// nothing. The eager executor runs models with it; the fused executor prepares weights with it and is tested against
// it.

namespace totograph::cpu {

/// What computes one node, as `evaluate` does.
using Evaluate = void (*)(const Node& node, std::span<const TensorData> inputs, const TensorData& out);

/// Computes one node, not one of what lies elsewhere (`weight`, `state`) or is the user's (`opaque`). For a `store`,
/// `out` is the state and `inputs` begin with the value.
void evaluate(const Node& node, std::span<const TensorData> inputs, const TensorData& out);

/// `evaluate` for nodes of the ops whose bits are set, which alone are compiled for it.
template <std::uint64_t ops>
void evaluate_some(const Node& node, std::span<const TensorData> inputs, const TensorData& out);

/// The ops of the nodes of programs that are computed before the first run; bit `i` is the op of number `i`.
template <class... Programs>
consteval std::uint64_t ops_of_weights() {
    std::uint64_t ops = 0;
    const auto add = [&](const GraphView& graph) {
        const List<char> known = find_weight_expressions(graph);
        for (int id = 0; id < graph.size(); ++id) {
            ops |=
                known[static_cast<std::size_t>(id)] == 0 ? 0 : std::uint64_t{1} << static_cast<unsigned>(graph[id].op);
        }
    };
    (add(Programs::graph), ...);
    return ops;
}

/// What computes the nodes of programs that are computed before the first run: of those ops alone, where they are
/// compiled for it.
template <class... Programs>
Evaluate evaluate_of_weights() {
#ifdef TOTOGRAPH_SEPARATE_COMPILATION
    return &evaluate;
#else
    return &evaluate_some<ops_of_weights<Programs...>()>;
#endif
}

}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/evaluate/impl/evaluate.hpp>
#endif
