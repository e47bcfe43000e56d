// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/models/nanovlm/prompts.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>

namespace totograph::nanovlm {

namespace prompts_detail {

[[noreturn]] inline void reject(ErrorCode code, const std::string& message) {
    throw Error(code, "generate: " + message);
}

inline void check_options(const GenerateOptions& options, const PromptLimits& limits) {
    const Index new_tokens = options.new_tokens.value_or(limits.new_tokens);
    if (new_tokens < 1) {
        reject(ErrorCode::invalid_argument,
               "new_tokens is " + std::to_string(new_tokens) + "; at least 1 token is to be chosen.");
    }
    if (new_tokens > limits.new_tokens) {
        reject(ErrorCode::no_bucket, std::to_string(new_tokens) + " new tokens are asked for, and there is room for " +
                                         std::to_string(limits.new_tokens) +
                                         "; ask for fewer, or compile a larger bucket.");
    }
    if (!(options.temperature > 0) || !std::isfinite(options.temperature)) {
        reject(ErrorCode::invalid_argument, "the temperature must be above 0 and finite, found " +
                                                std::to_string(options.temperature) +
                                                "; a bucket without samples takes the likeliest tokens.");
    }
    if (!(options.top_p > 0) || options.top_p > 1) {
        reject(ErrorCode::invalid_argument,
               "top_p must be above 0 and at most 1, found " + std::to_string(options.top_p) + ".");
    }
    if (options.top_k < 0) {
        reject(ErrorCode::invalid_argument,
               "top_k must be 0, which keeps all tokens, or more; found " + std::to_string(options.top_k) + ".");
    }
}

inline void check_tokens(const Prompt& prompt, const std::string& which, const PromptLimits& limits) {
    const auto count = static_cast<Index>(prompt.tokens.size());
    if (count == 0) {
        reject(ErrorCode::invalid_series, which + " has no tokens; it needs at least one.");
    }
    if (count > limits.tokens) {
        reject(ErrorCode::no_bucket, which + " has " + std::to_string(count) + " tokens, and there is room for " +
                                         std::to_string(limits.tokens) + "; shorten it, or compile a larger bucket.");
    }
    for (std::size_t at = 0; at < prompt.tokens.size(); ++at) {
        if (prompt.tokens[at] < 0 || prompt.tokens[at] >= limits.config.lm.lm_vocab_size) {
            reject(ErrorCode::invalid_series, which + ", token " + std::to_string(at) + ": " +
                                                  std::to_string(prompt.tokens[at]) + " is no id; ids are 0 to " +
                                                  std::to_string(limits.config.lm.lm_vocab_size - 1) + ".");
        }
    }
}

/// How many images a prompt has: as many as it has pixels for, which its image tokens must agree with.
inline Index check_images(const Prompt& prompt, const std::string& which, const NanoVlmConfig& config) {
    const Index pixels = config.vit.pixels();
    const auto given = static_cast<Index>(prompt.pixels.size());
    const Index images = given / pixels;
    if (given % pixels != 0) {
        reject(ErrorCode::invalid_series, which + " has " + std::to_string(given) +
                                              " numbers of pixels; an image is 3 x " +
                                              std::to_string(config.vit.vit_img_size) + " x " +
                                              std::to_string(config.vit.vit_img_size) + " of them.");
    }
    const Index tokens = std::count(prompt.tokens.begin(), prompt.tokens.end(), config.image_token_id);
    const Index wanted = images * config.vit.mp_image_token_length;
    if (tokens != wanted) {
        reject(ErrorCode::invalid_series, which + " has " + std::to_string(tokens) + " image tokens (id " +
                                              std::to_string(config.image_token_id) + ") and pixels of " +
                                              std::to_string(images) + " images, which are " + std::to_string(wanted) +
                                              " tokens.");
    }
    const auto bad =
        std::find_if(prompt.pixels.begin(), prompt.pixels.end(), [](float pixel) { return !std::isfinite(pixel); });
    if (bad != prompt.pixels.end()) {
        reject(ErrorCode::invalid_series,
               which + ": pixel " + std::to_string(bad - prompt.pixels.begin()) + " is not a finite number.");
    }
    return images;
}

}  // namespace prompts_detail

TOTOGRAPH_INLINE void check_prompts(std::span<const Prompt> prompts, const GenerateOptions& options,
                                    const PromptLimits& limits) {
    using namespace prompts_detail;
    check_options(options, limits);
    if (prompts.empty()) {
        reject(ErrorCode::invalid_series, "there are no prompts.");
    }
    for (std::size_t number = 0; number < prompts.size(); ++number) {
        const std::string which = "prompt " + std::to_string(number);
        check_tokens(prompts[number], which, limits);
        const Index images = check_images(prompts[number], which, limits.config);
        if (images > limits.config.images) {
            reject(ErrorCode::no_bucket,
                   which + " has " + std::to_string(images) + " images, and the model was compiled for " +
                       std::to_string(limits.config.images) + " in a call; compile `WithImages<Model, ...>`.");
        }
    }
}

TOTOGRAPH_INLINE PromptBatch::PromptBatch(std::span<const Prompt> prompts, GenerateOptions options)
    : prompts_(prompts), options_(std::move(options)) {
    for (const Prompt& prompt : prompts) {
        longest_ = std::max(longest_, static_cast<Index>(prompt.tokens.size()));
    }
    for (const Prompt& prompt : prompts) {
        const std::size_t padding = static_cast<std::size_t>(longest_) - prompt.tokens.size();
        tokens_.insert(tokens_.end(), padding, 0.0F);
        observed_.insert(observed_.end(), padding, 0);
        tokens_.insert(tokens_.end(), prompt.tokens.begin(), prompt.tokens.end());
        observed_.insert(observed_.end(), prompt.tokens.size(), 1);
    }
}

TOTOGRAPH_INLINE Series PromptBatch::series(Index first) const {
    Series result{.batch = static_cast<Index>(prompts_.size()),
                  .steps = longest_,
                  .values = tokens_,
                  .observed = observed_,
                  .first_series = options_.first_prompt + static_cast<std::uint32_t>(first)};
    result.draws.temperature = options_.temperature;
    result.draws.filter.top_k = options_.top_k;
    result.draws.filter.top_p = options_.top_p;
    return result;
}

TOTOGRAPH_INLINE std::vector<float> PromptBatch::pixels(const NanoVlmConfig& config) const {
    std::vector<float> result;
    result.reserve(static_cast<std::size_t>(config.images * config.vit.pixels()));
    for (const Prompt& prompt : prompts_) {
        result.insert(result.end(), prompt.pixels.begin(), prompt.pixels.end());
    }
    result.resize(static_cast<std::size_t>(config.images * config.vit.pixels()), 0.0F);
    return result;
}

TOTOGRAPH_INLINE Generated::Generated(Index prompts, Index samples, Index new_tokens,
                                      std::optional<std::int32_t> end_token, std::vector<std::int32_t> tokens)
    : prompts_(prompts), samples_(samples), new_tokens_(new_tokens), end_token_(end_token), tokens_(std::move(tokens)) {
    for (Index row = 0; end_token_ && row < prompts_ * samples_; ++row) {
        const auto begin = tokens_.begin() + row * new_tokens_;
        std::fill(std::find(begin, begin + new_tokens_, *end_token_), begin + new_tokens_, *end_token_);
    }
}

TOTOGRAPH_INLINE std::span<const std::int32_t> Generated::tokens(Index prompt, Index sample) const {
    const std::span<const std::int32_t> all = padded(prompt, sample);
    if (!end_token_) {
        return all;
    }
    return all.first(static_cast<std::size_t>(std::find(all.begin(), all.end(), *end_token_) - all.begin()));
}

}  // namespace totograph::nanovlm
