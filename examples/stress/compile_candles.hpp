// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/diagnostics/grid/grid_request.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/models/kronos/candles.hpp>

#include "compile_grid.hpp"
#include "grid_model.hpp"
#include "grids.hpp"

namespace examples {

/// Hourly candles of symbols whose prices wander.
class WanderingCandles {
public:
    WanderingCandles(const totograph::Bucket& sizes, std::uint64_t seed)
        : prices_(static_cast<std::size_t>(sizes.batch)) {
        constexpr std::int64_t first = 1704103200;  // 2024-01-01, 10:00
        constexpr std::int64_t hour = 3600;
        for (totograph::Index i = 0; i < sizes.context + sizes.horizon; ++i) {
            (i < sizes.context ? time_ : future_time_).push_back(first + hour * i);
        }
        std::mt19937_64 generator(seed);
        std::vector<totograph::kronos::Candles> symbols;
        for (Prices& of : prices_) {
            float last = 100;
            while (of[0].size() < time_.size()) {
                const float close = last * (0.99F + 0.02F * static_cast<float>(generator() % 1000) / 1000);
                const std::array<float, 4> candle{last, std::max(last, close) + 0.5F, std::min(last, close) - 0.5F,
                                                  close};
                for (std::size_t column = 0; column < candle.size(); ++column) {
                    of[column].push_back(candle[column]);
                }
                last = close;
            }
            symbols.push_back({.open = of[0],
                               .high = of[1],
                               .low = of[2],
                               .close = of[3],
                               .time = time_,
                               .future_time = future_time_});
        }
        // The likeliest candles: what is drawn would part where a rounding moves an id.
        series_.emplace(symbols, totograph::kronos::CandleOptions{.top_k = 1, .paths = sizes.samples});
    }
    WanderingCandles(const WanderingCandles&) = delete;
    WanderingCandles& operator=(const WanderingCandles&) = delete;
    ~WanderingCandles() = default;

    /// A view of this object's memory.
    [[nodiscard]] const totograph::Series& series() const { return series_->series(); }

private:
    using Prices = std::array<std::vector<float>, 4>;

    std::vector<Prices> prices_;
    std::vector<std::int64_t> time_;
    std::vector<std::int64_t> future_time_;
    std::optional<totograph::kronos::CandleSeries> series_;
};

/// A Kronos with the sizes of its grid.
template <class Grid>
constexpr GridModel compile_candles(std::string_view name) {
    GridModel model = compile_grid<Grid>(name);
    model.words = [] {
        // Candles of equal ids are decoded in f32: in another order of sums, they round otherwise.
        return totograph::serve::GridWords{.context = "history",
                                           .batch = "symbols",
                                           .step = "candle",
                                           .steps = "candles",
                                           .values = "numbers",
                                           .tolerance = 1e-3,
                                           .variates = totograph::kronos::column_count};  // not the stamps
    };
    model.request = [](const totograph::Bucket& sizes, std::uint64_t seed) {
        const auto candles = std::make_shared<const WanderingCandles>(sizes, seed);
        return totograph::serve::GridRequest{candles->series(), candles};
    };
    return model;
}

}  // namespace examples
