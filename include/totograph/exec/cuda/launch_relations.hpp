// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/exec/cuda/launch.hpp>
#include <totograph/exec/cuda/step_relations.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// What launches are to the layers of a model, and to those before and after them.

namespace totograph::cuda::lowering_detail {

/// The layer whose weights a product reads; -1 when they belong to none.
template <class Program>
constexpr int layer_of_weight(int product) {
    int node = Program::weights[static_cast<std::size_t>(step_of<Program>(product).weight.index)].node;
    while (Program::graph[node].layer < 0 && Program::graph[node].input_count > 0) {
        node = Program::graph[node].inputs[0];
    }
    return Program::graph[node].layer;
}

/// Whether the launch before a cached attention writes neither the attention's prefix nor what tells its keys' number.
/// What earlier launches write can be read as soon as the kernel begins: the one before began after they had ended.
template <class Program>
constexpr bool has_settled_prefix(int attention, const Launch& before) {
    const Step& step = step_of<Program>(attention);
    bool settled = kernel_of<Program>(attention).op == Op::cached_attention;
    for (int i = before.first; settled && i < before.first + before.count; ++i) {
        settled = !reads_position<Program>(attention, step_of<Program>(i).output);
        for (const std::size_t operand : {1, 2, 3, 6}) {
            settled = settled && step.operands[operand].position < 0 &&
                      !may_overlap<Program>(step_of<Program>(i).output, step.operands[operand]);
        }
    }
    return settled;
}

/// Whether the norm that begins a launch can run with the product, bias and residual of the launch before: it is of all
/// that the product makes, and what it writes is nothing that the product touches.
template <class Program>
constexpr bool feeds_norm(const Launch& launch, const Launch& next) {
    if (!launch.direct.is_possible || launch.direct.bias < 0 || launch.direct.residual < 0 || launch.norms() > 0 ||
        !launch.input_is_rounded || next.kind != LaunchKind::library || !next.has_reduction) {
        return false;
    }
    const Kernel& product = kernel_of<Program>(launch.first);
    const Kernel& norm = kernel_of<Program>(next.first);
    const Reference& made = step_of<Program>(launch.first).output;
    return is_same(step_of<Program>(next.first).operands[0], made) && norm.rows() == product.rows() &&
           norm.columns() == product.columns() &&
           kernel_of<Program>(next.first_product()).input_stride == product.columns() &&
           !reads<Program>(launch.first, step_of<Program>(next.first).output) &&
           !may_overlap<Program>(step_of<Program>(next.first).output, made);
}

}  // namespace totograph::cuda::lowering_detail
