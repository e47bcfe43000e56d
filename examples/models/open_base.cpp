// SPDX-License-Identifier: Apache-2.0
// Toto Open Base 1.0, compiled for these requests; one is served by the cheapest bucket that holds it.
#include "bucket_model.hpp"
#include "sizes.hpp"

namespace examples {

using totograph::Bucket;
using Model = totograph::toto::open_base_1_0;
using Buckets = totograph::BucketSet<
    Model, Bucket{.variates = most_variates, .context = 512, .horizon = 64, .samples = 128, .exogenous = 4},
    Bucket{.variates = most_variates, .context = open_base_context, .horizon = 336, .samples = 128, .exogenous = 4},
    Bucket{.variates = most_variates, .context = open_base_context, .horizon = 336, .samples = 0, .exogenous = 4}>;

std::unique_ptr<AnyModel> open_open_base(const std::filesystem::path& checkpoint) {
    return std::make_unique<BucketModel<Model, Buckets>>(checkpoint);
}

ProgramDescription describe_open_base(const totograph::Series& series, const totograph::ForecastOptions& options) {
    return BucketModel<Model, Buckets>::describe(series, options);
}

}  // namespace examples
