// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/kronos/ids.hpp>
#include <totograph/models/kronos/inputs.hpp>
#include <totograph/models/kronos/tokenizer.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/rows.hpp>

namespace totograph::kronos {

/// From ids to candles, on the tokenizer's scale: `[batch, samples, 1, horizon, 6]`. The decoder is causal. While
/// nothing slides it reads the history once for all paths; else it begins where the last window does.
template <class Parts>
class Reconstruction {
    using Tokenizer = kronos::Tokenizer<Parts>;
    using Rotation = typename Tokenizer::Rotation;
    static constexpr ForecastSizes sizes = Parts::sizes;

public:
    static constexpr Tensor record(const Inputs<Parts>& in) {
        if constexpr (Parts::slides) {
            return of_window(in);
        } else {
            return behind_history(in);
        }
    }

private:
    /// The history, `[batch, 1, 1, context, d_model]`, and the candles of each path behind it.
    static constexpr Tensor behind_history(const Inputs<Parts>& in) {
        Recorder& r = in.recorder();
        const IdStates<Parts> ids(in);
        const Tensor length = in.length();
        const Tensor of_history = Tokenizer::embed_ids(ids.history());
        const Tensor of_paths = Tokenizer::embed_ids(ids.drawn());
        Parts::tap("tap.decoder_embedding", of_paths);
        const Rotation rotation(r, Parts::context);
        const Tensor first = reshape(cast(length, DType::f32), {sizes.batch, 1, 1, 1, 1, 1});
        const Rotation behind(first + reshape(r.iota(Parts::horizon), {Parts::horizon, 1, 1}));
        const Tensor drawn = in.number(static_cast<double>(Parts::horizon));
        const auto both =
            repeat(Tokenizer::decoder_blocks, std::array{of_history, of_paths},
                   [&](const std::array<Tensor, 2>& given, LayerIndex number) {
                       const auto layer = Tokenizer::decoder_layer(r, number);
                       const auto history = needed(rotation.apply(layer.project(given[0])), states::asked_positions);
                       const auto paths = needed(behind.apply(layer.project(given[1])), states::asked_patches);
                       const Tensor x = layer.finish(
                           given[0], layer.attention.causal(history.query, history.key, history.value, length));
                       const Tensor attended = layer.attention.cached(paths.query, {history.key, history.value, length},
                                                                      {paths.key, paths.value, drawn});
                       const Tensor y = layer.finish(given[1], attended);
                       Parts::tap("tap.decoder", y, number);
                       return std::array{r.bound(x, 3, states::asked_positions), y};
                   });
        Parts::tap("tap.reconstruction", Parts::is_inspected ? Tokenizer::to_candles(both[0]) : both[0]);
        return Tokenizer::to_candles(both[1]);
    }

    /// Keys and values of candles, of which nobody needs those from a bound on.
    static constexpr nn::QueryKeyValue needed(const nn::QueryKeyValue& candles, std::int8_t bound) {
        Recorder& r = candles.key.recorder();
        return {candles.query, r.bound(candles.key, 3, bound), r.bound(candles.value, 3, bound)};
    }

    /// The last candles of history and forecast, as many as the predictor sees.
    static constexpr Tensor of_window(const Inputs<Parts>& in) {
        constexpr Index window = Parts::config.max_context;
        Recorder& r = in.recorder();
        const Tensor end = in.length() + in.horizon();
        const Tensor length = minimum(end, static_cast<double>(window));
        Tensor x = Tokenizer::embed_ids(IdStates<Parts>(in).window(end - length, window));
        Parts::tap("tap.decoder_embedding", x);
        const Rotation rotation(r, window);
        x = repeat(Tokenizer::decoder_blocks, x, [&](Tensor input, LayerIndex number) {
            const auto layer = Tokenizer::decoder_layer(r, number);
            const Tensor result = layer.record(input, [&](const nn::QueryKeyValue& projected) {
                const auto rotated = rotation.apply(projected);
                return layer.attention.causal(rotated.query, rotated.key, rotated.value, length);
            });
            Parts::tap("tap.decoder", result, number);
            return r.bound(result, 3, states::asked_tokens);
        });
        const Shape by_path{sizes.batch, 1, sizes.samples, window, column_count};
        const Tensor by_window = Tokenizer::to_candles(x);
        for (const int axis : {0, 1, 3}) {  // rows are picked by number below, which hides whose they are
            r.bound(by_window, axis, states::row_bounds(states::asked_tokens)[static_cast<std::size_t>(axis)]);
        }
        const Tensor candles = reshape(by_window, by_path);
        return reshape(nn::rows_from(candles, length - in.horizon(), Parts::horizon),
                       {sizes.batch, sizes.samples, 1, Parts::horizon, column_count});
    }
};

}  // namespace totograph::kronos
