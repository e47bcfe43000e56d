// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

namespace detail {

/// Whether a tensor has rows of positions of one sample; a mistake where it has not.
constexpr bool check_rows(Tensor x, std::string_view what) {
    if (x.shape().rank == 5 && x.extent(1) == 1) {
        return true;
    }
    x.recorder().fail(ModelErrorKind::axis_out_of_range)
        << what << ": x must be [batch, 1, variates, positions, width], found " << x.shape();
    return false;
}

}  // namespace detail

/// Where positions `first`, `first + 1`, ... of each series, `count` of them, are among all rows of a tensor `[batch,
/// 1, variates, positions, width]`: i32 `[batch, 1, variates, count]`. `first` is i32 `[1]` or `[batch]`.
constexpr Tensor row_places(Tensor first, Index batch, Index variates, Index positions, Index count) {
    Recorder& recorder = first.recorder();
    const Tensor row =
        reshape(recorder.iota(batch * variates, DType::i32), {batch, 1, variates, 1}) * static_cast<double>(positions);
    const Tensor begin = row + reshape(first, {first.shape().size(), 1, 1, 1});
    return begin + recorder.iota(count, DType::i32);
}

/// The rows of x at places that `row_places` gave for its shape: x is f32 `[batch, 1, variates, positions, width]`. A
/// place that is not there gives NaN.
constexpr Tensor rows_at(Tensor x, Tensor places) {
    if (!detail::check_rows(x, "rows_at")) {
        return x;
    }
    return embedding(reshape(x, {x.shape().rows(), x.extent(-1)}), places);
}

/// Positions `first`, `first + 1`, ... of each series, `count` of them: x is f32 `[batch, 1, variates, positions,
/// width]`, `first` is i32 `[1]` or `[batch]`. A position that is not there gives NaN, or one of another variate: the
/// caller knows that they are.
constexpr Tensor rows_from(Tensor x, Tensor first, Index count) {
    if (!detail::check_rows(x, "rows_from")) {
        return x;
    }
    x.recorder().check_position(first, x, "rows_from");
    return rows_at(x, row_places(first, x.extent(0), x.extent(2), x.extent(3), count));
}

}  // namespace totograph::nn
