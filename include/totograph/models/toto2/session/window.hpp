// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/imputation.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/models/toto2/inference.hpp>

namespace totograph::toto2 {

/// The steps of a session's context, cut into patches from a start that stays: the first patch may begin with padding,
/// the last steps may not fill one yet. Memory is allocated once.
class SessionWindow {
public:
    /// Room for so many rows (variates of all series) of so many whole patches, and one that is not whole yet.
    SessionWindow(Index rows, Index patches, Index patch_size)
        : patch_size_(patch_size),
          most_patches_(patches),
          stride_((patches + 1) * patch_size),
          values_(static_cast<std::size_t>(rows * stride_)),
          observed_(values_.size()),
          newest_seen_(static_cast<std::size_t>(rows), -1) {}

    void clear() noexcept {
        steps_ = padding_ = 0;
        std::fill(newest_seen_.begin(), newest_seen_.end(), Index{-1});
    }

    [[nodiscard]] Index steps() const noexcept { return steps_; }
    /// Patches that are whole, counting padding, and steps behind them.
    [[nodiscard]] Index patches() const noexcept { return (padding_ + steps_) / patch_size_; }
    [[nodiscard]] Index pending() const noexcept { return (padding_ + steps_) % patch_size_; }
    /// Steps of the first so many patches.
    [[nodiscard]] Index steps_of(Index patches) const noexcept { return patches * patch_size_ - padding_; }
    [[nodiscard]] bool is_full() const noexcept { return patches() == most_patches_; }

    /// How many of the steps that follow fit before a patch becomes whole.
    [[nodiscard]] Index to_patch_end() const noexcept { return patch_size_ - pending(); }

    /// Adds steps `first`, ..., `count` of them, of each row of a series; what is not observed and no number becomes 0.
    /// They do not go beyond the patch that is not whole yet.
    void append(const Series& series, Index first, Index count) noexcept {
        for (Index row = 0; row < series.rows(); ++row) {
            const auto from = static_cast<std::size_t>(series.row_begin(row) + first);
            const auto to = static_cast<std::size_t>(row * stride_ + steps_);
            for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
                const bool is_seen = series.observed.empty() || series.observed[from + i] != 0;
                if (is_seen) {
                    newest_seen_[static_cast<std::size_t>(row)] = steps_ + static_cast<Index>(i);
                }
                const float value = series.values[from + i];
                observed_[to + i] = is_seen ? 1 : 0;
                values_[to + i] = std::isfinite(value) ? value : 0.0F;
            }
        }
        steps_ += count;
    }

    /// Forgets all but the newest steps.
    void keep_newest(Index rows, Index count) noexcept {
        const auto dropped = static_cast<std::ptrdiff_t>(steps_ - count);
        for (Index row = 0; row < rows; ++row) {
            const auto begin = static_cast<std::ptrdiff_t>(row * stride_);
            const auto end = begin + static_cast<std::ptrdiff_t>(steps_);
            std::copy(values_.begin() + begin + dropped, values_.begin() + end, values_.begin() + begin);
            std::copy(observed_.begin() + begin + dropped, observed_.begin() + end, observed_.begin() + begin);
            Index& newest = newest_seen_[static_cast<std::size_t>(row)];
            newest = std::max<Index>(-1, newest - dropped);
        }
        steps_ = count;
        padding_ = 0;
    }

    /// Moves the start of the first patch so that the newest step ends one.
    void align() noexcept { padding_ = round_up(steps_, patch_size_) - steps_; }

    /// The first so many patches as a series of the same rows.
    [[nodiscard]] Series series(const Series& rows, Index patches) const noexcept {
        Series result;
        result.batch = rows.batch;
        result.variates = rows.variates;
        result.steps = steps_of(patches);
        result.stride = stride_;
        result.values = values_;
        result.observed = observed_;
        return result;
    }

    /// Values of a row that are observed in its first so many patches, counted up to `enough`.
    [[nodiscard]] Index count_observed(Index row, Index patches, Index enough) const noexcept {
        Index count = 0;
        for (Index step = 0; step < steps_of(patches) && count < enough; ++step) {
            count += observed_[static_cast<std::size_t>(row * stride_ + step)];
        }
        return count;
    }

    /// Whether any value of a row is observed in its first so many patches.
    [[nodiscard]] bool has_observed(Index row, Index patches) const noexcept {
        const Index newest = newest_seen_[static_cast<std::size_t>(row)];
        return newest >= 0 && (newest < steps_of(patches) || count_observed(row, patches, 1) > 0);
    }

    /// Copies `count` patches of a row from patch `first` on, and whether they are observed. Of those that are not, the
    /// last patch has the values that imputation gives them.
    void copy_patches(Index row, Index first, Index count, Imputation how, float* values, float* observed) noexcept {
        impute_from(row, first, count, how);
        for (Index at = 0; at < count * patch_size_; ++at) {
            const Index step = first * patch_size_ - padding_ + at;
            const auto from = static_cast<std::size_t>(row * stride_ + std::max<Index>(0, step));
            values[at] = step < 0 ? 0.0F : values_[from];
            observed[at] = step < 0 || observed_[from] == 0 ? 0.0F : 1.0F;
        }
    }

    [[nodiscard]] std::size_t bytes() const noexcept { return values_.size() * (sizeof(float) + sizeof(observed_[0])); }

private:
    /// Gives values to what is missing in some patches, from the newest observation before them on.
    void impute_from(Index row, Index first, Index count, Imputation how) noexcept {
        const Index end = (first + count) * patch_size_ - padding_;
        Index begin = std::max<Index>(0, first * patch_size_ - padding_);
        const auto* const seen = observed_.data() + row * stride_;
        while (begin > 0 && seen[begin] == 0) {
            --begin;
        }
        impute(values_.data() + row * stride_ + begin, seen + begin, end - begin, how);
    }

    Index patch_size_;
    Index most_patches_;
    Index stride_;
    Index steps_ = 0;
    Index padding_ = 0;
    std::vector<float> values_;  ///< `[rows, stride]`.
    std::vector<std::uint8_t> observed_;
    std::vector<Index> newest_seen_;  ///< The newest observed step of each row; -1 where there is none.
};

}  // namespace totograph::toto2
