// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/forecast/imputation.hpp>

namespace totograph::toto2 {

/// What the reference takes as arguments of each forecast. Defaults are those of its GluonTS predictor, with which its
/// authors evaluate it. A model has its own as a member: `static constexpr Inference inference{...};`.
struct Inference {
    /// Steps that are forecast at once, a multiple of the patch size; the medians of a block are history to the next
    /// one. 0: all steps at once.
    Index decode_block_size = 0;
    /// Whether patches without any observation are left out by patches that have some. Where there are none, it is all
    /// the same. Without it a variate has one group, and none for each step.
    bool has_missing_values = true;
    /// Up to so many observations, the location and scale of the first so many are used; 0: never.
    Index scaler_fallback_min_obs = 8;
    /// Quantiles stay within so many scales of the extremes of the context; 0: they may be anywhere.
    double quantile_real_cap_k = 1e4;
    /// Of values that are not observed, only those of the newest patch are ever read: the reference takes the whole of
    /// that patch for observed, whatever the caller says.
    Imputation imputation = Imputation::forward_fill;
    /// From the second block on, the reference takes the groups of variates from the first patches of the context,
    /// where patches without observations are in a group of their own: separate groups then join, and members of one
    /// group part. For comparisons with it alone.
    bool reference_block_groups = false;

    friend constexpr bool operator==(const Inference&, const Inference&) = default;
};

}  // namespace totograph::toto2
