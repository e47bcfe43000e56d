// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <totograph/core/error.hpp>
#include <totograph/forecast/forecast.hpp>

namespace examples {

/// Throws `Error(not_finite)` for a forecast with values that are no finite numbers: it would show zeros.
/// @param is_extended  whether it goes beyond the model's horizon, where futures may run away
inline void require_finite(const totograph::Forecast& forecast, bool is_extended = false) {
    if (forecast.is_finite()) {
        return;
    }
    throw totograph::Error(totograph::ErrorCode::not_finite,
                           std::to_string(forecast.not_finite()) + " of the " +
                               std::to_string(forecast.values().size()) +
                               " values that the model gave are no finite numbers, so there is no forecast. " +
                               (is_extended ? "Far beyond the steps that the model forecasts at once futures run away: "
                                              "ask for a smaller --horizon. If that does not help, either the "
                                            : "Either the ") +
                               "series is too large (values from about 1e38 on are; divide them first), or the "
                               "checkpoint is broken, which `verify --checkpoint FOLDER` tells.");
}

}  // namespace examples
