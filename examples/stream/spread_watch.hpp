// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../common/below_range_note.hpp"
#include "../common/small_spread_note.hpp"
#include "context_ring.hpp"

namespace examples {

/// Looks once at each variate, as soon as a forecast is made of enough of its values or the input ends: whether they
/// vary by too little for the model, or are too small for 32-bit floats.
class SpreadWatch {
public:
    /// @param model_levels  of the quantiles that the model forecasts; empty where it samples
    SpreadWatch(std::size_t variates, std::span<const double> model_levels)
        : unseen_(variates), model_levels_(model_levels.begin(), model_levels.end()) {
        std::iota(unseen_.begin(), unseen_.end(), std::size_t{0});
    }

    /// What to know of the variates that have so many values and were not looked at before; empty where there is
    /// nothing to say.
    std::string look(const std::vector<std::string>& names, const ContextRing& ring, std::size_t least) {
        if (ring.steps() < least) {
            return "";
        }
        std::vector<std::string> seen_names;
        std::vector<std::vector<double>> seen;
        std::erase_if(unseen_, [&](std::size_t variate) {
            std::vector<double> values = ring.newest(variate, ring.steps());
            const auto count =
                std::count_if(values.begin(), values.end(), [](double value) { return !std::isnan(value); });
            const bool are_enough = static_cast<std::size_t>(count) >= least;
            if (are_enough) {
                seen_names.push_back(names[variate]);
                seen.push_back(std::move(values));
            }
            return are_enough;
        });
        const std::string spread = small_spread_note(seen_names, seen, model_levels_);
        const std::string below = below_range_note(seen_names, seen);
        return spread + (spread.empty() || below.empty() ? "" : " ") + below;
    }

private:
    std::vector<std::size_t> unseen_;  // variates
    std::vector<double> model_levels_;
};

}  // namespace examples
