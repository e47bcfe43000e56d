// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>

namespace totograph {

/// What a bucket comes to for a model that reads and forecasts whole patches of steps. A model without patches has
/// patches of one step.
struct ForecastSizes {
    Index batch;
    Index samples;  ///< Futures that are forecast: 1 where nothing is sampled.
    bool is_sampled;
    Index values;  ///< Of each step of a result: samples, quantile levels, or 1 for the mean.
    Index variates;
    Index context_patches;
    Index steps;  ///< Patches to forecast.
    Index patch_size;
    Index prepended;  ///< Tokens before the patches.
    Index positions;  ///< Tokens and patches of the context.
    bool known_future;
    Index block;       ///< Patches that the first program forecasts: all, unless the family says otherwise.
    Index unread = 0;  ///< Tokens behind those of the first program that it forecasts from: 0, unless it says so.
    /// Where a program has rows that all samples share, and behind these some of each sample: how many.
    Index shared_rows = 0;
    Index rows_of_sample = 0;

    /// @param patch       steps of a patch
    /// @param tokens      put before the patches of each variate
    /// @param levels      quantiles that a step has, of a model that forecasts quantiles
    constexpr ForecastSizes(const Bucket& bucket, Index patch, Index tokens = 0, Index levels = 0)
        : batch(bucket.batch),
          samples(bucket.samples > 0 ? bucket.samples : 1),
          is_sampled(bucket.samples > 0),
          values(is_sampled   ? bucket.samples
                 : levels > 0 ? levels
                              : 1),
          variates(bucket.variates),
          context_patches(patches_of(bucket.context, patch)),
          steps(patches_of(bucket.horizon, patch)),
          patch_size(patch),
          prepended(tokens),
          positions(context_patches + prepended),
          known_future(bucket.exogenous > 0),
          block(steps) {}

    [[nodiscard]] constexpr Index context_steps() const { return context_patches * patch_size; }
    /// Steps that the programs forecast: the horizon in whole patches.
    [[nodiscard]] constexpr Index forecast_steps() const { return steps * patch_size; }
    /// Tokens of the first program, with so many positions of context, that a forecast of so many patches needs.
    [[nodiscard]] constexpr Index first_tokens(Index context, Index patches) const {
        return context + (patches < block ? patches : block) - unread;
    }
    /// Rows of such a program that a forecast of so many samples needs.
    [[nodiscard]] constexpr Index rows_of(Index asked_samples) const {
        return shared_rows + rows_of_sample * asked_samples;
    }
    /// Patches of context and forecast together.
    [[nodiscard]] constexpr Index all_patches() const { return context_patches + steps; }

private:
    /// None where a patch has no steps: no family may have such, and the plan of a forecast says so.
    static constexpr Index patches_of(Index count, Index patch) {
        return patch < 1 ? 0 : divide_rounding_up(count, patch);
    }
};

}  // namespace totograph
