// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/list.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::detail {

/// A chain under construction: which node has which value number.
class ChainBuilder {
public:
    Chain& chain;

    /// @param to_build  empty, and alive as long as this
    constexpr explicit ChainBuilder(Chain& to_build) : chain(to_build) { definitions_.reserve(16); }

    constexpr void define(int node, int value) { definitions_.push_back({node, value}); }
    [[nodiscard]] constexpr int find(int node) const {
        for (const Definition& definition : definitions_) {
            if (definition.node == node) {
                return definition.value;
            }
        }
        return -1;
    }

private:
    struct Definition {
        int node;
        int value;
    };
    List<Definition> definitions_;
};

}  // namespace totograph::detail
