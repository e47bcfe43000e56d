// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/position_error.hpp>

#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/facts.hpp>

namespace totograph {

TOTOGRAPH_INLINE Error position_error(std::string_view name, int layer, Index position, Index last, Index capacity) {
    return {ErrorCode::position_out_of_bounds,
            "Position " + std::to_string(position) + " of '" + std::string(name) + "'" +
                (layer < 0 ? "" : " of layer " + std::to_string(layer)) + " is out of bounds: with its capacity of " +
                std::to_string(capacity) + ", positions 0 to " + std::to_string(last) +
                " can be used here. What this run left in the states is of no use. If it is a cache, it is full: reset "
                "it, or give it a larger capacity; else correct the state that holds the position."};
}

}  // namespace totograph
