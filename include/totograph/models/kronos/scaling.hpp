// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/kronos/config.hpp>

namespace totograph::kronos {

/// Candles as the tokenizer reads them, f32 `[batch, 1, 1, candles, 6]`, and how to undo it.
struct NormalizedCandles {
    Tensor values;
    Tensor mean;   ///< f32 `[batch, 1, 1, 1, 6]`
    Tensor scale;  ///< Same shape: the standard deviation and 1e-5.
};

/// Brings each column to mean 0 and deviation 1 over the first `length` candles, and clips it. Statistics are f64, so
/// that a constant column is 0; the reference's are f32, and may be off by more than its epsilon there.
///
/// `columns` is `[batch, 1, 6, candles]`, 0 behind the first `length`, which is i32 `[batch]`.
constexpr NormalizedCandles normalize(Tensor columns, Tensor length, double clip) {
    Recorder& r = columns.recorder();
    const Shape& shape = columns.shape();
    const Shape transposed{shape[0], 1, 1, shape[3], shape[2]};
    const Shape of_columns{shape[0], 1, 1, 1, shape[2]};
    const Tensor count = reshape(cast(length, DType::f64), {shape[0], 1, 1, 1});
    const Tensor is_real = less(r.iota(shape[3], DType::f64), count);
    const Tensor x = cast(columns, DType::f64);
    const Tensor mean = sum(x) / count;
    const Tensor centred = (x - mean) * is_real;
    const Tensor scale = sqrt(sum(centred * centred) / count) + KronosConfig::deviation_epsilon;
    const Tensor normalized = cast(centred / scale, DType::f32);
    const Tensor clipped = minimum(maximum(normalized, -clip), clip);
    return {.values = reshape(permute(clipped, {0, 1, 3, 2}), transposed),
            .mean = reshape(cast(mean, DType::f32), of_columns),
            .scale = reshape(cast(scale, DType::f32), of_columns)};
}

}  // namespace totograph::kronos
