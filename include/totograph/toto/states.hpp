// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/graph/recorder.hpp>
#include <totograph/nn/kv_cache.hpp>
#include <totograph/nn/scalers.hpp>
#include <totograph/toto/forecast_sizes.hpp>
#include <totograph/toto/rewrites.hpp>

/// The buffers through which a forecast's programs talk to the caller and to each other.
namespace totograph::toto::states {

// Written by the caller before each forecast. Patches of a series that is shorter than the bucket come first; the rest
// is zero and marked as not observed.
inline constexpr std::string_view series = "series";              // f32 [batch, 1, variates, context_steps]
inline constexpr std::string_view observed = "observed";          // f32, same shape: 1 where observed
inline constexpr std::string_view groups = "groups";              // i32 [batch, variates, context_patches]
inline constexpr std::string_view length = "length";              // i32 [batch]: patches of context
inline constexpr std::string_view seed = "seed";                  // i32 [2]: low and high half
inline constexpr std::string_view first_draw = "first_draw";      // i32 [2]: numbers of its first series and sample
inline constexpr std::string_view is_exogenous = "is_exogenous";  // f32 [batch, 1, variates, 1, 1]
inline constexpr std::string_view future = "future";              // f32 [batch, 1, variates, steps, patch_size]
inline constexpr std::string_view is_known = "is_known";          // f32 [batch, 1, variates, 1, 1]
inline constexpr std::string_view request = "request";            // i32 [4]: batch, variates, horizon, samples

// Read by the caller after each forecast. Where the model gave no finite number stands -0, and nowhere else
// (`nn::mark_extreme_values`).
inline constexpr std::string_view forecast = "forecast";  // f32 [batch, samples, variates, steps, patch_size]

// Carried from step to step.
inline constexpr std::string_view step = "step";  // i32 [1]: patches forecast so far
inline constexpr std::string_view running_count = "scaler.count";
inline constexpr std::string_view running_total = "scaler.total";
inline constexpr std::string_view running_spread = "scaler.spread";
inline constexpr std::string_view global_mean = "scaler.global_mean";
inline constexpr std::string_view global_scale = "scaler.global_scale";
inline constexpr std::string_view history = "history";  // f32 [batch, samples, variates, all_patches, patch]
inline constexpr std::string_view history_observed = "history.observed";  // f32, same shape
inline constexpr std::string_view history_length = "history.length";      // i32 [batch]

inline constexpr nn::KvCacheNames prefix{"prefix.keys", "prefix.values", "prefix.length"};
inline constexpr nn::KvCacheNames suffix{"suffix.keys", "suffix.values", "suffix.length"};

}  // namespace totograph::toto::states
