// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/metrics/online_accuracy.hpp>

#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/io/text.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE OnlineAccuracy::OnlineAccuracy(const AccuracyOptions& options) : options_(options) {
    if (options.groups == 0 || options.waiting == 0 || options.window == 0) {
        throw Error(ErrorCode::invalid_argument, "OnlineAccuracy: groups, waiting and window are " +
                                                     std::to_string(options.groups) + ", " +
                                                     std::to_string(options.waiting) + " and " +
                                                     std::to_string(options.window) + ". Each must be 1 or more.");
    }
}

TOTOGRAPH_INLINE void OnlineAccuracy::expect(const ScoredSeries& series, Index first_step,
                                             std::span<const float> central, std::span<const float> low,
                                             std::span<const float> high) {
    if (low.size() != high.size() || (!low.empty() && low.size() != central.size())) {
        throw Error(ErrorCode::invalid_argument, "OnlineAccuracy: a forecast of " + std::to_string(central.size()) +
                                                     " steps has a band of " + std::to_string(low.size()) + " and " +
                                                     std::to_string(high.size()) +
                                                     ". Pass as many values as steps, or none.");
    }
    if (!central.empty() && first_step > std::numeric_limits<Index>::max() - static_cast<Index>(central.size() - 1)) {
        throw Error(ErrorCode::invalid_argument, "OnlineAccuracy: a forecast of " + std::to_string(central.size()) +
                                                     " steps begins at step " + std::to_string(first_step) +
                                                     ", so that its last steps have no number. Count from elsewhere.");
    }
    const std::scoped_lock lock(mutex_);
    Group& kept = at(series.group);
    for (std::size_t i = 0; i < central.size(); ++i) {
        const bool has_band = !low.empty() && std::isfinite(low[i]) && std::isfinite(high[i]);
        if (std::isfinite(central[i])) {
            kept.expected[{first_step + static_cast<Index>(i), series.number}] = {central[i], has_band ? low[i] : nan,
                                                                                  has_band ? high[i] : nan};
        }
    }
    while (kept.expected.size() > options_.waiting) {
        const bool has_older = kept.expected.begin()->first.step < first_step;
        kept.expected.erase(has_older ? kept.expected.begin() : std::prev(kept.expected.end()));
    }
}

TOTOGRAPH_INLINE bool OnlineAccuracy::observe(const ScoredSeries& series, Index step, double actual) {
    const std::scoped_lock lock(mutex_);
    Group& kept = at(series.group);
    const auto found = kept.expected.find({step, series.number});
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

TOTOGRAPH_INLINE std::vector<AccuracyEntry> OnlineAccuracy::read() const {
    const std::scoped_lock lock(mutex_);
    std::vector<AccuracyEntry> entries;
    entries.reserve(groups_.size());
    for (const auto& [name, group] : groups_) {
        entries.push_back(entry_of(name, group));
    }
    return entries;
}

TOTOGRAPH_INLINE OnlineAccuracy::Group& OnlineAccuracy::at(std::string_view name) {
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

TOTOGRAPH_INLINE AccuracyEntry OnlineAccuracy::entry_of(const std::string& name, const Group& group) {
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

}  // namespace totograph::serve
