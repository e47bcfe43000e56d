// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/series.hpp>

namespace totograph::serve {

/// A made-up request that fills a bucket, for warm-ups and for measurements: waves of several periods, the same at
/// every call.
class SyntheticRequest {
public:
    explicit SyntheticRequest(const Bucket& bucket)
        : bucket_(bucket),
          values_(waves(bucket.batch * bucket.variates, bucket.context)),
          future_(waves(bucket.batch * bucket.exogenous, bucket.horizon)) {}

    /// A view of this object's memory.
    [[nodiscard]] Series series() const {
        return {.batch = bucket_.batch,
                .variates = bucket_.variates,
                .steps = bucket_.context,
                .values = values_,
                .exogenous = bucket_.exogenous,
                .future_exogenous = future_};
    }
    /// Options that ask for as much as the bucket has.
    [[nodiscard]] ForecastOptions options() const {
        return {.seed = 1, .horizon = bucket_.horizon, .samples = bucket_.samples};
    }

private:
    static std::vector<float> waves(Index rows, Index steps) {
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

    Bucket bucket_;
    std::vector<float> values_;
    std::vector<float> future_;
};

}  // namespace totograph::serve
