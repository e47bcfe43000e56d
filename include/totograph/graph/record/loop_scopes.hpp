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
    /// Parameters are those of `Recorder`.
    constexpr LoopScopes(int most_iterations, int most_loops)
        : most_iterations_(most_iterations), most_loops_(most_loops) {}

    /// A loop begins; the next node has the number `node`. Returns how many of its iterations are recorded.
    constexpr int begin(int node, int count) {
        open_.push_back(scopes_.size());
        scopes_.push_back({node, node, {}});
        if (most_iterations_ == 0 || count <= most_iterations_ || short_depth_ != 0 ||
            static_cast<int>(short_loops_.size()) == most_loops_) {
            return count;
        }
        const int first = short_loops_.empty() ? 0 : short_loops_.back().begin + short_loops_.back().recorded;
        short_loops_.push_back({count, most_iterations_, first});
        short_depth_ = open_.size();
        return most_iterations_;
    }
    /// An iteration of the innermost loop begins, with what it is handed.
    constexpr void next(int node, int number, std::span<const int> carried) {
        hide(node, carried);
        iteration_ = is_short() ? short_loops_.back().begin + number : iteration_;
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

    /// The loops of which not all iterations are recorded.
    [[nodiscard]] constexpr const std::vector<ShortLoop>& short_loops() const { return short_loops_; }
    /// Whether the newest of those is the innermost loop that is open.
    [[nodiscard]] constexpr bool is_short() const { return open_.size() == short_depth_; }
    /// Its iteration, as of `Node`; -1 outside of it.
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
        int begin = 0;
        int end = 0;
        std::vector<int> carried;
    };

    constexpr void hide(int end, std::span<const int> carried) {
        scopes_.resize(open_.back() + 1);  // loops within the iteration end with it
        scopes_.back().end = end;
        scopes_.back().carried.assign(carried.begin(), carried.end());
    }

    int most_iterations_;
    int most_loops_;
    std::vector<Scope> scopes_;
    std::vector<std::size_t> open_;
    std::vector<ShortLoop> short_loops_;
    std::size_t short_depth_ = 0;  ///< How many loops are open with one of those; 0 when none is.
    int iteration_ = -1;
};

}  // namespace totograph::detail
