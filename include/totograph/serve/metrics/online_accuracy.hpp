// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>

namespace totograph::serve {

/// How much `OnlineAccuracy` keeps. All of it is memory's bound: a group takes about 64 bytes for each step that waits
/// and 16 for each one of the window.
struct AccuracyOptions {
    std::size_t groups = 64;  ///< Groups of series; one more is an error.
    /// Forecast steps of a group that wait for their observation. Of more, those before a new forecast are dropped, the
    /// oldest first, then those farthest ahead.
    std::size_t waiting = 4096;
    std::size_t window = 1024;  ///< Scored steps of a group that count: the newest.
};

/// One series of a group. Its number tells it from others of the group; where a group is one series, it needs none.
struct ScoredSeries {
    std::string_view group;
    Index number = 0;

    // NOLINTBEGIN(google-explicit-constructor): a name alone is a group of one series
    template <class Name>
    requires std::convertible_to<const Name&, std::string_view> ScoredSeries(const Name& of_group, Index of_number = 0)
        : group(of_group), number(of_number) {}
    // NOLINTEND(google-explicit-constructor)
};

/// How good the forecasts of one group of series were, over its window. Not a number where nothing was scored.
struct AccuracyEntry {
    std::string group;
    std::uint64_t scored = 0;  ///< Observations that a forecast was waiting for, since the start.
    std::uint64_t missed = 0;  ///< Observations that none was waiting for.
    std::size_t window = 0;    ///< Scored steps that the figures below are of.
    std::size_t banded = 0;    ///< Of these, steps whose forecast had a band: what `coverage` is of.
    double mae = std::numeric_limits<double>::quiet_NaN();       ///< Mean of |forecast - observation|.
    double rmse = std::numeric_limits<double>::quiet_NaN();      ///< Root of the mean of its square.
    double bias = std::numeric_limits<double>::quiet_NaN();      ///< Mean of forecast - observation.
    double coverage = std::numeric_limits<double>::quiet_NaN();  ///< Share of observations within the band.
};

/// Scores forecasts when the truth comes: keeps what was forecast for each step of a series, and compares it with the
/// observation of that step. Figures are of groups of series. Steps are numbers of the caller's choice that grow by 1
/// from one step to the next, such as a time divided by the interval. Memory is bounded (`AccuracyOptions`). Any thread
/// may call it at any time.
class OnlineAccuracy {
public:
    explicit OnlineAccuracy(const AccuracyOptions& options = {});

    /// Keeps a forecast of the steps from `first_step` on: `central[i]` of step `first_step + i`, and the band's ends,
    /// which may be empty. A later forecast of the same step takes the place of an earlier one. Values that are no
    /// finite numbers are left out. Throws `Error` (`invalid_argument`) for a band of another length, and for a group
    /// beyond `AccuracyOptions::groups`.
    void expect(const ScoredSeries& series, Index first_step, std::span<const float> central,
                std::span<const float> low = {}, std::span<const float> high = {});

    /// Scores the forecast of one step of a series with what was observed, and forgets it. Returns whether there was
    /// one. An observation that is no finite number is a gap: it scores nothing. Throws `Error` (`invalid_argument`)
    /// for a group beyond `AccuracyOptions::groups`.
    bool observe(const ScoredSeries& series, Index step, double actual);

    /// The figures of all groups, by name.
    [[nodiscard]] std::vector<AccuracyEntry> read() const;

private:
    static constexpr float nan = std::numeric_limits<float>::quiet_NaN();

    struct Expected {
        float central, low, high;
    };
    struct Place {
        Index step;
        Index series;
        friend bool operator<(const Place& a, const Place& b) {
            return a.step != b.step ? a.step < b.step : a.series < b.series;
        }
    };
    struct Score {
        double error;
        bool has_band, is_covered;
    };
    struct Group {
        std::map<Place, Expected> expected;
        std::vector<Score> scores;
        std::uint64_t scored = 0;
        std::uint64_t missed = 0;
    };

    Group& at(std::string_view name);

    /// Summed anew each time, so that nothing drifts as scores come and go.
    static AccuracyEntry entry_of(const std::string& name, const Group& group);

    AccuracyOptions options_;
    mutable std::mutex mutex_;
    std::map<std::string, Group, std::less<>> groups_;
};

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/metrics/impl/online_accuracy.hpp>
#endif
