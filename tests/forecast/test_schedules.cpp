// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <doctest/doctest.h>

#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/cpu/forecaster.hpp>

#include "forecast/schedules.hpp"

// Schedules that are not a prefill and its decode steps, with each executor of the CPU.

using namespace totograph;
using schedules::bucket;
using schedules::Repeated;
using schedules::Three;
using schedules::weights;

namespace {

template <class Model>
void check_executors() {
    SUBCASE("fused") {
        Forecaster<Model, bucket> forecaster(weights<Model>());
        schedules::check_horizons<Model>(forecaster);
    }
    SUBCASE("eager") {
        EagerForecaster forecaster(weights<Model>().weights, record_forecast<Model, bucket>());
        schedules::check_horizons<Model>(forecaster);
    }
}

}  // namespace

TEST_CASE("a schedule of three programs") {
    check_executors<Three>();
}

TEST_CASE("a schedule whose first program is repeated") {
    check_executors<Repeated>();
}

TEST_CASE("a forecaster's weights are those of all programs, each once") {
    // A factor of the first program, the 0 that it begins at, and a factor of the last.
    CHECK(Forecaster<Three, bucket>::weight_bytes == 2 * sizeof(float) + sizeof(std::int32_t));
    CHECK(Forecaster<Repeated, bucket>::weight_bytes == sizeof(float));
}
