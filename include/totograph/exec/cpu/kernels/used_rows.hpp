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

    /// Goes through those in use one by one, without divisions.
    class Walk {
    public:
        /// Begins at a number.
        Walk(const UsedRows& rows, Index number) noexcept : rows_(&rows) {
            for (std::size_t level = 0; level < rows.levels_; ++level) {
                at_[level] = number % rows.used_[level];
                number /= rows.used_[level];
            }
        }

        /// On to the next number. By how much its place is higher; there must be one.
        Index advance() noexcept {
            if (++at_[0] < rows_->used_[0]) {
                return 1;
            }
            Index step = 1 - rows_->used_[0];
            at_[0] = 0;
            for (std::size_t level = 1; level < rows_->levels_; ++level) {
                if (++at_[level] < rows_->used_[level]) {
                    return step + rows_->strides_[level];
                }
                step -= (rows_->used_[level] - 1) * rows_->strides_[level];
                at_[level] = 0;
            }
            return step;
        }

    private:
        const UsedRows* rows_;
        std::array<Index, max_rank> at_{};  ///< Of each level.
    };

private:
    // Of neighbouring axes that are walked through as one, the innermost first: what is in use, and the distance.
    std::array<Index, max_rank> used_{1};
    std::array<Index, max_rank> strides_{1};
    std::size_t levels_ = 1;
    Index count_ = 1;
    bool is_all_ = true;
};

}  // namespace totograph::cpu
