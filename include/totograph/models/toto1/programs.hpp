// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/kv_cache.hpp>
#include <totograph/nn/patch_embedding.hpp>
#include <totograph/nn/rotary.hpp>
#include <totograph/nn/student_t.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/forecast_sizes.hpp>
#include <totograph/models/toto1/rewrites.hpp>
#include <totograph/models/toto1/scaling.hpp>
#include <totograph/models/toto1/states.hpp>
#include <totograph/models/toto1/transformer.hpp>

namespace totograph::toto1 {

/// What the programs of one forecast have in common.
class ForecastRecorder {
public:
    constexpr ForecastRecorder(Recorder& recorder, const Toto1Config& model, const ForecastSizes& forecast_sizes,
                               const Rewrites& chosen)
        : r(recorder),
          config(model),
          sizes(forecast_sizes),
          rewrites(chosen),
          scaler(recorder, forecast_sizes),
          prefix(recorder, states::prefix,
                 {sizes.batch, prefix_samples(), sizes.variates, sizes.positions, config.embed_dim}),
          suffix(recorder, states::suffix,
                 {sizes.batch, sizes.samples, sizes.variates, suffix_capacity(), config.embed_dim}) {}

    /// Futures that are processed from the first patch on: all of them, or one that stands for all.
    [[nodiscard]] constexpr Index prefix_samples() const { return rewrites.share_prefix ? 1 : sizes.samples; }
    /// Patches that are decoded after the first; at least 1, for a buffer cannot be empty.
    [[nodiscard]] constexpr Index suffix_capacity() const { return sizes.steps > 1 ? sizes.steps - 1 : 1; }

    // Inputs, see states.hpp.
    [[nodiscard]] constexpr Tensor series() const {
        return r.state(states::series, {sizes.batch, 1, sizes.variates, sizes.context_steps()});
    }
    [[nodiscard]] constexpr Tensor observed() const {
        return r.state(states::observed, {sizes.batch, 1, sizes.variates, sizes.context_steps()});
    }
    [[nodiscard]] constexpr Tensor groups() const {
        return r.state(states::groups, {sizes.batch, sizes.variates, sizes.context_patches}, DType::i32);
    }
    [[nodiscard]] constexpr Tensor length() const { return r.state(states::length, {sizes.batch}, DType::i32); }
    [[nodiscard]] constexpr Tensor step() const { return r.state(states::step, {1}, DType::i32); }
    [[nodiscard]] constexpr Tensor forecast() const {
        return r.state(states::forecast, {sizes.batch, sizes.samples, sizes.variates, sizes.steps, sizes.patch_size});
    }
    [[nodiscard]] constexpr Tensor history() const { return r.state(states::history, history_shape()); }
    [[nodiscard]] constexpr Tensor history_observed() const {
        return r.state(states::history_observed, history_shape());
    }
    [[nodiscard]] constexpr Tensor history_length() const {
        return r.state(states::history_length, {sizes.batch}, DType::i32);
    }

    /// Zero or another number as the content of a `[1]` i32 state.
    [[nodiscard]] constexpr Tensor number(double value) const {
        return expand(r.constant(value, DType::i32), Shape{1});
    }

    /// Puts the variate labels before the patches.
    [[nodiscard]] constexpr Tensor prepend_labels(Tensor x) const {
        if (!config.variate_labels) {
            return x;
        }
        const Tensor labels =
            variate_labels(r.state(states::is_exogenous, {sizes.batch, 1, sizes.variates, 1, 1}), config);
        return concatenate(expand(labels, with_axis(x.shape(), 3, 1)), x, 3);
    }

    /// Group ids for a sequence that begins with labels.
    [[nodiscard]] constexpr Tensor prepend_groups(Tensor ids) const {
        return config.variate_labels ? concatenate(slice(ids, 2, 0, 1), ids, 2) : ids;
    }

    /// Positions as f32 `[1, 1, 1, count, 1, 1]`.
    [[nodiscard]] constexpr Tensor positions(Index count) const {
        return reshape(r.iota(count), {1, 1, 1, count, 1, 1});
    }

    /// Tables for a call whose last position is `last`, `[batch]` i32: xPos is centred on half of it, rounded down.
    [[nodiscard]] constexpr nn::RotaryTables tables(Tensor all_positions, Tensor last) const {
        const Tensor centre = floor(cast(last, DType::f32) * 0.5);
        return nn::rotary_tables(all_positions, reshape(centre, {sizes.batch, 1, 1, 1, 1, 1}), config.head_dim());
    }

    [[nodiscard]] constexpr Tensor prepended(Tensor patches) const {
        return sizes.prepended == 0 ? patches : patches + static_cast<double>(sizes.prepended);
    }

    /// Embeds patches, runs the layers over them with causal attention, and gives the last patch (or all of them).
    /// `keep` is told the keys and values of each time-wise layer and returns those to attend to.
    template <class Keep>
    [[nodiscard]] constexpr Tensor run_sequence(Tensor patches, Tensor ids, Tensor patch_count, Keep&& keep) const {
        Tensor x = nn::patch_embedding(
            patches, r.weight("model.patch_embed.projection.weight", {config.embed_dim, config.patch_size}),
            r.weight("model.patch_embed.projection.bias", {config.embed_dim}));
        tap("tap.patch_embeddings", x);
        x = prepend_labels(x);
        ids = prepend_groups(ids);
        const Tensor valid = prepended(patch_count);
        const Tensor last = valid - 1.0;
        const auto rotary = tables(positions(x.extent(3)), last);
        // Keys and values of the last time-wise layer are of all positions; all that follows is of the last one.
        const nn::AttentionOptions heads{.heads = config.num_heads};
        const int narrowing = rewrites.last_patch_only ? config.first_trailing_space_wise_layer() - 1 : -1;
        for (int layer = 0; layer < config.num_layers; ++layer) {
            const LayerWeights weights = layer_weights(r, config, layer);
            if (layer == narrowing) {
                const auto projected = project(x, weights, config);
                const Tensor key = nn::rotate(projected.key, rotary.key_cosine, rotary.key_sine);
                const auto kept = keep(layer, key, projected.value);
                x = take(x, 3, last);
                ids = take(ids, 2, last);
                const Tensor query = nn::rotate(project(x, weights, config).query, take(rotary.query_cosine, 3, last),
                                                take(rotary.query_sine, 3, last));
                x = finish_layer(x, nn::last_position_attention(query, kept.key, kept.value, valid, heads), weights);
                continue;
            }
            x = transformer_layer(x, weights, config, [&](const nn::QueryKeyValue& projected) {
                if (config.layer_kind(layer) == LayerKind::space_wise) {
                    return space_wise_attention(projected, ids, config, rewrites);
                }
                const Tensor query = nn::rotate(projected.query, rotary.query_cosine, rotary.query_sine);
                const Tensor key = nn::rotate(projected.key, rotary.key_cosine, rotary.key_sine);
                const auto kept = keep(layer, key, projected.value);
                return nn::causal_attention(query, kept.key, kept.value, valid, heads);
            });
            tap("tap.layer", x, layer);
        }
        if (rewrites.last_patch_only) {
            return narrowing < 0 ? take(x, 3, last) : x;
        }
        return sizes.prepended == 0 ? x : slice(x, 3, sizes.prepended, x.extent(3) - sizes.prepended);
    }

    /// What of the bucket a request asks for: the programs compute all of it, and the end of a forecast reads this.
    constexpr void declare_request() const { (void)r.state(states::request, {4}, DType::i32); }

    /// The values of one forecast patch, `[batch, samples, variates, 1, patch_size]`, from the head's parameters.
    /// `patch` is the index of the patch in the forecast, `[1]` i32; `known` is its known future where there is one.
    [[nodiscard]] constexpr Tensor next_patch(const nn::StudentTMixture& mixture, Tensor location, Tensor scale,
                                              Tensor patch, Tensor known) const {
        if (rewrites.keep_intermediates) {
            tap_distribution(mixture, location, scale);
        }
        const Tensor standard = sizes.is_sampled
                                    ? nn::sample(mixture, sizes.samples, r.state(states::seed, {2}, DType::i32),
                                                 r.state(states::first_draw, {2}, DType::i32), patch)
                                    : nn::mixture_mean(mixture);
        Tensor next = nn::mark_extreme_values(standard * scale + location);
        if (sizes.known_future) {
            const Tensor is_known = r.state(states::is_known, {sizes.batch, 1, sizes.variates, 1, 1});
            next = where(is_known, nn::without_marks(known), next);
        }
        const Shape shape{sizes.batch, sizes.samples, sizes.variates, 1, sizes.patch_size};
        return next.shape() == shape ? next : expand(next, shape);
    }

    [[nodiscard]] constexpr Tensor future() const {
        return r.state(states::future, {sizes.batch, 1, sizes.variates, sizes.steps, sizes.patch_size});
    }
    /// The known future of the first patch, or of the patch at a position; anything where the bucket has none.
    [[nodiscard]] constexpr Tensor known_at_start() const {
        return sizes.known_future ? slice(future(), 3, 0, 1) : r.constant(0);
    }
    [[nodiscard]] constexpr Tensor known_at(Tensor patch) const {
        return sizes.known_future ? take(future(), 3, patch) : r.constant(0);
    }

    constexpr void tap(std::string_view name, Tensor x, int layer = -1) const {
        if (rewrites.keep_intermediates) {
            r.tap(name, x, layer);
        }
    }

    /// Parameters of the last patch alone.
    [[nodiscard]] constexpr nn::StudentTMixture of_last_patch(const nn::StudentTMixture& mixture, Tensor patch) const {
        if (mixture.location.extent(3) == 1) {
            return mixture;
        }
        return {take(mixture.degrees_of_freedom, 3, patch), take(mixture.location, 3, patch),
                take(mixture.scale, 3, patch), take(mixture.probability, 3, patch)};
    }

    // Members are public: this is the scratch pad of the programs below.
    Recorder& r;
    Toto1Config config;
    ForecastSizes sizes;
    Rewrites rewrites;
    ScalerState scaler;
    nn::KvCache prefix;
    nn::KvCache suffix;

private:
    [[nodiscard]] constexpr Shape history_shape() const {
        return {sizes.batch, sizes.samples, sizes.variates, sizes.all_patches(), sizes.patch_size};
    }

    constexpr void tap_distribution(const nn::StudentTMixture& mixture, Tensor location, Tensor scale) const {
        // The first patch is the same for all samples, later ones are not: taps of both have room for all.
        const auto tap_each = [&](std::string_view name, Tensor x) {
            const Shape shape = with_axis(x.shape(), 1, sizes.samples);
            r.tap(name, x.shape() == shape ? x : expand(x, shape));
        };
        tap_each("tap.df", mixture.degrees_of_freedom);
        tap_each("tap.loc", mixture.location);
        tap_each("tap.scale", mixture.scale);
        tap_each("tap.probs", mixture.probability);
        const Tensor mean = nn::mixture_mean(mixture);
        tap_each("tap.mean", nn::replace_extreme_values(mean * scale + location));
        tap_each("tap.variance", nn::mixture_variance(mixture) * scale * scale);
        tap_each("tap.affine_loc", location);
        tap_each("tap.affine_scale", scale);
    }
};

/// Reads the context, fills the prefix cache, and forecasts the first patch.
template <Toto1Model Model, Bucket bucket, Rewrites rewrites>
struct Prefill {
    static constexpr void record(Recorder& recorder) {
        ForecastRecorder f(recorder, Model::config, forecast_sizes(Model::config, bucket), rewrites);
        f.declare_request();
        const Tensor x = f.series();
        const auto global = context_statistics(x, f.observed(), f.config);
        nn::RunningMoments running;
        auto scaled = scale_series(x, f.observed(), global, f.config, &running);
        f.scaler.keep_global(global);
        if (f.config.scaler != Scaler::global && rewrites.incremental_scaler) {
            f.scaler.keep_running(running);
        }
        if (!rewrites.incremental_scaler) {
            keep_history(f);
        }
        f.tap("tap.scaled", scaled.patches);
        f.tap("tap.context_loc", scaled.location);
        f.tap("tap.context_scale", scaled.scale);
        if (!rewrites.share_prefix) {
            scaled.patches = expand(scaled.patches, with_axis(scaled.patches.shape(), 1, f.sizes.samples));
        }
        const Tensor hidden =
            f.run_sequence(scaled.patches, f.groups(), f.length(), [&](int layer, Tensor key, Tensor value) {
                f.prefix.fill(layer, key, value);
                return nn::QueryKeyValue{key, f.prefix.keys(layer), f.prefix.values(layer)};
            });
        const auto all = distribution_head(hidden, f.config);
        if (rewrites.keep_intermediates && !rewrites.last_patch_only) {
            recorder.tap("tap.head_df", all.degrees_of_freedom);
            recorder.tap("tap.head_loc", all.location);
            recorder.tap("tap.head_scale", all.scale);
            recorder.tap("tap.head_probs", all.probability);
        }
        const Tensor last = f.length() - 1.0;
        const Tensor next = f.next_patch(f.of_last_patch(all, last), of_patch(scaled.location, last),
                                         of_patch(scaled.scale, last), f.number(0), f.known_at_start());
        recorder.store(f.forecast(), next, 3, 0);
        recorder.store(f.step(), f.number(1));
        f.suffix.reset();
    }

    /// For scalers that read the whole series again at each step.
    static constexpr void keep_history(ForecastRecorder& f) {
        const Shape patches{f.sizes.batch, 1, f.sizes.variates, f.sizes.context_patches, f.sizes.patch_size};
        const Shape widened = with_axis(patches, 1, f.sizes.samples);
        f.r.store(f.history(), expand(reshape(f.series(), patches), widened), 3, 0);
        f.r.store(f.history_observed(), expand(reshape(f.observed(), patches), widened), 3, 0);
        f.r.store(f.history_length(), f.length());
    }
};

/// Appends the last forecast patch to the history; gives the position that it took.
constexpr Tensor append_to_history(ForecastRecorder& f, Tensor patch) {
    const Tensor ones = expand(f.r.constant(1.0), patch.shape());
    f.r.store_at(f.history(), patch, 3, f.history_length());
    f.r.store_at(f.history_observed(), ones, 3, f.history_length());
    return f.history_length();
}

/// The whole history on a common scale.
constexpr ScaledPatches scale_history(ForecastRecorder& f) {
    const Shape flat{f.sizes.batch, f.sizes.samples, f.sizes.variates, f.sizes.all_patches() * f.sizes.patch_size};
    return scale_series(reshape(f.history(), flat), reshape(f.history_observed(), flat), f.scaler.global(), f.config);
}

/// Forecasts one patch after the last one, with keys and values of earlier patches from the caches.
template <Toto1Model Model, Bucket bucket, Rewrites rewrites>
struct Decode {
    static constexpr void record(Recorder& recorder) {
        ForecastRecorder f(recorder, Model::config, forecast_sizes(Model::config, bucket), rewrites);
        const Tensor patch = take(f.forecast(), 3, f.suffix.length());
        const Shape steps{f.sizes.batch, f.sizes.samples, f.sizes.variates, f.sizes.patch_size};
        ScaledPatches scaled = rewrites.incremental_scaler ? scale_next_patch(reshape(patch, steps), f.scaler, f.config)
                                                           : scale_again(f, patch);
        const Tensor ids = slice(f.groups(), 2, f.sizes.context_patches - 1, 1);
        const Tensor prefix_length = f.prepended(f.length());
        const Tensor position = prefix_length + f.suffix.length();
        const auto rotary = f.tables(reshape(cast(position, DType::f32), {f.sizes.batch, 1, 1, 1, 1, 1}), position);
        const Tensor suffix_length = f.suffix.length() + 1.0;

        Tensor x = nn::patch_embedding(
            scaled.patches,
            recorder.weight("model.patch_embed.projection.weight", {f.config.embed_dim, f.config.patch_size}),
            recorder.weight("model.patch_embed.projection.bias", {f.config.embed_dim}));
        for (int layer = 0; layer < f.config.num_layers; ++layer) {
            x = transformer_layer(
                x, layer_weights(recorder, f.config, layer), f.config, [&](const nn::QueryKeyValue& projected) {
                    if (f.config.layer_kind(layer) == LayerKind::space_wise) {
                        return space_wise_attention(projected, ids, f.config, rewrites);
                    }
                    const Tensor query = nn::rotate(projected.query, rotary.query_cosine, rotary.query_sine);
                    const Tensor key = nn::rotate(projected.key, rotary.key_cosine, rotary.key_sine);
                    f.suffix.append(layer, key, projected.value);
                    return nn::cached_attention(query, {f.prefix.keys(layer), f.prefix.values(layer), prefix_length},
                                                {f.suffix.keys(layer), f.suffix.values(layer), suffix_length},
                                                {.heads = f.config.num_heads});
                });
        }
        const Tensor next =
            f.next_patch(distribution_head(x, f.config), scaled.location, scaled.scale, f.step(), f.known_at(f.step()));
        recorder.store_at(f.forecast(), next, 3, f.step());
        recorder.store(f.step(), f.step() + 1.0);
        f.suffix.advance(1);
    }

    /// The patch on the scale of the whole history, which the reference computes anew at each step.
    static constexpr ScaledPatches scale_again(ForecastRecorder& f, Tensor patch) {
        const Tensor position = append_to_history(f, patch);
        const auto all = scale_history(f);
        const ScaledPatches scaled{take(all.patches, 3, position), of_patch(all.location, position),
                                   of_patch(all.scale, position)};
        f.r.store(f.history_length(), position + 1.0);
        return scaled;
    }
};

/// Without a KV cache: begins a history.
template <Toto1Model Model, Bucket bucket, Rewrites rewrites>
struct BeginHistory {
    static constexpr void record(Recorder& recorder) {
        ForecastRecorder f(recorder, Model::config, forecast_sizes(Model::config, bucket), rewrites);
        f.declare_request();
        f.scaler.keep_global(context_statistics(f.series(), f.observed(), f.config));
        Prefill<Model, bucket, rewrites>::keep_history(f);
        recorder.store(f.step(), f.number(0));
    }
};

/// Without a KV cache: processes the whole history and forecasts the patch after it.
template <Toto1Model Model, Bucket bucket, Rewrites rewrites>
struct Recompute {
    static constexpr void record(Recorder& recorder) {
        ForecastRecorder f(recorder, Model::config, forecast_sizes(Model::config, bucket), rewrites);
        const auto scaled = scale_history(f);
        const Tensor last_ids = slice(f.groups(), 2, f.sizes.context_patches - 1, 1);
        const Tensor ids =
            concatenate(f.groups(), expand(last_ids, Shape{f.sizes.batch, f.sizes.variates, f.sizes.steps}), 2);
        const Tensor hidden =
            f.run_sequence(scaled.patches, ids, f.history_length(), [](int, Tensor key, Tensor value) {
                return nn::QueryKeyValue{key, key, value};
            });
        const Tensor last = f.history_length() - 1.0;
        const auto mixture = f.of_last_patch(distribution_head(hidden, f.config), last);
        const Tensor next = f.next_patch(mixture, of_patch(scaled.location, last), of_patch(scaled.scale, last),
                                         f.step(), f.known_at(f.step()));
        recorder.store_at(f.forecast(), next, 3, f.step());
        const Tensor position = append_to_history(f, next);
        recorder.store(f.history_length(), position + 1.0);
        recorder.store(f.step(), f.step() + 1.0);
    }
};

}  // namespace totograph::toto1
