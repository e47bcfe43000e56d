// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <totograph/core/error.hpp>

#include "format.hpp"

namespace examples {

/// The most that a model is compiled for, in one request.
struct ModelSizes {
    std::int64_t context = 0;   ///< Steps of history.
    std::int64_t horizon = 0;   ///< Steps ahead.
    std::int64_t variates = 0;  ///< Columns, exogenous ones included.
    std::int64_t known = 0;     ///< Exogenous columns whose future is known.
};

/// Checks that a model forecasts so far ahead. Throws `Error(no_bucket)`.
inline void check_horizon(std::int64_t horizon, bool extend, const ModelSizes& most, const std::string& option) {
    if (horizon > most.horizon && !extend) {
        throw totograph::Error(totograph::ErrorCode::no_bucket,
                               "The model forecasts at most " + count_text(most.horizon) + " steps ahead, but " +
                                   option + " asks for " + count_text(horizon) +
                                   "; ask for less, or add --extend to go on from the forecast's own medians.");
    }
}

/// What the user of `--extend` should read; empty where nothing is extended.
inline std::string extend_note(std::int64_t horizon, const ModelSizes& most) {
    return horizon <= most.horizon
               ? ""
               : "The model forecasts at most " + count_text(most.horizon) +
                     " steps ahead; what lies beyond is forecast from its own medians, so its bands are too narrow.";
}

/// What the user of a `--context` beyond the model's should read; empty where it is used whole.
inline std::string context_note(std::int64_t context, const ModelSizes& most) {
    return context <= most.context
               ? ""
               : "The model sees at most " + count_text(most.context) + " rows of history; of --context " +
                     std::to_string(context) + " the last ones are used.";
}

}  // namespace examples
