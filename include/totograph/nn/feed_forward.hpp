// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/block.hpp>
#include <totograph/nn/linear.hpp>

namespace totograph::nn {

/// Sizes of a gated feed-forward.
struct SwiGluSize {
    Index width = 0;
    Index hidden = 0;
    bool bias = true;
};

/// The two branches of a gated feed-forward, each `[..., hidden]`.
struct GateAndUp {
    Tensor gate;
    Tensor up;
};

/// Both branches from one weight `[2 * hidden, width]`, whose first rows are the gate's.
template <SwiGluSize size>
struct PackedGate {
    using Projection = Linear<LinearSize{.in = size.width, .out = 2 * size.hidden, .bias = size.bias}>;

    static constexpr Index parameters = Projection::parameters;
    static constexpr Index parameter_bytes = Projection::parameter_bytes;
    static constexpr Index flops_per_row = Projection::flops_per_row;

    Projection projection;

    [[nodiscard]] constexpr GateAndUp record(Tensor x) const {
        const auto rows = [&](Index first) {
            const Tensor weight = slice(projection.weight, 0, first, size.hidden);
            if constexpr (size.bias) {
                return linear(x, weight, slice(projection.bias, 0, first, size.hidden));
            } else {
                return linear(x, weight);
            }
        };
        const Tensor gate = rows(0);
        return {gate, rows(size.hidden)};
    }
};

/// Both branches from one weight `[2 * hidden, width]`, whose last rows are the gate's.
template <SwiGluSize size>
struct PackedUpAndGate : PackedGate<size> {
    [[nodiscard]] constexpr GateAndUp record(Tensor x) const {
        const GateAndUp rows = PackedGate<size>::record(x);
        return {.gate = rows.up, .up = rows.gate};
    }
};

/// A weight for each branch.
template <SwiGluSize size>
struct SeparateGate {
    using Projection = Linear<LinearSize{.in = size.width, .out = size.hidden, .bias = size.bias}>;

    static constexpr Index parameters = 2 * Projection::parameters;
    static constexpr Index parameter_bytes = 2 * Projection::parameter_bytes;
    static constexpr Index flops_per_row = 2 * Projection::flops_per_row;

    Projection gate;
    Projection up;

    [[nodiscard]] constexpr GateAndUp record(Tensor x) const {
        const Tensor gated = gate.record(x);
        return {gated, up.record(x)};
    }
};

/// SwiGLU feed-forward (https://arxiv.org/abs/2002.05202): (silu(x W_gate^T) * (x W_up^T)) W_down^T, with biases or
/// without. How the weights of the two branches lie in the checkpoint is the type `Gate`.
template <SwiGluSize size, class Gate = PackedGate<size>>
struct SwiGlu {
    static_assert(size.width > 0 && size.hidden > 0,
                  "totograph: the sizes `width` and `hidden` of a feed-forward must be positive.");
    using Down = Linear<LinearSize{.in = size.hidden, .out = size.width, .bias = size.bias}>;

    static constexpr Index width = size.width;
    static constexpr Index parameters = parameters_of<Gate, Down>;
    static constexpr Index parameter_bytes = parameter_size * parameters;
    static constexpr Index flops_per_row = flops_of<Gate, Down>;

    Gate gate;
    Down down;

    /// x is `[..., width]`.
    [[nodiscard]] constexpr Tensor record(Tensor x) const {
        if (!detail::check_width<SwiGlu>(x, size.width)) {
            return x;
        }
        const GateAndUp branches = gate.record(x);
        return down.record(silu(branches.gate) * branches.up);
    }
};

/// Sizes of a multi-layer perceptron of two layers.
struct GeluMlpSize {
    Index width = 0;
    Index hidden = 0;
};

/// W_2 gelu(W_1 x), each with a bias: the feed-forward of a vision transformer (https://arxiv.org/abs/2010.11929), with
/// the tanh form of GELU (https://arxiv.org/abs/1606.08415).
template <GeluMlpSize size>
struct GeluMlp {
    using First = Linear<LinearSize{.in = size.width, .out = size.hidden}>;
    using Second = Linear<LinearSize{.in = size.hidden, .out = size.width}>;

    static constexpr Index width = size.width;
    static constexpr Index parameters = parameters_of<First, Second>;
    static constexpr Index parameter_bytes = parameter_size * parameters;
    static constexpr Index flops_per_row = flops_of<First, Second>;

    First first;
    Second second;

    /// x is `[..., width]`.
    [[nodiscard]] constexpr Tensor record(Tensor x) const {
        return detail::check_width<GeluMlp>(x, size.width) ? second.record(gelu(first.record(x))) : x;
    }
};

/// Sizes of a multi-layer perceptron with a skip connection.
struct ResidualMlpSize {
    Index in = 0;
    Index hidden = 0;
    Index out = 0;
};

/// W_2 silu(W_1 x) + W_skip x, each with a bias: `[..., in]` becomes `[..., out]`.
template <ResidualMlpSize size>
struct ResidualMlp {
    using First = Linear<LinearSize{.in = size.in, .out = size.hidden}>;
    using Second = Linear<LinearSize{.in = size.hidden, .out = size.out}>;
    using Skip = Linear<LinearSize{.in = size.in, .out = size.out}>;

    static constexpr Index parameters = parameters_of<First, Second, Skip>;
    static constexpr Index parameter_bytes = parameter_size * parameters;
    static constexpr Index flops_per_row = flops_of<First, Second, Skip>;

    First first;
    Second second;
    Skip skip;

    [[nodiscard]] constexpr Tensor record(Tensor x) const {
        if (!detail::check_width<ResidualMlp>(x, size.in)) {
            return x;
        }
        const Tensor hidden = silu(first.record(x));
        const Tensor skipped = skip.record(x);  // behind the other GEMM of x: a device launches the two together
        return second.record(hidden) + skipped;
    }

    /// The same by one GEMM in place of the last two: [W_2 | W_skip] times [silu(W_1 x); x].
    [[nodiscard]] constexpr Tensor record_joined(Tensor x) const {
        if (!detail::check_width<ResidualMlp>(x, size.in)) {
            return x;
        }
        const Tensor both = concatenate(silu(first.record(x)), x, -1);
        return linear(both, concatenate(second.weight, skip.weight, 1), second.bias + skip.bias);
    }
};

}  // namespace totograph::nn
