// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/bucket.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/toto/config.hpp>

namespace totograph::toto {

/// What a bucket comes to for one architecture.
struct ForecastSizes {
    Index batch;
    Index samples;  ///< Futures that are decoded: 1 for a forecast of the mean.
    bool is_sampled;
    Index variates;
    Index context_patches;
    Index steps;  ///< Patches to forecast.
    Index patch_size;
    Index prepended;  ///< Tokens before the patches.
    Index positions;  ///< Of the prefix: tokens and patches of the context.
    bool known_future;

    constexpr ForecastSizes(const Toto1Config& config, const Bucket& bucket)
        : batch(bucket.batch),
          samples(bucket.samples > 0 ? bucket.samples : 1),
          is_sampled(bucket.samples > 0),
          variates(bucket.variates),
          context_patches(divide_rounding_up(bucket.context, config.patch_size)),
          steps(divide_rounding_up(bucket.horizon, config.patch_size)),
          patch_size(config.patch_size),
          prepended(config.prepended_tokens()),
          positions(context_patches + prepended),
          known_future(bucket.exogenous > 0) {}

    [[nodiscard]] constexpr Index context_steps() const { return context_patches * patch_size; }
    /// Patches of context and forecast together.
    [[nodiscard]] constexpr Index all_patches() const { return context_patches + steps; }
};

/// Sentences for buckets that cannot be compiled.
template <Toto1Model Model, Bucket bucket>
consteval bool check_bucket() {
    static_assert(bucket.batch > 0 && bucket.variates > 0,
                  "totograph: a bucket needs at least one series and one variate.");
    static_assert(bucket.context > 0, "totograph: a bucket needs a context of at least one step.");
    static_assert(bucket.horizon > 0, "totograph: a bucket needs a horizon of at least one step.");
    static_assert(bucket.samples >= 0, "totograph: a bucket's number of samples is 0 (a mean forecast) or more.");
    static_assert(bucket.exogenous >= 0 && bucket.exogenous < bucket.variates,
                  "totograph: a bucket needs at least one variate that is not exogenous.");
    return check_config<Model>();
}

}  // namespace totograph::toto
