// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/patch_embedding.hpp>
#include <totograph/nn/scalers.hpp>

namespace totograph::toto2 {

/// The smallest scale.
inline constexpr double minimum_scale = 1e-6;

/// Patches as the network reads them, and how to undo it.
struct ScaledPatches {
    Tensor values;    ///< f32 `[batch, 1, variates, patches, patch_size]`, 0 where nothing was observed.
    Tensor missing;   ///< f32, same shape: 1 where nothing was observed.
    Tensor location;  ///< f32 `[batch, 1, variates, patches, 1]`.
    Tensor scale;
    nn::CausalMoments moments;  ///< Of all steps, for those who go on from one of them.
};

/// Location and scale of each patch, f64 `[batch, 1, variates, patches, 1]`.
struct PatchStatistics {
    Tensor location;
    Tensor scale;
    nn::CausalMoments moments;
};

/// The mean and the deviation (with n - 1) of all that was observed up to the end of each patch. Where that is fewer
/// than `least` values, those of the first `least` of the row, wherever they stand in these patches, unless so many are
/// `before` them.
/// @param before  null: there are none
/// @param bound   of the steps, behind which nothing is observed and nobody needs to know more; 0: none
constexpr PatchStatistics patch_statistics(Tensor values, Tensor observed, Index least,
                                           const nn::RunningMoments* before, std::int8_t bound = 0) {
    const Shape& patches = values.shape();
    const Index patch_size = patches[4];
    const Shape rows{patches[0], patches[1], patches[2]};
    const Shape steps = with_last(rows, patches[3] * patch_size);
    const Tensor weight = reshape(observed, steps);
    const auto moments = nn::causal_moments(reshape(values, steps), weight, before);
    if (bound > 0) {
        values.recorder().bound(moments.mean, 3, bound);
        values.recorder().bound(moments.variance, 3, bound);
    }
    const auto at_ends = [&](Tensor x) { return slice(nn::patchify(x, patch_size), -1, patch_size - 1, 1); };
    const auto scale_of = [](Tensor variance) { return maximum(sqrt(variance), minimum_scale); };
    Tensor location = at_ends(moments.mean);
    Tensor scale = scale_of(at_ends(moments.variance));
    if (least > 0) {
        const auto enough = static_cast<double>(least);
        // One step of a row is the one that completes the first so many: the sums have one term, and no order. None
        // behind a bound does, whatever stands there.
        const Tensor completing = minimum(moments.running.count, enough);
        const auto at_completion = [&](Tensor x) {
            const Tensor completes = cast(weight, DType::f64) * equal(moments.count, completing);
            return sum(where(completes, x, values.recorder().constant(0, DType::f64)));
        };
        const auto if_short = [&](Tensor of_first, Tensor own) {
            const Tensor is_short = less(at_ends(moments.count), enough);
            return where(is_short, reshape(of_first, with_last(with_last(rows, 1), 1)), own);
        };
        location = if_short(at_completion(moments.mean), location);
        scale = if_short(scale_of(at_completion(moments.variance)), scale);
    }
    return {location, scale, moments};
}

/// Brings patches to their scales: asinh((x - location) / scale), computed in f64 up to there. `before` are the sums of
/// the patches before these, null where there are none; `bound` is that of `patch_statistics`.
constexpr ScaledPatches scale_patches(Tensor values, Tensor observed, Index least, const nn::RunningMoments* before,
                                      std::int8_t bound = 0) {
    const PatchStatistics statistics = patch_statistics(values, observed, least, before, bound);
    const Tensor standard = (cast(values, DType::f64) - statistics.location) / statistics.scale;
    const Tensor zero = values.recorder().constant(0);
    return {.values = where(observed, asinh(cast(standard, DType::f32)), zero),
            .missing = 1.0 - observed,
            .location = cast(statistics.location, DType::f32),
            .scale = cast(statistics.scale, DType::f32),
            .moments = statistics.moments};
}

}  // namespace totograph::toto2
