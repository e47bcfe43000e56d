// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <totograph/core/shape.hpp>

namespace totograph {

/// What a forecast starts from: views of the caller's memory, row-major. Series of one batch have the same number of
/// variates and steps; the last step is the newest.
struct Series {
    Index batch = 1;
    Index variates = 1;  ///< Targets first, then exogenous variates.
    Index steps = 0;

    std::span<const float> values{};  ///< `[batch, variates, steps]`
    std::span<const std::uint8_t>
        observed{};  ///< Same shape, 1 where `values` holds an observation; empty: everywhere.
    /// `[batch, variates]` or `[batch, variates, steps]`: variates of equal id may attend to each other; not negative.
    /// Empty: all variates belong together.
    std::span<const std::int32_t> groups{};

    Index exogenous = 0;                        ///< How many of the last variates are exogenous.
    std::span<const float> future_exogenous{};  ///< `[batch, exogenous, horizon]`: their known future; empty: unknown.

    /// Number of the first series of the batch among all that the caller forecasts. It names the random numbers of a
    /// series, so that its samples do not depend on how series are put into batches.
    std::uint32_t first_series = 0;
};

/// What may differ from call to call.
struct ForecastOptions {
    std::uint64_t seed = 0;          ///< The same seed gives the same samples.
    std::optional<Index> horizon{};  ///< Steps to forecast; the bucket's when absent.
    std::optional<Index> samples{};  ///< Futures to sample; 0 for the mean; the bucket's when absent.
};

}  // namespace totograph
