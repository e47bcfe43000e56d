// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/cuda/forecaster_options.hpp>
#include <totograph/forecast/cuda/runner.hpp>
#include <totograph/forecast/forecaster.hpp>

namespace totograph {

template <>
struct RunnerOf<cuda::ForecasterOptions> {
    template <class Model, Bucket bucket, cuda::ForecasterOptions options>
    using Runner = cuda::Runner<Model, bucket, options>;
};

}  // namespace totograph

namespace totograph::cuda {

/// A `totograph::Forecaster` on a CUDA device; `cuda::Runner` tells what else it can be asked. A forecast (or a part)
/// of the bucket's horizon is one replay of a CUDA graph and one wait; the call copies large inputs and results alone.
/// One thread at a time may use it; several forecasters may run at the same time, each on its stream.
// A class and not an alias: through an alias, nvcc 13.0 loses options and buckets that are arguments of template
// arguments, and g++ 13 breaks.
template <class Model, Bucket bucket, ForecasterOptions options = ForecasterOptions{}>
class Forecaster : public totograph::Forecaster<Model, bucket, options> {
    using Base = totograph::Forecaster<Model, bucket, options>;

public:
    using Base::Base;
};

}  // namespace totograph::cuda
