// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/forecast_states.hpp>
#include <totograph/models/toto1/scaling.hpp>
#include <totograph/nn/extreme_values.hpp>
#include <totograph/nn/student_t.hpp>

namespace totograph::toto1 {

/// From the head's parameters to the values of one forecast patch.
template <class Parts>
class NextPatch {
public:
    constexpr explicit NextPatch(const ForecastStates& states) : states_(states) {}

    /// The values, `[batch, samples, variates, 1, patch_size]`. `patch` is the index of the patch in the forecast,
    /// `[1]` i32; `known` is its known future where there is one.
    [[nodiscard]] constexpr Tensor record(const nn::StudentTMixture& mixture, Tensor location, Tensor scale,
                                          Tensor patch, Tensor known) const {
        if constexpr (Parts::rewrites.keep_intermediates) {
            tap_distribution(mixture, location, scale);
        }
        const Tensor standard = draw(mixture, patch);
        Tensor next = nn::mark_extreme_values(standard * scale + location);
        if constexpr (sizes.known_future) {
            const Tensor is_known = states_.is_known();
            next = where(is_known, nn::without_marks(known), next);
        }
        const Shape shape{sizes.batch, sizes.samples, sizes.variates, 1, sizes.patch_size};
        return next.shape() == shape ? next : expand(next, shape);
    }

    /// The known future of the first patch, or of the patch at a position; anything where the bucket has none.
    [[nodiscard]] constexpr Tensor known_at_start() const {
        return sizes.known_future ? slice(states_.future(), 3, 0, 1) : states_.recorder().constant(0);
    }
    [[nodiscard]] constexpr Tensor known_at(Tensor patch) const {
        return sizes.known_future ? take(states_.future(), 3, patch) : patch.recorder().constant(0);
    }

private:
    static constexpr ForecastSizes sizes = Parts::sizes;

    /// Samples on the scale of the model, or the mean.
    [[nodiscard]] constexpr Tensor draw(const nn::StudentTMixture& mixture, Tensor patch) const {
        if constexpr (sizes.is_sampled) {
            const Tensor seed = states_.seed();
            return nn::sample(mixture, sizes.samples, seed, states_.first_draw(), patch);
        }
        return nn::mixture_mean(mixture);
    }

    constexpr void tap_distribution(const nn::StudentTMixture& mixture, Tensor location, Tensor scale) const {
        // The first patch is the same for all samples, later ones are not: taps of both have room for all.
        const auto tap_each = [&](std::string_view name, Tensor x) {
            const Shape shape = with_axis(x.shape(), 1, sizes.samples);
            Parts::tap(name, x.shape() == shape ? x : expand(x, shape));
        };
        tap_each("tap.df", mixture.degrees_of_freedom);
        tap_each("tap.loc", mixture.location);
        tap_each("tap.scale", mixture.scale);
        tap_each("tap.probs", mixture.probability);
        const Tensor mean = nn::mixture_mean(mixture);
        tap_each("tap.mean", nn::replace_extreme_values(mean * scale + location));
        tap_each("tap.variance", nn::mixture_variance(mixture) * scale * scale);
        tap_each("tap.affine_loc", location);
        tap_each("tap.affine_scale", scale);
    }

    ForecastStates states_;
};

/// The parameters of the distribution of one patch.
constexpr nn::StudentTMixture of_patch(const nn::StudentTMixture& mixture, Tensor patch) {
    if (mixture.location.extent(3) == 1) {
        return mixture;
    }
    const Tensor freedom = take(mixture.degrees_of_freedom, 3, patch);
    const Tensor location = take(mixture.location, 3, patch);
    const Tensor scale = take(mixture.scale, 3, patch);
    return {freedom, location, scale, take(mixture.probability, 3, patch)};
}

}  // namespace totograph::toto1
