// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/models/kronos/calendar.hpp>
#include <totograph/models/kronos/config.hpp>
#include <totograph/nn/kv_cache.hpp>
#include <totograph/nn/padded_heads.hpp>
#include <totograph/nn/taps.hpp>

namespace totograph::kronos {

/// Columns of a candle: open, high, low, close, volume, amount.
inline constexpr Index column_count = 6;
/// Variates of a series: the columns, then the stamps, which are exogenous.
inline constexpr Index variate_count = column_count + stamp_count;

/// Sizes counted in candles. Where a window slides, paths share all of it but as many candles as a path can have drawn.
constexpr ForecastSizes sizes_of(const KronosConfig& config, const Bucket& bucket) {
    ForecastSizes sizes{bucket, 1};
    sizes.rows_of_sample = sizes.steps - 1;
    sizes.shared_rows = config.max_context - sizes.rows_of_sample;
    return sizes;
}

/// What a bucket makes of a model: sizes, counted in candles, and caches. Programs of one that is inspected also take
/// from states what the reference computed: candles from `forced.normalised`, and ids from `forced.s1` and `forced.s2`
/// where these are not negative.
template <KronosModel Model, Bucket bucket>
struct Parts : nn::Taps<nn::keeps_intermediates<Model>> {
    static constexpr KronosConfig config = Model::config;
    static constexpr ForecastSizes sizes = sizes_of(config, bucket);

    static constexpr Index context = sizes.context_patches;
    static constexpr Index horizon = sizes.steps;
    /// Candles of the context that the predictor sees.
    static constexpr Index window = std::min(context, config.max_context);
    /// Whether the context and what is forecast are ever more than it sees. Then the oldest candle leaves, all others
    /// move to another position, and each step computes the window anew.
    static constexpr bool slides = context + horizon > config.max_context;
    /// Whether the window slides over keys and values that are kept.
    static constexpr bool rolls = slides && config.rolls_cache;
    /// Candles of a forecast that are decoded with keys and values of those before.
    static constexpr Index decoded =
        rolls ? horizon - 1 : std::min(horizon - 1, std::max(Index{0}, config.max_context - context));

private:
    template <Index width>
    using OfContext = nn::KvCache<nn::KvCacheSize{
        .batch = sizes.batch, .samples = 1, .variates = 1, .capacity = window, .width = width}>;
    template <Index width>
    using OfPaths = nn::KvCache<nn::KvCacheSize{.batch = sizes.batch,
                                                .samples = sizes.samples,
                                                .variates = 1,
                                                .capacity = std::max(Index{1}, decoded),
                                                .width = width}>;
    static constexpr Index width_of(Index heads) {
        return heads * nn::padded_head_dim(config.predictor.d_model / heads);
    }
    static constexpr Index key_width = width_of(config.predictor.n_heads);
    static constexpr Index dependency_width = width_of(PredictorConfig::dependency_heads);

public:
    /// Keys and values of the layers, of padded heads: of the context, and of each path.
    using Prefix = OfContext<key_width>;
    using Suffix = OfPaths<key_width>;
    /// Those of the dependency layer.
    using DependencyPrefix = OfContext<dependency_width>;
    using DependencySuffix = OfPaths<dependency_width>;
};

}  // namespace totograph::kronos
