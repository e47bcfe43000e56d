// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/evaluate.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// x W^T in `Scalar`. A template, here and below, for Eigen's GEMMs take long to compile: a file that runs no graph
/// node by node does not have them.
template <class Scalar = float>
void linear_with_eigen(const TensorData& x, const TensorData& weight, const TensorData& out) {
    using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Index k = weight.shape[1];
    const Index columns = weight.shape[0];
    const Index rows = x.shape.size() / k;
    const Eigen::Map<const Matrix> left(x.floats(), rows, k);
    const Eigen::Map<const Matrix> right(weight.floats(), columns, k);
    Eigen::Map<Matrix> result(out.floats(), rows, columns);
    result.noalias() = left * right.transpose();
}

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
