// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/forecaster.hpp>
#include <totograph/forecast/forecaster_options.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/models/kronos/candles.hpp>
#include <totograph/models/kronos/family.hpp>

namespace totograph::kronos {

/// Paths of candles of several symbols, which it owns.
class CandleForecast {
public:
    /// From a forecast of a Kronos model.
    CandleForecast(const Forecast& forecast, bool consistent)
        : symbols_(forecast.batch()),
          horizon_(forecast.horizon()),
          paths_(forecast.sample_count()),
          is_finite_(forecast.is_finite()) {
        const Index block = horizon_ * paths_;
        values_.reserve(static_cast<std::size_t>(symbols_ * column_count * block));
        for (Index symbol = 0; symbol < symbols_; ++symbol) {
            const auto begin = forecast.values().begin() + symbol * forecast.variates() * block;
            values_.insert(values_.end(), begin, begin + column_count * block);
            if (consistent) {
                make_consistent(symbol);
            }
        }
    }

    [[nodiscard]] Index symbols() const { return symbols_; }
    [[nodiscard]] Index horizon() const { return horizon_; }
    [[nodiscard]] Index paths() const { return paths_; }
    /// Whether the model gave a finite number for each value; see `Forecast::is_finite`.
    [[nodiscard]] bool is_finite() const { return is_finite_; }

    /// One number. All indices are in range.
    [[nodiscard]] float value(Column column, Index path, Index step, Index symbol = 0) const {
        return values(column, symbol)[static_cast<std::size_t>(step * paths_ + path)];
    }
    /// All paths of a column, `[horizon, paths]`.
    [[nodiscard]] std::span<const float> values(Column column, Index symbol = 0) const {
        const auto block = static_cast<std::size_t>(horizon_ * paths_);
        const auto place = static_cast<std::size_t>(symbol * column_count + static_cast<Index>(column));
        return std::span(values_).subspan(place * block, block);
    }
    /// The mean of the paths at each step: what the reference returns.
    [[nodiscard]] std::vector<float> mean(Column column, Index symbol = 0) const { return of(column, symbol).mean(); }
    /// A quantile of the paths at each step. Throws `Error` when `level` is not in [0, 1].
    [[nodiscard]] std::vector<float> quantile(double level, Column column, Index symbol = 0) const {
        return of(column, symbol).quantile(level);
    }

private:
    [[nodiscard]] Forecast of(Column column, Index symbol) const {
        return {values(column, symbol), 1, 1, horizon_, paths_};
    }

    void make_consistent(Index symbol) {
        const Index block = horizon_ * paths_;
        float* const first = values_.data() + symbol * column_count * block;
        for (Index i = 0; i < block; ++i) {
            const auto at = [&](Column column) -> float& { return first[static_cast<Index>(column) * block + i]; };
            const auto [low, high] =
                std::minmax({at(Column::open), at(Column::high), at(Column::low), at(Column::close)});
            at(Column::low) = low;
            at(Column::high) = high;
            at(Column::volume) = std::max(at(Column::volume), 0.0F);
            at(Column::amount) = std::max(at(Column::amount), 0.0F);
        }
    }

    Index symbols_;
    Index horizon_;
    Index paths_;
    bool is_finite_;
    std::vector<float> values_;  ///< `[symbols, 6, horizon, paths]`
};

/// Forecasts candles: a `Forecaster` whose bucket `candle_bucket` has made, with candles and times in place of
/// variates.
template <KronosModel Model, Bucket bucket, auto options = ForecasterOptions{}>
class CandleForecaster {
public:
    using Forecaster = totograph::Forecaster<Model, bucket, options>;

    /// As of `Forecaster`.
    explicit CandleForecaster(const WeightsOf<Model>& weights, const typename Forecaster::Resources& resources = {})
        : forecaster_(weights, resources) {}

    /// Forecasts the candles at `future_time` of each symbol. Histories may have different lengths; of longer ones than
    /// the bucket's the newest candles are used. More symbols and paths than the bucket's run in parts. Throws `Error`
    /// as `CandleSeries` and `Forecaster::forecast` do.
    CandleForecast forecast(std::span<const Candles> symbols, const CandleOptions& candle_options = {}) {
        const CandleSeries given(symbols, candle_options, bucket.context);
        return {forecaster_.forecast(given.series(), {.seed = candle_options.seed,
                                                      .horizon = given.series().future_steps,
                                                      .samples = candle_options.paths}),
                candle_options.consistent};
    }
    /// The same of one symbol.
    CandleForecast forecast(const Candles& symbol, const CandleOptions& candle_options = {}) {
        return forecast(std::span(&symbol, 1), candle_options);
    }

    /// What computes it.
    [[nodiscard]] Forecaster& forecaster() { return forecaster_; }

private:
    Forecaster forecaster_;
};

}  // namespace totograph::kronos
