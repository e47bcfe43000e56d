// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/text.hpp>

namespace totograph::serve {

/// How much `OnlineAccuracy` keeps. All of it is memory's bound: a group takes about 64 bytes for each step that waits
/// and 16 for each one of the window.
struct AccuracyOptions {
    std::size_t groups = 64;     ///< Groups of series; one more is an error.
    std::size_t waiting = 4096;  ///< Forecast steps of a group that wait for their observation; the oldest are dropped.
    std::size_t window = 1024;   ///< Scored steps of a group that count: the newest.
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

/// Scores forecasts when the truth comes: keeps what was forecast for each step of a group, and compares it with the
/// observation of that step. Steps are numbers of the caller's choice that grow by 1 from one step to the next, such as
/// a time divided by the interval. Memory is bounded (`AccuracyOptions`). Any thread may call it at any time.
class OnlineAccuracy {
public:
    explicit OnlineAccuracy(const AccuracyOptions& options = {}) : options_(options) {
        if (options.groups == 0 || options.waiting == 0 || options.window == 0) {
            throw Error(ErrorCode::invalid_argument, "OnlineAccuracy: groups, waiting and window are " +
                                                         std::to_string(options.groups) + ", " +
                                                         std::to_string(options.waiting) + " and " +
                                                         std::to_string(options.window) + ". Each must be 1 or more.");
        }
    }

    /// Keeps a forecast of the steps from `first_step` on: `central[i]` of step `first_step + i`, and the band's ends,
    /// which may be empty. A later forecast of the same step takes the place of an earlier one. Values that are no
    /// finite numbers are left out. Throws `Error` (`invalid_argument`) for a band of another length, and for a group
    /// beyond `AccuracyOptions::groups`.
    void expect(std::string_view group, Index first_step, std::span<const float> central,
                std::span<const float> low = {}, std::span<const float> high = {}) {
        if (low.size() != high.size() || (!low.empty() && low.size() != central.size())) {
            throw Error(ErrorCode::invalid_argument, "OnlineAccuracy: a forecast of " + std::to_string(central.size()) +
                                                         " steps has a band of " + std::to_string(low.size()) +
                                                         " and " + std::to_string(high.size()) +
                                                         ". Pass as many values as steps, or none.");
        }
        const std::scoped_lock lock(mutex_);
        Group& kept = at(group);
        for (std::size_t i = 0; i < central.size(); ++i) {
            const bool has_band = !low.empty() && std::isfinite(low[i]) && std::isfinite(high[i]);
            if (std::isfinite(central[i])) {
                kept.expected[first_step + static_cast<Index>(i)] = {central[i], has_band ? low[i] : nan,
                                                                     has_band ? high[i] : nan};
            }
        }
        while (kept.expected.size() > options_.waiting) {
            kept.expected.erase(kept.expected.begin());
        }
    }

    /// Scores the forecast of one step of a group with what was observed, and forgets it. Returns whether there was
    /// one. An observation that is no finite number is a gap: it scores nothing. Throws `Error` (`invalid_argument`)
    /// for a group beyond `AccuracyOptions::groups`.
    bool observe(std::string_view group, Index step, double actual) {
        const std::scoped_lock lock(mutex_);
        Group& kept = at(group);
        const auto found = kept.expected.find(step);
        if (found == kept.expected.end()) {
            kept.missed += std::isfinite(actual) ? 1 : 0;
            return false;
        }
        const Expected expected = found->second;
        kept.expected.erase(found);
        if (!std::isfinite(actual)) {
            return false;
        }
        const Score score{static_cast<double>(expected.central) - actual, !std::isnan(expected.low),
                          static_cast<double>(expected.low) <= actual && actual <= static_cast<double>(expected.high)};
        if (kept.scores.size() < options_.window) {
            kept.scores.push_back(score);
        } else {
            kept.scores[kept.scored % options_.window] = score;  // in place of the oldest
        }
        ++kept.scored;
        return true;
    }

    /// The figures of all groups, by name.
    [[nodiscard]] std::vector<AccuracyEntry> read() const {
        const std::scoped_lock lock(mutex_);
        std::vector<AccuracyEntry> entries;
        entries.reserve(groups_.size());
        for (const auto& [name, group] : groups_) {
            entries.push_back(entry_of(name, group));
        }
        return entries;
    }

private:
    static constexpr float nan = std::numeric_limits<float>::quiet_NaN();

    struct Expected {
        float central, low, high;
    };
    struct Score {
        double error;
        bool has_band, is_covered;
    };
    struct Group {
        std::map<Index, Expected> expected;
        std::vector<Score> scores;
        std::uint64_t scored = 0;
        std::uint64_t missed = 0;
    };

    Group& at(std::string_view name) {
        const auto found = groups_.find(name);
        if (found != groups_.end()) {
            return found->second;
        }
        if (groups_.size() == options_.groups) {
            throw Error(ErrorCode::invalid_argument,
                        "OnlineAccuracy: the group " + io::in_quotes(name, 100) + " is one more than the " +
                            std::to_string(options_.groups) +
                            " that are kept. Put several series into a group, or raise AccuracyOptions::groups.");
        }
        return groups_[std::string(name)];
    }

    /// Summed anew each time, so that nothing drifts as scores come and go.
    static AccuracyEntry entry_of(const std::string& name, const Group& group) {
        AccuracyEntry entry;
        entry.group = name;
        entry.scored = group.scored;
        entry.missed = group.missed;
        entry.window = group.scores.size();
        double sum = 0;
        double magnitudes = 0;
        double squares = 0;
        std::size_t covered = 0;
        for (const Score& score : group.scores) {
            sum += score.error;
            magnitudes += std::abs(score.error);
            squares += score.error * score.error;
            entry.banded += score.has_band ? 1 : 0;
            covered += score.is_covered ? 1 : 0;
        }
        if (const auto count = static_cast<double>(entry.window); count > 0) {
            entry.mae = magnitudes / count;
            entry.rmse = std::sqrt(squares / count);
            entry.bias = sum / count;
        }
        if (entry.banded > 0) {
            entry.coverage = static_cast<double>(covered) / static_cast<double>(entry.banded);
        }
        return entry;
    }

    AccuracyOptions options_;
    mutable std::mutex mutex_;
    std::map<std::string, Group, std::less<>> groups_;
};

}  // namespace totograph::serve
