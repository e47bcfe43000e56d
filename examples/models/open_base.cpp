// SPDX-License-Identifier: Apache-2.0
// Toto Open Base 1.0, compiled for the CPU.
#include "bucket_model.hpp"
#include "sizes.hpp"

namespace examples {

using Compiled = BucketModel<totograph::toto1::open_base_1_0, open_base_short, open_base_long, open_base_mean>;

void add_open_base(totograph::serve::BackendRegistry& registry, const std::filesystem::path& checkpoint) {
    Compiled::add_backends(registry, checkpoint);
}

void check_open_base_weights(const std::filesystem::path& checkpoint) {
    Compiled::check_weights(checkpoint);
}

ProgramDescription describe_open_base(const totograph::Series& series, const totograph::ForecastOptions& options) {
    return Compiled::describe(series, options);
}

}  // namespace examples
