// SPDX-License-Identifier: Apache-2.0
//
// bench_padding for Kronos mini.
//
//     bench_padding_kronos [THREADS [REPEATS]]

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <totograph/models/kronos/candle_forecaster.hpp>
#include <totograph/totograph.hpp>

#include "padding/compare.hpp"

namespace {

using totograph::Bucket;
using totograph::Index;
using totograph::kronos::candle_bucket;

/// Candles of every quarter of an hour that walk at random, and the times behind them.
class Walks {
public:
    explicit Walks(const Bucket& request) {
        Bucket prices = request;
        prices.variates = 1;
        const padding::Walks walks(prices);
        for (Index i = 0; i < request.context + request.horizon; ++i) {
            (i < request.context ? time_ : future_).push_back(1704067200 + 900 * i);
        }
        for (const float walk : walks.series().values) {
            prices_.push_back(1000 + walk);
        }
        const std::vector<totograph::kronos::Candles> symbols = [&] {
            std::vector<totograph::kronos::Candles> all;
            for (Index symbol = 0; symbol < request.batch; ++symbol) {
                const std::span<const float> price = std::span(prices_).subspan(
                    static_cast<std::size_t>(symbol * request.context), static_cast<std::size_t>(request.context));
                all.push_back({.open = price,
                               .high = price,
                               .low = price,
                               .close = price,
                               .volume = price,
                               .time = time_,
                               .future_time = future_});
            }
            return all;
        }();
        series_.emplace(symbols, totograph::kronos::CandleOptions{});
    }
    [[nodiscard]] totograph::Series series() const { return series_->series(); }

private:
    std::vector<float> prices_;
    std::vector<std::int64_t> time_;
    std::vector<std::int64_t> future_;
    std::optional<totograph::kronos::CandleSeries> series_;
};

}  // namespace

int main(int count, char** words) {
    constexpr Bucket whole = candle_bucket(4, 512, 32, 16);
    padding::Padding<totograph::kronos::mini, whole, Walks> mini("Kronos mini", padding::Arguments(count, words));
    mini.compare<candle_bucket(4, 256, 32, 16)>("half of the candles");
    mini.compare<candle_bucket(4, 64, 32, 16)>("an eighth of the candles");
    mini.compare<candle_bucket(4, 512, 16, 16)>("half of the horizon");
    mini.compare<candle_bucket(4, 512, 32, 8)>("half of the paths");
    mini.compare<candle_bucket(4, 512, 32, 2)>("an eighth of the paths");
    mini.compare<candle_bucket(2, 512, 32, 8)>("half of symbols and paths");
    return 0;
}
