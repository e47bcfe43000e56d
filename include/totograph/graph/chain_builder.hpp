// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <totograph/graph/kernel.hpp>

namespace totograph::detail {

/// A chain under construction: which node has which value number.
struct ChainBuilder {
    Chain chain;
    std::vector<int> nodes;
    std::vector<int> values;

    constexpr void define(int node, int value) {
        nodes.push_back(node);
        values.push_back(value);
    }
    [[nodiscard]] constexpr int find(int node) const {
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (nodes[i] == node) {
                return values[i];
            }
        }
        return -1;
    }
};

}  // namespace totograph::detail
