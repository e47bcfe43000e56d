// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "../common/format.hpp"

namespace examples {

/// Counts durations in classes 2% apart, from a microsecond to half an hour: percentiles in memory that never grows.
class Latency {
public:
    void add(double seconds) {
        const double place = std::log(std::max(seconds, smallest) / smallest) / std::log(growth);
        ++counts_[std::min(static_cast<std::size_t>(place), counts_.size() - 1)];
        ++total_;
        largest_ = std::max(largest_, seconds);
    }

    [[nodiscard]] std::int64_t count() const { return total_; }

    /// The duration that a share of all stay below, to 2%; never above the largest.
    [[nodiscard]] double percentile(double share) const {
        const auto wanted = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(total_)));
        std::int64_t seen = 0;
        for (std::size_t place = 0; place < counts_.size(); ++place) {
            seen += counts_[place];
            if (seen >= wanted && seen > 0) {
                return std::min(smallest * std::pow(growth, static_cast<double>(place) + 1), largest_);
            }
        }
        return 0;
    }

    /// "p50 1.2 ms, p90 3 ms, p99 8 ms, largest 9 ms".
    [[nodiscard]] std::string text() const {
        const auto milliseconds = [](double seconds) { return short_number(seconds * 1e3, 3) + " ms"; };
        return "p50 " + milliseconds(percentile(0.5)) + ", p90 " + milliseconds(percentile(0.9)) + ", p99 " +
               milliseconds(percentile(0.99)) + ", largest " + milliseconds(largest_);
    }

private:
    static constexpr double smallest = 1e-6;
    static constexpr double growth = 1.02;

    std::array<std::int64_t, 1080> counts_{};
    std::int64_t total_ = 0;
    double largest_ = 0;
};

}  // namespace examples
