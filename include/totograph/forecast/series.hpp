// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include <totograph/core/categorical.hpp>
#include <totograph/core/shape.hpp>

namespace totograph {

/// How ids are drawn, by models that forecast those; the others do not read it.
struct IdDraws {
    float temperature = 1;  ///< Divides logits; above 0.
    CategoricalOptions filter{};
};

/// How much of a bucket's series is meant: so many of the first series, variates and steps.
struct SeriesExtents {
    Index batch = 0;
    Index variates = 0;
    Index steps = 0;

    /// However large the bucket is.
    [[nodiscard]] static constexpr SeriesExtents all() noexcept {
        constexpr Index most = std::numeric_limits<Index>::max();
        return {most, most, most};
    }

    /// The least that holds both.
    [[nodiscard]] constexpr SeriesExtents with(const SeriesExtents& other) const noexcept {
        return {std::max(batch, other.batch), std::max(variates, other.variates), std::max(steps, other.steps)};
    }
    /// What both hold.
    [[nodiscard]] constexpr SeriesExtents within(const SeriesExtents& other) const noexcept {
        return {std::min(batch, other.batch), std::min(variates, other.variates), std::min(steps, other.steps)};
    }

    bool operator==(const SeriesExtents&) const = default;
};

/// What a forecast starts from: views of the caller's memory, row-major. Series of one batch have the same number of
/// variates and steps; the last step is the newest.
struct Series {
    Index batch = 1;
    Index variates = 1;  ///< Targets first, then exogenous variates.
    Index steps = 0;

    std::span<const float> values{};  ///< `[batch, variates, steps]`, rows as `stride` and `offset` say.
    std::span<const std::uint8_t>
        observed{};  ///< Same layout, 1 where `values` holds an observation; empty: everywhere.
    /// `[batch, variates]`, or the layout of `values`: variates of equal id may attend to each other; not negative.
    /// Empty: all variates belong together.
    std::span<const std::int32_t> groups{};

    Index exogenous = 0;  ///< How many of the last variates are exogenous.
    /// `[batch, exogenous, future_steps]`: their known future, of which the forecast's steps are read; empty: unknown.
    std::span<const float> future_exogenous{};
    /// Same layout, 1 where that future is known; empty: everywhere. For models that take gaps in it, whose results
    /// have forecasts there, and what is known elsewhere.
    std::span<const std::uint8_t> future_observed{};

    /// Number of the first series of the batch among all that the caller forecasts. It names the random numbers of a
    /// series, so that its samples do not depend on how series are put into batches.
    std::uint32_t first_series = 0;

    /// Elements from one row of steps to the next in `values`, `observed` and `groups` by step; 0: `steps`, for rows
    /// that touch. With another one, the spans may hold more than what is read.
    Index stride = 0;
    Index offset = 0;        ///< Elements before the first row.
    Index future_steps = 0;  ///< Known steps in a row of `future_exogenous`, the horizon or more; 0: the horizon.

    IdDraws draws{};

    [[nodiscard]] constexpr SeriesExtents extents() const noexcept { return {batch, variates, steps}; }
    [[nodiscard]] constexpr Index rows() const { return batch * variates; }
    [[nodiscard]] constexpr Index row_stride() const { return stride == 0 ? steps : stride; }
    /// Where a row of steps begins in `values` and `observed`, and in `groups` by step.
    [[nodiscard]] constexpr Index row_begin(Index row) const { return offset + row * row_stride(); }
    /// Whether there is an id for each step, and not one for each variate.
    [[nodiscard]] constexpr bool has_groups_by_step() const {
        return !groups.empty() && groups.size() != static_cast<std::size_t>(rows());
    }

    /// Its newest steps alone: the same memory, nothing is copied. `count` is at most `steps`.
    [[nodiscard]] constexpr Series newest(Index count) const {
        Series result = *this;
        result.stride = row_stride();
        result.offset = offset + steps - count;
        result.steps = count;
        return result;
    }
};

/// Whether any of some steps is not observed, by their marks; none where all are.
inline bool has_gap(std::span<const std::uint8_t> marks) noexcept {
    return !marks.empty() && std::memchr(marks.data(), 0, marks.size()) != nullptr;
}

/// What becomes of a context that is longer than the bucket's.
enum class ContextPolicy : std::uint8_t {
    newest,  ///< The newest steps are used, as many as fit; `Forecast::context` tells how many.
    error,   ///< `Error` (`no_bucket`).
};

/// What may differ from call to call.
struct ForecastOptions {
    std::uint64_t seed = 0;          ///< The same seed gives the same samples.
    std::optional<Index> horizon{};  ///< Steps to forecast; the bucket's when absent.
    std::optional<Index> samples{};  ///< Futures to sample; 0 for the mean; the bucket's when absent.
    ContextPolicy context = ContextPolicy::newest;
    /// A horizon beyond the bucket's goes on from the medians of what was forecast before, as if they had been
    /// observed: bands are then too narrow, and the futures of a sample are not one path. Otherwise it is an error.
    bool extend = false;
    std::uint32_t first_sample = 0;  ///< Number of the first sample, for callers who draw some now and others later.
};

}  // namespace totograph
