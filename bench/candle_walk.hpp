// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/models/kronos/candles.hpp>

namespace bench {

/// Candles of every quarter of an hour that walk at random, and the times behind them.
struct CandleWalk {
    std::vector<float> open, high, low, close, volume;
    std::vector<std::int64_t> time, future;

    CandleWalk(unsigned number, totograph::Index context, totograph::Index horizon) {
        std::mt19937 generator(number);
        std::normal_distribution<float> step;
        float price = 100;
        for (totograph::Index i = 0; i < context + horizon; ++i) {
            const std::int64_t at = 1704067200 + 900 * i;
            if (i >= context) {
                future.push_back(at);
                continue;
            }
            time.push_back(at);
            open.push_back(price);
            price *= 1 + 0.004F * step(generator);
            close.push_back(price);
            high.push_back(std::max(open.back(), price) * 1.001F);
            low.push_back(std::min(open.back(), price) * 0.999F);
            volume.push_back(1000 + 100 * step(generator));
        }
    }
    [[nodiscard]] totograph::kronos::Candles candles() const {
        return {.open = open,
                .high = high,
                .low = low,
                .close = close,
                .volume = volume,
                .time = time,
                .future_time = future};
    }
};

}  // namespace bench
