// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>

namespace totograph {

/// The result of a forecast: a view of its forecaster's memory, valid until that forecaster's next forecast or its end.
/// `keep()` gives one that owns its values.
class Forecast {
public:
    Forecast() = default;
    /// `values` is `[batch, variates, horizon, samples]`, or without the last axis for a mean forecast (samples = 0).
    Forecast(std::span<const float> values, Index batch, Index variates, Index horizon, Index samples)
        : values_(values), batch_(batch), variates_(variates), horizon_(horizon), samples_(samples) {}

    [[nodiscard]] Index batch() const { return batch_; }
    [[nodiscard]] Index variates() const { return variates_; }
    [[nodiscard]] Index horizon() const { return horizon_; }
    /// Sampled futures; 0 when this is a forecast of the mean.
    [[nodiscard]] Index sample_count() const { return samples_; }
    /// Steps of history that it was made from, the newest ones: fewer than were given where the bucket holds fewer. 0
    /// where it was not told.
    [[nodiscard]] Index context() const { return context_; }
    /// The same forecast, said to be made from so many steps of history.
    [[nodiscard]] Forecast with_context(Index steps) const {
        Forecast result = *this;
        result.context_ = steps;
        return result;
    }

    /// All values: `[batch, variates, horizon, samples]`, or `[batch, variates, horizon]` of a mean forecast.
    [[nodiscard]] std::span<const float> values() const { return values_; }

    /// Sampled futures, `[batch, variates, horizon, samples]`. Throws `Error` for a mean forecast.
    [[nodiscard]] std::span<const float> samples() const {
        require_samples("samples");
        return values_;
    }

    /// The mean at each step, `[batch, variates, horizon]`: the model's own, or that of the samples.
    [[nodiscard]] std::vector<float> mean() const {
        std::vector<float> result(points());
        for (std::size_t point = 0; point < result.size(); ++point) {
            result[point] = samples_ == 0 ? values_[point] : static_cast<float>(mean_of(point));
        }
        return result;
    }

    /// The standard deviation of the samples (with n - 1), `[batch, variates, horizon]`. Throws `Error` for fewer than
    /// two samples.
    [[nodiscard]] std::vector<float> stddev() const {
        require_samples("stddev");
        if (samples_ < 2) {
            throw Error(
                ErrorCode::invalid_argument,
                "stddev: a standard deviation needs at least 2 samples, and this forecast has 1; ask for more.");
        }
        std::vector<float> result(points());
        for (std::size_t point = 0; point < result.size(); ++point) {
            const double mean = mean_of(point);
            double total = 0;
            for (const float value : at(point)) {
                total += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
            }
            result[point] = static_cast<float>(std::sqrt(total / static_cast<double>(samples_ - 1)));
        }
        return result;
    }

    /// The 0.5 quantile.
    [[nodiscard]] std::vector<float> median() const { return quantile(0.5); }

    /// A quantile of the samples at each step, linear between neighbouring ones, `[batch, variates, horizon]`.
    /// Throws `Error` when `level` is not in [0, 1], or for a mean forecast.
    [[nodiscard]] std::vector<float> quantile(double level) const {
        require_samples("quantile");
        if (!(level >= 0.0 && level <= 1.0)) {
            throw Error(ErrorCode::invalid_argument,
                        "quantile: the level must be between 0 and 1, found " + std::to_string(level) + ".");
        }
        std::vector<float> result(points());
        std::vector<float> sorted(static_cast<std::size_t>(samples_));
        const double position = level * static_cast<double>(samples_ - 1);
        const auto low = static_cast<std::ptrdiff_t>(position);
        const double fraction = position - static_cast<double>(low);
        for (std::size_t point = 0; point < result.size(); ++point) {
            const auto values = at(point);
            std::copy(values.begin(), values.end(), sorted.begin());
            std::nth_element(sorted.begin(), sorted.begin() + low, sorted.end());
            const auto lower = static_cast<double>(sorted[static_cast<std::size_t>(low)]);
            double upper = lower;
            if (fraction > 0) {
                upper = static_cast<double>(*std::min_element(sorted.begin() + low + 1, sorted.end()));
            }
            result[point] = static_cast<float>(lower + fraction * (upper - lower));
        }
        return result;
    }

    /// The same forecast with values of its own.
    [[nodiscard]] class OwnedForecast keep() const;

private:
    [[nodiscard]] std::size_t points() const { return static_cast<std::size_t>(batch_ * variates_ * horizon_); }

    [[nodiscard]] std::span<const float> at(std::size_t point) const {
        const auto count = static_cast<std::size_t>(samples_);
        return values_.subspan(point * count, count);
    }

    [[nodiscard]] double mean_of(std::size_t point) const {
        double total = 0;
        for (const float value : at(point)) {
            total += static_cast<double>(value);
        }
        return total / static_cast<double>(samples_);
    }

    void require_samples(const char* what) const {
        if (samples_ == 0) {
            throw Error(ErrorCode::invalid_argument,
                        std::string(what) +
                            ": this is a forecast of the mean and has no samples; use a bucket with samples > 0.");
        }
    }

    std::span<const float> values_;
    Index batch_ = 0;
    Index variates_ = 0;
    Index horizon_ = 0;
    Index samples_ = 0;
    Index context_ = 0;
};

/// A forecast that owns its values.
class OwnedForecast {
public:
    OwnedForecast() = default;
    OwnedForecast(std::vector<float> values, Index batch, Index variates, Index horizon, Index samples,
                  Index context = 0)
        : values_(std::move(values)),
          batch_(batch),
          variates_(variates),
          horizon_(horizon),
          samples_(samples),
          context_(context) {}

    /// The forecast as a view of this object's values.
    [[nodiscard]] Forecast view() const {
        return Forecast(values_, batch_, variates_, horizon_, samples_).with_context(context_);
    }

private:
    std::vector<float> values_;
    Index batch_ = 0;
    Index variates_ = 0;
    Index horizon_ = 0;
    Index samples_ = 0;
    Index context_ = 0;
};

inline OwnedForecast Forecast::keep() const {
    return {std::vector<float>(values_.begin(), values_.end()), batch_, variates_, horizon_, samples_, context_};
}

}  // namespace totograph
