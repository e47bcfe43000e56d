// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto2/inputs.hpp>
#include <totograph/models/toto2/quantiles.hpp>
#include <totograph/models/toto2/states.hpp>
#include <totograph/nn/kv_cache.hpp>
#include <totograph/nn/patch_embedding.hpp>
#include <totograph/nn/scalers.hpp>

namespace totograph::toto2 {

/// What a session keeps of the stable patches of its context: all but the newest, which a forecast takes for observed
/// whatever is missing in it. Nothing that is appended later changes them. Beside what is here, their keys and values
/// are in the cache `states::context`, whose length says how many they are.
template <class Parts>
class StablePatches {
    static constexpr ForecastSizes sizes = Parts::sizes;
    using Extremes = typename Quantiles<Parts>::Extremes;

public:
    using Cache = typename Parts::ContextCache;

    constexpr explicit StablePatches(const Inputs<Parts>& inputs)
        : inputs_(inputs), r_(&inputs.recorder()), cache_(inputs.recorder(), states::context, states::row_bounds()) {}

    /// How many there are, i32 `[1]`.
    [[nodiscard]] constexpr Tensor count() const { return cache_.length(); }
    /// Sums of their observed values.
    [[nodiscard]] constexpr RunningMoments moments() const {
        return {r_->state(states::stable_count, sums, DType::f64), r_->state(states::stable_total, sums, DType::f64),
                r_->state(states::stable_spread, sums, DType::f64)};
    }
    /// Their extreme values.
    [[nodiscard]] constexpr Extremes extremes() const {
        constexpr Shape row = Quantiles<Parts>::row_shape;
        return {r_->state(states::stable_low, row), r_->state(states::stable_high, row)};
    }
    /// The group of each token by its place in the cache, i32 `[batch, variates, tokens]`; -1 without an observation.
    [[nodiscard]] constexpr Tensor ids() const {
        return r_->state(states::stable_ids, {sizes.batch, sizes.variates, Parts::first_tokens}, DType::i32);
    }

    /// After a pass over the whole context: all its patches but the newest are stable. `token_ids` are those of all
    /// tokens.
    constexpr void begin(const RunningMoments& of_patches, Tensor token_ids) {
        const Tensor length = inputs_.length();
        // One series stands for all, which have the same number of patches; those of padding are never read.
        cache_.keep_first(slice(length, 0, 0, 1) - 1.0);
        const Tensor last = reshape(cast(length, DType::f64) - 2.0, {sizes.batch, 1, 1, 1});
        const Tensor is_last = equal(r_->iota(sizes.context_patches, DType::f64), last);
        // One term of each sum is not 0: there is nothing to round.
        const auto at_last = [&](Tensor x) { return reshape(sum(x * is_last), sums); };
        const RunningMoments state = moments();
        r_->store(state.count, at_last(of_patches.count));
        r_->store(state.total, at_last(of_patches.total));
        r_->store(state.spread, at_last(of_patches.spread));
        if constexpr (Quantiles<Parts>::is_capped) {
            const Tensor newest = reshape(cast(length, DType::f32) - 1.5, {sizes.batch, 1, 1, 1, 1});
            const Tensor is_stable = less(reshape(r_->iota(sizes.context_patches), {sizes.context_patches, 1}), newest);
            const Tensor values = inputs_.values();
            keep(Quantiles<Parts>::extremes(values, inputs_.observed() * is_stable));
        }
        r_->store(ids(), token_ids);
    }

    /// One more is stable: the first of two patches that the moments are of. Its keys, values and id are there
    /// already; `of_all` are the extremes with it, where quantiles are capped.
    constexpr void add(const RunningMoments& of_patches, const Extremes& of_all) {
        const auto at_first = [&](Tensor x) { return reshape(slice(x, -1, 0, 1), sums); };
        const RunningMoments state = moments();
        r_->store(state.count, at_first(of_patches.count));
        r_->store(state.total, at_first(of_patches.total));
        r_->store(state.spread, at_first(of_patches.spread));
        if constexpr (Quantiles<Parts>::is_capped) {
            keep(of_all);
        }
        cache_.advance(1);
    }

private:
    static constexpr Shape sums{sizes.batch, 1, sizes.variates, 1};

    constexpr void keep(const Extremes& found) const {
        const Extremes state = extremes();
        r_->store(state.low, found.low);
        r_->store(state.high, found.high);
    }

    Inputs<Parts> inputs_;
    Recorder* r_;
    Cache cache_;
};

}  // namespace totograph::toto2
