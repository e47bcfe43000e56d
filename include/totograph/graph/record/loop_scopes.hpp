// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace totograph::detail {

/// Which nodes the code of a model may not use any more: those of an iteration of a loop end with it, but for the
/// result, which it hands on.
class LoopScopes {
public:
    /// A loop begins; the next node has this number.
    constexpr void begin(int node) {
        open_.push_back(scopes_.size());
        scopes_.push_back({node, node, -1});
    }
    /// An iteration of the innermost loop begins, with what it is handed.
    constexpr void next(int node, int carried) {
        scopes_.resize(open_.back() + 1);  // loops within the iteration before end with it
        scopes_.back().end = node;
        scopes_.back().carried = carried;
    }
    /// The innermost loop ends with this result.
    constexpr void end(int node, int carried) {
        next(node, carried);
        open_.pop_back();
    }
    /// How many loops are open.
    [[nodiscard]] constexpr std::size_t depth() const { return open_.size(); }

    [[nodiscard]] constexpr bool hides(int node) const {
        for (const Scope& scope : scopes_) {
            if (node >= scope.begin && node < scope.end && node != scope.carried) {
                return true;
            }
        }
        return false;
    }

private:
    struct Scope {
        int begin;
        int end;
        int carried;
    };
    std::vector<Scope> scopes_;
    std::vector<std::size_t> open_;
};

}  // namespace totograph::detail
