// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

/// Positions `first`, `first + 1`, ... of each series, `count` of them: x is f32 `[batch, 1, variates, positions,
/// width]`, `first` is i32 `[1]` or `[batch]`. A position that is not there gives NaN, or one of another variate: the
/// caller knows that they are.
constexpr Tensor rows_from(Tensor x, Tensor first, Index count) {
    Recorder& recorder = x.recorder();
    if (x.shape().rank != 5 || x.extent(1) != 1) {
        recorder.fail(ModelErrorKind::axis_out_of_range)
            << "rows_from: x must be [batch, 1, variates, positions, width], found " << x.shape();
        return x;
    }
    recorder.check_position(first, x, "rows_from");
    const Index batch = x.extent(0);
    const Index variates = x.extent(2);
    const Index positions = x.extent(3);
    const Tensor row =
        reshape(recorder.iota(batch * variates, DType::i32), {batch, 1, variates, 1}) * static_cast<double>(positions);
    const Tensor begin = row + reshape(first, {first.shape().size(), 1, 1, 1});
    const Tensor ids = begin + recorder.iota(count, DType::i32);
    return embedding(reshape(x, {batch * variates * positions, x.extent(4)}), ids);
}

}  // namespace totograph::nn
