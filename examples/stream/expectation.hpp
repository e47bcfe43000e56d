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

/// What was expected of one value: the sampled futures in ascending order, above a level.
class Expectation {
public:
    explicit Expectation(std::span<const float> sorted, double level = 0) : sorted_(sorted), level_(level) {}

    /// Linear between neighbouring samples.
    [[nodiscard]] double quantile(double level) const {
        const double place = level * static_cast<double>(sorted_.size() - 1);
        const auto low = static_cast<std::size_t>(place);
        const std::size_t high = std::min(low + 1, sorted_.size() - 1);
        const auto value = static_cast<double>(sorted_[low]);
        return level_ + value + (place - static_cast<double>(low)) * (static_cast<double>(sorted_[high]) - value);
    }

    /// The share of the samples below a value; those equal to it count half.
    [[nodiscard]] double position(double value) const {
        constexpr double most = std::numeric_limits<float>::max();
        const auto above = static_cast<float>(std::clamp(value - level_, -most, most));
        const auto [first, last] = std::equal_range(sorted_.begin(), sorted_.end(), above);
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
    std::span<const float> sorted_;
    double level_;
};

/// What is expected of the next steps of all variates.
class Expectations {
public:
    Expectations() = default;
    explicit Expectations(const totograph::Forecast& forecast) {
        add(forecast, std::vector<double>(static_cast<std::size_t>(forecast.variates())));
    }

    /// Adds further variates behind those that there are, of as many steps and samples; `levels` were taken off the
    /// values of each.
    void add(const totograph::Forecast& forecast, std::span<const double> levels) {
        levels_.insert(levels_.end(), levels.begin(), levels.end());
        horizon_ = static_cast<std::size_t>(forecast.horizon());
        samples_ = static_cast<std::size_t>(forecast.sample_count());
        const auto first = static_cast<std::ptrdiff_t>(sorted_.size());
        sorted_.insert(sorted_.end(), forecast.samples().begin(), forecast.samples().end());
        for (auto at = sorted_.begin() + first; at != sorted_.end(); at += static_cast<std::ptrdiff_t>(samples_)) {
            std::sort(at, at + static_cast<std::ptrdiff_t>(samples_));
        }
    }

    /// 0 when there is none yet.
    [[nodiscard]] std::size_t horizon() const { return horizon_; }

    [[nodiscard]] Expectation of(std::size_t variate, std::size_t step) const {
        return Expectation(std::span(sorted_).subspan((variate * horizon_ + step) * samples_, samples_),
                           levels_[variate]);
    }

private:
    std::vector<double> levels_;
    std::size_t horizon_ = 0;
    std::size_t samples_ = 0;
    std::vector<float> sorted_;  // [variates, horizon, samples]
};

}  // namespace examples
