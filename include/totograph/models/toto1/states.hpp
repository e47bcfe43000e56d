// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/forecast/states.hpp>
#include <totograph/nn/kv_cache.hpp>

/// The buffers through which a forecast's programs talk to the caller (`totograph::states`) and to each other.
namespace totograph::toto1::states {

using namespace totograph::states;

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

}  // namespace totograph::toto1::states
