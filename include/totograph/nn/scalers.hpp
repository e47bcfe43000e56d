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

/// Causal moments by Welford's update (https://doi.org/10.1080/00401706.1962.10490022), in f64, with Bessel's
/// correction. x is f32 `[batch, samples, variates, steps]`, `observed` likewise with 1 for observed values and 0 for
/// missing ones, which count nothing.
/// @param before  of the steps before these; null: there are none
constexpr CausalMoments causal_moments(Tensor x, Tensor observed, const RunningMoments* before = nullptr) {
    const int axis = x.shape().rank - 1;
    const Index steps = x.extent(-1);
    const auto since = [&](Tensor sums, Tensor RunningMoments::*kind) {
        return before == nullptr ? sums : sums + before->*kind;
    };

    const Tensor count = since(cumsum(cast(observed, DType::f64)), &RunningMoments::count);
    const Tensor total = since(cumsum(cast(observed, DType::f64) * cast(x, DType::f64)), &RunningMoments::total);
    const Tensor mean = total / maximum(count, 1.0);
    // By the mean before each step: the first one apart, so that no tensor holds means that are moved by a step.
    const auto increments = [&](Index begin, Index number, Tensor mean_before) {
        const auto some = [&](Tensor tensor) { return slice(tensor, axis, begin, number); };
        const auto value = [&] { return cast(some(x), DType::f64); };
        return (value() - mean_before) * (value() - some(mean)) * cast(some(observed), DType::f64);
    };
    const Tensor first = increments(
        0, 1, before == nullptr ? x.recorder().constant(0, DType::f64) : before->total / maximum(before->count, 1.0));
    const Tensor increment =
        steps == 1 ? first : concatenate(first, increments(1, steps - 1, slice(mean, axis, 0, steps - 1)), axis);
    const Tensor spread = since(cumsum(increment), &RunningMoments::spread);
    const Tensor variance = spread / maximum(count - 1.0, 1.0);

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
