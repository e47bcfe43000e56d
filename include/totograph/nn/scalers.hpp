// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

/// Running sums of a causal scaler, f64 `[batch, samples, variates, 1]`: all that later steps need of the past.
struct RunningMoments {
    Tensor count;   ///< Observed steps.
    Tensor total;   ///< Sum of their values.
    Tensor spread;  ///< Sum of (x - mean before) * (x - mean after): Welford's M2.
};

/// Mean and variance of the observed values up to each step, f64 `[batch, samples, variates, steps]`.
struct CausalMoments {
    Tensor mean;
    Tensor variance;
    RunningMoments running;  ///< After the last step.
    // Sums up to each step.
    Tensor count;
    Tensor total;
    Tensor spread;
};

/// No steps seen yet.
constexpr RunningMoments no_moments(Recorder& recorder, const Shape& rows) {
    const Tensor zero = expand(recorder.constant(0, DType::f64), with_last(rows, 1));
    return {zero, zero, zero};
}

/// Causal moments by Welford's update (https://doi.org/10.1080/00401706.1962.10490022), in f64, with Bessel's
/// correction. x is f32 `[batch, samples, variates, steps]`, `observed` likewise with 1 for observed values and 0 for
/// missing ones, which count nothing.
constexpr CausalMoments causal_moments(Tensor x, Tensor observed, const RunningMoments& before) {
    const Tensor value = cast(x, DType::f64);
    const Tensor weight = cast(observed, DType::f64);
    const int axis = x.shape().rank - 1;
    const Index steps = x.extent(-1);

    const Tensor count = cumsum(weight) + before.count;
    const Tensor total = cumsum(weight * value) + before.total;
    const Tensor divisor = maximum(count, 1.0);
    const Tensor mean = total / divisor;
    const Tensor mean_before = before.total / maximum(before.count, 1.0);
    const Tensor shifted = steps == 1 ? mean_before : concatenate(mean_before, slice(mean, axis, 0, steps - 1), axis);
    const Tensor increment = (value - shifted) * (value - mean) * weight;
    const Tensor spread = cumsum(increment) + before.spread;
    const Tensor variance = spread / maximum(divisor - 1.0, 1.0);

    const auto last = [&](Tensor tensor) { return slice(tensor, axis, steps - 1, 1); };
    return {mean, variance, {last(count), last(total), last(spread)}, count, total, spread};
}

/// Mean and standard deviation over all observed values, f64 `[batch, samples, variates, 1]`:
/// sqrt(variance + minimum_scale), without Bessel's correction.
struct GlobalStatistics {
    Tensor mean;
    Tensor scale;
};

constexpr GlobalStatistics global_statistics(Tensor x, Tensor observed, double minimum_scale) {
    const Tensor value = cast(x, DType::f64);
    const Tensor weight = cast(observed, DType::f64);
    const Tensor divisor = maximum(sum(weight), 1.0);
    const Tensor mean = sum(value * weight) / divisor;
    const Tensor deviation = (value - mean) * weight;
    return {mean, sqrt(sum(deviation * deviation) / divisor + minimum_scale)};
}

/// Keeps a causal scale between global * 10^-exponent and global * 10^exponent.
constexpr Tensor stabilize(Tensor causal_scale, Tensor global_scale, double smallest_factor, double largest_factor,
                           double minimum_scale) {
    const Tensor low = maximum(global_scale * smallest_factor, minimum_scale);
    return minimum(maximum(causal_scale, low), global_scale * largest_factor);
}

}  // namespace totograph::nn
