// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../common/centre.hpp"

namespace examples {

/// The last observations of all variates, in memory that never grows.
class ContextRing {
public:
    ContextRing(std::size_t variates, std::size_t capacity)
        : variates_(variates), capacity_(capacity), rows_(variates * capacity) {}

    /// Adds an observation, NaN at gaps, and forgets the oldest when there is no room.
    void push(const std::vector<double>& values) {
        std::copy(values.begin(), values.end(), rows_.begin() + static_cast<std::ptrdiff_t>(newest_ * variates_));
        newest_ = (newest_ + 1) % capacity_;
        steps_ = std::min(steps_ + 1, capacity_);
    }

    [[nodiscard]] std::size_t steps() const { return steps_; }
    [[nodiscard]] std::size_t capacity() const { return capacity_; }

    /// The content, oldest first, as `[variates, steps]`: values above the level of their variate (0 at gaps), and
    /// whether they were observed.
    void lay_out(std::vector<float>& values, std::vector<std::uint8_t>& observed, std::vector<double>& levels) const {
        values.clear();
        observed.clear();
        levels.clear();
        std::vector<double> variate_values(steps_);
        const std::size_t oldest = (newest_ + capacity_ - steps_) % capacity_;
        for (std::size_t variate = 0; variate < variates_; ++variate) {
            for (std::size_t step = 0; step < steps_; ++step) {
                variate_values[step] = rows_[(oldest + step) % capacity_ * variates_ + variate];
            }
            levels.push_back(level_of(variate_values));
            append_centred(variate_values, levels.back(), values, observed);
        }
    }

private:
    std::size_t variates_;
    std::size_t capacity_;
    std::vector<double> rows_;
    std::size_t newest_ = 0;  // where the next observation goes
    std::size_t steps_ = 0;
};

}  // namespace examples
