// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/weights.hpp>

#include <string>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>

namespace totograph {

TOTOGRAPH_INLINE std::string full_name(const Node& node) {
    std::string name(node.name);
    if (const auto brace = name.find("{}"); brace != std::string::npos) {
        name.replace(brace, 2, std::to_string(node.layer));
    }
    return name;
}

}  // namespace totograph
