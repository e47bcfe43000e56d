// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/block.hpp>
#include <totograph/nn/name.hpp>

namespace totograph::nn {

/// Root mean square norm over the last axis: x / sqrt(mean(x^2) + epsilon) * scale.
/// x is `[..., width]`, `scale` is `[width]`.
constexpr Tensor rms_norm(Tensor x, Tensor scale, double epsilon) {
    return x * rsqrt(mean(x * x) + epsilon) * scale;
}

/// The same without a scale; `epsilon` is f32 with one element, such as an expression of weights.
constexpr Tensor rms_norm(Tensor x, Tensor epsilon) {
    return x * rsqrt(mean(x * x) + epsilon);
}

/// Sizes of a root mean square norm.
struct RmsNormSize {
    Index width = 0;
};

/// `rms_norm` with a scale of the checkpoint, PyTorch's `RMSNorm`.
template <RmsNormSize size>
struct RmsNorm {
    static_assert(size.width > 0, "totograph: the width of a norm must be positive.");

    static constexpr Index width = size.width;
    static constexpr Shape scale_shape{size.width};
    static constexpr Index parameters = size.width;
    static constexpr Index parameter_bytes = parameter_size * parameters;
    static constexpr Index flops_per_row = 0;

    Tensor scale;
    double epsilon;

    /// The scale has this very name: checkpoints differ in how they call it.
    template <class FullName>
    constexpr RmsNorm(Recorder& recorder, FullName name, double added_to_mean, LayerIndex layer = {})
        : scale(recorder.weight(detail::block_name(name), scale_shape, layer)), epsilon(added_to_mean) {}

    /// x is `[..., width]`.
    [[nodiscard]] constexpr Tensor record(Tensor x) const {
        return detail::check_width<RmsNorm>(x, size.width) ? rms_norm(x, scale, epsilon) : x;
    }
};

}  // namespace totograph::nn
