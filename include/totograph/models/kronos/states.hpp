// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/forecast/states.hpp>
#include <totograph/nn/kv_cache.hpp>

/// The buffers through which a forecast's programs talk to the caller (`totograph::states`) and to each other.
namespace totograph::kronos::states {

using namespace totograph::states;

// Written before each forecast: how ids are drawn.
inline constexpr std::string_view temperature = "temperature";  // f32 [1]
inline constexpr std::string_view top_k = "top_k";              // i32 [1]
inline constexpr std::string_view top_p = "top_p";              // f32 [1]

// Of a context, for the end of the forecast.
inline constexpr std::string_view mean = "mean";    // f32 [batch, 1, 1, 1, 6]
inline constexpr std::string_view scale = "scale";  // f32, same shape: the deviation, and a little

// Ids of candles.
inline constexpr std::string_view history_s1 = "history.s1";  // i32 [batch, 1, 1, context]
inline constexpr std::string_view history_s2 = "history.s2";
inline constexpr std::string_view drawn_s1 = "drawn.s1";  // i32 [batch, samples, 1, horizon]
inline constexpr std::string_view drawn_s2 = "drawn.s2";
inline constexpr std::string_view frame_s1 = "frame.s1";  // i32 [batch, samples, 1, context + horizon]: both in a row
inline constexpr std::string_view frame_s2 = "frame.s2";
inline constexpr std::string_view frame_stamps = "frame.stamps";  // i32 [batch, 1, 1, context + horizon, 5]

inline constexpr std::string_view future_times = "future.times";  // f32 [batch, 1, 1, horizon, d_model]
inline constexpr std::string_view step = "step";                  // i32 [1]: candles that were drawn

// Keys and values of the context, shared by all paths, and of each path's own candles; those of the dependency layer
// count with the others.
inline constexpr nn::KvCacheNames prefix{"prefix.keys", "prefix.values", "prefix.length"};
inline constexpr nn::KvCacheNames suffix{"suffix.keys", "suffix.values", "suffix.length"};
inline constexpr nn::KvCacheNames dependency_prefix{"dependency.prefix.keys", "dependency.prefix.values",
                                                    "prefix.length"};
inline constexpr nn::KvCacheNames dependency_suffix{"dependency.suffix.keys", "dependency.suffix.values",
                                                    "suffix.length"};

}  // namespace totograph::kronos::states
