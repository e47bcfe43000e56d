// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/finite.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/request.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/models/kronos/calendar.hpp>
#include <totograph/models/kronos/parts.hpp>

namespace totograph::kronos {

/// The numbers of a candle.
enum class Column : std::uint8_t { open, high, low, close, volume, amount };

inline constexpr std::array<std::string_view, column_count> column_names{"open",  "high",   "low",
                                                                         "close", "volume", "amount"};

/// The history of one symbol, oldest candle first, and the times to forecast: views of the caller's memory.
struct Candles {
    std::span<const float> open{};
    std::span<const float> high{};
    std::span<const float> low{};
    std::span<const float> close{};
    std::span<const float> volume{};  ///< Empty: 0, and so is the amount, as in the reference.
    std::span<const float> amount{};  ///< Empty: the volume times the mean of the four prices.
    /// Of each candle, ascending: seconds since the beginning of 1970 of the wall time that the model learned.
    std::span<const std::int64_t> time{};
    /// Of the candles to forecast, as many as the horizon.
    std::span<const std::int64_t> future_time{};

    [[nodiscard]] constexpr const std::span<const float>& column(Column which) const {
        switch (which) {
            case Column::open: return open;
            case Column::high: return high;
            case Column::low: return low;
            case Column::close: return close;
            case Column::volume: return volume;
            case Column::amount: break;
        }
        return amount;
    }
};

/// The amount of a candle that is given none: its volume times the mean of its prices, which may be beyond f32's range.
inline float amount_of(const Candles& candles, std::size_t row) {
    const float sum = candles.open[row] + candles.high[row] + candles.low[row] + candles.close[row];
    return candles.volume[row] * (sum / 4);
}

/// What may differ from call to call. Defaults of draws are the reference's.
struct CandleOptions {
    std::uint64_t seed = 0;        ///< The same seed gives the same paths, also in another batch.
    float temperature = 1;         ///< Divides logits; below 1 paths differ less.
    std::int32_t top_k = 0;        ///< Draws from so many likeliest ids; 1 always takes the likeliest one; 0 from all.
    float top_p = 0.9F;            ///< Draws from the likeliest ids of this share. Counts only where `top_k` is 0.
    std::optional<Index> paths{};  ///< The bucket's when absent.
    /// Makes candles possible: low and high hold open and close, volume and amount are not negative.
    bool consistent = false;
    std::uint32_t first_series = 0;  ///< Number of the first symbol of the batch among all that are forecast.
};

/// Candles of several symbols as the series that a forecaster takes. Owns what the series views.
class CandleSeries {
public:
    /// @param most_steps  of longer histories the newest candles are taken, so many
    /// Throws `Error` (`invalid_series`, `invalid_argument`) when something is missing, not finite, or not in order.
    CandleSeries(std::span<const Candles> symbols, const CandleOptions& options,
                 Index most_steps = std::numeric_limits<Index>::max())
        : most_steps_(static_cast<std::size_t>(std::max(Index{1}, most_steps))) {
        check_draws(draws_of(options));
        if (symbols.empty()) {
            fail(ErrorCode::invalid_argument, "no symbol was given; give at least one.");
        }
        for (std::size_t symbol = 0; symbol < symbols.size(); ++symbol) {
            check(symbols[symbol], symbol, symbols[0].future_time.size());
            steps_ = std::max(steps_, taken_of(symbols[symbol]));
        }
        values_.resize(symbols.size() * variate_count * steps_);
        observed_.resize(values_.size());
        future_.resize(symbols.size() * stamp_values.size() * symbols[0].future_time.size());
        for (std::size_t symbol = 0; symbol < symbols.size(); ++symbol) {
            add(symbols[symbol], symbol);
        }
        series_ = {.batch = static_cast<Index>(symbols.size()),
                   .variates = variate_count,
                   .steps = static_cast<Index>(steps_),
                   .values = values_,
                   .observed = observed_,
                   .exogenous = stamp_count,
                   .future_exogenous = future_,
                   .first_series = options.first_series,
                   .future_steps = static_cast<Index>(symbols[0].future_time.size()),
                   .draws = draws_of(options)};
    }
    CandleSeries(const CandleSeries&) = delete;
    CandleSeries& operator=(const CandleSeries&) = delete;
    ~CandleSeries() = default;

    [[nodiscard]] const Series& series() const { return series_; }

private:
    static IdDraws draws_of(const CandleOptions& options) {
        return {.temperature = options.temperature, .filter = {.top_k = options.top_k, .top_p = options.top_p}};
    }

    [[noreturn]] static void fail(ErrorCode code, const std::string& message) {
        throw Error(code, "candles: " + message);
    }
    [[noreturn]] static void fail(std::size_t symbol, const std::string& message) {
        fail(ErrorCode::invalid_series, "symbol " + std::to_string(symbol) + " " + message);
    }

    static void check(const Candles& candles, std::size_t symbol, std::size_t horizon) {
        const std::size_t rows = candles.close.size();
        if (rows == 0) {
            fail(symbol, "has no candle; give at least one.");
        }
        for (std::size_t i = 0; i < column_names.size(); ++i) {
            const auto which = static_cast<Column>(i);
            const bool may_be_missing = which == Column::volume || which == Column::amount;
            check_column(candles.column(which), symbol, column_names[i], rows, may_be_missing);
        }
        if (candles.time.size() != rows) {
            fail(symbol, "has " + std::to_string(rows) + " candles, but " + std::to_string(candles.time.size()) +
                             " times; give one for each.");
        }
        for (std::size_t row = 1; row < rows; ++row) {
            if (candles.time[row] <= candles.time[row - 1]) {
                fail(symbol, "has a time in row " + std::to_string(row) +
                                 " that is not after the one before it; sort the candles, oldest first, and leave "
                                 "out those that are there twice.");
            }
        }
        check_times(candles.time, symbol, "a time");
        check_times(candles.future_time, symbol, "a time to forecast");
        if (candles.future_time.empty() || candles.future_time.size() != horizon) {
            fail(symbol, "has " + std::to_string(candles.future_time.size()) +
                             " times to forecast; every symbol needs the same number of them, at least one.");
        }
    }

    static void check_times(std::span<const std::int64_t> times, std::size_t symbol, const std::string& what) {
        const auto bad = std::find_if(times.begin(), times.end(), [](std::int64_t time) { return !has_stamps(time); });
        if (bad != times.end()) {
            fail(symbol, "has " + what + " in row " + std::to_string(bad - times.begin()) +
                             " that is beyond the year " + (*bad < 0 ? "0" : "9999") +
                             "; times are seconds since the beginning of 1970, found " + std::to_string(*bad) + ".");
        }
    }

    static void check_column(std::span<const float> column, std::size_t symbol, std::string_view name, std::size_t rows,
                             bool may_be_missing) {
        if (column.size() != rows && !(may_be_missing && column.empty())) {
            fail(symbol, "has " + std::to_string(rows) + " values of close, but " + std::to_string(column.size()) +
                             " of " + std::string(name) + "; give one for each candle.");
        }
        if (!all_finite(column)) {
            const auto bad = std::find_if(column.begin(), column.end(), [](float x) { return !std::isfinite(x); });
            fail(symbol, "holds NaN or infinity in row " + std::to_string(bad - column.begin()) + " of " +
                             std::string(name) + "; leave the candle out, or fill it.");
        }
    }

    /// How many candles of a history are taken.
    [[nodiscard]] std::size_t taken_of(const Candles& candles) const {
        return std::min(candles.close.size(), most_steps_);
    }

    /// The six columns, then the stamps, each at the end of a row as long as the longest history.
    void add(const Candles& candles, std::size_t symbol) {
        const std::size_t rows = candles.close.size();
        const std::size_t taken = taken_of(candles);
        const std::size_t first = rows - taken;
        const auto row_of = [&](std::size_t variate) {
            const std::size_t end = (symbol * variate_count + variate + 1) * steps_;
            std::fill_n(observed_.begin() + static_cast<std::ptrdiff_t>(end - taken), taken, std::uint8_t{1});
            return std::span(values_).subspan(end - taken, taken);
        };
        std::size_t variate = 0;
        for (const Column which : {Column::open, Column::high, Column::low, Column::close, Column::volume}) {
            const auto column = candles.column(which);
            const auto to = row_of(variate++);
            if (!column.empty()) {
                std::copy_n(column.begin() + static_cast<std::ptrdiff_t>(first), taken, to.begin());
            }
        }
        const auto amounts = row_of(variate++);
        for (std::size_t i = 0; i < taken && !candles.volume.empty(); ++i) {
            const std::size_t row = first + i;
            if (!candles.amount.empty()) {
                amounts[i] = candles.amount[row];
                continue;
            }
            amounts[i] = amount_of(candles, row);
            if (!std::isfinite(amounts[i])) {
                fail(symbol, "has a volume times the mean of its prices in row " + std::to_string(row) +
                                 ", the amount, that is beyond the range of 32-bit floats; give amounts, or prices and "
                                 "volumes in larger units.");
            }
        }
        std::array<float*, stamp_count> stamps{};
        for (float*& row : stamps) {
            row = row_of(variate++).data();
        }
        put_stamps(candles.time.subspan(first), stamps);
        const std::size_t horizon = candles.future_time.size();
        for (std::size_t stamp = 0; stamp < stamps.size(); ++stamp) {
            stamps[stamp] = future_.data() + (symbol * stamps.size() + stamp) * horizon;
        }
        put_stamps(candles.future_time, stamps);
    }

    /// Writes the stamps of times, a row each.
    static void put_stamps(std::span<const std::int64_t> times, const std::array<float*, stamp_count>& rows) {
        StampsOfTimes stamps_of_times;
        for (std::size_t i = 0; i < times.size(); ++i) {
            const auto stamps = stamps_of_times(times[i]);
            for (std::size_t stamp = 0; stamp < stamps.size(); ++stamp) {
                rows[stamp][i] = stamps[stamp];
            }
        }
    }

    std::size_t most_steps_;
    std::size_t steps_ = 0;
    std::vector<float> values_;
    std::vector<std::uint8_t> observed_;
    std::vector<float> future_;
    Series series_;
};

}  // namespace totograph::kronos
