// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <totograph/totograph.hpp>

#include "cuda/replay_requests.hpp"

namespace replay {

std::vector<float> samples_on_cpu() {
    const auto weights = tg::load<Model>(fixture::folder("mixture"));
    tg::Forecaster<Model, many_samples> forecaster(weights, {.threads = 1});
    const Request request = request_for(many_samples);
    const auto samples = forecaster.forecast(request.series(), {.seed = seed}).samples();
    return {samples.begin(), samples.end()};
}

}  // namespace replay
