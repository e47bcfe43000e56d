// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/sizes.hpp>
#include <totograph/models/toto1/config.hpp>

namespace totograph::toto1 {

/// What a bucket comes to for one architecture.
constexpr ForecastSizes forecast_sizes(const Toto1Config& config, const Bucket& bucket) {
    return {bucket, config.patch_size, config.prepended_tokens()};
}

}  // namespace totograph::toto1
