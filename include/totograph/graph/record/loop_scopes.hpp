// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <totograph/graph/graph.hpp>

namespace totograph::detail {

/// The loops of a model while it is recorded: how many iterations are, and which nodes may not be used any more, for
/// those of an iteration end with it, but for the result, which it hands on.
class LoopScopes {
public:
    /// @param most_iterations  as of `Recorder`
    constexpr explicit LoopScopes(int most_iterations) : most_iterations_(most_iterations) {}

    /// A loop begins; the next node has the number `node`. Returns how many of its iterations are recorded.
    constexpr int begin(int node, int count) {
        open_.push_back(scopes_.size());
        scopes_.push_back({node, node, {}});
        if (most_iterations_ == 0 || count <= most_iterations_ || short_loop_.count != 0) {
            return count;
        }
        short_loop_ = {count, most_iterations_};
        short_depth_ = open_.size();
        return most_iterations_;
    }
    /// An iteration of the innermost loop begins, with what it is handed.
    constexpr void next(int node, int number, std::span<const int> carried) {
        hide(node, carried);
        iteration_ = is_short() ? number : iteration_;
    }
    /// The innermost loop ends with these results.
    constexpr void end(int node, std::span<const int> results) {
        hide(node, results);
        if (is_short()) {
            iteration_ = -1;
            short_depth_ = 0;
        }
        open_.pop_back();
    }

    /// The loop of which not all iterations are recorded.
    [[nodiscard]] constexpr const ShortLoop& short_loop() const { return short_loop_; }
    /// Whether it is the innermost of those that are open.
    [[nodiscard]] constexpr bool is_short() const { return open_.size() == short_depth_; }
    /// Its iteration; -1 outside of it.
    [[nodiscard]] constexpr int iteration() const { return iteration_; }

    [[nodiscard]] constexpr bool hides(int node) const {
        for (const Scope& scope : scopes_) {
            if (node >= scope.begin && node < scope.end &&
                std::find(scope.carried.begin(), scope.carried.end(), node) == scope.carried.end()) {
                return true;
            }
        }
        return false;
    }

private:
    struct Scope {
        int begin;
        int end;
        std::vector<int> carried;
    };

    constexpr void hide(int end, std::span<const int> carried) {
        scopes_.resize(open_.back() + 1);  // loops within the iteration end with it
        scopes_.back().end = end;
        scopes_.back().carried.assign(carried.begin(), carried.end());
    }

    int most_iterations_;
    std::vector<Scope> scopes_;
    std::vector<std::size_t> open_;
    ShortLoop short_loop_;
    std::size_t short_depth_ = 0;  ///< How many loops are open with it; 0 when it is not.
    int iteration_ = -1;
};

}  // namespace totograph::detail
