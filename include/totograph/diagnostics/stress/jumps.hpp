// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <totograph/diagnostics/stress/deviation.hpp>
#include <totograph/diagnostics/stress/thresholds.hpp>

namespace totograph::serve {

/// Counts sampled futures that jumped (`StressThresholds::jump`) in forecasts of one size, and tells chance from fault.
/// A future is that of all variates of a series, for they see each other: when one draws another component, all go
/// another way from the next patch on.
class Jumps {
public:
    /// Counts those of one forecast.
    void add(const ForecastDeviation& forecast, const StressThresholds& thresholds) {
        if (forecast.jumped.empty()) {
            return;
        }
        ++forecasts_;
        futures_ += forecast.jumped.size();
        draws_ += forecast.draws;
        at_.resize(std::max(at_.size(), forecast.jumped.size()));
        std::uint64_t jumped = 0;
        for (std::size_t future = 0; future < forecast.jumped.size(); ++future) {
            jumped += forecast.jumped[future];
            at_[future] += forecast.jumped[future];
        }
        jumped_ += jumped;
        // Four of one forecast may jump by chance, and twice as many as are allowed on average.
        const double crowd = 4 + 2 * thresholds.allowed_jumps(forecast.draws, forecast.jumped.size());
        is_crowded_ = is_crowded_ || static_cast<double>(jumped) > crowd;
    }

    /// Counts those of others, whatever their size; which of a request's futures they were is forgotten.
    void add(const Jumps& others) {
        forecasts_ = 0;
        at_.clear();
        futures_ += others.futures_;
        jumped_ += others.jumped_;
        draws_ += others.draws_;
        is_crowded_ = is_crowded_ || others.is_crowded_;
    }

    [[nodiscard]] std::uint64_t futures() const { return futures_; }
    [[nodiscard]] std::uint64_t jumped() const { return jumped_; }
    /// Values that were drawn.
    [[nodiscard]] std::uint64_t draws() const { return draws_; }

    /// Why this many, or these, are no chance; empty when they may be.
    [[nodiscard]] std::string fault(const StressThresholds& thresholds) const {
        // A few futures cannot tell a rare chance from a fault: two may always jump.
        if (static_cast<double>(jumped_) > std::max(2.0, thresholds.allowed_jumps(draws_, futures_))) {
            return "too many";
        }
        if (is_crowded_) {
            return "too many of one forecast";
        }
        constexpr std::uint64_t least_forecasts = 3;
        if (forecasts_ >= least_forecasts && std::find(at_.begin(), at_.end(), forecasts_) != at_.end()) {
            return "the same one of every forecast";
        }
        return "";
    }

private:
    std::uint64_t forecasts_ = 0;
    std::uint64_t futures_ = 0;
    std::uint64_t jumped_ = 0;
    std::uint64_t draws_ = 0;
    std::vector<std::uint64_t> at_;  ///< How often each future of a request jumped.
    bool is_crowded_ = false;
};

}  // namespace totograph::serve
