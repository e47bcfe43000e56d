// SPDX-License-Identifier: Apache-2.0
// What forecasts of Toto 1.0 keep to on a device: tests/models/toto1/test_padding.cpp says so of the CPU.
#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "models/properties.hpp"
#include "models/toto1/case_list.hpp"
#include "models/toto1/fixture_data.hpp"

namespace {

using namespace properties;
namespace tg = totograph;
using Model = fixture::models::Small;

constexpr tg::Bucket largest{.batch = 3, .variates = 4, .context = 64, .horizon = 32, .samples = 24};

template <tg::cuda::Precision precision>
using Forecaster = tg::cuda::Forecaster<Model, largest, tg::cuda::ForecasterOptions{.precision = precision}>;

/// Loaded anew: weights that forecasters share would be one, whatever the test does.
auto weights() {
    return tg::load<Model>(fixture::folder("mixture"));
}

/// Parts of what a request of all samples gives: of series, samples and steps.
template <class Large>
void parts_have_the_same_bits(Large& large, const Request& request) {
    const auto all = large.forecast(request.series()).keep();
    const auto check_part = [&](const Part& part, Index horizon, Index samples) {
        CAPTURE(part.first_series);
        CAPTURE(part.batch);
        CAPTURE(horizon);
        CAPTURE(samples);
        const auto expected = part_of(all.view(), part, horizon, samples);
        const Request asked = part_of(request, part);
        CHECK(different_bits(expected, large.forecast(asked.series(), {.horizon = horizon, .samples = samples})) == 0);
    };
    const Part whole{.batch = request.batch, .variates = request.variates, .steps = request.steps};
    for (const Index samples : {1, 3, 8, 23}) {
        check_part(whole, all.horizon(), samples);
    }
    for (const Index horizon : {1, 8, 24}) {
        check_part(whole, horizon, largest.samples);
    }
    for (Index series = 0; series < request.batch; ++series) {
        Part alone = whole;
        alone.first_series = series;
        alone.batch = 1;
        check_part(alone, all.horizon(), largest.samples);
        check_part(alone, 9, 5);
    }
}

template <tg::cuda::Precision precision>
void check() {
    Forecaster<precision> large(weights());
    parts_have_the_same_bits(large, requests(3, 4, 64).back());
    parts_have_the_same_bits(large, requests(2, 3, 19).back());
    Forecaster<precision> fresh(weights());
    nothing_is_left_behind(fresh, large, waves(1, 2, 11), waves(3, 4, 64), 10);
}

}  // namespace

TEST_CASE("series, samples, horizons and earlier requests change no bit, f32") {
    check<tg::cuda::Precision::f32>();
}

TEST_CASE("series, samples, horizons and earlier requests change no bit, bf16") {
    check<tg::cuda::Precision::bf16>();
}
