// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/block.hpp>
#include <totograph/nn/name.hpp>

namespace totograph::nn {

/// Sizes of a linear layer.
struct LinearSize {
    Index in = 0;
    Index out = 0;
    bool bias = true;
};

/// x W^T + b, PyTorch's `Linear`: `[..., in]` becomes `[..., out]`.
template <LinearSize size>
struct Linear {
    static_assert(size.in > 0 && size.out > 0,
                  "totograph: the sizes `in` and `out` of a linear layer must be positive.");

    static constexpr Index in = size.in;
    static constexpr Index out = size.out;
    static constexpr Shape weight_shape{size.out, size.in};
    static constexpr Shape bias_shape{size.out};
    static constexpr Index parameters = size.out * size.in + (size.bias ? size.out : 0);
    static constexpr Index parameter_bytes = parameter_size * parameters;
    static constexpr Index flops_per_row = 2 * size.in * size.out;

    Tensor weight;
    Tensor bias;  ///< Unused without a bias.

    /// No weights: for a part that a block leaves out.
    constexpr Linear() = default;

    /// The weights `<prefix>.weight` and `<prefix>.bias`; `{}` in the prefix stands for `layer`.
    template <class Prefix>
    constexpr Linear(Recorder& recorder, Prefix prefix, LayerIndex layer = {})
        : weight(recorder.weight(detail::block_name(prefix) + ".weight"_name, weight_shape, layer)),
          bias(bias_of(recorder, prefix, layer)) {}

    /// The same layer with its result multiplied by one number, which goes into the weights: `factor` is made of
    /// weights and constants.
    [[nodiscard]] constexpr Linear times(Tensor factor) const {
        Linear scaled = *this;
        scaled.weight = weight * factor;
        if constexpr (size.bias) {
            scaled.bias = bias * factor;
        }
        return scaled;
    }
    [[nodiscard]] constexpr Linear times(double factor) const { return times(weight.recorder().constant(factor)); }

    /// The same layer for rows that still have to be multiplied by a number: it goes into the weight, not the bias.
    [[nodiscard]] constexpr Linear of_input_times(double factor) const {
        Linear scaled = *this;
        scaled.weight = weight * factor;
        return scaled;
    }

    [[nodiscard]] constexpr Tensor record(Tensor x) const {
        if (!detail::check_width<Linear>(x, size.in)) {
            return x;
        }
        if constexpr (size.bias) {
            return linear(x, weight, bias);
        } else {
            return linear(x, weight);
        }
    }

private:
    /// In the list above and not in the constructor's body: g++ 12 refuses a constant that a body changes.
    template <class Prefix>
    static constexpr Tensor bias_of(Recorder& recorder, Prefix prefix, LayerIndex layer) {
        if constexpr (size.bias) {
            return recorder.weight(detail::block_name(prefix) + ".bias"_name, bias_shape, layer);
        } else {
            return {};
        }
    }
};

}  // namespace totograph::nn
