// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/state_access.hpp>

#include <cstddef>
#include <string>
#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>

namespace totograph::forecast_detail {

TOTOGRAPH_INLINE void reject_moved_from() {
    throw Error(ErrorCode::invalid_argument,
                "A forecaster was used that had been moved from, so that another one has its memory; use that one, or "
                "make a new one.");
}

TOTOGRAPH_INLINE void check_state(std::string_view state, DType stored, const Shape& shape, DType given,
                                  std::size_t count) {
    if (given != stored || count != static_cast<std::size_t>(shape.size())) {
        throw Error(ErrorCode::invalid_argument,
                    "The state '" + std::string(state) + "' is stored as " + std::string(name(stored)) + " " +
                        to_string(shape) + ", but " + std::to_string(count) + " elements of " +
                        std::string(name(given)) + " were given; use its own type and size.");
    }
}

}  // namespace totograph::forecast_detail
