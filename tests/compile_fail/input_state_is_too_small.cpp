// SPDX-License-Identifier: Apache-2.0
// expect: totograph: a state of a forecast has another shape or dtype than what is written to it or read from it;
// expect of g++: State = state::length
#include <totograph/forecast/cpu/forecaster.hpp>

#include "forecast/one_program_family.hpp"

using namespace totograph;

/// There is a length for each series.
struct Recorded {
    template <Bucket bucket>
    static constexpr void record(Recorder& r) {
#ifdef TOTOGRAPH_COMPILE_FAIL_CONTROL
        const Tensor length = r.state(states::length, {bucket.batch}, DType::i32);
#else
        const Tensor length = r.state(states::length, {1}, DType::i32);
#endif
        const Shape result{bucket.batch, 3, bucket.variates, bucket.horizon, 1};
        r.store(r.state(states::forecast, result),
                expand(reshape(cast(length, DType::f32), {length.extent(0), 1, 1, 1, 1}), result));
    }
};

using Model = one_program_family::Model<Recorded>;
using Planned = Forecaster<Model, Bucket{.batch = 3, .context = 4, .horizon = 4}>;
static_assert(Planned::state_bytes > 0);
