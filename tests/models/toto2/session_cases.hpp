// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/results/quantile_forecast.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/forecast/weights/model_weights.hpp>

#include "models/toto1/closeness.hpp"
#include "models/toto1/series.hpp"
#include "models/toto2/cases.hpp"
#include "models/toto2/fixture.hpp"

// What tests of sessions share, on the CPU and on a device.

namespace session_cases {

namespace tg = totograph;
using made_up::Request;
using tg::Index;

/// The defaults, in one pass: patches of 8 steps, observations of a fallback, a cap, missing values.
struct Model {
    using Checkpoint = toto2_cases::leading_gaps_blocks;
    static constexpr tg::toto2::Toto2Config config = Checkpoint::config;
};
constexpr tg::Bucket bucket{.batch = 2, .variates = 3, .context = 64, .horizon = 20};
inline const auto& weights() {
    static const auto loaded = tg::load<Model::Checkpoint>(toto2_fixture::folder("leading_gaps_blocks"));
    return loaded;
}

/// Steps `first` to `end` of a request.
inline Request between(const Request& whole, Index first, Index end) {
    Request before =
        made_up::part_of(whole, {.batch = whole.batch, .variates = whole.variates, .steps = whole.steps - first});
    Request result{.batch = whole.batch, .variates = whole.variates, .steps = end - first};
    const auto cut = [&](const auto& from, auto& to) {
        for (Index row = 0; row < whole.batch * whole.variates && !from.empty(); ++row) {
            const auto begin = from.begin() + row * before.steps;
            to.insert(to.end(), begin, begin + result.steps);
        }
    };
    cut(before.values, result.values);
    cut(before.observed, result.observed);
    return result;
}

/// A series of some steps; ids for each variate, as sessions take them.
inline tg::Series series_of(const Request& request, const std::vector<std::int32_t>& groups = {}) {
    tg::Series series = request.series();
    series.groups = groups;
    return series;
}

/// How a context grows.
struct Growth {
    Index patch = 1;
    Index start = 1;                        ///< Steps of the start.
    std::vector<std::int32_t> groups = {};  ///< Of each variate.
    Index horizon = 13;
};

/// Gives a session a start and then patch after patch, and compares each forecast, row by row, with what
/// `expected_of(series, horizon)` says of all steps so far: up to `bound` of the row's largest value.
template <class Session, class ExpectedOf>
void grow(Session& session, const Request& all, const Growth& growth, double bound, const ExpectedOf& expected_of) {
    session.start(series_of(between(all, 0, growth.start), growth.groups));
    for (Index steps = growth.start; steps <= all.steps; steps += growth.patch) {
        CAPTURE(steps);
        if (steps > growth.start) {
            session.append(series_of(between(all, steps - growth.patch, steps)));
        }
        const tg::QuantileForecast found = session.forecast({.horizon = growth.horizon});
        const Request whole = between(all, 0, steps);
        CHECK(found.context() == steps);
        CHECK(found.horizon() == growth.horizon);
        fixture::check_rows("after " + std::to_string(steps) + " steps", {found.values().begin(), found.values().end()},
                            expected_of(series_of(whole, growth.groups), growth.horizon),
                            static_cast<std::size_t>(growth.horizon) * found.levels().size(), bound, bound);
    }
}

}  // namespace session_cases
