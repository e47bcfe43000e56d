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
    nn::CausalMoments moments;  ///< Of all patches, for those who go on from one of them.
};

/// Brings patches to their scales: asinh((x - location) / scale), computed in f64 up to there. Location and scale of a
/// patch are the mean and the deviation (with n - 1) of all that was observed up to its end; where that is fewer than
/// `least` values, of the first `least` of the row, wherever they stand in these patches.
/// @param before  sums of the patches before these; null: there are none
/// @param bound   of the patches, behind which nothing is observed and nobody needs to know more; 0: none
constexpr ScaledPatches scale_patches(Tensor values, Tensor observed, Index least, const RunningMoments* before,
                                      std::int8_t bound = 0) {
    const Shape& patches = values.shape();
    const Shape steps{patches[0], patches[1], patches[2], patches[3] * patches[4]};
    const Tensor marks = reshape(observed, steps);
    const auto moments = nn::causal_moments(reshape(values, steps), &marks, patches[4], least, before, bound);
    const auto of_patches = [](Tensor statistics) { return nn::patchify(statistics, 1); };
    const Tensor location = of_patches(nn::mean_of(moments.of_enough));
    const Tensor scale = of_patches(maximum(sqrt(nn::variance_of(moments.of_enough)), minimum_scale));
    const Tensor standard = (cast(values, DType::f64) - location) / scale;
    const Tensor zero = values.recorder().constant(0);
    return {.values = where(observed, asinh(cast(standard, DType::f32)), zero),
            .missing = 1.0 - observed,
            .location = cast(location, DType::f32),
            .scale = cast(scale, DType::f32),
            .moments = moments};
}

}  // namespace totograph::toto2
