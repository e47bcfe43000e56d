// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>

namespace totograph::detail {

/// A shape to go on with after a mistake in `shape`: at most `max_rank` axes, of at least one element each.
constexpr Shape usable(Shape shape) {
    shape.rank = shape.rank < 0 ? 0 : shape.rank > max_rank ? max_rank : shape.rank;
    for (int axis = 0; axis < shape.rank; ++axis) {
        shape[axis] = shape[axis] < 1 ? 1 : shape[axis];
    }
    return shape;
}

}  // namespace totograph::detail
