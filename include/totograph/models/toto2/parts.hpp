// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/inference.hpp>
#include <totograph/models/toto2/rewrites.hpp>
#include <totograph/nn/attention_block.hpp>
#include <totograph/nn/kv_cache.hpp>
#include <totograph/nn/taps.hpp>

namespace totograph::toto2 {

/// The rewrites of the algorithm that a model is computed with: all, unless it names others (`WithRewrites`).
template <class Model>
inline constexpr Rewrites rewrites_of = [] {
    if constexpr (requires { Model::rewrites; }) {
        return Rewrites(Model::rewrites);
    } else {
        return Rewrites{};
    }
}();

/// How a model forecasts: as the reference's predictor, unless it says otherwise (`Model::inference`).
template <class Model>
inline constexpr Inference inference_of = [] {
    if constexpr (requires { Model::inference; }) {
        return Inference(Model::inference);
    } else {
        return Inference{};
    }
}();

/// Whether a model's programs keep what they need to go on from a context (`toto2/session.hpp`).
template <class Model>
inline constexpr bool is_continued = [] {
    if constexpr (requires { Model::is_continued; }) {
        return bool{Model::is_continued};
    } else {
        return false;
    }
}();

/// What a bucket comes to. In blocks, the forecast is whole blocks.
template <class Model>
constexpr ForecastSizes forecast_sizes(const Bucket& bucket) {
    ForecastSizes sizes(bucket, Model::config.patch_size, 0, Toto2Config::levels);
    const Index block = inference_of<Model>.decode_block_size / Model::config.patch_size;
    sizes.block = block > 0 && block < sizes.steps ? block : sizes.steps;
    sizes.steps = round_up(sizes.steps, sizes.block);
    sizes.unread = rewrites_of<Model>.read_rows_only ? 1 : 0;
    return sizes;
}

/// What a bucket makes of a model: sizes, counted in patches, and the types of which its programs are composed.
template <Toto2Model Model, Bucket bucket>
struct Parts : nn::Taps<rewrites_of<Model>.keep_intermediates> {
    static constexpr Toto2Config config = Model::config;
    static constexpr Inference inference = inference_of<Model>;
    static constexpr Rewrites rewrites = rewrites_of<Model>;
    static constexpr ForecastSizes sizes = forecast_sizes<Model>(bucket);

    /// Patches of a block as the model wants them; 0 for one pass, however long the horizon is.
    static constexpr Index wanted_block = inference.decode_block_size / config.patch_size;
    /// Patches that one program forecasts.
    static constexpr Index block = sizes.block;
    static constexpr bool has_blocks = block < sizes.steps;
    /// Whether programs need the context with what comes behind it in one piece.
    static constexpr bool has_frame = has_blocks || sizes.known_future;
    static constexpr Index frame_patches = sizes.context_patches + (has_frame ? sizes.steps : 0);

    /// The last token is read by nobody.
    static constexpr Index dropped = sizes.unread;
    /// Tokens of the first pass, and of each later one.
    static constexpr Index first_tokens = sizes.first_tokens(sizes.context_patches, sizes.steps);
    static constexpr Index later_tokens = 2 * block - dropped;

    static constexpr bool is_continued = toto2::is_continued<Model>;
    /// Tokens of the pass that goes on from a context: the patch that was the newest one, the newest, what is forecast.
    static constexpr Index continued_tokens = 1 + block + (1 - dropped);
    /// Where xPos is centred in all passes over a context that is continued. Scales of queries and keys depend on the
    /// difference of their centres alone; with one centre for good, cached keys need not be moved.
    static constexpr Index fixed_centre_patch = sizes.context_patches / 2;
    static constexpr auto fixed_centre = static_cast<double>(fixed_centre_patch);

    static constexpr nn::AttentionSize attention_size{.width = config.d_model,
                                                      .heads = config.num_heads,
                                                      .kv_heads = config.groups(),
                                                      .head_dim = config.qk_dim,
                                                      .value_dim = config.v_dim,
                                                      .bias = config.attn_bias};

    /// Keys and values of the context, and of the patches that were forecast.
    using ContextCache = nn::KvCache<nn::KvCacheSize{.batch = sizes.batch,
                                                     .variates = sizes.variates,
                                                     .capacity = first_tokens,
                                                     .width = attention_size.key_width(),
                                                     .value_width = attention_size.value_width()}>;
    using BlockCache = nn::KvCache<nn::KvCacheSize{.batch = sizes.batch,
                                                   .variates = sizes.variates,
                                                   .capacity = sizes.steps,
                                                   .width = attention_size.key_width(),
                                                   .value_width = attention_size.value_width()}>;

    /// Whether keys of the context and of blocks may be read, by variate.
    static constexpr Shape visible_shape{sizes.batch, sizes.variates, first_tokens + sizes.steps};
};

}  // namespace totograph::toto2
