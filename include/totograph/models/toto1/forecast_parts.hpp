// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/forecast_sizes.hpp>
#include <totograph/models/toto1/rewrites.hpp>
#include <totograph/models/toto1/transformer.hpp>
#include <totograph/nn/kv_cache.hpp>
#include <totograph/nn/taps.hpp>

namespace totograph::toto1 {

/// What a bucket makes of an architecture: sizes, and the types of which its programs are composed.
template <Toto1Model Model, Bucket bucket, Rewrites chosen>
struct ForecastParts : nn::Taps<chosen.keep_intermediates> {
    static constexpr Toto1Config config = Model::config;
    static constexpr ForecastSizes sizes = forecast_sizes(config, bucket);
    static constexpr Rewrites rewrites = chosen;
    using Transformer = toto1::Transformer<Model>;
    using Layer = typename Transformer::Layer;
    using Attention = typename Transformer::Attention;
    using Rotary = typename Transformer::Rotary;

    /// Futures that are processed from the first patch on: all of them, or one that stands for all.
    static constexpr Index prefix_samples = rewrites.share_prefix ? 1 : sizes.samples;
    /// Patches that are decoded after the first; at least 1, for a buffer cannot be empty.
    static constexpr Index suffix_capacity = sizes.steps > 1 ? sizes.steps - 1 : 1;
    /// Keys and values of the context, and of the patches after it.
    using Prefix = nn::KvCache<nn::KvCacheSize{.batch = sizes.batch,
                                               .samples = prefix_samples,
                                               .variates = sizes.variates,
                                               .capacity = sizes.positions,
                                               .width = Attention::key_width}>;
    using Suffix = nn::KvCache<nn::KvCacheSize{.batch = sizes.batch,
                                               .samples = sizes.samples,
                                               .variates = sizes.variates,
                                               .capacity = suffix_capacity,
                                               .width = Attention::key_width}>;

    /// Positions of patches, counted with the labels before them.
    static constexpr Tensor prepended(Tensor patches) {
        return sizes.prepended == 0 ? patches : patches + static_cast<double>(sizes.prepended);
    }

    /// For a call whose last position is `last`, `[batch]` i32: xPos is centred on half of it, rounded down.
    /// `positions` is f32 `[1 or batch, 1, 1, count, 1, 1]`.
    static constexpr Rotary rotary(Tensor positions, Tensor last) {
        const Tensor centre = floor(cast(last, DType::f32) * 0.5);
        return {positions, reshape(centre, {sizes.batch, 1, 1, 1, 1, 1})};
    }

    /// Attention over the variates of one patch; over one variate softmax has one term, and attention is the identity
    /// on its values.
    static constexpr Tensor space_wise_attention(const Layer& layer, const nn::QueryKeyValue& projected,
                                                 Tensor groups) {
        return rewrites.skip_lone_variate && sizes.variates == 1 ? projected.value
                                                                 : layer.attention.across_variates(projected, groups);
    }
};

}  // namespace totograph::toto1
