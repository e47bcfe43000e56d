// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/graph/bounds.hpp>

namespace totograph::cpu {

/// What a loop runs through when some of its axes are bounded: its rows, or its elements, counted without those that
/// nobody reads. Number i among those in use is number `place(i)` among all.
class UsedRows {
public:
    /// @param axes    how many axes of the loop, from the first on
    /// @param values  the state of bounds
    UsedRows(const LoopBounds& bounds, int axes, const std::int32_t* values) noexcept {
        Index stride = 1;
        bool is_full = true;  // the level that is open, so that the next axis goes on with it
        for (int axis = axes - 1; axis >= 0; --axis) {
            const Index extent = bounds.axes[axis];
            const Index used = used_extent(extent, bounds.bound[static_cast<std::size_t>(axis)], values);
            if (is_full) {
                used_[levels_ - 1] *= used;
            } else if (extent > 1) {
                strides_[levels_] = stride;
                used_[levels_++] = used;
            }
            is_full = is_full ? used == extent : used == extent && extent > 1;
            stride *= extent;
            count_ *= used;
        }
        is_all_ = count_ == stride;
    }

    /// How many are in use.
    [[nodiscard]] Index count() const noexcept { return count_; }
    /// Whether these are all.
    [[nodiscard]] bool is_all() const noexcept { return is_all_; }

    [[nodiscard]] Index place(Index number) const noexcept {
        if (is_all_) {
            return number;
        }
        Index place = number % used_[0];
        number /= used_[0];
        for (std::size_t level = 1; level < levels_; ++level) {
            place += number % used_[level] * strides_[level];
            number /= used_[level];
        }
        return place;
    }

    /// Calls `visit(place, count)` for each stretch of neighbours among the numbers `first` to `end - 1`.
    template <class Visit>
    void for_each_stretch(Index first, Index end, const Visit& visit) const {
        while (first < end) {
            const Index count = is_all_ ? end - first : std::min(end - first, used_[0] - first % used_[0]);
            visit(place(first), count);
            first += count;
        }
    }

private:
    // Of neighbouring axes that are walked through as one, the innermost first: what is in use, and the distance.
    std::array<Index, max_rank> used_{1};
    std::array<Index, max_rank> strides_{1};
    std::size_t levels_ = 1;
    Index count_ = 1;
    bool is_all_ = true;
};

}  // namespace totograph::cpu
