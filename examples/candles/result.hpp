// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/models/kronos/candle_forecaster.hpp>

#include "../common/format.hpp"
#include "symbols.hpp"

namespace examples {

/// What was forecast of one symbol, and from which rows of its table.
struct CandleResult {
    const Symbol* symbol = nullptr;
    std::size_t history = 0;  ///< Rows before the first one that is forecast.
    std::vector<std::int64_t> future{};
    totograph::Index place = 0;                                           ///< Of the symbol in the forecast.
    std::shared_ptr<const totograph::kronos::CandleForecast> forecast{};  ///< Of all results.

    [[nodiscard]] std::vector<std::string> stamps() const {
        if (has_truth()) {  // in the file's own words: an earlier row may have the offset of another season
            const auto first = symbol->table.stamps.begin() + static_cast<std::ptrdiff_t>(history);
            return {first, first + static_cast<std::ptrdiff_t>(future.size())};
        }
        std::vector<std::string> result;
        for (const std::int64_t time : future) {
            result.push_back(symbol->table.stamp(time));
        }
        return result;
    }
    /// Whether the table holds what came.
    [[nodiscard]] bool has_truth() const { return history + future.size() <= symbol->table.rows(); }
    /// What came, where the table holds it; NaN in a column that it lacks.
    [[nodiscard]] std::vector<float> truth(totograph::kronos::Column column) const {
        const std::vector<float>& values = symbol->table.columns[static_cast<std::size_t>(column)];
        if (values.empty()) {
            return std::vector<float>(future.size(), std::numeric_limits<float>::quiet_NaN());
        }
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(history);
        return {first, first + static_cast<std::ptrdiff_t>(future.size())};
    }
    /// The close of a row of the table.
    [[nodiscard]] double close(std::size_t row) const { return static_cast<double>(symbol->table.columns[3][row]); }
    [[nodiscard]] std::vector<float> quantile(double level, totograph::kronos::Column column) const {
        return forecast->quantile(level, column, place);
    }
};

/// How good closes were, of one window or of several.
struct CandleScore {
    double of_median = 0;    ///< Sum of the distances of the median close from what came.
    double of_last = 0;      ///< The same of the last close before.
    std::size_t inside = 0;  ///< Closes within the band from the 0.1 to the 0.9 quantile.
    std::size_t count = 0;

    /// Adds a window whose truth is known.
    void add(const CandleResult& result) {
        using totograph::kronos::Column;
        const std::vector<float> low = result.quantile(0.1, Column::close);
        const std::vector<float> median = result.quantile(0.5, Column::close);
        const std::vector<float> high = result.quantile(0.9, Column::close);
        for (std::size_t step = 0; step < median.size(); ++step) {
            const double truth = result.close(result.history + step);
            of_median += std::abs(static_cast<double>(median[step]) - truth);
            of_last += std::abs(result.close(result.history - 1) - truth);
            inside += static_cast<double>(low[step]) <= truth && truth <= static_cast<double>(high[step]) ? 1 : 0;
            ++count;
        }
    }
    void add(const CandleScore& other) {
        of_median += other.of_median;
        of_last += other.of_last;
        inside += other.inside;
        count += other.count;
    }

    /// The mean absolute error of the median close.
    [[nodiscard]] double mae() const { return of_median / static_cast<double>(count); }
    /// That of repeating the last close.
    [[nodiscard]] double last_mae() const { return of_last / static_cast<double>(count); }
    /// The share of closes within the band.
    [[nodiscard]] double coverage() const { return static_cast<double>(inside) / static_cast<double>(count); }

    /// `MAE 2.1, of the last close 2.3; 80% band holds 74%`
    [[nodiscard]] std::string words() const {
        return "MAE " + short_number(mae()) + ", of the last close " + short_number(last_mae()) + "; 80% band holds " +
               fixed_number(100 * coverage(), 0) + "%";
    }
};

}  // namespace examples
