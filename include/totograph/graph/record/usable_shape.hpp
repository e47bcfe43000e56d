// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/shape.hpp>

namespace totograph::detail {

/// A shape to go on with after a mistake in `shape`: at most `max_rank` axes, of at least one element each, and at most
/// `most_elements` together.
constexpr Shape usable(Shape shape) {
    shape.rank = shape.rank < 0 ? 0 : shape.rank > max_rank ? max_rank : shape.rank;
    Index room = most_elements;
    for (int axis = 0; axis < shape.rank; ++axis) {
        shape[axis] = shape[axis] < 1 || shape[axis] > room ? 1 : shape[axis];
        room /= shape[axis];
    }
    return shape;
}

}  // namespace totograph::detail
