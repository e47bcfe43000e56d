// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "models/model.hpp"

// A model that repeats the last value of each series, and remembers what it was asked.

namespace repeating_model {

/// The extents of a request, and its first series.
struct Asked {
    totograph::Index batch = 0;
    totograph::Index variates = 0;
    bool has_groups = false;
    std::uint32_t first_series = 0;

    friend bool operator==(const Asked&, const Asked&) = default;
};

class RepeatingModel final : public examples::AnyModel {
public:
    [[nodiscard]] totograph::Index patch_size() const override { return 8; }
    [[nodiscard]] examples::ModelSizes most() const override {
        return {.context = 64, .horizon = 16, .variates = 4, .known = 0};
    }
    [[nodiscard]] std::span<const double> levels() const override { return {}; }
    [[nodiscard]] std::unique_ptr<examples::AnyForecaster> forecaster(const totograph::Series& series,
                                                                      const totograph::ForecastOptions&,
                                                                      int) const override {
        made_for.push_back({series.batch, series.variates});
        return std::make_unique<Forecaster>(asked);
    }

    mutable std::vector<Asked> asked;
    mutable std::vector<std::pair<totograph::Index, totograph::Index>> made_for;  ///< Series and variates.

private:
    class Forecaster final : public examples::AnyForecaster {
    public:
        explicit Forecaster(std::vector<Asked>& asked) : asked_(asked) {}
        totograph::Forecast forecast(const totograph::Series& series,
                                     const totograph::ForecastOptions& options) override {
            asked_.push_back({series.batch, series.variates, !series.groups.empty(), series.first_series});
            const auto count = static_cast<std::size_t>(*options.horizon * *options.samples);
            values_.clear();
            for (totograph::Index row = 0; row < series.batch * series.variates; ++row) {
                const float last = series.values[static_cast<std::size_t>((row + 1) * series.steps - 1)];
                values_.insert(values_.end(), count, last);
            }
            return {values_, series.batch, series.variates, *options.horizon, *options.samples};
        }
        [[nodiscard]] std::size_t memory_bytes() const override { return 0; }

    private:
        std::vector<Asked>& asked_;
        std::vector<float> values_;
    };
};

}  // namespace repeating_model
