// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/series.hpp>

#include "../common/format.hpp"
#include "../common/model_sizes.hpp"
#include "../common/require_finite.hpp"
#include "../common/text.hpp"
#include "../intake/column_groups.hpp"
#include "../models/model.hpp"
#include "context_ring.hpp"
#include "expectation.hpp"
#include "growing_contexts.hpp"
#include "latency.hpp"
#include "observation.hpp"
#include "options.hpp"
#include "spread_watch.hpp"
#include "stream_clock.hpp"
#include "stream_window.hpp"

namespace examples {

/// Takes observations one by one, scores each against the last forecast, and forecasts again when it is due. What there
/// is to print is added to a text. This is the part of the program that uses totograph.
class ForecastStream {
public:
    /// The model must outlive this object. Throws `Error(no_bucket)` when it does not forecast so far ahead, and
    /// `Error(invalid_argument)` when the context is shorter than what it needs, or cannot go on and should.
    ForecastStream(const AnyModel& model, const Options& options, std::vector<std::string> names)
        : model_(model),
          options_(options),
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
          window_(names_.size(), options.independent),
          spread_(names_.size(), model.levels()),
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
        if (!make_contexts()) {
            make_forecaster();
        }
    }

    /// Sentences that the user should read, since the last call.
    [[nodiscard]] std::vector<std::string> take_notes() {
        std::vector<std::string> notes = std::exchange(notes_, {});
        if (contexts_) {
            for (std::string& note : contexts_->take_notes()) {
                notes.push_back(std::move(note));
            }
        }
        return notes;
    }

    /// No line follows: what was too little to judge is told of now.
    void finish() {
        if (latency_.count() > 0) {
            look_at_spread(least_steps_ / 2);
        }
    }

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
        ++row_;
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
        row_ += static_cast<std::uint64_t>(steps);
        const auto variates = static_cast<std::int64_t>(names_.size());
        missing_ += std::min(steps, (std::numeric_limits<std::int64_t>::max() - missing_) / variates) * variates;
        age_ += static_cast<std::size_t>(steps);
    }

    /// The time of the line at hand, for the rows that it leads to.
    void set_time(std::string time) { time_ = std::move(time); }

    static const char* heading() { return "kind,time,variate,value,low,median,high,position,score,alarm\n"; }

    [[nodiscard]] const Latency& latency() const { return latency_; }
    /// The contexts that go on, with what became of them; null where each forecast reads the whole one.
    [[nodiscard]] const GrowingContexts* contexts() const { return contexts_ ? &*contexts_ : nullptr; }
    /// Of the forecasts that went on from what was computed before, and of the others.
    [[nodiscard]] const Latency& grown_latency() const { return grown_latency_; }
    [[nodiscard]] const Latency& whole_latency() const { return whole_latency_; }
    [[nodiscard]] std::int64_t alarms() const { return alarms_; }
    /// Values that should have come and did not.
    [[nodiscard]] std::int64_t missing() const { return missing_; }
    [[nodiscard]] std::size_t least_steps() const { return least_steps_; }

private:
    /// Whether there are contexts that go on. Throws `Error` where there should be, and cannot.
    bool make_contexts() {
        if (options_.session == GoOn::never) {
            return false;
        }
        const std::span<const SessionMaker> makers = model_.sessions();
        const GrowingContexts::Settings settings{.patch_size = model_.patch_size(),
                                                 .context = static_cast<std::int64_t>(ring_.capacity()),
                                                 .horizon = request_.horizon.value(),
                                                 .every = every_,
                                                 .variates = static_cast<std::int64_t>(columns_.front().count),
                                                 .independent = options_.independent,
                                                 .threads = options_.threads};
        const std::string refusal = makers.empty()
                                        ? "only a Toto 2.0 that is compiled into this program can go on from "
                                          "what it computed of a context, and this is another model"
                                        : GrowingContexts::refusal(makers, settings);
        if (refusal.empty()) {
            contexts_.emplace(makers, settings, columns_);
            return true;
        }
        if (options_.session == GoOn::always) {
            throw totograph::Error(totograph::ErrorCode::invalid_argument,
                                   "--session on cannot be had: " + refusal + ". Leave it out.");
        }
        if (!makers.empty()) {
            notes_.push_back("Each forecast reads the whole context: " + refusal + ".");
        }
        return false;
    }

    void make_forecaster() {
        totograph::Series largest;
        largest.variates = static_cast<totograph::Index>(columns_.front().count);
        largest.steps = static_cast<totograph::Index>(ring_.capacity());
        forecaster_ = model_.forecaster(largest, request_, options_.threads);
    }

    void refresh() {
        if (ring_.steps() < least_steps_) {
            return;
        }
        const auto start = std::chrono::steady_clock::now();
        expected_ = Expectations();
        std::optional<GrowingContexts::Grown> grown;
        if (contexts_) {
            grown = contexts_->forecast(ring_, row_, expected_);
        }
        if (!grown) {
            forecast_whole();
        } else if (grown->is_known != nullptr) {
            is_known_ = *grown->is_known;
        }
        if (expected_.horizon() == 0) {
            return;
        }
        age_ = 0;
        // Fewer may just be those of a quiet hour.
        constexpr std::size_t enough = 512;
        look_at_spread(std::min(ring_.capacity(), enough));
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        latency_.add(seconds);
        (grown && !grown->is_whole ? grown_latency_ : whole_latency_).add(seconds);
    }

    void look_at_spread(std::size_t least) {
        if (std::string note = spread_.look(names_, ring_, least); !note.empty()) {
            notes_.push_back(std::move(note));
        }
    }

    void forecast_whole() {
        if (!forecaster_) {
            make_forecaster();
        }
        if (!window_.read(ring_, ring_.steps())) {
            return;
        }
        is_known_ = window_.is_known();
        for (const ColumnGroup& columns : columns_) {
            const totograph::Forecast forecast = forecaster_->forecast(window_.series(columns), request_);
            require_finite(forecast);
            expected_.add(forecast, window_.levels(columns));
        }
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
        const double low = expected.quantile(0.05);
        const double high = expected.quantile(0.95);
        for (const double value : {low, expected.quantile(0.5), high}) {
            out.append(",").append(number_beside(value, high - low));
        }
    }

    const AnyModel& model_;
    const Options& options_;
    std::vector<std::string> names_;
    std::int64_t every_;
    std::size_t least_steps_;
    totograph::ForecastOptions request_;
    ContextRing ring_;
    std::vector<ColumnGroup> columns_;  // that see each other
    std::vector<std::string> notes_;
    std::vector<double> gap_;
    std::unique_ptr<AnyForecaster> forecaster_;  // of whole contexts; made when it is needed
    StreamWindow window_;                        // of the last whole context
    SpreadWatch spread_;
    std::optional<GrowingContexts> contexts_;
    std::vector<bool> is_known_;  // variates that have an observation in the context
    Expectations expected_;
    std::uint64_t row_ = 0;  // steps that there have been
    std::size_t age_ = 0;    // steps since the last forecast
    bool fresh_ = false;     // whether it was not printed yet
    std::string time_;
    Latency latency_;
    Latency grown_latency_;
    Latency whole_latency_;
    std::int64_t alarms_ = 0;
    std::int64_t missing_ = 0;
};

}  // namespace examples
