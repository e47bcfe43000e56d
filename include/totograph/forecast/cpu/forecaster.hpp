// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cpu/runner.hpp>
#include <totograph/forecast/forecaster.hpp>
#include <totograph/forecast/forecaster_options.hpp>

namespace totograph {

template <>
struct RunnerOf<ForecasterOptions> {
    template <class Model, Bucket bucket, ForecasterOptions options>
    using Runner = CpuRunner<Model, bucket, options>;
};

}  // namespace totograph
