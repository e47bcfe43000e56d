// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/record/elementwise.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/record/movement.hpp>
#include <totograph/graph/record/tensor.hpp>

namespace totograph {

/// x W^T, all f32. x is `[..., in_features]`, `weight` is `[out_features, in_features]` as PyTorch stores it.
/// `weight` may be an expression, but of weights and constants alone: it is packed once, before the first run.
constexpr Tensor linear(Tensor x, Tensor weight) {
    if (weight.id() < 0) {
        x.recorder().fail(ModelErrorKind::tensor_is_missing) << "linear: x of shape " << x.shape() << " has no weight";
        return x;
    }
    if (x.dtype() != DType::f32 || weight.dtype() != DType::f32) {
        x.recorder().fail(ModelErrorKind::dtypes_differ)
            << "linear: x is " << name(x.dtype()) << ", the weight " << name(weight.dtype()) << "; both must be f32";
        return x;
    }
    if (!weight.recorder().is_weight_expression(weight)) {
        x.recorder().fail(ModelErrorKind::linear_weight_varies)
            << "linear: the weight of shape " << weight.shape() << " depends on a state or on an operation of the user";
        return x;
    }
    if (weight.shape().rank != 2 || x.shape().rank < 1 || x.extent(-1) != weight.extent(1)) {
        x.recorder().fail(ModelErrorKind::linear_shapes_differ)
            << "linear: x of shape " << x.shape() << " needs a weight of shape [out_features, in_features] "
            << "whose in_features is x's last extent, found " << weight.shape();
        return x;
    }
    const Shape shape = with_axis(x.shape(), -1, weight.extent(0));
    return x.recorder().add(Op::linear, DType::f32, shape, {x, weight});
}

/// x W^T + b, likewise; `bias` is `[out_features]`.
constexpr Tensor linear(Tensor x, Tensor weight, Tensor bias) {
    const Tensor gemm = linear(x, weight);
    if (bias.id() < 0 || weight.id() < 0) {
        x.recorder().fail(ModelErrorKind::tensor_is_missing) << "linear: x of shape " << x.shape() << " has no bias";
        return x;
    }
    if (!(bias.shape() == Shape{weight.extent(0)})) {
        x.recorder().fail(ModelErrorKind::linear_shapes_differ)
            << "linear: a weight of shape " << weight.shape() << " needs a bias of shape [" << weight.extent(0)
            << "], found " << bias.shape();
        return x;
    }
    return gemm + bias;
}

/// The weight of two linear layers in a row, `second` `[outer, inner]` after `first` `[inner, k]`: their product,
/// `[outer, k]`, accumulated in double before the first run. Both are made of weights and constants alone.
constexpr Tensor compose_weights(Tensor second, Tensor first) {
    Recorder& r = second.recorder();
    if (!r.is_weight_expression(second) || !r.is_weight_expression(first)) {
        r.fail(ModelErrorKind::linear_weight_varies) << "compose_weights: a factor depends on a state";
        return second;
    }
    if (second.shape().rank != 2 || first.shape().rank != 2 || second.extent(1) != first.extent(0)) {
        r.fail(ModelErrorKind::linear_shapes_differ)
            << "compose_weights: " << second.shape() << " after " << first.shape();
        return second;
    }
    const Shape product{1, second.extent(0), first.extent(1)};
    const Tensor batch = reshape(first, {1, first.extent(0), first.extent(1)});
    return reshape(r.add(Op::matmul, DType::f32, product, {second, batch}), {product[1], product[2]});
}

}  // namespace totograph
