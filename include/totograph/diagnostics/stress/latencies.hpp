// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace totograph::serve {

/// Durations in seconds, each of them kept.
class Latencies {
public:
    void add(double seconds) { seconds_.push_back(seconds); }
    [[nodiscard]] std::size_t count() const { return seconds_.size(); }

    /// The duration that a share of all do not exceed, linear between neighbours; 0 without durations.
    [[nodiscard]] double quantile(double level) const {
        if (seconds_.empty()) {
            return 0;
        }
        std::vector<double> sorted = seconds_;
        std::sort(sorted.begin(), sorted.end());
        const double position = level * static_cast<double>(sorted.size() - 1);
        const auto low = static_cast<std::size_t>(position);
        const std::size_t high = std::min(low + 1, sorted.size() - 1);
        return sorted[low] + (position - static_cast<double>(low)) * (sorted[high] - sorted[low]);
    }
    [[nodiscard]] double median() const { return quantile(0.5); }
    [[nodiscard]] double largest() const { return quantile(1); }

private:
    std::vector<double> seconds_;
};

}  // namespace totograph::serve
