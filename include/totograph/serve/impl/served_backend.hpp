// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/served_backend.hpp>

#include <algorithm>
#include <string>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/mode.hpp>

namespace totograph::serve::detail {

TOTOGRAPH_INLINE bool Slot::free() noexcept {
    if (!forecaster) {
        return false;
    }
    forecaster.reset();
    hold(0);
    return true;
}

TOTOGRAPH_INLINE void require_mode(const Backend& backend, Mode mode) {
    const bool is_one = std::find(all_modes.begin(), all_modes.end(), mode) != all_modes.end();
    if (is_one && !backend.describe(mode).empty()) {
        return;
    }
    std::string list;
    for (const Mode other : all_modes) {
        if (!backend.describe(other).empty()) {
            list += (list.empty() ? "" : ", ") + std::string(name(other));
        }
    }
    throw Error(ErrorCode::invalid_argument, "The backend " + io::in_quotes(backend.name()) + " has no mode " +
                                                 io::in_quotes(name(mode)) + "; it has: " + list +
                                                 ". Ask for one of these (TOTOGRAPH_DISABLE and TOTOGRAPH_MODE go "
                                                 "before what the program asks for).");
}

}  // namespace totograph::serve::detail
