// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a program of a family stores its result into the state `forecast`
#include <totograph/forecast/cpu/forecaster.hpp>

#include "forecast/one_program_family.hpp"

using namespace totograph;

struct Recorded {
    template <Bucket bucket>
    static constexpr void record(Recorder& r) {
        const Tensor result = r.state(states::forecast, {bucket.batch, 3, bucket.variates, bucket.horizon, 1});
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        r.store(result, expand(r.constant(0.0), result.shape()));
#else
        r.store(r.state("forecasts", result.shape()), expand(r.constant(0.0), result.shape()));
#endif
    }
};

using Model = one_program_family::Model<Recorded>;
using Planned = Forecaster<Model, Bucket{.variates = 2, .context = 4, .horizon = 4}>;
static_assert(Planned::state_bytes > 0);
