// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/gemm_shape.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/launch.hpp>
#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// What GEMMs need beside a program's own memory: room for the largest of each.
struct Workspace {
    std::size_t accumulators = 0;  ///< Bytes for what cuBLASLt computes and a chain goes on with.
    std::size_t inputs = 0;        ///< Bytes for inputs as bf16.
    std::size_t squares = 0;       ///< Bytes for sums of squares that tiles leave to the norm of the next launch.
    bool has_cublaslt = false;
};

/// Adds the needs of a program.
template <Precision precision, class Program>
constexpr void add_workspace(Workspace& workspace) {
    constexpr bool is_bf16 = precision == Precision::bf16;
    using Lowered = Lowering<Program, is_bf16>;
    for (std::size_t i = 0; i < Lowered::count; ++i) {
        const Launch& launch = Lowered::at(i);
        if (launch.kind != LaunchKind::gemm && !launch.takes_bf16) {
            continue;
        }
        const Kernel& kernel = lowering_detail::kernel_of<Program>(launch.first_gemm());
        const auto inputs = static_cast<std::size_t>(kernel.rows() * kernel.k) * sizeof(BFloat16);
        workspace.inputs = std::max(workspace.inputs, aligned_size(is_bf16 ? inputs : 0));
        if (launch.kind == LaunchKind::skinny) {
            continue;
        }
        const auto accumulators = static_cast<std::size_t>(kernel.rows() * accumulator_columns<Program>(launch)) *
                                  (is_bf16 ? sizeof(BFloat16) : sizeof(float));
        workspace.accumulators =
            std::max(workspace.accumulators, aligned_size(launch.direct.is_possible ? 0 : accumulators));
        const bool leaves_norm =
            precision != Precision::f32 && tiles_have_tail(launch.gemm) && launch.gemm.tail == TailFusion::norm;
        const auto squares =
            static_cast<std::size_t>(kernel.rows() * divide_rounding_up(kernel.columns(), Index{squared_columns}));
        workspace.squares = std::max(workspace.squares, aligned_size(leaves_norm ? squares * sizeof(float) : 0));
        workspace.has_cublaslt = true;
    }
}

}  // namespace totograph::cuda
