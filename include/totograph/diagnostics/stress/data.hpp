// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/io/csv/table.hpp>

namespace totograph::serve {

/// Series to stress a service with, such as the columns of a file; NaN marks a gap.
struct StressData {
    std::string name;
    io::Table table;
};

/// What deviations of a series are measured in: the standard deviation of its observed history, but no less than a
/// hundredth of its mean magnitude (a float has no digits for less), and 1 when that is 0. `steps` values; an empty
/// `observed` means all.
inline double series_scale(std::span<const float> values, std::span<const std::uint8_t> observed) {
    double count = 0;
    double sum = 0;
    double magnitude = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (observed.empty() || observed[i] != 0) {
            ++count;
            sum += static_cast<double>(values[i]);
            magnitude += std::abs(static_cast<double>(values[i]));
        }
    }
    const double mean = sum / std::max(count, 1.0);
    double squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (observed.empty() || observed[i] != 0) {
            squares += (static_cast<double>(values[i]) - mean) * (static_cast<double>(values[i]) - mean);
        }
    }
    const double deviation = std::sqrt(squares / std::max(count, 1.0));
    const double scale = std::max(deviation, 0.01 * magnitude / std::max(count, 1.0));
    return scale > 0 && std::isfinite(scale) ? scale : 1.0;
}

/// What deviations of a forecast are measured in where it moves more than the series did: 0.74 of the distance between
/// the quartiles of its values (a standard deviation, were they normal: the far draws of a heavy tail would inflate
/// that), but no less than a hundredth of their median magnitude. Values that are not finite do not count; 0 without
/// others.
inline double forecast_scale(std::span<const float> values) {
    std::vector<float> sorted;
    std::copy_if(values.begin(), values.end(), std::back_inserter(sorted),
                 [](float value) { return std::isfinite(value); });
    if (sorted.empty()) {
        return 0;
    }
    const auto at = [&](std::size_t place) {
        const auto where = sorted.begin() + static_cast<std::ptrdiff_t>(place);
        std::nth_element(sorted.begin(), where, sorted.end());
        return static_cast<double>(*where);
    };
    const std::size_t last = sorted.size() - 1;
    const std::size_t quarter = (last + 2) / 4;
    const double spread = at(last - quarter) - at(quarter);
    for (float& value : sorted) {
        value = std::abs(value);
    }
    return std::max(0.74 * spread, 0.01 * at(last / 2));
}

/// A request with memory of its own.
struct StressRequest {
    Bucket sizes;                 ///< What it asks for.
    std::vector<float> values{};  ///< `[batch, variates, context]`
    std::vector<std::uint8_t> observed{};
    std::vector<std::size_t> columns{};  ///< Of the data, for each of `[batch, variates]`.
    std::vector<double> scales{};        ///< Likewise.
    std::uint64_t seed = 0;

    [[nodiscard]] Series series() const {
        return {.batch = sizes.batch,
                .variates = sizes.variates,
                .steps = sizes.context,
                .values = values,
                .observed = observed};
    }
    [[nodiscard]] ForecastOptions options() const {
        return {.seed = seed, .horizon = sizes.horizon, .samples = sizes.samples};
    }
};

namespace detail {

/// A number without order from two others (the finalizer of SplitMix64).
constexpr std::uint64_t scrambled(std::uint64_t turn, std::uint64_t seed) {
    std::uint64_t bits = seed + 0x9E3779B97F4A7C15ULL * (turn + 1);
    bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBULL;
    return bits ^ (bits >> 31U);
}

}  // namespace detail

/// A request of these sizes: rows that depend on `turn` and `seed`, and columns from number `first_column` on, over
/// again from the first after the last. Columns without any value in these rows are passed over. Nothing when the data
/// has fewer rows than the context, or no column with a value there.
inline std::optional<StressRequest> make_stress_request(const StressData& data, const Bucket& sizes, std::size_t turn,
                                                        std::size_t first_column, std::uint64_t seed) {
    const std::size_t rows = data.table.rows();
    const auto context = static_cast<std::size_t>(sizes.context);
    if (rows < context || data.table.columns.empty()) {
        return std::nullopt;
    }
    const auto start = static_cast<std::size_t>(detail::scrambled(turn, seed) % (rows - context + 1));
    const auto window = [&](std::size_t column) {
        return std::span(data.table.columns[column]).subspan(start, context);
    };
    std::vector<std::size_t> usable;
    for (std::size_t column = 0; column < data.table.columns.size(); ++column) {
        const auto values = window(column);
        if (std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); })) {
            usable.push_back(column);
        }
    }
    if (usable.empty()) {
        return std::nullopt;
    }
    StressRequest request{.sizes = sizes, .seed = seed + turn};
    const auto series = static_cast<std::size_t>(sizes.batch * sizes.variates);
    for (std::size_t i = 0; i < series; ++i) {
        const std::size_t column = usable[(first_column + i) % usable.size()];
        request.columns.push_back(column);
        for (const double value : window(column)) {
            const bool is_there = std::isfinite(value);
            request.values.push_back(is_there ? static_cast<float>(value) : 0.0F);
            request.observed.push_back(is_there ? 1 : 0);
        }
        request.scales.push_back(series_scale(std::span(request.values).last(context),
                                              std::span<const std::uint8_t>(request.observed).last(context)));
    }
    return request;
}

}  // namespace totograph::serve
