// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

/// The weights of a gated feed-forward layer. The first product's rows hold the gate, then the values.
struct SwiGluWeights {
    Tensor gate_and_up;       ///< `[2 * hidden, width]`
    Tensor gate_and_up_bias;  ///< `[2 * hidden]`
    Tensor down;              ///< `[width, hidden]`
    Tensor down_bias;         ///< `[width]`
};

/// SwiGLU feed-forward (https://arxiv.org/abs/2002.05202): (silu(x W_gate^T) * (x W_up^T)) W_down^T, with biases.
constexpr Tensor swiglu_feed_forward(Tensor x, const SwiGluWeights& weights) {
    const Index hidden = weights.gate_and_up.extent(0) / 2;
    const Tensor gate =
        linear(x, slice(weights.gate_and_up, 0, 0, hidden), slice(weights.gate_and_up_bias, 0, 0, hidden));
    const Tensor up =
        linear(x, slice(weights.gate_and_up, 0, hidden, hidden), slice(weights.gate_and_up_bias, 0, hidden, hidden));
    return linear(silu(gate) * up, weights.down, weights.down_bias);
}

}  // namespace totograph::nn
