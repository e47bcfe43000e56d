// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

/// Cosines and sines for queries and keys, with the xPos scale of each inside: `[batch or 1, 1, 1, positions, 1,
/// head_dim]`.
struct RotaryTables {
    Tensor query_cosine;
    Tensor query_sine;
    Tensor key_cosine;
    Tensor key_sine;
};

/// Frequencies and scales of a rotary embedding.
struct RotaryConfig {
    double theta = 10000;
    double xpos_scale_base = 512;
};

/// Tables of a rotary embedding (https://arxiv.org/abs/2104.09864) with xPos scales (https://arxiv.org/abs/2212.10554).
///
/// Dimension d of a head turns with frequency theta^(-2 floor(d/2) / head_dim) and is scaled by
/// ((2 (d mod head_dim/2) + 0.4 head_dim) / (1.4 head_dim))^((position - centre) / xpos_scale_base), for keys by its
/// inverse. That neighbouring dimensions share a frequency while dimensions half a head apart share a scale is how the
/// reference implementation has it.
///
/// `positions` and `centre` are f32 and broadcast to `[batch, 1, 1, positions, 1, 1]`.
constexpr RotaryTables rotary_tables(Tensor positions, Tensor centre, Index head_dim, RotaryConfig config = {}) {
    Recorder& recorder = positions.recorder();
    if (head_dim % 2 != 0) {
        recorder.fail(ModelErrorKind::odd_rotary_width) << "rotary_tables: head_dim is " << head_dim;
        return {positions, positions, positions, positions};
    }
    const auto width = static_cast<double>(head_dim);
    const Tensor log_theta = log(recorder.constant(config.theta, DType::f64));
    const Tensor pair = floor(recorder.iota(head_dim, DType::f64) * 0.5);
    const Tensor frequency = cast(exp(-(pair * (2.0 / width)) * log_theta), DType::f32);
    const Tensor half = recorder.iota(head_dim / 2, DType::f64);
    const Tensor half_scale = log((half * 2.0 + 0.4 * width) / (1.4 * width));
    const Tensor log_scale = cast(concatenate(half_scale, half_scale, 0), DType::f32);

    const Tensor angle = positions * frequency;
    const Tensor power = (positions - centre) / config.xpos_scale_base;
    const Tensor scale = exp(power * log_scale);
    const Tensor cosines = cos(angle);
    const Tensor sines = sin(angle);
    return {cosines * scale, sines * scale, cosines / scale, sines / scale};
}

/// Rotates the heads of x: `[batch, samples, variates, positions, heads * head_dim]`, by tables of `rotary_tables`.
constexpr Tensor rotate(Tensor x, Tensor cosine_table, Tensor sine_table) {
    const Index head_dim = cosine_table.extent(-1);
    const Tensor heads = reshape(x, with_last(with_axis(x.shape(), -1, x.extent(-1) / head_dim), head_dim));
    return reshape(heads * cosine_table + rotate_pairs(heads) * sine_table, x.shape());
}

/// Sizes of a rotary embedding; see `RotaryConfig`.
struct RotarySize {
    Index head_dim = 0;
    Index theta = 10000;
    Index xpos_scale_base = 512;
};

/// A rotary embedding with xPos scales for the positions of one call; it has no weights. See `rotary_tables`.
template <RotarySize size>
struct Rotary {
    static_assert(size.head_dim > 0 && size.head_dim % 2 == 0,
                  "totograph: a rotary embedding rotates pairs, so the width of a head must be even.");

    static constexpr Index head_dim = size.head_dim;
    static constexpr Index parameters = 0;
    static constexpr Index parameter_bytes = 0;
    static constexpr Index flops_per_row = 0;

    RotaryTables tables;

    /// `positions` and `centre` are f32 and broadcast to `[batch, 1, 1, positions, 1, 1]`.
    constexpr Rotary(Tensor positions, Tensor centre)
        : tables(rotary_tables(positions, centre, size.head_dim,
                               {.theta = static_cast<double>(size.theta),
                                .xpos_scale_base = static_cast<double>(size.xpos_scale_base)})) {}

    /// The heads of `[batch, samples, variates, positions, heads * head_dim]`, rotated as queries.
    [[nodiscard]] constexpr Tensor query(Tensor x) const { return rotate(x, tables.query_cosine, tables.query_sine); }
    /// Likewise as keys.
    [[nodiscard]] constexpr Tensor key(Tensor x) const { return rotate(x, tables.key_cosine, tables.key_sine); }
    /// Queries of one of the positions, by its index: i32 with one element, or `[batch]`.
    [[nodiscard]] constexpr Tensor query_at(Tensor x, Tensor position) const {
        const Tensor cosines = take(tables.query_cosine, 3, position);
        return rotate(x, cosines, take(tables.query_sine, 3, position));
    }
};

}  // namespace totograph::nn
