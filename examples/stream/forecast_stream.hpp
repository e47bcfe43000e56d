// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/forecast/series.hpp>

#include "../common/format.hpp"
#include "../common/model_sizes.hpp"
#include "../common/require_finite.hpp"
#include "../common/text.hpp"
#include "../intake/column_groups.hpp"
#include "../models/model.hpp"
#include "context_ring.hpp"
#include "expectation.hpp"
#include "latency.hpp"
#include "observation.hpp"
#include "options.hpp"
#include "stream_clock.hpp"

namespace examples {

/// Takes observations one by one, scores each against the last forecast, and forecasts again when it is due. What there
/// is to print is added to a text. This is the part of the program that uses totograph.
class ForecastStream {
public:
    /// Throws `Error(no_bucket)` when the model does not forecast so far ahead, and `Error(invalid_argument)` when the
    /// context is shorter than what it needs.
    ForecastStream(const AnyModel& model, const Options& options, std::vector<std::string> names)
        : options_(options),
          names_(std::move(names)),
          every_(options.every > 0 ? options.every : model.patch_size()),
          least_steps_(2 * static_cast<std::size_t>(model.patch_size())),
          request_{.seed = options.seed,
                   .horizon = std::max(every_, options.horizon > 0 ? options.horizon : model.patch_size()),
                   .samples = model.levels().empty() ? options.samples : 0,
                   .extend = options.extend},
          ring_(names_.size(), static_cast<std::size_t>(std::min(options.context, model.most().context))),
          columns_(divide_columns(names_.size(), static_cast<std::size_t>(model.most().variates))),
          gap_(names_.size(), std::nan("")),
          groups_(names_.size()),
          is_known_(names_.size()) {
        if (ring_.capacity() < least_steps_) {
            throw totograph::Error(totograph::ErrorCode::invalid_argument,
                                   "--context must be at least " + std::to_string(least_steps_) +
                                       ", two patches of this model, but it is " + std::to_string(options.context) +
                                       ".");
        }
        const ModelSizes most = model.most();
        const std::int64_t horizon = request_.horizon.value();
        check_horizon(horizon, options.extend, most, options.horizon >= every_ ? "--horizon" : "--every");
        notes_ = {context_note(options.context, most), extend_note(horizon, most)};
        if (!options.independent) {
            notes_.push_back(groups_note(columns_, names_, static_cast<std::size_t>(most.variates)));
        }
        notes_.erase(std::remove(notes_.begin(), notes_.end(), ""), notes_.end());
        totograph::Series largest;
        largest.variates = static_cast<totograph::Index>(columns_.front().count);
        largest.steps = static_cast<totograph::Index>(ring_.capacity());
        forecaster_ = model.forecaster(largest, request_, options.threads);
    }

    /// Sentences that the user should read.
    [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

    /// Takes what a line held.
    void take(const Observation& observation, std::int64_t skipped, std::string& out) {
        skip(skipped);
        // After a pause the last forecast may not reach to this line.
        if (age_ >= expected_.horizon()) {
            refresh();
        }
        if (expected_.horizon() > 0) {
            score(observation, out);
        }
        missing_ += std::count_if(observation.values.begin(), observation.values.end(),
                                  [](double value) { return std::isnan(value); });
        ring_.push(observation.values);
        ++age_;
        if (static_cast<std::int64_t>(age_) >= every_ || expected_.horizon() == 0) {
            refresh();
            fresh_ = expected_.horizon() > 0;
        }
    }

    /// Adds the rows of a new forecast; `clock` names its steps when lines have timestamps, `line` is the last one's
    /// number.
    void print_forecast(const StreamClock* clock, std::int64_t line, std::string& out) {
        if (!std::exchange(fresh_, false) || options_.scores_only) {
            return;
        }
        // --every may need more steps, to score what comes before the next forecast.
        const std::size_t shown =
            options_.horizon > 0 ? static_cast<std::size_t>(options_.horizon) : expected_.horizon();
        for (std::size_t step = 0; step < std::min(shown, expected_.horizon()); ++step) {
            const auto ahead = static_cast<std::int64_t>(step) + 1;
            const std::string time = clock != nullptr ? clock->later(ahead) : std::to_string(line + ahead);
            for (std::size_t variate = 0; variate < names_.size(); ++variate) {
                if (!is_known_[variate]) {
                    continue;
                }
                out.append("forecast,")
                    .append(quote_csv(time))
                    .append(",")
                    .append(quote_csv(names_[variate]))
                    .append(",");
                add_quantiles(expected_.of(variate, step), out);
                out += ",,,\n";
            }
        }
    }

    /// Lets time pass without an observation.
    void skip(std::int64_t steps) {
        for (std::int64_t step = 0; step < std::min(steps, options_.context); ++step) {
            ring_.push(gap_);
        }
        const auto variates = static_cast<std::int64_t>(names_.size());
        missing_ += std::min(steps, (std::numeric_limits<std::int64_t>::max() - missing_) / variates) * variates;
        age_ += static_cast<std::size_t>(steps);
    }

    /// The time of the line at hand, for the rows that it leads to.
    void set_time(std::string time) { time_ = std::move(time); }

    static const char* heading() { return "kind,time,variate,value,low,median,high,position,score,alarm\n"; }

    [[nodiscard]] const Latency& latency() const { return latency_; }
    [[nodiscard]] std::int64_t alarms() const { return alarms_; }
    /// Values that should have come and did not.
    [[nodiscard]] std::int64_t missing() const { return missing_; }
    [[nodiscard]] std::size_t least_steps() const { return least_steps_; }

private:
    void refresh() {
        if (ring_.steps() < least_steps_) {
            return;
        }
        const auto start = std::chrono::steady_clock::now();
        ring_.lay_out(values_, observed_, levels_);
        bool any_known = false;
        for (std::size_t variate = 0; variate < names_.size(); ++variate) {
            const auto begin = observed_.begin() + static_cast<std::ptrdiff_t>(variate * ring_.steps());
            const auto end = begin + static_cast<std::ptrdiff_t>(ring_.steps());
            const bool is_known = std::find(begin, end, 1) != end;
            is_known_[variate] = is_known;
            any_known = any_known || is_known;
            groups_[variate] = options_.independent || !is_known ? static_cast<std::int32_t>(variate) + 1 : 0;
            // The library takes no variate without an observation, and leaving one out would move the others' random
            // numbers. So it gets a 0 that no other variate sees, and its forecast is not shown.
            if (!is_known) {
                *(end - 1) = 1;
            }
        }
        if (!any_known) {
            expected_ = Expectations();
            return;
        }
        expected_ = Expectations();
        for (const ColumnGroup& columns : columns_) {
            totograph::Series series;
            series.variates = static_cast<totograph::Index>(columns.count);
            series.steps = static_cast<totograph::Index>(ring_.steps());
            const std::size_t first = columns.first * ring_.steps();
            series.values = std::span(values_).subspan(first, columns.count * ring_.steps());
            series.observed = std::span(observed_).subspan(first, columns.count * ring_.steps());
            series.groups = std::span(groups_).subspan(columns.first, columns.count);
            series.first_series = static_cast<std::uint32_t>(columns.first);
            const totograph::Forecast forecast = forecaster_->forecast(series, request_);
            require_finite(forecast);
            expected_.add(forecast, std::span(levels_).subspan(columns.first, columns.count));
        }
        age_ = 0;
        latency_.add(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }

    void score(const Observation& observation, std::string& out) {
        if (age_ >= expected_.horizon()) {
            return;
        }
        for (std::size_t variate = 0; variate < names_.size(); ++variate) {
            const double value = observation.values[variate];
            if (std::isnan(value) || !is_known_[variate]) {
                continue;
            }
            const Expectation expected = expected_.of(variate, age_);
            const double score = expected.score(value);
            const bool alarm = score >= options_.alarm;
            alarms_ += alarm ? 1 : 0;
            out.append("observed,").append(quote_csv(time_)).append(",").append(quote_csv(names_[variate]));
            out.append(",").append(exact_number(value));
            add_quantiles(expected, out);
            out.append(",").append(short_number(expected.position(value), 3));
            out.append(",").append(short_number(score, 3)).append(alarm ? ",1\n" : ",0\n");
        }
    }

    static void add_quantiles(const Expectation& expected, std::string& out) {
        for (const double level : {0.05, 0.5, 0.95}) {
            out.append(",").append(short_number(expected.quantile(level), 5));
        }
    }

    const Options& options_;
    std::vector<std::string> names_;
    std::int64_t every_;
    std::size_t least_steps_;
    totograph::ForecastOptions request_;
    ContextRing ring_;
    std::vector<ColumnGroup> columns_;  // that see each other
    std::vector<std::string> notes_;
    std::vector<double> gap_;
    std::unique_ptr<AnyForecaster> forecaster_;
    std::vector<std::int32_t> groups_;
    std::vector<float> values_;
    std::vector<std::uint8_t> observed_;
    std::vector<double> levels_;  // of the variates, taken off the values
    std::vector<bool> is_known_;  // variates that have an observation in the context
    Expectations expected_;
    std::size_t age_ = 0;  // steps since the last forecast
    bool fresh_ = false;   // whether it was not printed yet
    std::string time_;
    Latency latency_;
    std::int64_t alarms_ = 0;
    std::int64_t missing_ = 0;
};

}  // namespace examples
