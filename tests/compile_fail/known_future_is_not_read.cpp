// SPDX-License-Identifier: Apache-2.0
// expect: totograph: no program of this family reads a known future (the state `future`), so its buckets have
#include <totograph/forecast/cpu/forecaster.hpp>

#include "forecast/one_program_family.hpp"

using namespace totograph;

struct Recorded {
    template <Bucket bucket>
    static constexpr void record(Recorder& r) {
        const Tensor result = r.state(states::forecast, {bucket.batch, 3, bucket.variates, bucket.horizon, 1});
        r.store(result, expand(r.constant(0.0), result.shape()));
    }
};

using Model = one_program_family::Model<Recorded>;
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
using Planned = Forecaster<Model, Bucket{.variates = 2, .context = 4, .horizon = 4}>;
#else
using Planned = Forecaster<Model, Bucket{.variates = 2, .context = 4, .horizon = 4, .exogenous = 1}>;
#endif
static_assert(Planned::state_bytes > 0);
