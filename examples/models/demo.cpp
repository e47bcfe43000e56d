// SPDX-License-Identifier: Apache-2.0
// The model that comes with the library, compiled for these requests; one is served by the cheapest bucket that holds
// it. More buckets mean less padding and a longer compile.
#include <totograph/toto/demo_1_0.hpp>

#include "bucket_model.hpp"
#include "sizes.hpp"

namespace examples {

using totograph::Bucket;
using Model = totograph::toto::demo_1_0;
using Buckets = totograph::BucketSet<
    Model, Bucket{.variates = demo_at_once, .context = 512, .horizon = 96, .samples = 128, .exogenous = 4},
    Bucket{.variates = most_variates, .context = demo_context, .horizon = 336, .samples = 128, .exogenous = 4},
    Bucket{.variates = most_variates, .context = demo_context, .horizon = 336, .samples = 0, .exogenous = 4}>;

std::unique_ptr<AnyModel> open_demo(const std::filesystem::path& checkpoint) {
    return std::make_unique<BucketModel<Model, Buckets>>(checkpoint);
}

ProgramDescription describe_demo(const totograph::Series& series, const totograph::ForecastOptions& options) {
    return BucketModel<Model, Buckets>::describe(series, options);
}

}  // namespace examples
