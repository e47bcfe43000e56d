// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "checks.hpp"
#include "format.hpp"

// Models that forecast quantiles by themselves, and options that are about drawing futures.
namespace examples {

/// "from 0.1 to 0.9".
inline std::string levels_words(std::span<const double> model_levels) {
    return "from " + short_number(model_levels.front(), 6) + " to " + short_number(model_levels.back(), 6);
}

/// Refuses an option about drawn futures that was given (empty: none was) for a model that forecasts quantiles at
/// `model_levels`. Throws `Error(invalid_argument)`.
inline void check_sampling(const std::string& given, std::string_view model, std::span<const double> model_levels) {
    if (!given.empty() && !model_levels.empty()) {
        detail::reject(given + " is for models that draw futures, but " + std::string(model) +
                       " forecasts quantiles, " + levels_words(model_levels) + ", and draws nothing; leave it out.");
    }
}

/// Whether a model tells a quantile: any, when it draws futures; at one of its `model_levels` or between two, when it
/// forecasts quantiles at these.
inline bool has_quantile(std::span<const double> model_levels, double level) {
    constexpr double same = 1e-9;
    return model_levels.empty() || (level >= model_levels.front() - same && level <= model_levels.back() + same);
}

}  // namespace examples
