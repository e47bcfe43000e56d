// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <totograph/core/shape.hpp>

namespace totograph {

/// A tensor that the model reads from its checkpoint.
struct NamedShape {
    std::string name;
    Shape shape;
};

}  // namespace totograph
