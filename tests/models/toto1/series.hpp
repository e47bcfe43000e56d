// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/series.hpp>

#include "support/tensor_sources.hpp"

// Made-up requests that can be cut to smaller ones, and how forecasts of them are compared.

namespace made_up {

namespace tg = totograph;
using tg::Index;

/// A request that owns what its `Series` views.
struct Request {
    Index batch = 1;
    Index variates = 1;
    Index steps = 1;
    std::vector<float> values{};
    std::vector<std::uint8_t> observed{};
    std::vector<std::int32_t> groups{};  ///< `[batch, variates, steps]`, or empty
    Index exogenous = 0;
    Index horizon = 0;            ///< Of `future`.
    std::vector<float> future{};  ///< `[batch, exogenous, horizon]`, or empty
    std::uint32_t first_series = 0;

    [[nodiscard]] tg::Series series() const {
        return {.batch = batch,
                .variates = variates,
                .steps = steps,
                .values = values,
                .observed = observed,
                .groups = groups,
                .exogenous = exogenous,
                .future_exogenous = future,
                .first_series = first_series};
    }
};

/// Waves with a trend and noise, on scales that differ from variate to variate.
inline Request waves(Index batch, Index variates, Index steps) {
    Request request{.batch = batch, .variates = variates, .steps = steps};
    for (Index row = 0; row < batch * variates; ++row) {
        const auto phase = static_cast<double>(row);
        for (Index step = 0; step < steps; ++step) {
            const auto time = static_cast<double>(step);
            const double noise = tg::test::uniform(static_cast<std::uint64_t>(row * 100003 + step));
            request.values.push_back(static_cast<float>(
                (1.0 + 3.0 * phase) * (std::sin(0.37 * time + phase) + 0.02 * time + 0.3 * noise) - 5.0 * phase));
        }
    }
    return request;
}

/// Marks about one value in eight as missing; what stands in a gap is 0.
inline void make_gaps(Request& request) {
    request.observed.assign(request.values.size(), 1);
    for (std::size_t i = 0; i < request.values.size(); ++i) {
        if (tg::test::uniform(i + 777) > 0.75 && i % static_cast<std::size_t>(request.steps) != 0) {
            request.observed[i] = 0;
            request.values[i] = 0;
        }
    }
}

/// Puts variates into groups, `variate % count`, the same at every step.
inline void make_groups(Request& request, Index count) {
    request.groups.clear();
    for (Index row = 0; row < request.batch * request.variates; ++row) {
        request.groups.insert(request.groups.end(), static_cast<std::size_t>(request.steps),
                              static_cast<std::int32_t>(row % request.variates % count));
    }
}

/// Moves variates to other groups for the newest steps: the first one is alone there, the others are together. Those
/// steps must be whole patches, for a patch belongs to one group.
inline void change_groups(Request& request, Index newest) {
    for (Index row = 0; row < request.batch * request.variates; ++row) {
        const auto end = request.groups.begin() + (row + 1) * request.steps;
        std::fill(end - std::min(newest, request.steps), end, row % request.variates == 0 ? 1 : 0);
    }
}

/// Which part of a request to keep.
struct Part {
    Index first_series = 0;
    Index batch = 1;
    Index variates = 1;  ///< The first ones.
    Index steps = 1;     ///< The newest ones.
};

/// A smaller request of the same data. Exogenous variates, which come last, cannot be cut this way.
inline Request part_of(const Request& whole, const Part& part) {
    Request result{.batch = part.batch, .variates = part.variates, .steps = part.steps};
    result.first_series = whole.first_series + static_cast<std::uint32_t>(part.first_series);
    const auto cut = [&](const auto& from, auto& to) {
        for (Index row = 0; row < part.batch * part.variates && !from.empty(); ++row) {
            const Index source = (part.first_series + row / part.variates) * whole.variates + row % part.variates;
            const auto end = from.begin() + (source + 1) * whole.steps;
            to.insert(to.end(), end - part.steps, end);
        }
    };
    cut(whole.values, result.values);
    cut(whole.observed, result.observed);
    cut(whole.groups, result.groups);
    return result;
}

/// How many of two forecasts' values differ in any bit; more than there are when they have different shapes.
inline std::size_t different_bits(const tg::Forecast& a, const tg::Forecast& b) {
    const auto first = a.values();
    const auto second = b.values();
    if (a.batch() != b.batch() || a.variates() != b.variates() || a.horizon() != b.horizon() ||
        a.sample_count() != b.sample_count() || first.size() != second.size()) {
        return first.size() + second.size() + 1;
    }
    std::size_t count = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
        count += std::bit_cast<std::uint32_t>(first[i]) != std::bit_cast<std::uint32_t>(second[i]) ? 1U : 0U;
    }
    return count;
}

inline std::size_t different_bits(const tg::OwnedForecast& a, const tg::Forecast& b) {
    return different_bits(a.view(), b);
}

/// A forecast of part of what another one covers.
inline tg::OwnedForecast part_of(const tg::Forecast& whole, const Part& part, Index horizon, Index samples) {
    const std::span<const float> from = whole.values();
    // Samples, levels, or one mean.
    const Index whole_count = static_cast<Index>(from.size()) / (whole.batch() * whole.variates() * whole.horizon());
    const Index count = samples > 0 ? samples : whole_count;
    std::vector<float> values{};
    for (Index row = 0; row < part.batch * part.variates; ++row) {
        const Index source = (part.first_series + row / part.variates) * whole.variates() + row % part.variates;
        for (Index step = 0; step < horizon; ++step) {
            const auto first = static_cast<std::size_t>((source * whole.horizon() + step) * whole_count);
            const auto kept = from.subspan(first, static_cast<std::size_t>(count));
            values.insert(values.end(), kept.begin(), kept.end());
        }
    }
    return {std::move(values), part.batch, part.variates, horizon, samples};
}

}  // namespace made_up
