// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/block.hpp>
#include <totograph/nn/name.hpp>

namespace totograph::nn {

/// Layer norm over the last axis (https://arxiv.org/abs/1607.06450): (x - mean) / sqrt(variance + epsilon) * weight +
/// bias, with the variance of all elements. x is `[..., width]`, `weight` and `bias` are `[width]`.
constexpr Tensor layer_norm(Tensor x, Tensor weight, Tensor bias, double epsilon) {
    const Tensor centred = x - mean(x);
    return centred * rsqrt(mean(centred * centred) + epsilon) * weight + bias;
}

/// Sizes of a layer norm.
struct LayerNormSize {
    Index width = 0;
};

/// `layer_norm` with the weight and bias of the checkpoint, PyTorch's `LayerNorm`.
template <LayerNormSize size>
struct LayerNorm {
    static_assert(size.width > 0, "totograph: the width of a norm must be positive.");

    static constexpr Index width = size.width;
    static constexpr Shape weight_shape{size.width};
    static constexpr Index parameters = 2 * size.width;
    static constexpr Index parameter_bytes = parameter_size * parameters;
    static constexpr Index flops_per_row = 0;

    Tensor weight;
    Tensor bias;
    double epsilon;

    /// The weights `<prefix>.weight` and `<prefix>.bias`.
    template <class Prefix>
    constexpr LayerNorm(Recorder& recorder, Prefix prefix, double added_to_variance, LayerIndex layer = {})
        : weight(recorder.weight(detail::block_name(prefix) + ".weight"_name, weight_shape, layer)),
          bias(recorder.weight(detail::block_name(prefix) + ".bias"_name, weight_shape, layer)),
          epsilon(added_to_variance) {}

    /// x is `[..., width]`.
    [[nodiscard]] constexpr Tensor record(Tensor x) const {
        return detail::check_width<LayerNorm>(x, size.width) ? layer_norm(x, weight, bias, epsilon) : x;
    }
};

}  // namespace totograph::nn
