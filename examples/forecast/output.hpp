// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../common/aligned.hpp"
#include "../common/format.hpp"
#include "../common/text.hpp"
#include "../intake/timeline.hpp"
#include "forecast_result.hpp"
#include "holdout.hpp"
#include "series_input.hpp"

namespace examples {

namespace detail {

/// One column behind the series' name: its heading and [series, horizon] values, or one value for each series.
struct ValueColumn {
    std::string heading;
    const std::vector<double>* values = nullptr;
    bool once = false;  ///< One value for each series.

    [[nodiscard]] double at(const ForecastResult& result, std::int64_t series, std::int64_t step) const {
        return once ? (*values)[static_cast<std::size_t>(series)] : (*values)[result.at(series, step)];
    }
};

/// What a hold-out adds, laid out as the forecast's own values are.
class HoldoutColumns {
public:
    HoldoutColumns(const SeriesInput& input, const Holdout& holdout) {
        for (std::size_t at = 0; at < holdout.series.size(); ++at) {
            const HoldoutScore& score = holdout.series[at];
            truth_.insert(truth_.end(), input.truth[at].begin(), input.truth[at].end());
            baseline_.insert(baseline_.end(), score.baseline.begin(), score.baseline.end());
            scores_[0].push_back(score.mae);
            scores_[1].push_back(score.mase);
            scores_[2].push_back(score.baseline_mae);
            scores_[3].push_back(score.baseline_mase);
        }
    }

    void add_steps(std::vector<ValueColumn>& columns) const {
        if (!truth_.empty()) {
            columns.push_back({"truth", &truth_});
            columns.push_back({"baseline", &baseline_});
        }
    }

    void add_scores(std::vector<ValueColumn>& columns) const {
        const std::array<const char*, 4> headings = {"mae", "mase", "baseline_mae", "baseline_mase"};
        for (std::size_t i = 0; i < scores_.size() && !truth_.empty(); ++i) {
            columns.push_back({headings[i], &scores_[i], true});
        }
    }

private:
    std::vector<double> truth_;
    std::vector<double> baseline_;
    std::array<std::vector<double>, 4> scores_;
};

/// The median (the mean, where there is none) and the quantiles that were asked for.
inline std::vector<ValueColumn> middle_and_quantiles(const ForecastResult& result) {
    std::vector<ValueColumn> columns = {{result.line_name(), &result.line()}};
    for (const QuantileValues& quantile : result.quantiles) {
        columns.push_back({"quantile_" + short_number(quantile.level, 6), &quantile.values});
    }
    return columns;
}

/// Writes the numbers of one block of a table, so that their decimal points stand below each other: all with as many
/// decimals as give the largest five digits, fewer where they are zeros. Very large and very small ones are written
/// each by itself.
class BlockNumbers {
public:
    void add(double value) {
        if (std::isfinite(value)) {
            values_.push_back(value);
            largest_ = std::max(largest_, std::abs(value));
        }
    }

    /// Call when all are added.
    void choose_decimals() {
        is_plain_ = largest_ == 0 || (largest_ >= 1e-4 && largest_ < 1e7) || is_far_from_zero();
        if (!is_plain_ || largest_ == 0) {
            return;
        }
        decimals_ = std::max(0, 4 - static_cast<int>(std::floor(std::log10(largest_))));
        const auto ends_with_zero = [&](double value) { return fixed_number(value, decimals_).back() == '0'; };
        while (decimals_ > 0 && std::all_of(values_.begin(), values_.end(), ends_with_zero)) {
            --decimals_;
        }
    }

    [[nodiscard]] std::string text(double value) const {
        return is_plain_ && std::isfinite(value) ? fixed_number(value, decimals_) : short_number(value, 5);
    }

private:
    /// Whether a few digits could not tell the numbers apart, as those of a counter.
    [[nodiscard]] bool is_far_from_zero() const {
        const auto [low, high] = std::minmax_element(values_.begin(), values_.end());
        return largest_ >= 1e7 && largest_ < 1e15 && *high - *low < largest_ / 1000;
    }

    std::vector<double> values_;
    double largest_ = 0;
    bool is_plain_ = true;
    int decimals_ = 0;
};

/// The time of a forecast step: its timestamp when it can be told, else how many steps ahead it lies.
inline std::string step_name(const SeriesInput& input, const Timeline& timeline, std::int64_t step) {
    const std::string stamp = timeline.stamp(input.forecast_row() + step);
    return timeline.continues() && !stamp.empty() ? stamp : std::to_string(step + 1);
}

}  // namespace detail

/// The forecast as CSV in long form: one row for each step of each series. A hold-out adds truth, baseline and, the
/// same in all rows of a series, the scores. The mean of the samples comes last: where tails are heavy it lies far out.
/// Where values have units, a column says each series' own.
inline std::string forecast_csv(const SeriesInput& input, const ForecastResult& result, const Holdout& holdout,
                                const Timeline& timeline, const std::string& timestamp_name) {
    const detail::HoldoutColumns hidden(input, holdout);
    std::vector<detail::ValueColumn> columns = detail::middle_and_quantiles(result);
    hidden.add_steps(columns);
    hidden.add_scores(columns);
    if (!result.deviation.empty()) {
        columns.push_back({"mean", &result.mean});
        columns.push_back({"standard_deviation", &result.deviation});
    }
    std::string text = timeline.continues() ? quote_csv(timestamp_name.empty() ? "timestamp" : timestamp_name) : "step";
    const bool has_units =
        std::any_of(input.units.begin(), input.units.end(), [](const auto& it) { return !it.empty(); });
    text += has_units ? ",series,unit" : ",series";
    for (const detail::ValueColumn& column : columns) {
        text += "," + column.heading;
    }
    text += "\n";
    for (std::int64_t series = 0; series < result.series; ++series) {
        const auto at = static_cast<std::size_t>(series);
        const std::string name =
            quote_csv(input.targets[at]) + (has_units ? "," + quote_csv(std::string(input.unit(at))) : "");
        for (std::int64_t step = 0; step < result.horizon; ++step) {
            text += quote_csv(detail::step_name(input, timeline, step)) + "," + name;
            for (const detail::ValueColumn& column : columns) {
                text.append(",").append(exact_number(column.at(result, series, step)));
            }
            text += "\n";
        }
    }
    return text;
}

/// The forecast as a table for a person: a block for each series, columns aligned, numbers shortened, and under a
/// hold-out's steps how good they were. Means of samples are left out, since heavy tails take them far from all else.
inline std::string forecast_table(const SeriesInput& input, const ForecastResult& result, const Holdout& holdout,
                                  const Timeline& timeline) {
    const detail::HoldoutColumns hidden(input, holdout);
    std::vector<detail::ValueColumn> columns = detail::middle_and_quantiles(result);
    hidden.add_steps(columns);
    std::string text;
    for (std::int64_t series = 0; series < result.series; ++series) {
        std::vector<std::vector<std::string>> rows = {{timeline.continues() ? "time" : "step"}};
        for (const detail::ValueColumn& column : columns) {
            std::string words = column.heading;
            std::replace(words.begin(), words.end(), '_', ' ');
            rows.front().push_back(words);
        }
        detail::BlockNumbers numbers;
        for (const detail::ValueColumn& column : columns) {
            for (std::int64_t step = 0; step < result.horizon; ++step) {
                numbers.add(column.at(result, series, step));
            }
        }
        numbers.choose_decimals();
        for (std::int64_t step = 0; step < result.horizon; ++step) {
            rows.push_back({printable(detail::step_name(input, timeline, step))});
            for (const detail::ValueColumn& column : columns) {
                rows.back().push_back(numbers.text(column.at(result, series, step)));
            }
        }
        if (series > 0) {
            text += "\n";
        }
        text += printable(input.heading(static_cast<std::size_t>(series))) + "\n";
        text += detail::aligned(rows);
        if (!holdout.series.empty()) {
            text += "  " + score_words(holdout.series[static_cast<std::size_t>(series)]) + "\n";
        }
    }
    if (!holdout.series.empty()) {
        text += "The baseline is " + naive_words(holdout.season) + ".\n";
    }
    return text;
}

}  // namespace examples
