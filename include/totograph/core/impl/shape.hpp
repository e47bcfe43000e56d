// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>

#include <string>

#include <totograph/core/inline.hpp>

namespace totograph {

TOTOGRAPH_INLINE std::string to_string(const Shape& shape) {
    std::string text = "[";
    for (int axis = 0; axis < shape.rank; ++axis) {
        text += (axis == 0 ? "" : ", ") + std::to_string(shape[axis]);
    }
    return text + "]";
}

}  // namespace totograph
