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

/// x W^T in f32.
inline void linear_with_eigen(const TensorData& x, const TensorData& weight, const TensorData& out) {
    using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Index depth = weight.shape[1];
    const Index columns = weight.shape[0];
    const Index rows = x.shape.size() / depth;
    const Eigen::Map<const Matrix> left(x.floats(), rows, depth);
    const Eigen::Map<const Matrix> right(weight.floats(), columns, depth);
    Eigen::Map<Matrix> result(out.floats(), rows, columns);
    result.noalias() = left * right.transpose();
}

/// A B for each B of a batch, accumulated in double.
inline void matmul_with_eigen(const TensorData& a, const TensorData& b, const TensorData& out) {
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using Floats = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
    const Index outer = a.shape[0];
    const Index inner = a.shape[1];
    const Index depth = b.shape[-1];
    const Matrix left = Floats(a.floats(), outer, inner).cast<double>();
    for (Index part = 0; part < b.shape[0]; ++part) {
        const Matrix right = Floats(b.floats() + part * inner * depth, inner, depth).cast<double>();
        Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
            out.floats() + part * outer * depth, outer, depth) = (left * right).cast<float>();
    }
}

/// `evaluate`, with the ops that take long done by Eigen.
inline void evaluate_with_eigen(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    switch (node.op) {
        case Op::linear: return linear_with_eigen(inputs[0], inputs[1], out);
        case Op::matmul: return matmul_with_eigen(inputs[0], inputs[1], out);
        default: return evaluate(node, inputs, out);
    }
}

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
