// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

/// (x - mean) / sqrt(variance + epsilon) * scale + shift over the last axis, the variance with the count as its
/// divisor: PyTorch's `LayerNorm`. Two reductions and a chain; before a `linear` the division waits until after the
/// product, and the scale goes into its weights.
constexpr Tensor layer_norm(Tensor x, Tensor scale, Tensor shift, double epsilon) {
    const Tensor centred = x - mean(x);
    return centred * rsqrt(mean(centred * centred) + epsilon) * scale + shift;
}

}  // namespace totograph::nn
