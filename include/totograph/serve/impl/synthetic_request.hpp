// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/serve/synthetic_request.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/series.hpp>

namespace totograph::serve {

TOTOGRAPH_INLINE Series SyntheticRequest::series() const {
    return {.batch = bucket_.batch,
            .variates = bucket_.variates,
            .steps = bucket_.context,
            .values = values_,
            .exogenous = bucket_.exogenous,
            .future_exogenous = future_};
}

TOTOGRAPH_INLINE std::vector<float> SyntheticRequest::waves(Index rows, Index steps) {
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(rows * steps));
    for (Index row = 0; row < rows; ++row) {
        for (Index step = 0; step < steps; ++step) {
            const auto time = static_cast<double>(step);
            values.push_back(
                static_cast<float>(std::sin(0.26 * time + static_cast<double>(row)) + 0.3 * std::sin(1.7 * time)));
        }
    }
    return values;
}

}  // namespace totograph::serve
