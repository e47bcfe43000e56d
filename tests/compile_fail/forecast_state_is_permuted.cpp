// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a state of a forecast has another shape or dtype than what is written to it or read from it;
// expect of g++: State = state::forecast
#include <totograph/forecast/cpu/forecaster.hpp>

#include "forecast/one_program_family.hpp"

using namespace totograph;

/// Quantiles before variates, or behind them: both have as many elements.
struct Recorded {
    template <Bucket bucket>
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor result = r.state(states::forecast, {bucket.batch, 3, bucket.variates, bucket.horizon, 1});
#else
        const Tensor result = r.state(states::forecast, {bucket.batch, bucket.variates, 3, bucket.horizon, 1});
#endif
        r.store(result, expand(r.constant(0.0), result.shape()));
    }
};

using Model = one_program_family::Model<Recorded>;
using Planned = Forecaster<Model, Bucket{.variates = 2, .context = 4, .horizon = 4}>;
static_assert(Planned::state_bytes > 0);
