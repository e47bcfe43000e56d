// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/io/csv/table.hpp>
#include <totograph/io/csv/writer.hpp>
#include <totograph/models/kronos/candle_forecaster.hpp>

#include "../common/format.hpp"
#include "../common/text.hpp"
#include "candle_figure.hpp"
#include "result.hpp"

namespace examples {

namespace detail {

inline std::vector<double> as_doubles(const std::vector<float>& values) {
    return {values.begin(), values.end()};
}

/// The number of the fewest digits that tell a float from others; widened, it would have digits that mean nothing.
inline double in_fewest_digits(float value) {
    std::array<char, 32> digits{};
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    double number = 0;
    std::from_chars(digits.data(), written.ptr, number);
    return number;
}

/// The tables of all results below each other. Each line begins with its symbol where the input names them.
template <class Format>
std::string csv_of_all(const std::vector<CandleResult>& results, const Format& format) {
    if (!results.front().symbol->is_named) {
        return format(results.front());
    }
    std::string all;
    for (const CandleResult& result : results) {
        const std::string table = format(result);
        std::size_t begin = 0;
        const std::string symbol = quote_csv(result.symbol->name);
        for (bool is_header = true; begin < table.size(); is_header = false) {
            const std::size_t end = table.find('\n', begin) + 1;
            if (!is_header || all.empty()) {
                all += (is_header ? "symbol" : symbol) + "," + table.substr(begin, end - begin);
            }
            begin = end;
        }
    }
    return all;
}

}  // namespace detail

/// The mean and the quantiles of each column, a row a candle. Where it is known what came, that stands behind them, and
/// in the last columns how far off the close was, the same in all rows of a symbol.
inline std::string bands_csv(const std::vector<CandleResult>& results, const std::vector<double>& levels) {
    return detail::csv_of_all(results, [&](const CandleResult& result) {
        totograph::io::Table table;
        table.timestamp_name = "time";
        table.timestamps = result.stamps();
        const auto add = [&](const std::string& name, const std::vector<float>& values) {
            table.names.push_back(name);
            std::vector<double>& column = table.columns.emplace_back();
            std::transform(values.begin(), values.end(), std::back_inserter(column), detail::in_fewest_digits);
        };
        for (std::size_t i = 0; i < totograph::kronos::column_names.size(); ++i) {
            const auto column = static_cast<totograph::kronos::Column>(i);
            const std::string name(totograph::kronos::column_names[i]);
            add(name + "_mean", result.forecast->mean(column, result.place));
            for (const double level : levels) {
                add(name + "_q" + exact_number(level), result.quantile(level, column));
            }
            if (result.has_truth()) {
                add(name + "_truth", result.truth(column));
            }
        }
        if (result.has_truth()) {
            CandleScore score;
            score.add(result);
            table.names.insert(table.names.end(), {"close_mae", "last_close_mae", "close_in_80"});
            for (const double value : {score.mae(), score.last_mae(), score.coverage()}) {
                table.columns.emplace_back(result.future.size(), value);
            }
        }
        return totograph::io::format_csv(table);
    });
}

/// All paths, a row for each candle of each.
inline std::string paths_csv(const std::vector<CandleResult>& results) {
    return detail::csv_of_all(results, [](const CandleResult& result) {
        const auto& forecast = *result.forecast;
        const std::vector<std::string> stamps = result.stamps();
        totograph::io::Table table;
        table.timestamp_name = "time";
        table.names.emplace_back("path");
        table.columns.resize(1 + totograph::kronos::column_names.size());
        for (const std::string_view name : totograph::kronos::column_names) {
            table.names.emplace_back(name);
        }
        for (totograph::Index path = 0; path < forecast.paths(); ++path) {
            for (totograph::Index step = 0; step < forecast.horizon(); ++step) {
                table.timestamps.push_back(stamps[static_cast<std::size_t>(step)]);
                table.columns[0].push_back(static_cast<double>(path));
                for (std::size_t i = 0; i < totograph::kronos::column_names.size(); ++i) {
                    const auto column = static_cast<totograph::kronos::Column>(i);
                    table.columns[1 + i].push_back(
                        detail::in_fewest_digits(forecast.value(column, path, step, result.place)));
                }
            }
        }
        return totograph::io::format_csv(table);
    });
}

/// What a chart shows of a symbol.
inline CandlePanel candle_panel(const CandleResult& result) {
    using totograph::kronos::Column;
    constexpr std::size_t most_history = 160;
    const auto& table = result.symbol->table;
    CandlePanel panel;
    panel.name = result.symbol->name;
    for (std::size_t row = result.history - std::min(result.history, most_history); row < result.history; ++row) {
        const auto at = [&](std::size_t column) { return static_cast<double>(table.columns[column][row]); };
        panel.history.push_back({at(0), at(1), at(2), at(3)});
        panel.stamps.push_back(table.stamps[row]);
    }
    const auto mean = [&](Column column) { return result.forecast->mean(column, result.place); };
    const std::vector<float> open = mean(Column::open), high = mean(Column::high), low = mean(Column::low),
                             close = mean(Column::close);
    for (std::size_t step = 0; step < close.size(); ++step) {
        panel.forecast.push_back({static_cast<double>(open[step]), static_cast<double>(high[step]),
                                  static_cast<double>(low[step]), static_cast<double>(close[step])});
    }
    for (std::string& stamp : result.stamps()) {
        panel.stamps.push_back(std::move(stamp));
    }
    for (const int percent : {80, 50}) {
        const double outside = (1 - percent / 100.0) / 2;
        panel.bands.push_back({.percent = percent,
                               .low = detail::as_doubles(result.quantile(outside, Column::close)),
                               .high = detail::as_doubles(result.quantile(1 - outside, Column::close))});
    }
    if (result.has_truth()) {
        for (std::size_t step = 0; step < close.size(); ++step) {
            panel.truth.push_back(result.close(result.history + step));
        }
        CandleScore score;
        score.add(result);
        panel.note = score.words();
    }
    return panel;
}

/// The first symbols as candles.
inline CandleFigure candle_figure(const std::vector<CandleResult>& results, std::string title, std::string subtitle) {
    constexpr std::size_t most_panels = 6;
    CandleFigure figure{.title = std::move(title), .subtitle = std::move(subtitle), .panels = {}, .hidden_panels = 0};
    for (const CandleResult& result : results) {
        if (figure.panels.size() < most_panels) {
            figure.panels.push_back(candle_panel(result));
        }
    }
    figure.hidden_panels = results.size() - figure.panels.size();
    return figure;
}

/// A line for each symbol, and one of all: how windows that lie one behind the other at its end were forecast.
/// `results` are those of all windows of the first symbol, then of the next one.
inline std::string backtest_text(const std::vector<CandleResult>& results, std::int64_t windows) {
    std::size_t width = 3;
    for (const CandleResult& result : results) {
        width = std::max(width, display_width(printable(result.symbol->name)));
    }
    std::string text;
    CandleScore all;
    CandleScore one;
    for (std::size_t i = 0; i < results.size(); ++i) {
        one.add(results[i]);
        if (i + 1 == results.size() || results[i + 1].symbol != results[i].symbol) {
            text += pad_right(printable(results[i].symbol->name), width) + "  " + one.words() + "\n";
            all.add(one);
            one = {};
        }
    }
    text +=
        results.size() > static_cast<std::size_t>(windows) ? pad_right("all", width) + "  " + all.words() + "\n" : "";
    return text + plural(windows, "window") + " of " +
           plural(static_cast<std::int64_t>(results.front().future.size()), "candle") +
           " each, forecast from what lies before\n";
}

}  // namespace examples
