// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/record/custom.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/record/tensor.hpp>

namespace totograph {

namespace detail {

constexpr Tensor unary(Op op, Tensor x) {
    return x.recorder().add(op, x.dtype(), x.shape(), {x});
}

constexpr Tensor binary(Op op, Tensor a, Tensor b) {
    const Shape shape = broadcast(a.shape(), b.shape());
    if (shape.rank < 0) {
        a.recorder().fail(ModelErrorKind::shapes_do_not_broadcast)
            << name(op) << ": " << a.shape() << " and " << b.shape();
        return a;
    }
    if (a.dtype() != b.dtype()) {
        a.recorder().fail(ModelErrorKind::dtypes_differ)
            << name(op) << ": " << name(a.dtype()) << " and " << name(b.dtype()) << "; cast one of them";
    }
    return a.recorder().add(op, a.dtype(), shape, {a, b});
}

constexpr Tensor scalar(Tensor like, double value) {
    return like.recorder().constant(value, like.dtype());
}

}  // namespace detail

/// a + b, with broadcasting.
constexpr Tensor operator+(Tensor a, Tensor b) {
    return detail::binary(Op::add, a, b);
}
/// a - b, with broadcasting.
constexpr Tensor operator-(Tensor a, Tensor b) {
    return detail::binary(Op::subtract, a, b);
}
/// a * b, element by element, with broadcasting.
constexpr Tensor operator*(Tensor a, Tensor b) {
    return detail::binary(Op::multiply, a, b);
}
/// a / b, with broadcasting. Of i32 the quotient towards zero, as in C++; by 0, and of the least number by -1, the
/// nearest value that i32 has, and 0 / 0 is 0.
constexpr Tensor operator/(Tensor a, Tensor b) {
    return detail::binary(Op::divide, a, b);
}
/// a + b with a number of the dtype of a.
constexpr Tensor operator+(Tensor a, double b) {
    return a + detail::scalar(a, b);
}
/// a - b with a number of the dtype of a.
constexpr Tensor operator-(Tensor a, double b) {
    return a - detail::scalar(a, b);
}
/// a * b with a number of the dtype of a.
constexpr Tensor operator*(Tensor a, double b) {
    return a * detail::scalar(a, b);
}
/// a / b with a number of the dtype of a.
constexpr Tensor operator/(Tensor a, double b) {
    return a / detail::scalar(a, b);
}
/// a + b with a number of the dtype of b.
constexpr Tensor operator+(double a, Tensor b) {
    return detail::scalar(b, a) + b;
}
/// a - b with a number of the dtype of b.
constexpr Tensor operator-(double a, Tensor b) {
    return detail::scalar(b, a) - b;
}
/// a * b with a number of the dtype of b.
constexpr Tensor operator*(double a, Tensor b) {
    return detail::scalar(b, a) * b;
}
/// a / b with a number of the dtype of b.
constexpr Tensor operator/(double a, Tensor b) {
    return detail::scalar(b, a) / b;
}
/// -x.
constexpr Tensor operator-(Tensor x) {
    return detail::unary(Op::negative, x);
}

/// The larger of two, with broadcasting; NaN where one of them is.
constexpr Tensor maximum(Tensor a, Tensor b) {
    return detail::binary(Op::maximum, a, b);
}
/// The smaller of two, with broadcasting; NaN where one of them is.
constexpr Tensor minimum(Tensor a, Tensor b) {
    return detail::binary(Op::minimum, a, b);
}
/// The larger of a and a number of its dtype.
constexpr Tensor maximum(Tensor a, double b) {
    return maximum(a, detail::scalar(a, b));
}
/// The smaller of a and a number of its dtype.
constexpr Tensor minimum(Tensor a, double b) {
    return minimum(a, detail::scalar(a, b));
}
/// 1 where a < b, else 0, also where one of them is NaN.
constexpr Tensor less(Tensor a, Tensor b) {
    return detail::binary(Op::less, a, b);
}
/// 1 where a < b, else 0.
constexpr Tensor less(Tensor a, double b) {
    return less(a, detail::scalar(a, b));
}
/// 1 where a equals b, else 0, also where one of them is NaN.
constexpr Tensor equal(Tensor a, Tensor b) {
    return detail::binary(Op::equal, a, b);
}
/// 1 where a equals b, else 0.
constexpr Tensor equal(Tensor a, double b) {
    return equal(a, detail::scalar(a, b));
}
/// |x|.
constexpr Tensor abs(Tensor x) {
    return detail::unary(Op::abs, x);
}
/// The largest whole number that is not above x.
constexpr Tensor floor(Tensor x) {
    return detail::unary(Op::floor, x);
}
/// e^x.
constexpr Tensor exp(Tensor x) {
    return detail::unary(Op::exp, x);
}
/// The natural logarithm.
constexpr Tensor log(Tensor x) {
    return detail::unary(Op::log, x);
}
/// sin x, of radians.
constexpr Tensor sin(Tensor x) {
    return detail::unary(Op::sin, x);
}
/// cos x, of radians.
constexpr Tensor cos(Tensor x) {
    return detail::unary(Op::cos, x);
}
/// The square root; NaN below 0.
constexpr Tensor sqrt(Tensor x) {
    return detail::unary(Op::sqrt, x);
}
/// 1 / sqrt(x).
constexpr Tensor rsqrt(Tensor x) {
    return detail::unary(Op::rsqrt, x);
}
/// 1 / (1 + exp(-x)).
constexpr Tensor sigmoid(Tensor x) {
    return detail::unary(Op::sigmoid, x);
}
/// x * sigmoid(x).
constexpr Tensor silu(Tensor x) {
    return detail::unary(Op::silu, x);
}
/// log(1 + exp(x)).
constexpr Tensor softplus(Tensor x) {
    return detail::unary(Op::softplus, x);
}
/// tanh x.
constexpr Tensor tanh(Tensor x) {
    return detail::unary(Op::tanh, x);
}
/// sinh x.
constexpr Tensor sinh(Tensor x) {
    return detail::unary(Op::sinh, x);
}
/// The number whose sinh is x.
constexpr Tensor asinh(Tensor x) {
    return detail::unary(Op::asinh, x);
}
/// The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
constexpr Tensor erf(Tensor x) {
    return detail::unary(Op::erf, x);
}
/// The larger of x and 0; NaN where x is.
constexpr Tensor relu(Tensor x) {
    return maximum(x, 0.0);
}
/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))): PyTorch's `gelu` with `approximate="tanh"`. Its default, which
/// differs from this by up to 0.0005, is `gelu_erf`.
constexpr Tensor gelu(Tensor x) {
    return detail::unary(Op::gelu, x);
}
/// x / 2 (1 + erf(x / sqrt(2))): PyTorch's `gelu` as it is by default (https://arxiv.org/abs/1606.08415).
constexpr Tensor gelu_erf(Tensor x) {
    constexpr double half_root = 0.70710678118654752440;
    return x * 0.5 * (1.0 + erf(x * half_root));
}

/// `yes` where `condition` is not 0, else `no`.
constexpr Tensor where(Tensor condition, Tensor yes, Tensor no) {
    const Shape values = broadcast(yes.shape(), no.shape());
    const Shape shape = values.rank < 0 ? values : broadcast(condition.shape(), values);
    if (shape.rank < 0) {
        yes.recorder().fail(ModelErrorKind::shapes_do_not_broadcast)
            << "where: " << condition.shape() << ", " << yes.shape() << " and " << no.shape();
        return yes;
    }
    if (yes.dtype() != no.dtype() || yes.dtype() != condition.dtype()) {
        yes.recorder().fail(ModelErrorKind::dtypes_differ) << "where: condition and both values need one dtype";
    }
    return yes.recorder().add(Op::where, yes.dtype(), shape, {condition, yes, no});
}

/// x in another dtype. To i32 it goes towards zero, to the nearest i32 for what has none, and to 0 for NaN.
constexpr Tensor cast(Tensor x, DType dtype) {
    return x.dtype() == dtype ? x : x.recorder().add(Op::cast, dtype, x.shape(), {x});
}

/// (x0, x1) becomes (-x1, x0) for each pair of the last axis.
constexpr Tensor rotate_pairs(Tensor x) {
    if (x.shape().rank == 0 || x.extent(-1) % 2 != 0) {
        x.recorder().fail(ModelErrorKind::odd_rotary_width)
            << "rotate_pairs: the last axis of shape " << x.shape() << " must be even";
    }
    return detail::unary(Op::rotate_pairs, x);
}

/// An elementwise operation of the user (see `CustomOperation`), on tensors of one dtype, which it computes in.
template <class Operation, std::same_as<Tensor>... More>
constexpr Tensor apply(Tensor x, More... more) {
    static_assert(detail::arguments_of<Operation> == 1 + sizeof...(More),
                  "totograph: an elementwise operation has `template <class T> static T apply(T x, ...)`, which takes "
                  "one to three arguments: as many as there are tensors that it is applied to.");
    Shape shape = x.shape();
    [[maybe_unused]] const auto extend = [&](Tensor other) {  // unused when there is one argument
        if (shape.rank >= 0) {
            shape = broadcast(shape, other.shape());
        }
    };
    (extend(more), ...);
    if (shape.rank < 0) {
        x.recorder().fail(ModelErrorKind::shapes_do_not_broadcast)
            << detail::name_of_operation<Operation>() << ": its inputs do not broadcast to one shape";
        return x;
    }
    if (((more.dtype() != x.dtype()) || ...)) {
        x.recorder().fail(ModelErrorKind::dtypes_differ)
            << detail::name_of_operation<Operation>() << ": its inputs need one dtype";
    }
    return x.recorder().add_custom(Op::custom_elementwise, custom_operation<Operation>, x.dtype(), shape, {x, more...});
}

/// An opaque operation of the user (see `CustomOperation`). The output has the dtype of the first tensor; it must
/// compute in those of all.
template <class Operation, std::same_as<Tensor>... More>
constexpr Tensor opaque(Tensor x, More... more) {
    constexpr bool has_shape = detail::HasShapeOf<Operation, Shape, std::remove_cvref_t<decltype(more.shape())>...>;
    static_assert(
        has_shape,
        "totograph: an opaque operation has `static constexpr Shape shape(Shape input, ...)`, the shape of its "
        "output, which takes that of each tensor that it is applied to.");
    if constexpr (!has_shape) {
        return x;
    } else {
        return x.recorder().add_custom(Op::opaque, custom_operation<Operation>, x.dtype(),
                                       Operation::shape(x.shape(), more.shape()...), {x, more...});
    }
}

}  // namespace totograph
