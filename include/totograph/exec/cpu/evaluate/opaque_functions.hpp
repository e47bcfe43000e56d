// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/bound_graph.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/opaque_kernel.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace opaque_detail {

/// A node of a program's graph in the form that `run_opaque` takes.
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
void run_opaque_node(const TensorData* inputs, const TensorData& out) noexcept {
    KernelCall call;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Program::graph[id].input_count); ++i) {
        call.operands[i] = inputs[i].data;
    }
    call.output = out.data;
    structural_detail::run_opaque<OpaqueNode<Program, id>>(OpaqueNode<Program, id>::kernel, call);
}

template <class Program, int id>
constexpr BoundGraph::OpaqueFunction opaque_function() {
    if constexpr (Program::graph[id].op == Op::opaque) {
        return &run_opaque_node<Program, id>;
    } else {
        return nullptr;
    }
}

}  // namespace opaque_detail

/// The code of each opaque node of a program; null for other nodes.
template <class Program>
inline constexpr auto opaque_functions = []<int... id>(std::integer_sequence<int, id...>) {
    return std::array<BoundGraph::OpaqueFunction, sizeof...(id)>{opaque_detail::opaque_function<Program, id>()...};
}
(std::make_integer_sequence<int, Program::graph.size()>());

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
