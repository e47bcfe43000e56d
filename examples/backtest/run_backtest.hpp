// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <totograph/core/processors.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/forecast/series.hpp>
#include <totograph/io/csv/table.hpp>

#include "../common/centre.hpp"
#include "../common/metrics.hpp"
#include "../common/require_finite.hpp"
#include "../common/sampling.hpp"
#include "../common/seasonal_naive.hpp"
#include "../models/model.hpp"
#include "journal.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "score_text.hpp"

namespace examples {

/// Scores of all windows: [series][horizon], the windows in the order of time.
using AllScores = std::vector<std::vector<std::vector<Score>>>;

/// Tells how many tasks are done.
using TaskReport = std::function<void(std::size_t done)>;

namespace detail {

/// Forecasts and scores tasks; one for each thread.
class Scorer {
public:
    Scorer(const totograph::io::Table& table, const Options& options, const Plan& plan)
        : table_(table), options_(options), season_(plan.season), in_batches_(plan.in_batches) {
        for (const Task& task : plan.tasks) {
            most_series_ = std::max(most_series_, task.series);
            most_steps_ = std::max(most_steps_, context_of(task));
        }
    }

    /// The scores of a task, [series][horizon].
    std::vector<Score> scores(const AnyModel& model, const Task& task) {
        const totograph::Index steps = context_of(task);
        lay_out(task, steps);
        totograph::Series series = of_columns(task.series);
        series.steps = steps;
        series.values = values_;
        series.observed = observed_;
        series.first_series = static_cast<std::uint32_t>(task.first_series);
        if (!in_batches_) {
            series.groups = groups_;
        }
        const totograph::ForecastOptions request{.seed = options_.seed,
                                                 .horizon = options_.horizons.back(),
                                                 .samples = options_.samples,
                                                 .extend = options_.extend};
        if (forecaster_ == nullptr) {
            // One for all tasks, the largest too.
            totograph::Series largest = of_columns(most_series_);
            largest.steps = most_steps_;
            forecaster_ = model.forecaster(largest, request, 1);
        }
        const totograph::Forecast forecast = forecaster_->forecast(series, request);
        require_finite(forecast, options_.horizons.back() > model.most().horizon);
        for (std::size_t i = 0; i < levels.size(); ++i) {
            // What the model does not tell counts nowhere: the report leaves it out.
            quantiles_[i] = has_quantile(forecast.levels(), levels[i])
                                ? forecast.quantile(levels[i])
                                : std::vector<float>(task.series * static_cast<std::size_t>(forecast.horizon()),
                                                     std::numeric_limits<float>::quiet_NaN());
        }
        std::vector<Score> scores;
        for (std::size_t place = 0; place < task.series; ++place) {
            add_scores(task, place, scores);
        }
        return scores;
    }

private:
    /// The extents of so many columns.
    [[nodiscard]] totograph::Series of_columns(std::size_t count) const {
        const auto columns = static_cast<totograph::Index>(count);
        return {.batch = in_batches_ ? columns : 1, .variates = in_batches_ ? 1 : columns};
    }
    /// Rows of history that a task's forecasts see.
    [[nodiscard]] totograph::Index context_of(const Task& task) const {
        return std::min<totograph::Index>(options_.context, task.origin);
    }

    /// Puts the context of the task's series where the library reads it. A group of its own hides a series from others.
    /// The library takes no blank series: one gets a made-up observation, seen by no other, and is not scored.
    void lay_out(const Task& task, totograph::Index steps) {
        values_.clear();
        observed_.clear();
        groups_.clear();
        levels_.clear();
        known_.clear();
        for (std::size_t place = 0; place < task.series; ++place) {
            const std::span<const double> context =
                std::span(table_.columns[task.first_series + place])
                    .subspan(static_cast<std::size_t>(task.origin - steps), static_cast<std::size_t>(steps));
            levels_.push_back(level_of(context));
            const bool known = append_centred(context, levels_.back(), values_, observed_);
            if (!known) {
                observed_.back() = 1;
            }
            known_.push_back(known);
            groups_.push_back(options_.together && known ? 0 : static_cast<std::int32_t>(place + 1));
        }
    }

    void add_scores(const Task& task, std::size_t place, std::vector<Score>& scores) const {
        const std::vector<double>& column = table_.columns[task.first_series + place];
        const auto origin = static_cast<std::size_t>(task.origin);
        const std::span<const double> history(column.data(), origin);
        const SeasonalNaive naive(history, season_);
        const auto longest = static_cast<std::size_t>(options_.horizons.back());
        Score score;
        score.scale = seasonal_scale(history, season_);
        for (std::size_t step = 0, next = 0; step < longest; ++step) {
            const double truth = column[origin + step];
            if (known_[place] && !std::isnan(truth)) {
                Quantiles model{};
                for (std::size_t i = 0; i < levels.size(); ++i) {
                    model[i] = levels_[place] + quantiles_[i][place * longest + step];
                }
                add_step(score.model, model, truth);
                add_step(score.naive, naive.at(step), truth);
                score.magnitude += std::abs(truth);
                ++score.steps;
            }
            if (step + 1 == static_cast<std::size_t>(options_.horizons[next])) {
                scores.push_back(score);
                ++next;
            }
        }
    }

    const totograph::io::Table& table_;
    const Options& options_;
    std::int64_t season_;
    bool in_batches_;
    std::size_t most_series_ = 0;
    totograph::Index most_steps_ = 0;
    std::unique_ptr<AnyForecaster> forecaster_;
    std::vector<float> values_;
    std::vector<std::uint8_t> observed_;
    std::vector<std::int32_t> groups_;
    std::vector<double> levels_;  ///< What was taken off the values of each series of the task at hand.
    std::vector<bool> known_;     ///< Whether a series has an observation: both ways need something to start from.
    std::array<std::vector<float>, levels.size()> quantiles_;
};

using TaskResults = std::vector<std::optional<std::vector<Score>>>;

/// The scores of the tasks that the journal holds; nothing for the others.
inline TaskResults kept_results(const Journal& journal, const Plan& plan, std::size_t horizons) {
    TaskResults results(plan.tasks.size());
    for (std::size_t task = 0; task < results.size(); ++task) {
        const auto kept = journal.finished().find(static_cast<std::int64_t>(task));
        if (kept != journal.finished().end()) {
            results[task] = parse_scores(kept->second, plan.tasks[task].series * horizons);
        }
    }
    return results;
}

/// The scores of all tasks by series and horizon; nothing when a task has none.
inline std::optional<AllScores> all_scores(const TaskResults& results, const Plan& plan, std::size_t series,
                                           std::size_t horizons) {
    AllScores all(series, std::vector<std::vector<Score>>(horizons));
    for (std::size_t task = 0; task < results.size(); ++task) {
        if (!results[task]) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < results[task]->size(); ++i) {
            all[plan.tasks[task].first_series + i / horizons][i % horizons].push_back((*results[task])[i]);
        }
    }
    return all;
}

}  // namespace detail

/// Computes what the journal does not hold yet, with several tasks at the same time, and puts each into the journal.
/// Returns nothing when `stop` was set before the end. Throws the first `Error` of any thread, after all have ended.
inline std::optional<AllScores> run_backtest(const totograph::io::Table& table, const Options& options,
                                             const Plan& plan, const AnyModel& model, Journal& journal,
                                             const std::atomic<bool>& stop, const TaskReport& report) {
    const std::size_t horizons = options.horizons.size();
    detail::TaskResults results = detail::kept_results(journal, plan, horizons);
    std::vector<std::size_t> open;
    for (std::size_t task = 0; task < results.size(); ++task) {
        if (!results[task]) {
            open.push_back(task);
        }
    }

    std::mutex mutex;
    std::exception_ptr error;
    std::size_t next = 0;
    std::size_t done = results.size() - open.size();
    report(done);
    const auto work = [&] {
        detail::Scorer scorer(table, options, plan);
        std::unique_lock<std::mutex> lock(mutex);
        while (next < open.size() && !stop && !error) {
            const std::size_t task = open[next++];
            lock.unlock();
            std::exception_ptr failed;
            std::vector<Score> scores;
            try {
                scores = scorer.scores(model, plan.tasks[task]);
                journal.append(static_cast<std::int64_t>(task), score_text(scores));
            } catch (...) {
                failed = std::current_exception();
            }
            lock.lock();
            if (failed) {
                error = error ? error : failed;
                return;
            }
            results[task] = std::move(scores);
            ++done;
            report(done);
        }
    };
    const auto wanted = static_cast<std::size_t>(options.threads > 0 ? options.threads : totograph::default_threads());
    std::vector<std::thread> workers;
    for (std::size_t i = 1; i < std::min(wanted, open.size()); ++i) {
        workers.emplace_back(work);
    }
    work();
    for (std::thread& worker : workers) {
        worker.join();
    }
    if (error) {
        std::rethrow_exception(error);
    }
    return detail::all_scores(results, plan, table.columns.size(), horizons);
}

}  // namespace examples
