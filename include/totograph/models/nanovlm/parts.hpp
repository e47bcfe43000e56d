// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string_view>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/nanovlm/config.hpp>
#include <totograph/nn/kv_cache.hpp>
#include <totograph/nn/padded_heads.hpp>

namespace totograph::nanovlm {

/// Whether programs write what they compute on the way to states. For tests.
template <class Model>
inline constexpr bool keeps_intermediates = [] {
    if constexpr (requires { Model::keeps_intermediates; }) {
        return bool{Model::keeps_intermediates};
    } else {
        return false;
    }
}();

/// What a bucket makes of a model: sizes, counted in tokens, and caches.
template <NanoVlmModel Model, Bucket bucket>
struct Parts {
    static constexpr NanoVlmConfig config = Model::config;
    static constexpr ForecastSizes sizes{bucket, 1};
    static constexpr bool is_inspected = keeps_intermediates<Model>;

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

    static constexpr void tap(std::string_view name, Tensor x, LayerIndex layer = {}) {
        if constexpr (is_inspected) {
            x.recorder().tap(name, x, layer);
        }
    }
};

}  // namespace totograph::nanovlm
