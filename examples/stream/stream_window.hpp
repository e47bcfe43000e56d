// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/series.hpp>

#include "../intake/column_groups.hpp"
#include "context_ring.hpp"

namespace examples {

/// Observations as the library takes them: those that a forecast is made of, or those that came since.
class StreamWindow {
public:
    /// @param independent  whether each variate is blind to the others
    StreamWindow(std::size_t variates, bool independent)
        : independent_(independent), groups_(variates), is_known_(variates) {}

    /// Takes the newest steps. False when no variate has an observation there.
    bool read(const ContextRing& ring, std::size_t steps) {
        steps_ = steps;
        ring.lay_out(steps, values_, observed_, levels_);
        for (std::size_t variate = 0; variate < groups_.size(); ++variate) {
            const bool is_known = is_seen(variate);
            is_known_[variate] = is_known;
            groups_[variate] = independent_ || !is_known ? static_cast<std::int32_t>(variate) + 1 : 0;
        }
        observe_unknown();
        return std::find(is_known_.begin(), is_known_.end(), true) != is_known_.end();
    }

    /// Takes steps that follow those that were read, above the levels of those. False when they cannot follow: a
    /// variate came that was not known, or a value is too far from its level for a float.
    bool read_next(const ContextRing& ring, std::size_t steps) {
        steps_ = steps;
        ring.lay_out_above(levels_, steps, values_, observed_);
        for (std::size_t variate = 0; variate < groups_.size(); ++variate) {
            if (!is_known_[variate] && is_seen(variate)) {
                return false;
            }
        }
        observe_unknown();
        return std::all_of(values_.begin(), values_.end(), [](float value) { return std::isfinite(value); });
    }

    /// Those of some columns.
    [[nodiscard]] totograph::Series series(const ColumnGroup& columns) const {
        totograph::Series series;
        series.variates = static_cast<totograph::Index>(columns.count);
        series.steps = static_cast<totograph::Index>(steps_);
        series.values = std::span(values_).subspan(columns.first * steps_, columns.count * steps_);
        series.observed = std::span(observed_).subspan(columns.first * steps_, columns.count * steps_);
        series.groups = std::span(groups_).subspan(columns.first, columns.count);
        series.first_series = static_cast<std::uint32_t>(columns.first);
        return series;
    }

    /// What was taken off the values of some columns.
    [[nodiscard]] std::span<const double> levels(const ColumnGroup& columns) const {
        return std::span(levels_).subspan(columns.first, columns.count);
    }

    /// Which variates have an observation.
    [[nodiscard]] const std::vector<bool>& is_known() const { return is_known_; }

private:
    /// The library takes no variate without an observation, and leaving one out would move the others' random numbers.
    /// So a blank one is a line of zeros that no other variate sees, and its forecast is not shown. A single 0 would be
    /// so few observations that a session computed its whole context for them, each time.
    void observe_unknown() {
        for (std::size_t variate = 0; variate < groups_.size(); ++variate) {
            if (!is_known_[variate]) {
                std::fill_n(observed_.begin() + static_cast<std::ptrdiff_t>(variate * steps_), steps_, 1);
            }
        }
    }

    [[nodiscard]] bool is_seen(std::size_t variate) const {
        const auto begin = observed_.begin() + static_cast<std::ptrdiff_t>(variate * steps_);
        const auto end = begin + static_cast<std::ptrdiff_t>(steps_);
        return std::find(begin, end, 1) != end;
    }

    bool independent_;
    std::size_t steps_ = 0;
    std::vector<float> values_;
    std::vector<std::uint8_t> observed_;
    std::vector<double> levels_;
    std::vector<std::int32_t> groups_;
    std::vector<bool> is_known_;
};

}  // namespace examples
