// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/evaluate/evaluate_with_eigen.hpp>

#include <Eigen/Core>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/exec/cpu/simd.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

template <class Scalar>
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

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
