// SPDX-License-Identifier: Apache-2.0
// A family that the library does not know, on the device against the eager executor on the CPU.
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "cuda/device_test.hpp"
#include "cuda/second_family_eager.hpp"
#include "forecast/second_family/family.hpp"
#include "forecast/second_family/request.hpp"

namespace {

namespace tg = totograph;
using second_family::Small;

/// @param bound  of the largest magnitude of all values, which are tens: a few dozen roundings of the precision
template <tg::cuda::Precision precision>
void check(double bound) {
    using Forecaster =
        tg::cuda::Forecaster<Small, second_family::larger, tg::cuda::ForecasterOptions{.precision = precision}>;
    const second_family::Request request;
    Forecaster forecaster(tg::untrained<Small>(second_family::weights_seed));
    const std::vector<float> expected = second_family::eager_quantiles();
    for (int round = 0; round < 2; ++round) {  // the second one is a replay after another
        const tg::QuantileForecast found = forecaster.forecast(request.series());
        CHECK(found.levels().size() == second_family::levels.size());
        const std::vector<float> values(found.values().begin(), found.values().end());
        REQUIRE(values.size() == expected.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            CAPTURE(i);
            CHECK(values[i] == doctest::Approx(expected[i]).epsilon(bound).scale(50));
        }
    }
}

}  // namespace

TEST_CASE("a second family in f32") {
    check<tg::cuda::Precision::f32>(1e-5);
}
TEST_CASE("a second family in tf32") {
    check<tg::cuda::Precision::tf32>(2e-3);
}
TEST_CASE("a second family in bf16") {
    check<tg::cuda::Precision::bf16>(2e-2);
}
