// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/forecast.hpp>

#include "models/toto1/series.hpp"

// What forecasts of every family keep to, to the bit, on one device. Kernels compute each row the same way wherever it
// stands and whatever stands around it; a request that is smaller than its bucket is padded.

namespace properties {

using namespace made_up;

/// Requests of a size: plain, with gaps, with groups, and with both.
inline std::vector<Request> requests(Index batch, Index variates, Index steps) {
    std::vector<Request> all(4, waves(batch, variates, steps));
    make_gaps(all[1]);
    make_groups(all[2], 2);
    make_gaps(all[3]);
    make_groups(all[3], 2);
    return all;
}

/// A bucket that fits requests, and a larger one.
template <class Exact, class Large>
void padding_changes_nothing(Exact& exact, Large& large, const std::vector<Request>& requests, Index horizon) {
    int which = 0;
    for (const Request& request : requests) {
        CAPTURE(which++);
        const auto expected = exact.forecast(request.series(), {.horizon = horizon}).keep();
        CHECK(different_bits(expected, large.forecast(request.series(), {.horizon = horizon})) == 0);
    }
}

template <class Forecaster>
void shorter_horizon_begins_a_longer_one(Forecaster& forecaster, const Request& request,
                                         std::initializer_list<Index> horizons) {
    const auto longest = forecaster.forecast(request.series()).keep();
    for (const Index horizon : horizons) {
        CAPTURE(horizon);
        const Part all{.batch = request.batch, .variates = request.variates};
        const auto expected = part_of(longest.view(), all, horizon, 0);
        CHECK(different_bits(expected, forecaster.forecast(request.series(), {.horizon = horizon})) == 0);
    }
}

/// Each series alone, and all of them in another order.
template <class Forecaster>
void series_do_not_see_each_other(Forecaster& forecaster, const Request& request) {
    const auto all = forecaster.forecast(request.series()).keep();
    for (Index series = 0; series < request.batch; ++series) {
        CAPTURE(series);
        const Part alone{.first_series = series, .batch = 1, .variates = request.variates, .steps = request.steps};
        const auto expected = part_of(all.view(), alone, all.horizon(), 0);
        CHECK(different_bits(expected, forecaster.forecast(part_of(request, alone).series())) == 0);
    }
}

/// @param fresh  a forecaster that has not forecast anything yet
/// @param used   another one of the same bucket
/// @param wild   a request that fills the bucket
template <class Forecaster>
void nothing_is_left_behind(Forecaster& fresh, Forecaster& used, const Request& small, Request wild, Index horizon) {
    const auto expected = fresh.forecast(small.series(), {.horizon = horizon}).keep();
    for (float& value : wild.values) {
        value *= 1e30F;
    }
    (void)used.forecast(wild.series());
    CHECK(different_bits(expected, used.forecast(small.series(), {.horizon = horizon})) == 0);
}

}  // namespace properties
