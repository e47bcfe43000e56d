// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <totograph/core/shape.hpp>

namespace totograph {

/// The sizes that one compiled forecast can hold. A smaller request is padded, which never changes its forecast.
struct Bucket {
    Index batch = 1;      ///< Series (each of several variates) in one call.
    Index variates = 1;   ///< Variates of a series, exogenous ones included.
    Index context = 0;    ///< Steps of history.
    Index horizon = 0;    ///< Steps to forecast.
    Index samples = 0;    ///< Sampled futures of each series; 0 for the mean, or the quantiles, of the model itself.
    Index exogenous = 0;  ///< How many of the variates may be exogenous with a known future.

    friend constexpr bool operator==(const Bucket&, const Bucket&) = default;

    /// Whether a request of other sizes can be served by this bucket.
    [[nodiscard]] constexpr bool holds(const Bucket& request) const {
        return request.batch <= batch && request.variates <= variates && request.context <= context &&
               request.horizon <= horizon && (request.samples > 0) == (samples > 0) && request.samples <= samples &&
               request.exogenous <= exogenous;
    }
};

/// The bucket as text, like `1 x 7 x 4096 -> 336, 256 samples`.
std::string to_string(const Bucket& bucket);

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/impl/bucket.hpp>
#endif
