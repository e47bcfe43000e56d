// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/forecast_states.hpp>
#include <totograph/models/toto1/scaling.hpp>

namespace totograph::toto1 {

/// The whole series, for programs that read it again at each step.
template <class Parts>
class History {
public:
    constexpr explicit History(const ForecastStates& states) : states_(states) {}

    /// Begins with the context.
    constexpr void begin() const {
        const Shape patches{sizes.batch, 1, sizes.variates, sizes.context_patches, sizes.patch_size};
        const Shape widened = with_axis(patches, 1, sizes.samples);
        Recorder& r = states_.recorder();
        const Tensor values = states_.history();
        r.store(values, expand(reshape(states_.series(), patches), widened), 3, 0);
        const Tensor observed = states_.history_observed();
        r.store(observed, expand(reshape(states_.observed(), patches), widened), 3, 0);
        const Tensor length = states_.history_length();
        r.store(length, states_.length());
    }

    /// Appends the last forecast patch; gives the position that it took.
    [[nodiscard]] constexpr Tensor append(Tensor patch) const {
        Recorder& r = states_.recorder();
        const Tensor ones = expand(r.constant(1.0), patch.shape());
        const Tensor values = states_.history();
        r.store_at(values, patch, 3, states_.history_length());
        const Tensor observed = states_.history_observed();
        r.store_at(observed, ones, 3, states_.history_length());
        return states_.history_length();
    }

    /// All of it on a common scale.
    [[nodiscard]] constexpr ScaledPatches scale() const {
        const Shape flat{sizes.batch, sizes.samples, sizes.variates, sizes.all_patches() * sizes.patch_size};
        const Tensor values = reshape(states_.history(), flat);
        const Tensor observed = reshape(states_.history_observed(), flat);
        const auto global = ScalerState(states_.recorder(), sizes).global();
        return scale_series(values, observed, global, Parts::config);
    }

    /// Appends a patch and gives it on the scale of the whole.
    [[nodiscard]] constexpr ScaledPatches append_and_scale(Tensor patch) const {
        const Tensor position = append(patch);
        const ScaledPatches all = scale();
        const Tensor patches = take(all.patches, 3, position);
        const Tensor location = of_patch(all.location, position);
        const Tensor scale = of_patch(all.scale, position);
        states_.recorder().store(states_.history_length(), position + 1.0);
        return {patches, location, scale};
    }

    /// The groups of the context, then those of its last patch for all patches after it.
    [[nodiscard]] constexpr Tensor groups() const {
        const Tensor last = slice(states_.groups(), 2, sizes.context_patches - 1, 1);
        const Tensor context = states_.groups();
        return concatenate(context, expand(last, Shape{sizes.batch, sizes.variates, sizes.steps}), 2);
    }

private:
    static constexpr ForecastSizes sizes = Parts::sizes;
    ForecastStates states_;
};

}  // namespace totograph::toto1
