// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/forecast.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/results/result_memory.hpp>
#include <totograph/graph/explain/text.hpp>

namespace totograph {
namespace forecast_detail {

/// A level for a message, with all digits that a caller may have written.
inline std::string level_text(double level) {
    return detail::number_text(level, 15);
}

}  // namespace forecast_detail

TOTOGRAPH_INLINE Forecast Forecast::with_context(Index steps) const {
    Forecast result = *this;
    result.context_ = steps;
    return result;
}

TOTOGRAPH_INLINE std::span<const float> Forecast::at(std::size_t point) const {
    const auto count = static_cast<std::size_t>(samples_);
    return values_.subspan(point * count, count);
}

TOTOGRAPH_INLINE std::vector<float> Forecast::mean() const {
    require_no_levels("mean");
    std::vector<float> result(points());
    for (std::size_t point = 0; point < result.size(); ++point) {
        result[point] = samples_ == 0 ? values_[point] : static_cast<float>(mean_of(point));
    }
    return result;
}

TOTOGRAPH_INLINE std::vector<float> Forecast::stddev() const {
    require_samples("stddev");
    if (samples_ < 2) {
        throw Error(ErrorCode::invalid_argument,
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

TOTOGRAPH_INLINE std::vector<float> Forecast::quantile(double level) const {
    if (!levels_.empty()) {
        std::vector<float> result(points());
        quantile_of_model("quantile", level, result);
        return result;
    }
    require_samples("quantile");
    require_level("quantile", level);
    std::vector<float> result(points());
    std::vector<float> sorted(static_cast<std::size_t>(samples_));
    const double position = level * static_cast<double>(samples_ - 1);
    const auto low = static_cast<std::ptrdiff_t>(position);
    const double fraction = position - static_cast<double>(low);
    for (std::size_t point = 0; point < result.size(); ++point) {
        const auto values = at(point);
        std::copy(values.begin(), values.end(), sorted.begin());
        std::nth_element(sorted.begin(), sorted.begin() + low, sorted.end(), is_before);
        const auto lower = static_cast<double>(sorted[static_cast<std::size_t>(low)]);
        double upper = lower;
        if (fraction > 0) {
            upper = static_cast<double>(*std::min_element(sorted.begin() + low + 1, sorted.end(), is_before));
        }
        result[point] = between(lower, upper, fraction);
    }
    return result;
}

TOTOGRAPH_INLINE void Forecast::quantiles(std::span<const double> levels, std::span<float> result) const {
    if (levels_.empty()) {
        require_samples("quantiles");
    }
    for (const double level : levels) {
        require_level("quantiles", level);
    }
    if (result.size() != levels.size() * points()) {
        throw Error(ErrorCode::invalid_argument, "quantiles: " + std::to_string(levels.size()) + " levels of " +
                                                     std::to_string(points()) + " points need room for " +
                                                     std::to_string(levels.size() * points()) + " values, found " +
                                                     std::to_string(result.size()) + ".");
    }
    if (!levels_.empty()) {
        for (std::size_t i = 0; i < levels.size(); ++i) {
            quantile_of_model("quantiles", levels[i], result.subspan(i * points(), points()));
        }
        return;
    }
    std::array<float, 4096> near{};
    std::vector<float> far;
    const auto count = static_cast<std::size_t>(samples_);
    if (count > near.size()) {
        far.resize(count);
    }
    const std::span<float> sorted(count > near.size() ? far.data() : near.data(), count);
    for (std::size_t point = 0; point < points(); ++point) {
        const auto values = at(point);
        std::copy(values.begin(), values.end(), sorted.begin());
        std::sort(sorted.begin(), sorted.end(), is_before);
        for (std::size_t i = 0; i < levels.size(); ++i) {
            const double position = levels[i] * static_cast<double>(samples_ - 1);
            const auto low = static_cast<std::size_t>(position);
            const auto lower = static_cast<double>(sorted[low]);
            const auto upper = static_cast<double>(sorted[std::min(low + 1, count - 1)]);
            const double fraction = position - static_cast<double>(low);
            result[i * points() + point] = between(lower, upper, fraction);
        }
    }
}

TOTOGRAPH_INLINE Forecast Forecast::keep_in(ResultMemory memory) const {
    Forecast kept = *this;
    kept.values_ = memory.fill(values_);
    kept.memory_ = std::move(memory);
    return kept;
}

TOTOGRAPH_INLINE double Forecast::mean_of(std::size_t point) const {
    double total = 0;
    for (const float value : at(point)) {
        total += static_cast<double>(value);
    }
    return total / static_cast<double>(samples_);
}

TOTOGRAPH_INLINE void Forecast::quantile_of_model(const char* what, double level, std::span<float> result) const {
    require_level(what, level);
    // A caller's 0.3 and a model's 0.1 + 0.2 are one level.
    constexpr double same = 1e-9;
    if (level < levels_.front() - same || level > levels_.back() + same) {
        throw Error(ErrorCode::invalid_argument, std::string(what) + ": the model forecasts quantiles from " +
                                                     forecast_detail::level_text(levels_.front()) + " to " +
                                                     forecast_detail::level_text(levels_.back()) + "; the level " +
                                                     forecast_detail::level_text(level) + " is beyond them.");
    }
    std::size_t low = 0;
    while (low + 1 < levels_.size() && levels_[low + 1] <= level + same) {
        ++low;
    }
    const std::size_t high = std::min(low + 1, levels_.size() - 1);
    const bool is_at_low = high == low || level - levels_[low] <= same;
    const double fraction = is_at_low ? 0.0 : (level - levels_[low]) / (levels_[high] - levels_[low]);
    for (std::size_t point = 0; point < result.size(); ++point) {
        const auto values = values_.subspan(point * levels_.size(), levels_.size());
        result[point] = between(static_cast<double>(values[low]), static_cast<double>(values[high]), fraction);
    }
}

TOTOGRAPH_INLINE void Forecast::require_no_levels(const char* what) const {
    if (!levels_.empty()) {
        throw Error(ErrorCode::invalid_argument,
                    std::string(what) +
                        ": this is a forecast of quantiles and has neither samples nor a mean; ask for quantiles.");
    }
}

TOTOGRAPH_INLINE void Forecast::require_samples(const char* what) const {
    require_no_levels(what);
    if (samples_ == 0) {
        throw Error(ErrorCode::invalid_argument,
                    std::string(what) + ": this is a forecast of the mean and has no samples; ask for samples > 0.");
    }
}

TOTOGRAPH_INLINE void Forecast::require_level(const char* what, double level) {
    if (!(level >= 0.0 && level <= 1.0)) {
        throw Error(ErrorCode::invalid_argument, std::string(what) + ": the level must be between 0 and 1, found " +
                                                     forecast_detail::level_text(level) + ".");
    }
}

TOTOGRAPH_INLINE void Forecast::quantiles(std::initializer_list<double> levels, std::span<float> result) const {
    quantiles(std::span(levels.begin(), levels.size()), result);
}

TOTOGRAPH_INLINE std::span<const float> OwnedForecast::values() const& {
    return values_;
}

TOTOGRAPH_INLINE Forecast OwnedForecast::view() const {
    Forecast result = facts_;
    result.values_ = values_;
    return result;
}

TOTOGRAPH_INLINE OwnedForecast Forecast::keep() const {
    OwnedForecast kept;
    kept.values_.assign(values_.begin(), values_.end());
    kept.facts_ = *this;
    kept.facts_.values_ = {};
    kept.facts_.memory_ = {};  // given back: the copy needs none of it
    return kept;
}

}  // namespace totograph
