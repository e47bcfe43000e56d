// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/models/nanovlm/config.hpp>
#include <totograph/nn/kv_cache.hpp>
#include <totograph/nn/padded_heads.hpp>
#include <totograph/nn/taps.hpp>

namespace totograph::nanovlm {

/// What a bucket makes of a model: sizes, counted in tokens, and caches.
template <NanoVlmModel Model, Bucket bucket>
struct Parts : nn::Taps<nn::keeps_intermediates<Model>> {
    static constexpr NanoVlmConfig config = Model::config;
    static constexpr ForecastSizes sizes{bucket, 1};

    static constexpr Index context = sizes.context_patches;
    static constexpr Index horizon = sizes.steps;
    static constexpr Index width = config.lm.lm_hidden_dim;
    /// Whether a call can pass the position from which on frequencies are divided.
    static constexpr bool may_rescale = context + horizon > config.lm.lm_max_position_embeddings;

    static constexpr Index key_width = config.lm.lm_n_kv_heads * nn::padded_head_dim(width / config.lm.lm_n_heads);
    /// Keys and values: of the prompts, and of each sample.
    using Prefix = nn::KvCache<nn::KvCacheSize{
        .batch = sizes.batch, .samples = 1, .variates = 1, .capacity = context, .width = key_width}>;
    using Suffix = nn::KvCache<nn::KvCacheSize{.batch = sizes.batch,
                                               .samples = sizes.samples,
                                               .variates = 1,
                                               .capacity = std::max(Index{1}, horizon - 1),
                                               .width = key_width}>;
};

}  // namespace totograph::nanovlm
