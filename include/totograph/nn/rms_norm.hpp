// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

/// Root mean square norm over the last axis: x / sqrt(mean(x^2) + epsilon) * scale.
/// x is `[..., width]`, `scale` is `[width]`.
constexpr Tensor rms_norm(Tensor x, Tensor scale, double epsilon) {
    return x * rsqrt(mean(x * x) + epsilon) * scale;
}

}  // namespace totograph::nn
