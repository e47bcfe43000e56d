// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/explain/group_lines.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include <totograph/core/inline.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

namespace totograph {
namespace detail {

TOTOGRAPH_INLINE std::string chain_text(const Chain& chain) {
    std::string text;
    for (std::size_t i = 0; i < static_cast<std::size_t>(chain.count); ++i) {
        if (chain.instructions[i].op != Op::constant) {
            text += (text.empty() ? "" : ", ") + std::string(name(chain.instructions[i].op));
        }
    }
    return text;
}

TOTOGRAPH_INLINE std::string group_text(const Kernel& kernel) {
    std::string text;
    if (kernel.kind == KernelKind::reduction && kernel.prologue.count > 0) {
        text = chain_text(kernel.prologue) + " -> ";
    }
    switch (kernel.kind) {
        case KernelKind::pointwise: return text + chain_text(kernel.chain);
        case KernelKind::gemm:
            text += kernel.accumulators > 1 ? "pair of GEMMs with k = " : "GEMM with k = ";
            text += std::to_string(kernel.k);
            break;
        case KernelKind::reduction:
        case KernelKind::structural: text += name(kernel.op); break;
    }
    return text + (kernel.chain.count > 0 ? " -> " + chain_text(kernel.chain) : "");
}

}  // namespace detail

TOTOGRAPH_INLINE std::string group_lines(const ProgramTables& tables, std::string_view title) {
    std::string text;
    for (std::size_t place = 0; place < tables.steps.size(); ++place) {
        const int number = tables.steps[place].kernel;
        const Kernel& kernel = tables.kernels[static_cast<std::size_t>(number)];
        text += std::string(title) + " step " + std::to_string(place) + ", kernel " + std::to_string(number) + ": " +
                detail::shape_text(kernel.iteration) + ", " + detail::group_text(kernel) + "\n";
    }
    return text;
}

}  // namespace totograph
