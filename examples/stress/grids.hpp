// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/models/kronos/config.hpp>
#include <totograph/models/kronos/family.hpp>
#include <totograph/models/kronos/parts.hpp>
#include <totograph/models/nanovlm/config.hpp>
#include <totograph/models/nanovlm/family.hpp>

#include "../vlm/tiny.hpp"

// What `stress --vary-batch --vary-context` compiles of each model: three contexts, two batches. Light, so that files
// for the CPU and for devices share it.
namespace examples::grids {

using totograph::Bucket;
using totograph::Index;

// As token_bucket and candle_bucket, which are consteval: clang 14 takes those in no initializer of a template's
// member.
constexpr Bucket of_tokens(Index prompts, Index tokens, Index new_tokens) {
    return {prompts, 1, tokens, new_tokens, 0, 0};
}
constexpr Bucket of_candles(Index symbols, Index context, Index horizon) {
    return {symbols, totograph::kronos::variate_count, context, horizon, 1, totograph::kronos::stamp_count};
}

/// A nanoVLM, whose prompts are ids alone: an image is more work before the prompt, the same for each size.
template <class Published, class Sizes>
struct Tokens : Sizes {
    using Model = totograph::nanovlm::TextOnly<Published>;
    /// A size of its own for each row. Written out, for nvcc 13.0 loses members that an initializer in a lambda leaves
    /// out.
    static constexpr std::array<Bucket, 6> buckets{of_tokens(Sizes::batches[0], Sizes::contexts[0], Sizes::horizon),
                                                   of_tokens(Sizes::batches[1], Sizes::contexts[0], Sizes::horizon),
                                                   of_tokens(Sizes::batches[0], Sizes::contexts[1], Sizes::horizon),
                                                   of_tokens(Sizes::batches[1], Sizes::contexts[1], Sizes::horizon),
                                                   of_tokens(Sizes::batches[0], Sizes::contexts[2], Sizes::horizon),
                                                   of_tokens(Sizes::batches[1], Sizes::contexts[2], Sizes::horizon)};

    static totograph::ModelWeights<Published> weights(const std::filesystem::path& checkpoint) {
        return checkpoint.empty() ? totograph::untrained<Published>() : totograph::load<Published>(checkpoint);
    }
};

struct FewTokens {
    static constexpr std::array<Index, 3> contexts{8, 16, 32};
    static constexpr std::array<Index, 2> batches{1, 4};
    static constexpr Index horizon = 16;
};

/// Those of bench/reference_nanovlm.py.
struct ManyTokens {
    static constexpr std::array<Index, 3> contexts{128, 256, 1024};
    static constexpr std::array<Index, 2> batches{1, 8};
    static constexpr Index horizon = 64;
};

using tiny = Tokens<vlm_models::Tiny, FewTokens>;
using vlm_222m = Tokens<totograph::nanovlm::vlm_222m, ManyTokens>;
using vlm_230m = Tokens<totograph::nanovlm::vlm_230m, ManyTokens>;
using vlm_460m = Tokens<totograph::nanovlm::vlm_460m, ManyTokens>;

/// A Kronos: one path of likeliest candles for each symbol. The longest context serves the shorter ones, for a size
/// takes the compiler four programs.
template <class Published>
struct Candles {
    using Model = Published;
    static constexpr std::array<Index, 3> contexts{64, 128, 256};
    static constexpr std::array<Index, 2> batches{1, 4};
    static constexpr Index horizon = 16;
    static constexpr std::array<Bucket, 2> buckets{of_candles(batches[0], contexts[2], horizon),
                                                   of_candles(batches[1], contexts[2], horizon)};

    static totograph::ModelWeights<Published> weights(const std::filesystem::path&) {
        return totograph::untrained<Published>();
    }
};

using mini = Candles<totograph::kronos::mini>;
using small = Candles<totograph::kronos::small>;
using base = Candles<totograph::kronos::base>;

}  // namespace examples::grids
