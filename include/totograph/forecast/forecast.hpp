// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include <totograph/core/exact_math.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/results/result_memory.hpp>

namespace totograph {

/// The result of a forecast: a view of its forecaster's memory, valid until that forecaster's next forecast or its end.
/// `keep()` gives one that owns its values. Where a forecast comes from a `serve::ForecastService` it holds its memory,
/// and is valid as long as it or a copy of it lives.
class Forecast {
public:
    Forecast() = default;
    /// `values` is `[batch, variates, horizon, samples]`; without the last axis for a mean forecast (samples = 0); or
    /// `[batch, variates, horizon, levels]` for quantiles at fixed levels, ascending, which outlive the forecast.
    /// `not_finite` of the values are no finite numbers, or stand in place of such.
    Forecast(std::span<const float> values, Index batch, Index variates, Index horizon, Index samples,
             Index not_finite = 0, std::span<const double> levels = {})
        : values_(values),
          levels_(levels),
          batch_(batch),
          variates_(variates),
          horizon_(horizon),
          samples_(samples),
          not_finite_(not_finite) {}

    [[nodiscard]] Index batch() const { return batch_; }
    [[nodiscard]] Index variates() const { return variates_; }
    [[nodiscard]] Index horizon() const { return horizon_; }
    /// Sampled futures; 0 when this is a forecast of the mean, or of quantiles.
    [[nodiscard]] Index sample_count() const { return samples_; }
    /// The levels of the quantiles that the model itself forecasts, ascending; empty for samples and means.
    [[nodiscard]] std::span<const double> levels() const { return levels_; }
    /// Steps of history that it was made from, the newest ones: fewer than were given where the bucket holds fewer. 0
    /// where it was not told.
    [[nodiscard]] Index context() const { return context_; }
    /// The same forecast, said to be made from so many steps of history.
    [[nodiscard]] Forecast with_context(Index steps) const;

    /// All values: `[batch, variates, horizon, samples]`, `[batch, variates, horizon, levels]` of a forecast of
    /// quantiles, or `[batch, variates, horizon]` of a mean forecast.
    [[nodiscard]] std::span<const float> values() const { return values_; }

    /// Whether the model gave a finite number for each value. Where it did not, nothing here is worth using: the series
    /// is too large for f32, or the weights are not those of a trained model.
    [[nodiscard]] bool is_finite() const { return not_finite_ == 0; }
    /// How many values are NaN or infinite, or, of a family that replaces such values, 0 in their place
    /// (`ResultKind::not_finite`). Counted where the forecast was made.
    [[nodiscard]] Index not_finite() const { return not_finite_; }

    /// Sampled futures, `[batch, variates, horizon, samples]`. Throws `Error` for a forecast without samples.
    [[nodiscard]] std::span<const float> samples() const {
        require_samples("samples");
        return values_;
    }

    /// The mean at each step, `[batch, variates, horizon]`: the model's own, or that of the samples. Throws `Error` for
    /// a forecast of quantiles.
    [[nodiscard]] std::vector<float> mean() const;

    /// The standard deviation of the samples (with n - 1), `[batch, variates, horizon]`. Throws `Error` for fewer than
    /// two samples.
    [[nodiscard]] std::vector<float> stddev() const;

    /// The 0.5 quantile.
    [[nodiscard]] std::vector<float> median() const { return quantile(0.5); }

    /// A quantile at each step, `[batch, variates, horizon]`: of the samples, linear between neighbouring ones; or the
    /// model's own, linear between neighbouring levels. Throws `Error` when `level` is not in [0, 1], or beyond the
    /// model's own levels, or for a mean forecast.
    [[nodiscard]] std::vector<float> quantile(double level) const;

    /// Several quantiles into memory of the caller's, `[levels, batch, variates, horizon]`: all of the first level come
    /// first. The samples of a point are sorted once for all levels; up to 4,096 samples nothing is allocated. Each
    /// value is that of `quantile`. Throws `Error` as `quantile` does, and when `result` has another size.
    void quantiles(std::span<const double> levels, std::span<float> result) const;
    /// The same for levels in braces.
    void quantiles(std::initializer_list<double> levels, std::span<float> result) const;

    /// The same forecast with values of its own.
    [[nodiscard]] class OwnedForecast keep() const;

    /// The same forecast with its values in `memory`, which it holds from then on. No other holder of that memory
    /// may still read it.
    [[nodiscard]] Forecast keep_in(ResultMemory memory) const;

private:
    friend class OwnedForecast;

    [[nodiscard]] std::size_t points() const { return static_cast<std::size_t>(batch_ * variates_ * horizon_); }

    [[nodiscard]] std::span<const float> at(std::size_t point) const;

    [[nodiscard]] double mean_of(std::size_t point) const;

    /// One of the levels that the model forecasts, or what lies between two of them.
    void quantile_of_model(const char* what, double level, std::span<float> result) const;

    void require_no_levels(const char* what) const;

    void require_samples(const char* what) const;

    /// An order of all floats, NaN last: a forecast of somebody else's backend may hold some, and sorting must end.
    static bool is_before(float a, float b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

    /// A part of the way from one sample to the next, which counts only where one goes there: it may be no number.
    static float between(double lower, double upper, double fraction) {
        return static_cast<float>(fraction == 0 || lower == upper ? lower : lower + fraction * (upper - lower));
    }

    static void require_level(const char* what, double level);

    std::span<const float> values_;
    std::span<const double> levels_;
    ResultMemory memory_;  ///< Empty for a view of a forecaster's.
    Index batch_ = 0;
    Index variates_ = 0;
    Index horizon_ = 0;
    Index samples_ = 0;
    Index context_ = 0;
    Index not_finite_ = 0;
};

/// A forecast that owns its values. It reads like a `Forecast`.
class OwnedForecast {
public:
    OwnedForecast() = default;
    /// As a `Forecast` of these values.
    OwnedForecast(std::vector<float> values, Index batch, Index variates, Index horizon, Index samples)
        : values_(std::move(values)), facts_({}, batch, variates, horizon, samples) {}

    /// The forecast as a view of this object's values.
    [[nodiscard]] Forecast view() const;

    // As the functions of `Forecast` of the same names.
    [[nodiscard]] Index batch() const { return facts_.batch(); }
    [[nodiscard]] Index variates() const { return facts_.variates(); }
    [[nodiscard]] Index horizon() const { return facts_.horizon(); }
    [[nodiscard]] Index sample_count() const { return facts_.sample_count(); }
    [[nodiscard]] std::span<const double> levels() const { return facts_.levels(); }
    [[nodiscard]] Index context() const { return facts_.context(); }
    [[nodiscard]] std::span<const float> values() const&;
    std::span<const float> values() const&& = delete;  ///< They would go with this object.
    [[nodiscard]] bool is_finite() const { return facts_.is_finite(); }
    [[nodiscard]] Index not_finite() const { return facts_.not_finite(); }
    [[nodiscard]] std::span<const float> samples() const& { return view().samples(); }
    std::span<const float> samples() const&& = delete;  ///< They would go with this object.
    [[nodiscard]] std::vector<float> mean() const { return view().mean(); }
    [[nodiscard]] std::vector<float> stddev() const { return view().stddev(); }
    [[nodiscard]] std::vector<float> median() const { return view().median(); }
    [[nodiscard]] std::vector<float> quantile(double level) const { return view().quantile(level); }
    void quantiles(std::span<const double> levels, std::span<float> result) const { view().quantiles(levels, result); }
    void quantiles(std::initializer_list<double> levels, std::span<float> result) const {
        view().quantiles(levels, result);
    }

private:
    friend class Forecast;

    std::vector<float> values_;
    Forecast facts_;  ///< All but the values.
};

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/impl/forecast.hpp>
#endif
