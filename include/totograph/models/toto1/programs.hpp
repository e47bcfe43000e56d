// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/forecast_parts.hpp>
#include <totograph/models/toto1/forecast_states.hpp>
#include <totograph/models/toto1/history.hpp>
#include <totograph/models/toto1/layers.hpp>
#include <totograph/models/toto1/next_patch.hpp>
#include <totograph/models/toto1/rewrites.hpp>
#include <totograph/models/toto1/scaling.hpp>
#include <totograph/models/toto1/sequence.hpp>
#include <totograph/models/toto1/states.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/scalers.hpp>

namespace totograph::toto1 {

/// Reads the context, fills the prefix cache, and forecasts the first patch.
template <Toto1Model Model, Bucket bucket, Rewrites rewrites>
struct Prefill {
    using Parts = ForecastParts<Model, bucket, rewrites>;

    static constexpr void record(Recorder& recorder) {
        const ForecastStates states(recorder, Parts::sizes);
        // First of all inputs: where its marks are on the device already, the others are one copy.
        (void)states.observed();
        states.declare_request();
        ScaledPatches scaled = scale_context(states);
        Parts::tap("tap.scaled", scaled.patches);
        Parts::tap("tap.context_loc", scaled.location);
        Parts::tap("tap.context_scale", scaled.scale);
        if constexpr (!rewrites.share_prefix) {
            scaled.patches = expand(scaled.patches, with_axis(scaled.patches.shape(), 1, Parts::sizes.samples));
        }
        typename Parts::Prefix prefix(recorder, states::prefix, states::row_bounds(states::asked_positions));
        const Tensor groups = states.groups();
        const Tensor hidden =
            Sequence<Parts>(recorder, states)
                .record(scaled.patches, groups, states.length(), [&](LayerIndex layer, Tensor key, Tensor value) {
                    prefix.fill(layer, key, value);
                    const Tensor keys = prefix.keys(layer);
                    return nn::QueryKeyValue{key, keys, prefix.values(layer)};
                });
        const auto all = Parts::Transformer::distribution(hidden);
        if constexpr (!rewrites.last_patch_only) {
            Parts::tap("tap.head_df", all.degrees_of_freedom);
            Parts::tap("tap.head_loc", all.location);
            Parts::tap("tap.head_scale", all.scale);
            Parts::tap("tap.head_probs", all.probability);
        }
        store_first_patch(states, all, scaled);
        typename Parts::Suffix(recorder, states::suffix, states::row_bounds()).reset();
    }

private:
    /// The context on a common scale; keeps what later steps need of it.
    static constexpr ScaledPatches scale_context(const ForecastStates& states) {
        const Tensor series = states.series();
        const Tensor observed = states.observed();
        const auto global = context_statistics(series, observed, Parts::config);
        RunningMoments running;
        const ScaledPatches scaled = scale_series(series, observed, global, Parts::config, &running);
        ScalerState scaler(states.recorder(), Parts::sizes);
        scaler.keep_global(global);
        if constexpr (!rewrites.incremental_scaler) {
            History<Parts>(states).begin();
        } else if constexpr (Parts::config.scaler != Scaler::global) {
            scaler.keep_running(running);
        }
        return scaled;
    }

    static constexpr void store_first_patch(const ForecastStates& states, const nn::StudentTMixture& all,
                                            const ScaledPatches& scaled) {
        const NextPatch<Parts> next_patch(states);
        const Tensor last = states.length() - 1.0;
        const auto mixture = of_patch(all, last);
        const Tensor location = of_patch(scaled.location, last);
        const Tensor scale = of_patch(scaled.scale, last);
        const Tensor first = states.number(0);
        const Tensor next = next_patch.record(mixture, location, scale, first, next_patch.known_at_start());
        Recorder& recorder = states.recorder();
        recorder.store(states.forecast(), next, 3, 0);
        const Tensor step = states.step();
        recorder.store(step, states.number(1));
    }
};

/// Forecasts one patch after the last one, with keys and values of earlier patches from the caches.
template <Toto1Model Model, Bucket bucket, Rewrites rewrites>
struct Decode {
    using Parts = ForecastParts<Model, bucket, rewrites>;

    static constexpr void record(Recorder& recorder) {
        const ForecastStates states(recorder, Parts::sizes);
        const typename Parts::Prefix prefix(recorder, states::prefix, states::row_bounds(states::asked_positions));
        typename Parts::Suffix suffix(recorder, states::suffix, states::row_bounds());
        const Tensor forecast = states.forecast();
        const Tensor patch = take(forecast, 3, suffix.length());
        const ScaledPatches scaled = scale_patch(states, patch);
        const Tensor groups = slice(states.groups(), 2, sizes.context_patches - 1, 1);
        const Tensor prefix_length = Parts::prepended(states.length());
        const Tensor position = prefix_length + suffix.length();
        const auto rotary = Parts::rotary(reshape(cast(position, DType::f32), {sizes.batch, 1, 1, 1, 1, 1}), position);
        const Tensor suffix_length = suffix.length() + 1.0;

        Tensor x = Transformer::patch_embedding(recorder).record(scaled.patches);
        x = record_layers(
            Parts::config, Parts::config.num_layers, x, [&](Tensor input, LayerKind kind, LayerIndex number) {
                const auto layer = Transformer::layer(recorder, number);
                return layer.record(input, [&](const nn::QueryKeyValue& projected) {
                    if (kind == LayerKind::space_wise) {
                        return Parts::space_wise_attention(layer, projected, groups);
                    }
                    const Tensor query = rotary.query(projected.query);
                    suffix.append(number, rotary.key(projected.key), projected.value);
                    return layer.attention.cached(query, {prefix.keys(number), prefix.values(number), prefix_length},
                                                  {suffix.keys(number), suffix.values(number), suffix_length});
                });
            });
        const auto mixture = Transformer::distribution(x);
        const NextPatch<Parts> next_patch(states);
        const Tensor step = states.step();
        const Tensor next = next_patch.record(mixture, scaled.location, scaled.scale, step, next_patch.known_at(step));
        recorder.store_at(states.forecast(), next, 3, step);
        recorder.store(step, step + 1.0);
        suffix.advance(1);
    }

private:
    using Transformer = typename Parts::Transformer;
    static constexpr ForecastSizes sizes = Parts::sizes;

    /// The patch on its scale: by running sums, or on the scale of the whole history, which the reference computes anew
    /// at each step.
    static constexpr ScaledPatches scale_patch(const ForecastStates& states, Tensor patch) {
        ScalerState scaler(states.recorder(), sizes);
        if constexpr (rewrites.incremental_scaler) {
            return scale_next_patch(reshape(patch, {sizes.batch, sizes.samples, sizes.variates, sizes.patch_size}),
                                    scaler, Parts::config);
        } else {
            return History<Parts>(states).append_and_scale(patch);
        }
    }
};

/// Without a KV cache: begins a history.
template <Toto1Model Model, Bucket bucket, Rewrites rewrites>
struct BeginHistory {
    using Parts = ForecastParts<Model, bucket, rewrites>;

    static constexpr void record(Recorder& recorder) {
        const ForecastStates states(recorder, Parts::sizes);
        states.declare_request();
        const Tensor series = states.series();
        ScalerState(recorder, Parts::sizes).keep_global(context_statistics(series, states.observed(), Parts::config));
        History<Parts>(states).begin();
        const Tensor step = states.step();
        recorder.store(step, states.number(0));
    }
};

/// Without a KV cache: processes the whole history and forecasts the patch after it.
template <Toto1Model Model, Bucket bucket, Rewrites rewrites>
struct Recompute {
    using Parts = ForecastParts<Model, bucket, rewrites>;

    static constexpr void record(Recorder& recorder) {
        const ForecastStates states(recorder, Parts::sizes);
        const History<Parts> history(states);
        const ScaledPatches scaled = history.scale();
        const Tensor groups = history.groups();
        const Tensor hidden =
            Sequence<Parts>(recorder, states)
                .record(scaled.patches, groups, states.history_length(), [](LayerIndex, Tensor key, Tensor value) {
                    return nn::QueryKeyValue{key, key, value};
                });
        const Tensor last = states.history_length() - 1.0;
        const auto mixture = of_patch(Parts::Transformer::distribution(hidden), last);
        const Tensor location = of_patch(scaled.location, last);
        const Tensor scale = of_patch(scaled.scale, last);
        const NextPatch<Parts> next_patch(states);
        const Tensor step = states.step();
        const Tensor next = next_patch.record(mixture, location, scale, step, next_patch.known_at(step));
        recorder.store_at(states.forecast(), next, 3, step);
        const Tensor position = history.append(next);
        recorder.store(states.history_length(), position + 1.0);
        recorder.store(step, step + 1.0);
    }
};

}  // namespace totograph::toto1
