// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <totograph/core/list.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/record/loop_choices.hpp>

namespace totograph::detail {

/// The loops of a model while it is recorded: how many iterations are, and which nodes may not be used any more, for
/// those of an iteration end with it, but for the result, which it hands on.
class LoopScopes {
public:
    constexpr explicit LoopScopes(LoopChoices choices) : choices_(choices) {}

    /// A loop begins; the next node has the number `node`. Returns how many of its iterations are recorded.
    constexpr int begin(int node, int count) {
        open_.push_back({scopes_.size(), 0});
        scopes_.push_back({node, node, {}});
        if (short_depth_ != 0 || count <= iterations_recorded[0]) {
            return count;
        }
        const int number = candidates_++;
        const int recorded = iterations_of(choices_, number);
        if (recorded == 0 || count <= recorded || static_cast<int>(short_loops_.size()) == Loops::most) {
            return count;
        }
        const int first = short_loops_.empty() ? 0 : short_loops_.back().begin + short_loops_.back().recorded;
        short_loops_.push_back({count, recorded, first, number});
        short_depth_ = open_.size();
        return recorded;
    }
    /// An iteration of the innermost loop begins, with what it is handed. Returns which of all iterations it is, from 1
    /// on.
    constexpr int next(int node, int number, std::span<const int> carried) {
        hide(node, carried);
        iteration_ = is_short() ? short_loops_.back().begin + number : iteration_;
        open_.back().iteration = ++iterations_;
        return iterations_;
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
    [[nodiscard]] constexpr const List<ShortLoop>& short_loops() const { return short_loops_; }
    /// Whether the newest of those is the innermost loop that is open.
    [[nodiscard]] constexpr bool is_short() const { return open_.size() == short_depth_; }
    /// Its iteration, as of `Node`; -1 outside of it.
    [[nodiscard]] constexpr int iteration() const { return iteration_; }

    /// Whether an iteration, as of `next`, has not ended.
    [[nodiscard]] constexpr bool is_open(int iteration) const {
        return std::any_of(open_.begin(), open_.end(), [&](const Open& open) { return open.iteration == iteration; });
    }

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
    struct Open {
        std::size_t scope = 0;
        int iteration = 0;
    };
    struct Scope {
        int begin = 0;
        int end = 0;
        List<int> carried;
    };

    constexpr void hide(int end, std::span<const int> carried) {
        scopes_.resize(open_.back().scope + 1);  // loops within the iteration end with it
        scopes_.back().end = end;
        scopes_.back().carried.assign(carried.begin(), carried.end());
    }

    LoopChoices choices_;
    List<Scope> scopes_;
    List<Open> open_;
    List<ShortLoop> short_loops_;
    int candidates_ = 0;           ///< Loops that `choices_` are of, so far.
    int iterations_ = 0;           ///< Of all loops, so far.
    std::size_t short_depth_ = 0;  ///< How many loops are open with one of those; 0 when none is.
    int iteration_ = -1;
};

}  // namespace totograph::detail
