// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/results/result_memory.hpp>

namespace totograph {

namespace forecast_detail {

/// A forecast of which quantiles alone can be asked: the rest does not compile, with a sentence.
template <class Base>
class OfQuantiles : public Base {
public:
    OfQuantiles() = default;
    explicit OfQuantiles(Base forecast) : Base(std::move(forecast)) {}

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

}  // namespace forecast_detail

/// A `Forecast` of a family that forecasts quantiles at fixed levels: `quantile`, `quantiles` and `median` read them,
/// `levels()` lists them. What such a family cannot give does not compile.
class QuantileForecast : public forecast_detail::OfQuantiles<Forecast> {
public:
    QuantileForecast() = default;
    explicit QuantileForecast(Forecast forecast) : OfQuantiles(std::move(forecast)) {}

    // As the functions of `Forecast` of the same names.
    [[nodiscard]] class OwnedQuantileForecast keep() const;
    [[nodiscard]] QuantileForecast keep_in(ResultMemory memory) const {
        return QuantileForecast(Forecast::keep_in(std::move(memory)));
    }
    [[nodiscard]] QuantileForecast with_context(Index steps) const {
        return QuantileForecast(Forecast::with_context(steps));
    }
};

/// A `QuantileForecast` that owns its values.
class OwnedQuantileForecast : public forecast_detail::OfQuantiles<OwnedForecast> {
public:
    OwnedQuantileForecast() = default;
    explicit OwnedQuantileForecast(OwnedForecast forecast) : OfQuantiles(std::move(forecast)) {}

    /// The forecast as a view of this object's values.
    [[nodiscard]] QuantileForecast view() const { return QuantileForecast(OwnedForecast::view()); }
};

inline OwnedQuantileForecast QuantileForecast::keep() const {
    return OwnedQuantileForecast(Forecast::keep());
}

}  // namespace totograph
