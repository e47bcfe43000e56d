// SPDX-License-Identifier: Apache-2.0
// The model that comes with the library, compiled for the CPU.
#include <totograph/models/toto1/demo_1_0.hpp>

#include "bucket_model.hpp"
#include "sizes.hpp"

namespace examples {

using Compiled = BucketModel<totograph::toto1::demo_1_0, demo_short, demo_long, demo_mean>;

void add_demo(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint) {
    Compiled::add_backends(registry, checkpoint);
}

void check_demo_weights(const std::filesystem::path& checkpoint) {
    Compiled::check_weights(checkpoint);
}

ProgramDescription describe_demo(const totograph::Series& series, const totograph::ForecastOptions& options) {
    return Compiled::describe(series, options);
}

}  // namespace examples
