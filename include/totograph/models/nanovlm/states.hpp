// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <totograph/forecast/states.hpp>
#include <totograph/nn/kv_cache.hpp>

/// The buffers through which the programs of a call talk to the caller (`totograph::states`) and to each other.
namespace totograph::nanovlm::states {

using namespace totograph::states;

// Written before each call. Tokens of a prompt are steps of a series: a shorter prompt lies at the front.
inline constexpr std::string_view first_position = "first_position";  // i32 [batch]: of a prompt's first token
inline constexpr std::string_view longest = "longest";                // i32 [1]: tokens, of the longest prompt
inline constexpr std::string_view image_row = "image.row";      // i32 [batch, 1, 1, context]: -1 where the token counts
inline constexpr std::string_view temperature = "temperature";  // f32 [1]
inline constexpr std::string_view top_k = "top_k";              // i32 [1]
inline constexpr std::string_view top_p = "top_p";              // f32 [1]

// Written by who has images, before the call: pixels, or the rows that the projector makes of them.
inline constexpr std::string_view pixels = "pixels";          // f32 [images, 3, size, size]: 0 to 1
inline constexpr std::string_view image_rows = "image.rows";  // f32 [images * mp_image_token_length, lm_hidden_dim]

inline constexpr std::string_view step = "step";  // i32 [1]: tokens that were drawn

// Keys and values of prompts, shared by all samples, and of each sample's own tokens.
inline constexpr nn::KvCacheNames prefix{"prefix.keys", "prefix.values", "prefix.length"};
inline constexpr nn::KvCacheNames suffix{"suffix.keys", "suffix.values", "suffix.length"};

}  // namespace totograph::nanovlm::states
