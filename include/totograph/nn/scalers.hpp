// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>

namespace totograph::nn {

/// The mean of what has been observed: 0 where nothing was.
constexpr Tensor mean_of(const RunningMoments& moments) {
    return moments.total / maximum(moments.count, 1.0);
}

/// Its variance, with Bessel's correction: 0 of one value.
constexpr Tensor variance_of(const RunningMoments& moments) {
    return moments.spread / maximum(moments.count - 1.0, 1.0);
}

/// Causal moments, f64, each `[batch, samples, variates, groups]`.
struct CausalMoments {
    RunningMoments at_ends;  ///< Of all that is observed up to the end of each group of steps.
    /// The same, but where that is too few values, those of the first so many of the row.
    RunningMoments of_enough;
    RunningMoments running;  ///< After the last step, `[batch, samples, variates, 1]`: all that later steps need.
};

/// Causal moments of x, f32 `[batch, samples, variates, steps]`, by `running_moments`, which tells what `observed`
/// (null: all is) and `before` (null: nothing) are. Whoever wants them of each step asks for groups of one.
/// @param enough  values; 0: `of_enough` is `at_ends`
/// @param bound   of groups, behind which nothing is observed and nobody needs to know more, `running` neither; 0: none
constexpr CausalMoments causal_moments(Tensor x, const Tensor* observed, Index group, Index enough = 0,
                                       const RunningMoments* before = nullptr, std::int8_t bound = 0) {
    const Tensor moments = running_moments(x, observed, group, enough, before);
    if (bound > 0) {
        x.recorder().bound(moments, -1, bound);
    }
    const Shape ends = with_axis(x.shape(), -1, moments.extent(-1));
    const auto row = [&](Index kind) { return reshape(slice(moments, -2, kind, 1), ends); };
    const RunningMoments at_ends{row(0), row(1), row(2)};
    const auto last = [&](Tensor sums) { return slice(sums, -1, sums.extent(-1) - 1, 1); };
    return {at_ends,
            enough > 0 ? RunningMoments{row(3), row(4), row(5)} : at_ends,
            {last(at_ends.count), last(at_ends.total), last(at_ends.spread)}};
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
