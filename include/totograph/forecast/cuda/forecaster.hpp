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
/// is one copy in, one replay of a CUDA graph and one copy out. One thread at a time may use it; several forecasters
/// may run at the same time, each on its stream.
template <class Model, Bucket bucket, ForecasterOptions options = ForecasterOptions{}>
using Forecaster = totograph::Forecaster<Model, bucket, options>;

}  // namespace totograph::cuda
