// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <totograph/exec/cpu/simd.hpp>
#include <totograph/serve/build_identity.hpp>

std::string vectors() {
    return totograph::serve::build_identity().vectors;
}

std::vector<float> compute() {
    constexpr Eigen::Index width = 37;  // fills no vector
    Eigen::MatrixXf matrix(width, width);
    for (Eigen::Index i = 0; i < matrix.size(); ++i) {
        matrix.data()[i] = std::sin(static_cast<float>(i) * 0.37F);
    }
    const Eigen::MatrixXf product = matrix * matrix.transpose();
    return {product.data(), product.data() + product.size()};
}
