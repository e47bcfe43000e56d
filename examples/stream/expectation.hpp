// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <totograph/forecast/forecast.hpp>

namespace examples {

/// What was expected of one value: the sampled futures in ascending order, above a level; or quantiles at the levels of
/// a model that forecasts these, whose outer lines go on beyond them, as those of `totograph::sample_quantiles` do.
class Expectation {
public:
    explicit Expectation(std::span<const float> sorted, double level = 0, std::span<const double> quantile_levels = {})
        : sorted_(sorted), quantile_levels_(quantile_levels), level_(level) {}

    /// Linear between neighbouring samples, or between neighbouring levels.
    [[nodiscard]] double quantile(double level) const {
        if (!quantile_levels_.empty()) {
            std::size_t low = 0;
            while (low + 2 < sorted_.size() && quantile_levels_[low + 1] < level) {
                ++low;
            }
            const auto from = static_cast<double>(sorted_[low]);
            const double share = (level - quantile_levels_[low]) / (quantile_levels_[low + 1] - quantile_levels_[low]);
            return level_ + from + share * (static_cast<double>(sorted_[low + 1]) - from);
        }
        const double place = level * static_cast<double>(sorted_.size() - 1);
        const auto low = static_cast<std::size_t>(place);
        const std::size_t high = std::min(low + 1, sorted_.size() - 1);
        const auto value = static_cast<double>(sorted_[low]);
        return level_ + value + (place - static_cast<double>(low)) * (static_cast<double>(sorted_[high]) - value);
    }

    /// The share of the samples below a value; those equal to it count half. Of quantiles: the level of a value.
    [[nodiscard]] double position(double value) const {
        constexpr double most = std::numeric_limits<float>::max();
        const auto above = static_cast<float>(std::clamp(value - level_, -most, most));
        const auto [first, last] = std::equal_range(sorted_.begin(), sorted_.end(), above);
        if (!quantile_levels_.empty()) {
            return level_of_value(above, static_cast<std::size_t>(first - sorted_.begin()),
                                  static_cast<std::size_t>(last - sorted_.begin()));
        }
        const auto below = static_cast<double>(first - sorted_.begin());
        const auto not_above = static_cast<double>(last - sorted_.begin());
        return (below + not_above) / 2 / static_cast<double>(sorted_.size());
    }

    /// How far a value lies from the median, in units of the 90% band's half on that side; at most 1000.
    [[nodiscard]] double score(double value) const {
        const double median = quantile(0.5);
        const double distance = std::abs(value - median);
        const double half = value > median ? quantile(0.95) - median : median - quantile(0.05);
        return distance == 0 ? 0 : std::min(distance / half, 1000.0);
    }

private:
    /// The level at which the quantiles have a value, which lies behind the first `below` of them and before all from
    /// `not_above` on. Of a value that several levels have, their middle.
    [[nodiscard]] double level_of_value(float value, std::size_t below, std::size_t not_above) const {
        if (below < not_above) {
            return (quantile_levels_[below] + quantile_levels_[not_above - 1]) / 2;
        }
        const std::size_t low = std::clamp<std::size_t>(below, 1, sorted_.size() - 1) - 1;
        const auto from = static_cast<double>(sorted_[low]);
        const double width = static_cast<double>(sorted_[low + 1]) - from;
        const double along = static_cast<double>(value) - from;
        if (width <= 0) {  // an outer line, which leads straight up or down
            return along < 0 ? 0 : 1;
        }
        const double span = quantile_levels_[low + 1] - quantile_levels_[low];
        return std::clamp(quantile_levels_[low] + along / width * span, 0.0, 1.0);
    }

    std::span<const float> sorted_;
    std::span<const double> quantile_levels_;
    double level_;
};

/// What is expected of the next steps of all variates.
class Expectations {
public:
    Expectations() = default;
    explicit Expectations(const totograph::Forecast& forecast) {
        add(forecast, std::vector<double>(static_cast<std::size_t>(forecast.variates())));
    }

    /// Adds further variates behind those that there are, of as many steps and samples (or quantiles); `levels` were
    /// taken off the values of each.
    void add(const totograph::Forecast& forecast, std::span<const double> levels) {
        levels_.insert(levels_.end(), levels.begin(), levels.end());
        horizon_ = static_cast<std::size_t>(forecast.horizon());
        quantile_levels_ = forecast.levels();
        samples_ =
            quantile_levels_.empty() ? static_cast<std::size_t>(forecast.sample_count()) : quantile_levels_.size();
        const auto first = static_cast<std::ptrdiff_t>(sorted_.size());
        sorted_.insert(sorted_.end(), forecast.values().begin(), forecast.values().end());
        for (auto at = sorted_.begin() + first; at != sorted_.end(); at += static_cast<std::ptrdiff_t>(samples_)) {
            std::sort(at, at + static_cast<std::ptrdiff_t>(samples_));
        }
    }

    /// 0 when there is none yet.
    [[nodiscard]] std::size_t horizon() const { return horizon_; }

    [[nodiscard]] Expectation of(std::size_t variate, std::size_t step) const {
        return Expectation(std::span(sorted_).subspan((variate * horizon_ + step) * samples_, samples_),
                           levels_[variate], quantile_levels_);
    }

private:
    std::vector<double> levels_;
    std::size_t horizon_ = 0;
    std::size_t samples_ = 0;                  // or quantiles
    std::span<const double> quantile_levels_;  // of a model that forecasts quantiles
    std::vector<float> sorted_;                // [variates, horizon, samples]
};

}  // namespace examples
