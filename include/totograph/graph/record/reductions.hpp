// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/record/elementwise.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/record/tensor.hpp>

namespace totograph {

/// The sum over the last axis, which stays with extent 1.
constexpr Tensor sum(Tensor x) {
    x.recorder().axis_of(x, -1);
    return x.recorder().add(Op::sum, x.dtype(), with_axis(x.shape(), -1, 1), {x});
}

/// The mean over the last axis, which stays with extent 1.
constexpr Tensor mean(Tensor x) {
    x.recorder().axis_of(x, -1);
    return x.recorder().add(Op::mean, x.dtype(), with_axis(x.shape(), -1, 1), {x});
}

/// The largest number of the last axis, which stays with extent 1; NaN where one of them is, as NumPy and PyTorch have
/// it. Of 0 and -0 it is either.
constexpr Tensor amax(Tensor x) {
    x.recorder().axis_of(x, -1);
    return x.recorder().add(Op::amax, x.dtype(), with_axis(x.shape(), -1, 1), {x});
}

/// The smallest number of the last axis, which stays with extent 1; NaN where one of them is. Of 0 and -0 it is either.
/// x is f32 or f64: the smallest i32 has no negative.
constexpr Tensor amin(Tensor x) {
    if (x.dtype() == DType::i32) {
        x.recorder().fail(ModelErrorKind::dtypes_differ) << "amin: i32; cast to f64 before";
    }
    return -amax(-x);
}

/// Running sums along the last axis.
constexpr Tensor cumsum(Tensor x) {
    x.recorder().axis_of(x, -1);
    return x.recorder().add(Op::cumsum, x.dtype(), x.shape(), {x});
}

/// exp(x) / sum(exp(x)) over the last axis.
constexpr Tensor softmax(Tensor x) {
    x.recorder().axis_of(x, -1);
    return x.recorder().add(Op::softmax, x.dtype(), x.shape(), {x});
}

/// The place of the largest number of the last axis, which stays with extent 1, as i32: the first of equal ones, and
/// the first NaN where there is one, as NumPy and PyTorch have it. x is f32.
constexpr Tensor argmax(Tensor x) {
    x.recorder().axis_of(x, -1);
    if (x.dtype() != DType::f32) {
        x.recorder().fail(ModelErrorKind::dtypes_differ) << "argmax: " << name(x.dtype()) << "; cast to f32 before";
    }
    return x.recorder().add(Op::argmax, DType::i32, with_axis(x.shape(), -1, 1), {x});
}

/// The numbers of the last axis in ascending order, NaN last, as NumPy and PyTorch have it. For rows of a few dozen
/// numbers, such as quantiles: a row is sorted by comparing all pairs. x is f32.
constexpr Tensor sort(Tensor x) {
    x.recorder().axis_of(x, -1);
    return x.recorder().add(Op::sort, x.dtype(), x.shape(), {x});
}

}  // namespace totograph
