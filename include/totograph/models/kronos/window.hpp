// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/kronos/ids.hpp>
#include <totograph/models/kronos/inputs.hpp>
#include <totograph/models/kronos/parts.hpp>
#include <totograph/models/kronos/predictor.hpp>
#include <totograph/models/kronos/states.hpp>
#include <totograph/nn/attention.hpp>

// The candles that the predictor sees where its window slides.

namespace totograph::kronos {

/// Rows of the candles in the window, `[batch, 1, 1, rows, width]`: those that all paths share, then each path's
/// last `own` ones. Of a series that is shorter, rows in common from number `common_` on hold no candle, nor do own
/// ones behind `newest_`: they may be NaN, and no attention sees them.
template <class Parts>
class SharedWindow {
    using Predictor = kronos::Predictor<Parts>;
    static constexpr ForecastSizes sizes = Parts::sizes;
    static constexpr Index window = Parts::config.max_context;

public:
    static constexpr Index common = sizes.shared_rows;
    static constexpr Index own = sizes.rows_of_sample;

    constexpr explicit SharedWindow(const Inputs<Parts>& in)
        : in_(in),
          first_(in.length() + in.step() - seen(in)),
          common_(maximum(seen(in) - static_cast<double>(own), 0.0)),
          newest_(seen(in) - common_ - 1.0) {}

    [[nodiscard]] constexpr Tensor embed() const {
        const IdStates<Parts> ids(in_);
        const Tensor begin = first_ + common_;
        const Ids of_common = ids.common_window(first_, common);
        const Ids of_paths = ids.window(begin, own);
        const auto of_rows = [&](Tensor in_common, Tensor of_each) {
            return reshape(join(reshape(in_common, {sizes.batch, 1, 1, common, 1}),
                                reshape(of_each, {sizes.batch, sizes.samples, 1, own, 1})),
                           {sizes.batch, 1, 1, common + sizes.samples * own});
        };
        const Tensor s1 = of_rows(of_common.s1, of_paths.s1);
        const Tensor tokens = Predictor::embed_ids({s1, of_rows(of_common.s2, of_paths.s2)});
        const Tensor stamps = expand(ids.window_stamps(begin, own), {sizes.batch, sizes.samples, 1, own, stamp_count});
        return tokens + Predictor::embed_times(join(ids.window_stamps(first_, common), stamps));
    }

    /// f32 `[batch, 1, 1, rows, 1, 1]`.
    [[nodiscard]] constexpr Tensor positions() const {
        Recorder& r = in_.recorder();
        const Tensor of_common = reshape(r.iota(common), {1, 1, 1, common, 1});
        const Tensor of_own =
            reshape(cast(common_, DType::f32), {sizes.batch, 1, 1, 1, 1}) + reshape(r.iota(own), {1, 1, 1, own, 1});
        const Tensor joined = join(expand(of_common, {sizes.batch, 1, 1, common, 1}),
                                   expand(of_own, {sizes.batch, sizes.samples, 1, own, 1}));
        return reshape(joined, {sizes.batch, 1, 1, common + sizes.samples * own, 1, 1});
    }

    [[nodiscard]] constexpr Tensor attend(const nn::QueryKeyValue& x, const nn::AttentionOptions& options) const {
        for (const Tensor rows_of_x : {x.query, x.key, x.value}) {
            bound(rows_of_x);
        }
        const nn::KeysAndValues prefix = keys_in_common(x);
        const Tensor of_own = nn::cached_attention(of_paths(x.query), prefix, own_keys(x), options);
        return join(nn::attention(of_common(x.query), prefix, options),
                    in_.recorder().bound(of_own, 1, states::asked_values));
    }
    /// Of a query for each path, which sees all that the window has.
    [[nodiscard]] constexpr Tensor attend_to_all(Tensor query, const nn::QueryKeyValue& x,
                                                 nn::AttentionOptions options) const {
        Recorder& r = in_.recorder();
        const Tensor last = reshape(cast(newest_, DType::f32), {sizes.batch, 1, 1}) + static_cast<double>(common);
        const Tensor place = reshape(r.iota(common + own), {1, 1, common + own});
        options.mask = KeyMask::by_key;
        options.ids = cast(1.0 - less(last, place), DType::i32);
        return nn::cached_attention(query, keys_in_common(x), own_keys(x), options);
    }

    /// The newest row of each path, `[batch, samples, 1, 1, width]`.
    [[nodiscard]] constexpr Tensor newest(Tensor x) const { return take(of_paths(x), 3, newest_); }

    static constexpr Tensor bound(Tensor x) { return x.recorder().bound(x, 3, states::asked_rows); }

private:
    static constexpr Tensor seen(const Inputs<Parts>& in) {
        return minimum(in.length() + in.step(), static_cast<double>(window));
    }
    static constexpr Tensor join(Tensor of_common, Tensor of_paths) {
        return concatenate(of_common, reshape(of_paths, {sizes.batch, 1, 1, sizes.samples * own, of_paths.extent(-1)}),
                           3);
    }
    static constexpr Tensor of_common(Tensor x) { return slice(x, 3, 0, common); }
    static constexpr Tensor of_paths(Tensor x) {
        return reshape(slice(x, 3, common, sizes.samples * own), {sizes.batch, sizes.samples, 1, own, x.extent(-1)});
    }
    [[nodiscard]] constexpr nn::KeysAndValues keys_in_common(const nn::QueryKeyValue& x) const {
        return {of_common(x.key), of_common(x.value), common_};
    }
    [[nodiscard]] constexpr nn::KeysAndValues own_keys(const nn::QueryKeyValue& x) const {
        return {of_paths(x.key), of_paths(x.value), in_.number(static_cast<double>(own))};
    }

    Inputs<Parts> in_;
    Tensor first_;   ///< Candle in the window, i32 `[batch]`.
    Tensor common_;  ///< Rows that all paths share, i32 `[batch]`.
    Tensor newest_;  ///< Of each path's own rows the last one that holds a candle, i32 `[batch]`.
};

/// The same with all of the window for each path: rows are `[batch, samples, 1, window, width]`.
template <class Parts>
class WholeWindow {
    using Predictor = kronos::Predictor<Parts>;
    static constexpr Index window = Parts::config.max_context;

public:
    constexpr explicit WholeWindow(const Inputs<Parts>& in)
        : in_(in), seen_(minimum(in.length() + in.step(), static_cast<double>(window))) {}

    [[nodiscard]] constexpr Tensor embed() const {
        const IdStates<Parts> ids(in_);
        const Tensor first = in_.length() + in_.step() - seen_;
        return Predictor::embed_ids(ids.window(first, window)) +
               Predictor::embed_times(ids.window_stamps(first, window));
    }
    [[nodiscard]] constexpr Tensor positions() const { return reshape(in_.recorder().iota(window), {window, 1, 1}); }
    [[nodiscard]] constexpr Tensor attend(const nn::QueryKeyValue& x, const nn::AttentionOptions& options) const {
        return nn::attention(x.query, {x.key, x.value, seen_}, options);
    }
    [[nodiscard]] constexpr Tensor attend_to_all(Tensor query, const nn::QueryKeyValue& x,
                                                 const nn::AttentionOptions& options) const {
        return nn::attention(query, {x.key, x.value, seen_}, options);
    }
    [[nodiscard]] constexpr Tensor newest(Tensor x) const { return take(x, 3, seen_ - 1.0); }
    static constexpr Tensor bound(Tensor x) { return x.recorder().bound(x, 3, states::asked_tokens); }

private:
    Inputs<Parts> in_;
    Tensor seen_;  ///< Candles in the window, i32 `[batch]`.
};

/// Two attentions and a concatenation pay where at least a quarter of the rows is saved.
template <class Parts>
using Window = std::conditional_t<((Parts::sizes.samples - 1) * SharedWindow<Parts>::common * 4 >=
                                   Parts::sizes.samples * Parts::config.max_context),
                                  SharedWindow<Parts>, WholeWindow<Parts>>;

}  // namespace totograph::kronos
