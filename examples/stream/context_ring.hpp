// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
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

    /// The newest `steps` of them, oldest first, as `[variates, steps]`: values above the level of their variate (0 at
    /// gaps), and whether they were observed.
    void lay_out(std::size_t steps, std::vector<float>& values, std::vector<std::uint8_t>& observed,
                 std::vector<double>& levels) const {
        levels.clear();
        for (std::size_t variate = 0; variate < variates_; ++variate) {
            levels.push_back(level_of(newest(variate, steps)));
        }
        lay_out_above(levels, steps, values, observed);
    }

    /// The same, above levels that are known.
    void lay_out_above(std::span<const double> levels, std::size_t steps, std::vector<float>& values,
                       std::vector<std::uint8_t>& observed) const {
        values.clear();
        observed.clear();
        for (std::size_t variate = 0; variate < variates_; ++variate) {
            append_centred(newest(variate, steps), levels[variate], values, observed);
        }
    }

    /// The newest `steps` values of a variate, oldest first; NaN at gaps.
    [[nodiscard]] std::vector<double> newest(std::size_t variate, std::size_t steps) const {
        std::vector<double> values(steps);
        const std::size_t oldest = (newest_ + capacity_ - steps) % capacity_;
        for (std::size_t step = 0; step < steps; ++step) {
            values[step] = rows_[(oldest + step) % capacity_ * variates_ + variate];
        }
        return values;
    }

private:
    std::size_t variates_;
    std::size_t capacity_;
    std::vector<double> rows_;
    std::size_t newest_ = 0;  // where the next observation goes
    std::size_t steps_ = 0;
};

}  // namespace examples
