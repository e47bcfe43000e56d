// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a family with an imputation has the inputs `series` and `observed`,
#include <totograph/forecast/cpu/forecaster.hpp>

#include "forecast/one_program_family.hpp"

using namespace totograph;

struct Recorded {
    template <Bucket bucket>
    static constexpr void record(Recorder& r) {
        const Shape steps{bucket.batch, 1, bucket.variates, bucket.context};
        const Tensor total = sum(r.state(states::series, steps));
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        (void)r.state(states::observed, steps);
#endif
        const Shape result{bucket.batch, 3, bucket.variates, bucket.horizon, 1};
        r.store(r.state(states::forecast, result),
                expand(reshape(total, {bucket.batch, 1, bucket.variates, 1, 1}), result));
    }
};

using Model = one_program_family::Model<Recorded, Imputation::linear>;
using Planned = Forecaster<Model, Bucket{.context = 4, .horizon = 4}>;
static_assert(Planned::state_bytes > 0);
