// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/kronos/config.hpp>
#include <totograph/models/kronos/ids.hpp>
#include <totograph/models/kronos/inputs.hpp>
#include <totograph/models/kronos/next_candle.hpp>
#include <totograph/models/kronos/parts.hpp>
#include <totograph/models/kronos/predictor.hpp>
#include <totograph/models/kronos/reconstruction.hpp>
#include <totograph/models/kronos/scaling.hpp>
#include <totograph/models/kronos/states.hpp>
#include <totograph/models/kronos/tokenizer.hpp>
#include <totograph/models/kronos/window.hpp>
#include <totograph/nn/attention.hpp>

namespace totograph::kronos {

/// From candles to ids: signs decide, which less than f32 would turn here and there.
template <KronosModel Model, Bucket bucket>
struct Encode {
    using Parts = kronos::Parts<Model, bucket>;
    static constexpr bool needs_f32 = true;

    static constexpr void record(Recorder& r) {
        const Inputs<Parts> in(r);
        (void)in.request();
        const Tensor length = in.length();
        const NormalizedCandles candles = normalize(in.columns(), length, Parts::config.clip);
        r.store(in.mean(), candles.mean);
        r.store(in.scale(), candles.scale);
        Parts::tap("tap.normalised", candles.values);
        const Ids ids = Tokenizer<Parts>::encode(as_read(candles.values), length);
        Parts::tap("tap.context_s1", ids.s1);
        Parts::tap("tap.context_s2", ids.s2);
        IdStates<Parts>(in).keep_history(ids);
    }

private:
    /// What the tokenizer reads: the reference rounds otherwise, and tests give it what that reads.
    static constexpr Tensor as_read(Tensor normalized) {
        if constexpr (Parts::is_inspected) {
            return normalized.recorder().state("forced.normalised", normalized.shape());
        } else {
            return normalized;
        }
    }
};

/// Reads the ids of the context, once for all paths, fills the caches, and draws the first candle.
template <KronosModel Model, Bucket bucket>
struct Prefill {
    using Parts = kronos::Parts<Model, bucket>;

    static constexpr void record(Recorder& r) {
        const Inputs<Parts> in(r);
        const Ids ids = IdStates<Parts>(in).history();
        const Tensor seen = in.window_length();
        const Tensor context = Predictor::norm(layers(r, embed(in, ids, seen), seen));
        Parts::tap("tap.context", context);
        const nn::QueryKeyValue of_dependency = Predictor::dependency_keys(context);
        typename Parts::DependencyPrefix dependency(r, states::dependency_prefix,
                                                    states::row_bounds(states::asked_positions));
        dependency.fill({}, of_dependency.key, of_dependency.value);
        const nn::KeysAndValues keys{dependency.keys({}), dependency.values({}), seen};
        NextCandle<Parts>(in).record(take(context, 3, seen - 1.0), in.number(0), [&](Tensor query) {
            return nn::attention(query, keys, Predictor::dependency_options());
        });
        if constexpr (Parts::decoded > 0) {
            r.store(in.future_times(), Predictor::embed_times(in.future_stamps()));
            typename Parts::Suffix(r, states::suffix, states::row_bounds()).reset();
        }
    }

private:
    using Predictor = kronos::Predictor<Parts>;

    /// Rows of the candles that the predictor sees, the last ones of the context.
    static constexpr Tensor embed(const Inputs<Parts>& in, Ids ids, Tensor seen) {
        Tensor stamps = in.stamps();
        if constexpr (Parts::window < Parts::context) {
            const Tensor first = in.length() - seen;
            ids = {ids_from(ids.s1, first, Parts::window), ids_from(ids.s2, first, Parts::window)};
            stamps = stamps_from(stamps, first, Parts::window);
        }
        const Tensor tokens = Predictor::embed_ids(ids);
        Parts::tap("tap.token_embedding", tokens);
        const Tensor times = Predictor::embed_times(stamps);
        Parts::tap("tap.time_embedding", times);
        return tokens + times;
    }

    static constexpr Tensor layers(Recorder& r, Tensor x, Tensor seen) {
        typename Parts::Prefix prefix(r, states::prefix, states::row_bounds(states::asked_positions));
        const typename Predictor::Rotation rotation(r, Parts::window);
        return repeat(Parts::config.predictor.n_layers, x, [&](Tensor input, LayerIndex number) {
            const auto layer = Predictor::layer(r, number);
            const Tensor result = layer.record(input, [&](const nn::QueryKeyValue& projected) {
                const auto rotated = rotation.apply(projected);
                prefix.fill(number, rotated.key, rotated.value);
                return layer.attention.causal(rotated.query, prefix.keys(number), prefix.values(number), seen);
            });
            Parts::tap("tap.layer", result, number);
            return result;
        });
    }
};

/// Draws one candle after the last one, with keys and values of earlier candles from the caches.
template <KronosModel Model, Bucket bucket>
struct Decode {
    using Parts = kronos::Parts<Model, bucket>;

    static constexpr void record(Recorder& r) {
        const Inputs<Parts> in(r);
        const typename Parts::Prefix prefix(r, states::prefix, states::row_bounds(states::asked_positions));
        typename Parts::Suffix suffix(r, states::suffix, states::row_bounds());
        const Tensor seen = in.window_length();
        const Tensor newest = suffix.length();
        const Tensor own = newest + 1.0;
        const Tensor position = cast(seen + newest, DType::f32);
        const typename Predictor::Rotation rotation(reshape(position, {Parts::sizes.batch, 1, 1, 1, 1, 1}));

        const auto seen_of = [&](nn::AttentionOptions options) {
            if constexpr (Parts::rolls) {
                options.mask = KeyMask::by_key;
                options.ids = keys_in_window(position);
            }
            return options;
        };

        const Ids drawn = IdStates<Parts>(in).drawn();
        const Ids ids{take(drawn.s1, 3, newest), take(drawn.s2, 3, newest)};
        Tensor x = Predictor::embed_ids(ids) + take(in.future_times(), 3, newest);
        x = repeat(Parts::config.predictor.n_layers, x, [&](Tensor input, LayerIndex number) {
            const auto layer = Predictor::layer(r, number);
            return layer.record(input, [&](const nn::QueryKeyValue& projected) {
                const auto rotated = rotation.apply(projected);
                suffix.append(number, rotated.key, rotated.value);
                return nn::cached_attention(rotated.query, {prefix.keys(number), prefix.values(number), seen},
                                            {suffix.keys(number), suffix.values(number), own},
                                            seen_of(layer.attention.options()));
            });
        });
        const Tensor context = Predictor::norm(x);
        const typename Parts::DependencyPrefix before(r, states::dependency_prefix,
                                                      states::row_bounds(states::asked_positions));
        typename Parts::DependencySuffix after(r, states::dependency_suffix, states::row_bounds());
        const nn::QueryKeyValue of_dependency = Predictor::dependency_keys(context);
        after.append({}, of_dependency.key, of_dependency.value);
        NextCandle<Parts>(in).record(context, in.step(), [&](Tensor query) {
            return nn::cached_attention(query, {before.keys({}), before.values({}), seen},
                                        {after.keys({}), after.values({}), own},
                                        seen_of(Predictor::dependency_options()));
        });
        suffix.advance(1);
    }

private:
    using Predictor = kronos::Predictor<Parts>;

    /// Which keys of prefix and suffix are among the newest `max_context`; those of a suffix, which holds fewer, are.
    /// @param position  of the newest candle, f32 `[batch]`
    static constexpr Tensor keys_in_window(Tensor position) {
        constexpr Index keys = Parts::window + std::max(Index{1}, Parts::decoded);
        const Tensor first = reshape(position, {Parts::sizes.batch, 1, 1}) + (1.0 - Parts::config.max_context);
        const Tensor place = reshape(position.recorder().iota(keys), {1, 1, keys});
        return cast(1.0 - less(place, first), DType::i32);
    }
};

/// Draws one candle after the last one from the window alone, which has moved: every position is another one, so that
/// nothing of earlier steps can be kept, as in the reference. All but the last candles are the same for all paths:
/// attention is causal, so that their rows know nothing of what was drawn, and are computed once.
template <KronosModel Model, Bucket bucket>
struct Slide {
    using Parts = kronos::Parts<Model, bucket>;

    static constexpr void record(Recorder& r) {
        const Inputs<Parts> in(r);
        const Window rows(in);
        const typename Predictor::Rotation rotation(rows.positions());
        const Tensor x = repeat(Parts::config.predictor.n_layers, rows.embed(), [&](Tensor input, LayerIndex number) {
            const auto layer = Predictor::layer(r, number);
            const Tensor result = layer.record(input, [&](const nn::QueryKeyValue& projected) {
                return rows.attend(rotation.apply(projected), layer.attention.options());
            });
            return rows.bound(result);
        });
        const Tensor context = Predictor::norm(x);
        const nn::QueryKeyValue of_dependency = Predictor::dependency_keys(context);
        rows.bound(of_dependency.key);
        rows.bound(of_dependency.value);
        NextCandle<Parts>(in).record(rows.newest(context), in.step(), [&](Tensor query) {
            return rows.attend_to_all(query, of_dependency, Predictor::dependency_options());
        });
    }

private:
    using Predictor = kronos::Predictor<Parts>;
    using Window = kronos::Window<Parts>;
};

/// From the ids that were drawn to candles on the scale of the series.
template <KronosModel Model, Bucket bucket>
struct Reconstruct {
    using Parts = kronos::Parts<Model, bucket>;
    static constexpr bool needs_f32 = true;

    static constexpr void record(Recorder& r) {
        const Inputs<Parts> in(r);
        const Tensor normalized = Reconstruction<Parts>::record(in);
        Parts::tap("tap.forecast_normalised", normalized);
        const Tensor candles = normalized * in.scale() + in.mean();
        constexpr ForecastSizes sizes = Parts::sizes;
        const Tensor by_candle = reshape(candles, {sizes.batch, sizes.samples, sizes.steps, column_count});
        const Tensor forecast = in.forecast();
        r.store(forecast,
                reshape(permute(by_candle, {0, 1, 3, 2}), {sizes.batch, sizes.samples, column_count, sizes.steps, 1}),
                2, 0);
        r.store(forecast, slice(in.future(), 2, column_count, stamp_count), 2, column_count);
    }
};

}  // namespace totograph::kronos
