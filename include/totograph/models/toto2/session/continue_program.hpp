// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/inputs.hpp>
#include <totograph/models/toto2/parts.hpp>
#include <totograph/models/toto2/projections.hpp>
#include <totograph/models/toto2/quantiles.hpp>
#include <totograph/models/toto2/scaling.hpp>
#include <totograph/models/toto2/session/continued_pass.hpp>
#include <totograph/models/toto2/session/stable_patches.hpp>
#include <totograph/models/toto2/stack.hpp>
#include <totograph/models/toto2/states.hpp>

namespace totograph::toto2 {

/// Goes on from a context of which all patches are stable but the one that was the newest: that one becomes stable
/// as it was observed, then comes a newer one, and what follows it is forecast.
template <Toto2Model Model, Bucket bucket>
struct Continue {
    using Parts = toto2::Parts<Model, bucket>;

    static constexpr void record(Recorder& r) {
        const Inputs<Parts> inputs(r);
        StablePatches<Parts> stable(inputs);
        const Tensor values = r.state(states::newest, both);
        const Tensor given = r.state(states::newest_observed, both);
        const Tensor former = slice(given, 3, 0, 1);
        // The newest patch counts as observed, whatever the caller says.
        const Tensor observed = concatenate(former, expand(r.constant(1), one), 3);
        const RunningMoments before = stable.moments();
        const ScaledPatches scaled = scale_patches(values, observed, Parts::inference.scaler_fallback_min_obs, &before);
        const Tensor location = slice(scaled.location, 3, 1, 1);
        const Tensor scale = slice(scaled.scale, 3, 1, 1);
        const auto newest = inputs.newest();
        const Tensor id = id_of(newest, former);
        r.store_at(stable.ids(), id, 2, stable.count());
        const Quantiles<Parts> quantiles(inputs);
        const auto extremes = keep_bounds(quantiles, stable, values, observed, scale);

        ContinuedPass<Parts> pass(inputs);
        const Tensor ids = concatenate(id, newest.groups_of(Parts::continued_tokens - 1), 2);
        const Tensor head = Projections<Parts>::head(Stack<Parts>::record(tokens(scaled), ids, pass));
        r.store(inputs.forecast(), Quantiles<Parts>::as_result(quantiles.record(head, location, scale)), 3, 0);
        stable.add(scaled.moments.at_ends, extremes);
    }

private:
    static constexpr ForecastSizes sizes = Parts::sizes;
    static constexpr Shape both{sizes.batch, 1, sizes.variates, 2, sizes.patch_size};
    static constexpr Shape one{sizes.batch, 1, sizes.variates, 1, sizes.patch_size};
    using Extremes = typename Quantiles<Parts>::Extremes;

    /// The group of the patch that becomes stable, i32 `[batch, variates, 1]`; -1 where nothing of it was observed.
    static constexpr Tensor id_of(const typename Inputs<Parts>::Newest& newest, Tensor observed) {
        const Tensor count = reshape(cast(sum(observed), DType::i32), {sizes.batch, sizes.variates, 1});
        return where(equal(count, 0), observed.recorder().constant(-1, DType::i32), newest.groups);
    }

    /// Bounds of the quantiles with the newest patch. Gives the extremes without it.
    static constexpr Extremes keep_bounds(const Quantiles<Parts>& quantiles, const StablePatches<Parts>& stable,
                                          Tensor values, Tensor observed, Tensor scale) {
        if constexpr (Quantiles<Parts>::is_capped) {
            const auto with = [&](const Extremes& before, Index patch) {
                const Tensor of_patch = slice(values, 3, patch, 1);
                const Extremes found = Quantiles<Parts>::extremes(of_patch, slice(observed, 3, patch, 1));
                return Extremes{minimum(before.low, found.low), maximum(before.high, found.high)};
            };
            const Extremes former = with(stable.extremes(), 0);
            quantiles.keep_bounds(with(former, 1), scale);
            return former;
        } else {
            return {};
        }
    }

    /// Both patches, then patches of which nothing is known.
    static constexpr Tensor tokens(const ScaledPatches& scaled) {
        using Projections = toto2::Projections<Parts>;
        Recorder& r = scaled.values.recorder();
        constexpr Index ahead = Parts::continued_tokens - 2;
        if constexpr (ahead == 0) {
            return Projections::embed(scaled.values, scaled.missing);
        } else if constexpr (Parts::rewrites.constant_unknown) {
            const Tensor x = Projections::embed(scaled.values, scaled.missing);
            return concatenate(x, expand(Projections::embed_unknown(r), with_axis(x.shape(), 3, ahead)), 3);
        } else {
            const Shape behind = with_axis(one, 3, ahead);
            return Projections::embed(concatenate(scaled.values, expand(r.constant(0), behind), 3),
                                      concatenate(scaled.missing, expand(r.constant(1), behind), 3));
        }
    }
};

}  // namespace totograph::toto2
