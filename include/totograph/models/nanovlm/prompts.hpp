// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/models/nanovlm/config.hpp>

namespace totograph::nanovlm {

/// What is read: views of the caller's memory.
struct Prompt {
    std::span<const std::int32_t> tokens;  ///< Ids. Image tokens stand for rows of the images, in their order.
    std::span<const float> pixels{};       ///< `[images, 3, vit_img_size, vit_img_size]`: red, green, blue, of 0 to 1.
};

/// What may differ from call to call. How tokens are drawn counts in buckets with samples; the defaults are those of
/// the reference.
struct GenerateOptions {
    std::optional<Index> new_tokens{};         ///< To choose; the bucket's when absent.
    std::optional<std::int32_t> end_token{2};  ///< Behind it a text has ended. None: there is no such token.
    std::uint64_t seed = 0;                    ///< The same seed gives the same tokens.
    float temperature = 0.5F;  ///< Divides the logits that the filter lets stay; above 0. The last step.
    std::int32_t top_k = 50;   ///< Of each step the so many largest logits stay; 0 keeps all.
    float top_p = 0.9F;  ///< Of these those up to which shares come to so much, and the largest; above 0, at most 1.
    /// Number of the first prompt among all that the caller has. It names the random numbers of a prompt, so that its
    /// tokens do not depend on what is beside it.
    std::uint32_t first_prompt = 0;
    /// Called behind each token of a part, with how many of them there are by now: on the CPU, where a call ends as
    /// soon as all texts have. A device is given all steps at once, and it is not called.
    std::function<void(Index)> on_token{};
};

/// What a bucket and its model take.
struct PromptLimits {
    Index tokens = 0;      ///< Of a prompt.
    Index new_tokens = 0;  ///< To choose.
    NanoVlmConfig config;
};

/// Checks a call, once, before anything runs. Throws `Error`: `invalid_argument` for options that make no sense,
/// `invalid_series` for prompts that are malformed, and `no_bucket` for what is more than a bucket has room for.
void check_prompts(std::span<const Prompt> prompts, const GenerateOptions& options, const PromptLimits& limits);

/// Prompts of one call of the programs, as the family reads them: padded on the left to the longest one.
class PromptBatch {
public:
    PromptBatch(std::span<const Prompt> prompts, GenerateOptions options);

    /// A view of this object's memory. @param first  the number of its first prompt in the call
    [[nodiscard]] Series series(Index first) const;
    /// Pixels of all images of the batch, with zeros for those that are not there.
    [[nodiscard]] std::vector<float> pixels(const NanoVlmConfig& config) const;

private:
    std::span<const Prompt> prompts_;
    GenerateOptions options_;
    Index longest_ = 0;
    std::vector<float> tokens_;           ///< `[prompts, longest]`
    std::vector<std::uint8_t> observed_;  ///< Same shape.
};

/// Tokens behind prompts, which it owns.
class Generated {
public:
    /// @param tokens  `[prompts, samples, new_tokens]`; behind an end token anything
    Generated(Index prompts, Index samples, Index new_tokens, std::optional<std::int32_t> end_token,
              std::vector<std::int32_t> tokens);

    [[nodiscard]] Index prompts() const { return prompts_; }
    /// Of each prompt: 1 where the likeliest tokens are taken.
    [[nodiscard]] Index samples() const { return samples_; }
    [[nodiscard]] Index new_tokens() const { return new_tokens_; }

    /// All tokens of a sample. As in the reference, all behind an end token are end tokens. Indices are in range.
    [[nodiscard]] std::span<const std::int32_t> padded(Index prompt = 0, Index sample = 0) const {
        return std::span(tokens_).subspan(static_cast<std::size_t>((prompt * samples_ + sample) * new_tokens_),
                                          static_cast<std::size_t>(new_tokens_));
    }
    /// Those before the end token, or all.
    [[nodiscard]] std::span<const std::int32_t> tokens(Index prompt = 0, Index sample = 0) const;
    /// Whether there is an end token.
    [[nodiscard]] bool has_ended(Index prompt = 0, Index sample = 0) const {
        return tokens(prompt, sample).size() < padded(prompt, sample).size();
    }

private:
    Index prompts_;
    Index samples_;
    Index new_tokens_;
    std::optional<std::int32_t> end_token_;
    std::vector<std::int32_t> tokens_;
};

}  // namespace totograph::nanovlm

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/models/nanovlm/impl/prompts.hpp>
#endif
