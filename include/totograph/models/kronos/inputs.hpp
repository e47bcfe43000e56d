// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/kronos/parts.hpp>
#include <totograph/models/kronos/states.hpp>

namespace totograph::kronos {

/// The states of a forecast's programs as tensors, declared where they are first used, and what follows from them
/// alone. `states.hpp` says what they hold.
template <class Parts>
class Inputs {
public:
    constexpr explicit Inputs(Recorder& recorder) : r_(&recorder) {}

    [[nodiscard]] constexpr Recorder& recorder() const { return *r_; }

    /// Columns of candles, `[batch, 1, 6, context]`.
    [[nodiscard]] constexpr Tensor columns() const { return slice(series(), 2, 0, column_count); }
    /// Stamps of the context and of what is forecast, i32 `[batch, 1, 1, candles, 5]`.
    [[nodiscard]] constexpr Tensor stamps() const {
        return stamps_of(slice(series(), 2, column_count, stamp_count), Parts::context);
    }
    [[nodiscard]] constexpr Tensor future_stamps() const {
        return stamps_of(slice(future(), 2, column_count, stamp_count), Parts::horizon);
    }
    /// What is known of the future, `[batch, 1, 11, horizon, 1]`.
    [[nodiscard]] constexpr Tensor future() const {
        return r_->state(states::future, {sizes.batch, 1, sizes.variates, sizes.steps, 1});
    }

    /// Candles of context that each series has, i32 `[batch]`.
    [[nodiscard]] constexpr Tensor length() const { return r_->state(states::length, {sizes.batch}, DType::i32); }
    /// Those that the predictor sees of them.
    [[nodiscard]] constexpr Tensor window_length() const {
        if constexpr (Parts::window < Parts::context) {
            return minimum(length(), static_cast<double>(Parts::window));
        } else {
            return length();
        }
    }
    /// What of the bucket a request asks for.
    [[nodiscard]] constexpr Tensor request() const {
        return r_->state(states::request, {states::request_size}, DType::i32, {}, StateUse::bounds);
    }
    /// Candles that are asked for, i32 `[1]`.
    [[nodiscard]] constexpr Tensor horizon() const { return slice(request(), 0, 2, 1); }

    [[nodiscard]] constexpr Tensor seed() const { return r_->state(states::seed, {2}, DType::i32); }
    [[nodiscard]] constexpr Tensor first_draw() const { return r_->state(states::first_draw, {2}, DType::i32); }
    [[nodiscard]] constexpr CategoricalFilter filter() const {
        const Tensor temperature = r_->state(states::temperature, {1});
        const Tensor top_k = r_->state(states::top_k, {1}, DType::i32);
        return {temperature, top_k, r_->state(states::top_p, {1})};
    }

    [[nodiscard]] constexpr Tensor mean() const { return r_->state(states::mean, of_columns); }
    [[nodiscard]] constexpr Tensor scale() const { return r_->state(states::scale, of_columns); }
    [[nodiscard]] constexpr Tensor future_times() const {
        return r_->state(states::future_times, {sizes.batch, 1, 1, sizes.steps, Parts::config.predictor.d_model},
                         DType::f32, {}, StateUse::any, states::row_bounds(states::asked_patches));
    }
    [[nodiscard]] constexpr Tensor step() const { return r_->state(states::step, {1}, DType::i32); }
    [[nodiscard]] constexpr Tensor number(double value) const {
        return expand(r_->constant(value, DType::i32), Shape{1});
    }
    [[nodiscard]] constexpr Tensor forecast() const {
        return r_->state(states::forecast, {sizes.batch, sizes.values, sizes.variates, sizes.steps, 1}, DType::f32, {},
                         StateUse::any, states::row_bounds(states::asked_patches));
    }

private:
    static constexpr ForecastSizes sizes = Parts::sizes;
    static constexpr Shape of_columns{sizes.batch, 1, 1, 1, column_count};

    [[nodiscard]] constexpr Tensor series() const {
        return r_->state(states::series, {sizes.batch, 1, sizes.variates, Parts::context});
    }
    /// From rows of stamps to one row a candle.
    static constexpr Tensor stamps_of(Tensor rows, Index candles) {
        const Tensor by_stamp = reshape(rows, {sizes.batch, stamp_count, candles});
        return reshape(cast(permute(by_stamp, {0, 2, 1}), DType::i32), {sizes.batch, 1, 1, candles, stamp_count});
    }

    Recorder* r_;
};

}  // namespace totograph::kronos
