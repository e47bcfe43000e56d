// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/forecast/states.hpp>
#include <totograph/nn/kv_cache.hpp>

/// The buffers through which a forecast's programs talk to the caller (`totograph::states`) and to each other.
namespace totograph::toto2::states {

using namespace totograph::states;

// The context, with what was forecast or is known behind it.
inline constexpr std::string_view frame = "frame";                    // f32 [batch, 1, variates, patches, patch_size]
inline constexpr std::string_view frame_observed = "frame.observed";  // f32, same shape

// Carried from block to block.
inline constexpr std::string_view cap_low = "cap.low";      // f32 [batch, 1, variates, 1, 1]
inline constexpr std::string_view cap_high = "cap.high";    // f32, same shape
inline constexpr std::string_view visible = "visible";      // i32 [batch, variates, keys]: 0 for keys nobody may read
inline constexpr std::string_view token_ids = "token_ids";  // i32 [batch, variates, tokens]: groups in the first block

// Of a session: the two newest patches, written before they are read; and of the patches before the newest, which
// nothing that follows will change, what later ones need.
inline constexpr std::string_view newest = "newest";                    // f32 [batch, 1, variates, 2, patch_size]
inline constexpr std::string_view newest_observed = "newest.observed";  // f32, same shape
inline constexpr std::string_view stable_count = "stable.count";        // f64 [batch, 1, variates, 1]
inline constexpr std::string_view stable_total = "stable.total";        // f64, same shape
inline constexpr std::string_view stable_spread = "stable.spread";      // f64, same shape
inline constexpr std::string_view stable_low = "stable.low";            // f32 [batch, 1, variates, 1, 1]
inline constexpr std::string_view stable_high = "stable.high";          // f32, same shape
inline constexpr std::string_view stable_ids = "stable.ids";            // i32 [batch, variates, tokens]

inline constexpr nn::KvCacheNames context{"context.keys", "context.values", "context.length"};
inline constexpr nn::KvCacheNames forecast_cache{"blocks.keys", "blocks.values", "blocks.length"};

}  // namespace totograph::toto2::states
