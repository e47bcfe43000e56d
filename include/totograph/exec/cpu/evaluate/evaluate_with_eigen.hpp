// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <totograph/exec/cpu/evaluate/evaluate.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// x W^T in `Scalar`. A template, here and below, for Eigen's GEMMs take long to compile: a file that runs no graph
/// node by node does not have them.
template <class Scalar = float>
void linear_with_eigen(const TensorData& x, const TensorData& weight, const TensorData& out);

/// `evaluate`, with the op that takes long done by Eigen.
template <class Scalar = float>
void evaluate_with_eigen(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    if (node.op == Op::linear) {
        return linear_with_eigen<Scalar>(inputs[0], inputs[1], out);
    }
    evaluate(node, inputs, out);
}

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/evaluate/impl/evaluate_with_eigen.hpp>
#endif
