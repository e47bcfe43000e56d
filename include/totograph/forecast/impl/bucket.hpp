// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/forecast/bucket.hpp>

#include <string>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>

namespace totograph {

TOTOGRAPH_INLINE std::string to_string(const Bucket& bucket) {
    std::string text = std::to_string(bucket.batch) + " x " + std::to_string(bucket.variates) + " x " +
                       std::to_string(bucket.context) + " -> " + std::to_string(bucket.horizon);
    text += bucket.samples > 0 ? ", " + std::to_string(bucket.samples) + " samples" : ", no samples";
    return bucket.exogenous > 0 ? text + ", " + std::to_string(bucket.exogenous) + " exogenous" : text;
}

}  // namespace totograph
