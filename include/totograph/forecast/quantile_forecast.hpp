// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <totograph/forecast/forecast.hpp>

namespace totograph {

/// A `Forecast` of a family that forecasts quantiles at fixed levels: `quantile`, `quantiles` and `median` read them,
/// `levels()` lists them. What such a family cannot give does not compile.
class QuantileForecast : public Forecast {
public:
    QuantileForecast() = default;
    explicit QuantileForecast(Forecast forecast) : Forecast(std::move(forecast)) {}

    template <class Asked = void>
    [[nodiscard]] std::span<const float> samples() const {
        static_assert(
            !std::is_void_v<Asked>,
            "totograph: this family of models forecasts quantiles and has no samples; ask for quantile(level).");
        return {};
    }
    template <class Asked = void>
    [[nodiscard]] std::vector<float> mean() const {
        static_assert(!std::is_void_v<Asked>,
                      "totograph: this family of models forecasts quantiles and has no mean; ask for median().");
        return {};
    }
    template <class Asked = void>
    [[nodiscard]] std::vector<float> stddev() const {
        static_assert(!std::is_void_v<Asked>,
                      "totograph: this family of models forecasts quantiles and has no standard deviation; ask for "
                      "quantile(level).");
        return {};
    }
};

}  // namespace totograph
