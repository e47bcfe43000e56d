// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../charts/figure.hpp"
#include "../common/format.hpp"

namespace examples {

/// A candle as it is drawn.
struct Candle {
    double open;
    double high;
    double low;
    double close;

    [[nodiscard]] bool falls() const { return close < open; }
};

/// One symbol as it is drawn: its last candles, and what may come.
struct CandlePanel {
    std::string name;
    std::string note;                 ///< Shown beside the name.
    std::vector<Candle> history;      ///< Oldest first.
    std::vector<Candle> forecast;     ///< The mean of the paths.
    std::vector<Band> bands;          ///< Of the close, widest first.
    std::vector<double> truth;        ///< Closes that came; empty when they are not known.
    std::vector<std::string> stamps;  ///< Of history and forecast.

    /// With so many candles of history at most.
    [[nodiscard]] CandlePanel newest(std::size_t count) const {
        CandlePanel result = *this;
        const std::size_t drop = history.size() - std::min(history.size(), count);
        result.history.erase(result.history.begin(), result.history.begin() + static_cast<std::ptrdiff_t>(drop));
        result.stamps.erase(result.stamps.begin(), result.stamps.begin() + static_cast<std::ptrdiff_t>(drop));
        return result;
    }
    [[nodiscard]] std::size_t steps() const { return history.size() + forecast.size(); }
    [[nodiscard]] const Candle& candle(std::size_t step) const {
        return step < history.size() ? history[step] : forecast[step - history.size()];
    }
    /// Lowest and highest price that it shows, with a little room.
    [[nodiscard]] Range range() const {
        Range result{candle(0).low, candle(0).high};
        const auto include = [&](double low, double high) {
            result.low = std::min(result.low, low);
            result.high = std::max(result.high, high);
        };
        for (std::size_t step = 0; step < steps(); ++step) {  // a forecast's low may be above its high
            const Candle& one = candle(step);
            const auto [low, high] = std::minmax({one.open, one.high, one.low, one.close});
            include(low, high);
        }
        for (const Band& band : bands) {
            for (std::size_t i = 0; i < band.low.size(); ++i) {
                include(band.low[i], band.high[i]);
            }
        }
        for (const double close : truth) {
            include(close, close);
        }
        return padded(result, 0.04);
    }
};

/// All that a chart of candles shows, in the terminal and as SVG alike.
struct CandleFigure {
    std::string title;
    std::string subtitle;
    std::vector<CandlePanel> panels;
    std::size_t hidden_panels = 0;  ///< Symbols that have no panel.

    [[nodiscard]] bool has_truth() const {
        return std::any_of(panels.begin(), panels.end(), [](const CandlePanel& panel) { return !panel.truth.empty(); });
    }
    [[nodiscard]] std::string hidden_words() const {
        return hidden_panels == 0 ? ""
                                  : plural(static_cast<std::int64_t>(hidden_panels), "more symbol") + " not drawn; " +
                                        "choose with --symbols";
    }
};

}  // namespace examples
