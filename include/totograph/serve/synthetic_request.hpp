// SPDX-License-Identifier: Apache-2.0
#pragma once

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
    [[nodiscard]] Series series() const;
    /// Options that ask for as much as the bucket has.
    [[nodiscard]] ForecastOptions options() const {
        return {.seed = 1, .horizon = bucket_.horizon, .samples = bucket_.samples};
    }

private:
    static std::vector<float> waves(Index rows, Index steps);

    Bucket bucket_;
    std::vector<float> values_;
    std::vector<float> future_;
};

}  // namespace totograph::serve

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/serve/impl/synthetic_request.hpp>
#endif
