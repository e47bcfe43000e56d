// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/series.hpp>

namespace totograph::serve {

/// A request that is as large as it was asked for.
struct GridRequest {
    Series series{};                       ///< A view of what `memory` owns.
    std::shared_ptr<const void> memory{};  ///< Lives as long as the request.
};

/// Makes the request of some sizes: ids for a model of tokens, candles for one of candles. The same each time.
using MakeGridRequest = std::function<GridRequest(const Bucket& sizes)>;

/// What a model's requests and results are called, and when two results are the same.
struct GridWords {
    std::string context = "context";  ///< What is read: `prompt`, `history`.
    std::string batch = "batch";      ///< How many at once.
    std::string step = "step";        ///< What is forecast: `token`, `candle`.
    std::string steps = "steps";
    std::string values = "values";  ///< What is compared: `ids`, `numbers`.
    /// Two values are the same when they are no further apart than this share of the larger one; 0: of equal value.
    double tolerance = 0;
    /// Of each series, so many variates are compared, and none behind them; 0: all.
    Index variates = 0;
    /// Smaller values are none that the model can give, such as an id of -1.
    float least = -std::numeric_limits<float>::infinity();
};

}  // namespace totograph::serve
