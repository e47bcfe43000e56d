// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/rotary.hpp>

namespace totograph::nn {

/// Sizes of a rotary embedding of the first dimensions of a head.
struct PartialRotarySize {
    Index head_dim = 0;
    Index rotated = 0;  ///< The first so many dimensions turn; the others pass.
    Index theta = 10000;
    bool use_xpos = true;
    Index xpos_scale_base = 256;
};

/// Tables of a rotary embedding of a part of each head. Neighbouring dimensions (2j, 2j + 1) are a pair: it turns with
/// frequency theta^(-2j / rotated), and xPos scales it by ((2j + 0.4 rotated) / (1.4 rotated))^((position - centre) /
/// xpos_scale_base), for keys by the inverse. Frequencies and angles are rounded to f32 where PyTorch's code rounds.
///
/// `positions` and `centre` are f32 and broadcast to `[batch, 1, 1, positions, 1, 1]`.
template <PartialRotarySize size>
constexpr RotaryTables partial_rotary_tables(Tensor positions, Tensor centre) {
    static_assert(size.rotated > 0 && size.rotated % 2 == 0 && size.rotated <= size.head_dim,
                  "totograph: a rotary embedding rotates pairs of dimensions of a head.");
    Recorder& r = positions.recorder();
    const auto width = static_cast<double>(size.rotated);
    const auto passing = [&](Tensor of_rotated, double of_others) {
        if constexpr (size.rotated == size.head_dim) {
            return of_rotated;
        } else {
            return concatenate(of_rotated, expand(r.constant(of_others), Shape{size.head_dim - size.rotated}), 0);
        }
    };
    const Tensor twice_pair = floor(r.iota(size.rotated) * 0.5) * 2.0;
    const Tensor exponent = cast(twice_pair / width, DType::f64);
    const Tensor log_theta = log(r.constant(static_cast<double>(size.theta), DType::f64));
    const Tensor frequency = 1.0 / cast(exp(exponent * log_theta), DType::f32);
    const Tensor angle = positions * passing(frequency, 0);
    const Tensor cosines = cos(angle);
    const Tensor sines = sin(angle);
    if constexpr (!size.use_xpos) {
        return {cosines, sines, cosines, sines};
    } else {
        const Tensor base = (twice_pair + 0.4 * width) / (1.4 * width);
        const Tensor log_base = cast(log(cast(base, DType::f64)), DType::f32);
        const Tensor power = (positions - centre) / static_cast<double>(size.xpos_scale_base);
        const Tensor scale = exp(power * passing(log_base, 0));
        return {cosines * scale, sines * scale, cosines / scale, sines / scale};
    }
}

}  // namespace totograph::nn
