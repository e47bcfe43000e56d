// SPDX-License-Identifier: Apache-2.0
// Schedules that are not a prefill and its decode steps, captured in every way.
#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "forecast/schedules.hpp"

namespace {

namespace tg = totograph;
using tg::cuda::Capture;

template <class Model>
void check_captures() {
    using Forecaster = tg::cuda::Forecaster<Model, schedules::bucket, tg::cuda::ForecasterOptions{}>;
    for (const Capture capture : {Capture::none, Capture::regional, Capture::whole, Capture::device_loop}) {
        CAPTURE(static_cast<int>(capture));
        Forecaster forecaster(schedules::weights<Model>(), {.execution = {.capture = capture}});
        schedules::check_horizons<Model>(forecaster);
    }
}

}  // namespace

TEST_CASE("a schedule of three programs, captured in every way") {
    check_captures<schedules::Three>();
}

TEST_CASE("a schedule whose first program is repeated, captured in every way") {
    check_captures<schedules::Repeated>();
}
