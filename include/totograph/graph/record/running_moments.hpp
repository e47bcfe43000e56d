// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/record/model_error.hpp>
#include <totograph/graph/record/tensor.hpp>

namespace totograph {

/// What observed values add up to, f64 and all of one shape. Of no value, all three are 0.
struct RunningMoments {
    Tensor count;   ///< How many.
    Tensor total;   ///< Their sum.
    Tensor spread;  ///< The sum of (x - mean)^2, mean that of these values: Welford's M2.
};

/// Running moments of observed values along the last axis, added up group by group
/// (https://doi.org/10.1007/978-3-642-51461-6_3), told at the end of each `group` of steps: f64 `[..., 3, steps /
/// group]`, which are count, total and spread of `RunningMoments`. With `least` above 0 the result is `[..., 6, steps /
/// group]`. Behind these three follow the same, but where they are of fewer values than `least`, those of the first
/// `least` of the row, or of all it has, if it has fewer.
///
/// x is f32 `[..., steps]`; `observed` likewise, 1 for values that count and 0 for others, whatever these are, or null:
/// all count. Where groups are bounded, nothing may be observed behind the bound: executors may look there or not.
/// @param before  what steps before these have added up to, `[..., 1]`; null: there are none
constexpr Tensor running_moments(Tensor x, const Tensor* observed, Index group, Index least = 0,
                                 const RunningMoments* before = nullptr) {
    Recorder& r = x.recorder();
    const int axis = r.axis_of(x, -1);
    const Index steps = x.extent(-1);
    const bool has_groups = group > 0 && steps % group == 0;
    if (!has_groups) {
        r.fail(ModelErrorKind::moments_shapes_differ)
            << "running_moments: " << steps << " steps are no whole groups of " << group;
    }
    const auto check = [&](Tensor input, const Shape& shape, DType dtype) {
        if (input.shape() != shape) {
            r.fail(ModelErrorKind::moments_shapes_differ)
                << "running_moments: " << input.shape() << ", expected " << shape;
        }
        if (input.dtype() != dtype) {
            r.fail(ModelErrorKind::dtypes_differ)
                << "running_moments: " << name(input.dtype()) << "; cast to " << name(dtype) << " before";
        }
    };
    check(x, x.shape(), DType::f32);
    if (observed != nullptr) {
        check(*observed, x.shape(), DType::f32);
    }
    const Shape result = with_last(with_axis(x.shape(), -1, least > 0 ? 6 : 3), has_groups ? steps / group : 1);
    const auto add = [&](std::initializer_list<Tensor> inputs) {
        return r.add(Op::running_moments, DType::f64, result, inputs, {axis, group, least});
    };
    if (before == nullptr) {
        return observed == nullptr ? add({x}) : add({x, *observed});
    }
    const auto& [count, total, spread] = *before;
    for (const Tensor& sums : {count, total, spread}) {
        check(sums, with_axis(x.shape(), -1, 1), DType::f64);
    }
    return observed == nullptr ? add({x, count, total, spread}) : add({x, *observed, count, total, spread});
}

}  // namespace totograph
