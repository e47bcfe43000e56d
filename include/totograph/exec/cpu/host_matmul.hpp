// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <totograph/core/arena.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/evaluate.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/exec/cpu/gemm/matmul_in_double.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/team.hpp>
#include <totograph/exec/weight_evaluator.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// What evaluating weights needs of this instruction set.
struct HostMatmul {
    Evaluate evaluate = &cpu::evaluate;

    static void forget() {}

    /// A B for each B of a batch: the parts of the batch side by side.
    template <class Ranges>
    static void compose(Team& team, const TensorData& a, const Ranges& b, const TensorData& out) {
        const Index rows = b.shape[1];
        const Index columns = b.shape[2];
        std::vector<Arena> buffers(static_cast<std::size_t>(team.threads()));
        team.for_each(b.shape[0], [&](Index part, int thread) {
            Arena& buffer = buffers[static_cast<std::size_t>(thread)];
            if (buffer.data() == nullptr) {
                buffer = Arena(static_cast<std::size_t>(rows * columns) * sizeof(float));
            }
            const float* values = b(part * rows * columns, rows * columns, reinterpret_cast<float*>(buffer.data()));
            const Index outer = a.shape[0];
            matmul_in_double(a.floats(), values, out.floats() + part * outer * columns, outer, rows, columns);
        });
    }
};

/// Computes weight expressions of a graph from the checkpoint.
using WeightEvaluator = BasicWeightEvaluator<HostMatmul>;

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
