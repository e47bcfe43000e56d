// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metrics.hpp"

namespace examples {

/// The forecast to beat: what was observed one season earlier, between limits that would have held as often in the past
/// as they should (quantiles of the history's absolute seasonal differences), wider by the square root of the number of
/// seasons ahead.
class SeasonalNaive {
public:
    /// NaN marks gaps; `history` must outlive this object.
    SeasonalNaive(std::span<const double> history, std::int64_t season)
        : history_(history), season_(static_cast<std::size_t>(season)), last_(std::nan("")) {
        for (std::size_t i = season_; i < history.size(); ++i) {
            const double difference = history[i] - history[i - season_];
            if (!std::isnan(difference)) {
                differences_.push_back(std::abs(difference));
            }
        }
        std::sort(differences_.begin(), differences_.end());
        for (const double value : history) {
            last_ = std::isnan(value) ? last_ : value;
        }
    }

    /// The quantiles `step` steps (from 0) after the history; NaN when nothing was ever observed.
    [[nodiscard]] Quantiles at(std::size_t step) const {
        const double middle = value_at(step);
        const std::size_t seasons = step / season_ + 1;
        const double growth = std::sqrt(static_cast<double>(seasons));
        Quantiles quantiles{};
        for (std::size_t i = 0; i < quantiles.size(); ++i) {
            const double distance = growth * difference_quantile(std::abs(2 * levels[i] - 1));
            quantiles[i] = levels[i] < 0.5 ? middle - distance : middle + distance;
        }
        quantiles[median_place] = middle;
        return quantiles;
    }

private:
    /// Linear between neighbouring differences; 0 where there are none.
    [[nodiscard]] double difference_quantile(double level) const {
        if (differences_.empty()) {
            return 0;
        }
        const double place = level * static_cast<double>(differences_.size() - 1);
        const auto low = static_cast<std::size_t>(place);
        const std::size_t high = std::min(low + 1, differences_.size() - 1);
        return differences_[low] + (place - static_cast<double>(low)) * (differences_[high] - differences_[low]);
    }

    /// The latest observation of the same phase; the latest of all where that phase was never observed.
    [[nodiscard]] double value_at(std::size_t step) const {
        const std::size_t now = history_.size() + step % season_;
        for (std::size_t back = season_; back <= now; back += season_) {
            if (now - back < history_.size() && !std::isnan(history_[now - back])) {
                return history_[now - back];
            }
        }
        return last_;
    }

    std::span<const double> history_;
    std::size_t season_;
    std::vector<double> differences_;
    double last_;
};

}  // namespace examples
