// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/diagnostics/stress/data.hpp>
#include <totograph/diagnostics/stress/deviation.hpp>
#include <totograph/diagnostics/stress/plan.hpp>
#include <totograph/diagnostics/stress/report.hpp>
#include <totograph/diagnostics/stress/verdict.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/forecast.hpp>
#include <totograph/graph/explain/text.hpp>
#include <totograph/io/text.hpp>
#include <totograph/serve/metrics/seconds_text.hpp>
#include <totograph/serve/metrics/snapshot.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/service.hpp>
#include <totograph/serve/stance.hpp>

namespace totograph::serve {

namespace detail {

/// Whether a service has a bucket for requests of these sizes, and a mode (or the one that serves it) for that:
/// backends may have mode `eager` for some buckets alone.
inline bool can_serve(const ForecastService& service, const Bucket& sizes, std::optional<Mode> mode) {
    const std::optional<Bucket> bucket = service.bucket_of(sizes);
    if (!bucket) {
        return false;
    }
    try {
        (void)service.explain(*bucket, mode.value_or(service.mode_of(sizes.batch)), service.backend_of(sizes.batch));
        return true;
    } catch (const Error&) {
        return false;
    }
}

inline bool has_same_bits(const Forecast& a, const Forecast& b) {
    const std::vector<float> one = compared_values(a, Compared::values);
    const std::vector<float> other = compared_values(b, Compared::values);
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](float x, float y) {
        return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
    });
}

/// One stress run, step by step.
class StressRun {
public:
    StressRun(ForecastService& tested, ForecastService& baseline, const StressOptions& options,
              const std::vector<StressData>& data, ForecastService* planned)
        : tested_(tested), baseline_(baseline), planned_(planned), options_(options), data_(data) {
        for (std::size_t i = 0; i < data.size(); ++i) {
            const auto is_same = [&](const StressData& other) { return other.name == data[i].name; };
            if (std::any_of(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(i), is_same)) {
                throw Error(ErrorCode::invalid_argument, "Two data sets of a stress run are named " +
                                                             io::in_quotes(data[i].name, 400) +
                                                             "; reports tell them apart by name. Rename one.");
            }
        }
        report_.build = options.build;
        report_.backend = tested.backend();
        report_.mode = tested.mode();
        report_.baseline_backend = baseline.backend();
        if (planned != nullptr) {
            report_.planned_backend = planned->backend();
            report_.planned_mode = planned->mode();
        }
        report_.level = options.level;
        report_.iterations = options.iterations > 0 ? options.iterations : iterations_of(options.level);
        report_.seed = options.seed;
        report_.thresholds = options.thresholds;
    }

    StressReport run() {
        const ScopedStance stance(Stance::standard);  // so that a recapture is counted
        const bool was_ready = tested_.is_ready();
        const Snapshot at_start = tested_.snapshot();
        plan();
        if (!was_ready) {
            warm_up();
        }
        const Snapshot before = tested_.snapshot();
        // Once without being timed: what is new to a size of request is not compared with what repeats.
        for (std::size_t which = 0; which < report_.cases.size(); ++which) {
            compare(which, 0, false);
        }
        report_.memory.held_before = tested_.memory_bytes();
        report_.memory.device_before = device_memory();  // first: a first look at a device takes memory of the process
        report_.memory.process_before = options_.probes.process_memory();
        std::size_t done = 0;
        for (int iteration = 0; iteration < report_.iterations; ++iteration) {
            for (std::size_t which = 0; which < report_.cases.size(); ++which) {
                if (iteration >= report_.cases[which].iterations) {
                    continue;
                }
                compare(which, static_cast<std::size_t>(iteration), true);
                if (iteration == 0) {
                    choose_iterations(report_.cases[which]);
                }
                if (options_.progress) {
                    options_.progress(++done, planned_pairs());
                }
            }
        }
        report_.memory.held_after = tested_.memory_bytes();
        report_.memory.process_after = options_.probes.process_memory();
        report_.memory.device_after = device_memory();
        const Snapshot after = tested_.snapshot();
        // What another service found before this one was made is not this one's.
        report_.caches = was_ready ? after.caches : difference(after, at_start).caches;
        for (const Snapshot::Entry& entry : difference(after, before).entries) {
            for (std::size_t reason = 0; reason < report_.recaptures.size(); ++reason) {
                report_.recaptures[reason] += entry.recaptures[reason];
            }
        }
        note_unused_columns();
        for (auto& [key, variate] : variates_) {
            report_.variates.push_back(std::move(variate));
        }
        report_.checks = judge(report_);
        return std::move(report_);
    }

private:
    [[nodiscard]] std::size_t device_memory() const {
        return options_.probes.device_memory ? options_.probes.device_memory() : 0;
    }

    void warm_up() {
        WarmUpOptions options = options_.warm_up;
        if (options.buckets.empty() && !(options_.sizes.empty() && options_.buckets.empty())) {
            options.buckets = needed_buckets();
        }
        report_.warm_up = tested_.warm_up(options);
        for (const WarmUpReport::Row& row : report_.warm_up.rows) {
            report_.memory.planned += tested_.explain(row.bucket, row.mode, row.backend).memory_bytes();
            report_.memory.held += row.bytes;
            ++report_.memory.built;
        }
    }

    /// The buckets that serve the requests.
    [[nodiscard]] std::vector<Bucket> needed_buckets() const {
        std::vector<Bucket> needed;
        for (const StressCase& one : report_.cases) {
            const Bucket bucket = *tested_.bucket_of(one.sizes);
            if (std::find(needed.begin(), needed.end(), bucket) == needed.end()) {
                needed.push_back(bucket);
            }
        }
        return needed;
    }

    void plan() {
        const auto& buckets = options_.buckets.empty() ? tested_.buckets() : options_.buckets;
        for (std::size_t i = 0; i < data_.size(); ++i) {
            const StressData& data = data_[i];
            std::size_t series = 0;
            for (const Bucket& each :
                 options_.sizes.empty() ? plan_stress(buckets, options_.level, data.table.rows()) : options_.sizes) {
                std::string missing;
                if (data.table.rows() < static_cast<std::size_t>(each.context)) {
                    missing = data.name + " has " + totograph::detail::count_text(data.table.rows(), "row", "rows");
                } else if (!can_serve(tested_, each, {})) {
                    missing = "nothing compiled for '" + tested_.backend() + "' holds it";
                } else if (!can_serve(baseline_, each, Mode::eager)) {
                    missing = "'" + baseline_.backend() + "' has no eager baseline for it";
                } else if (planned_ != nullptr && !can_serve(*planned_, each, {})) {
                    missing = "'" + planned_->backend() + "' in mode " + std::string(name(planned_->mode())) +
                              " does not serve it";
                }
                if (missing.empty()) {
                    report_.cases.push_back({.sizes = each, .data = data.name, .iterations = report_.iterations});
                    turns_.push_back({.data = i, .first_column = series});
                    series += static_cast<std::size_t>(each.batch * each.variates);
                } else {
                    report_.notes.push_back("Requests of " + to_string(each) + " were left out: " + missing + ".");
                }
            }
            for (Turn& turn : turns_) {
                turn.stride = turn.data == i ? series + 1 : turn.stride;
            }
        }
    }

    [[nodiscard]] std::size_t planned_pairs() const {
        std::size_t pairs = 0;
        for (const StressCase& one : report_.cases) {
            pairs += static_cast<std::size_t>(one.iterations);
        }
        return pairs;
    }

    /// Whether eager is too slow for more of a size, now that it was timed once.
    void choose_iterations(StressCase& one) {
        one.iterations = iterations_of(options_, one.baseline.largest());
        if (one.iterations < report_.iterations) {
            report_.notes.push_back("Requests of " + to_string(one.sizes) + " were compared once, not " +
                                    std::to_string(report_.iterations) + " times, for eager took " +
                                    seconds_text(one.baseline.largest()) +
                                    " for one; a higher level or a number of iterations compares more.");
        }
    }

    /// Series that no request had, such as those of a file with more of them than a short run can take.
    void note_unused_columns() {
        for (std::size_t i = 0; i < data_.size(); ++i) {
            const std::size_t all = data_[i].table.columns.size();
            const auto used = static_cast<std::size_t>(std::count_if(
                variates_.begin(), variates_.end(), [&](const auto& one) { return one.first.first == i; }));
            if (used > 0 && used < all) {
                report_.notes.push_back(std::to_string(all - used) + " of the " + std::to_string(all) + " series of " +
                                        data_[i].name +
                                        " were in no request; more iterations use more of them, unless they are "
                                        "blank.");
            }
        }
    }

    /// One forecast of each service; counts what differs.
    void compare(std::size_t which, std::size_t iteration, bool is_counted) {
        StressCase& one = report_.cases[which];
        const Turn& turn = turns_[which];
        const StressData& data = data_[turn.data];
        const auto request = make_stress_request(data, one.sizes, iteration * report_.cases.size() + which,
                                                 turn.first_column + iteration * turn.stride, options_.seed);
        if (!request) {
            if (is_counted) {
                report_.notes.push_back("A request of " + to_string(one.sizes) + " was left out: the rows of " +
                                        one.data + " that it took are blank in every column.");
            }
            return;
        }
        try {
            const Timed expected = forecast_eager(*request);
            const auto [found, planned] = forecast_in_turns(*request, (iteration + which) % 2 == 0);
            if (is_counted) {
                count(one, turn.data, *request, found, expected);
                if (planned > 0) {
                    one.planned.add(planned);
                    one.ratios.add(found.seconds / planned);
                }
                one.repeats =
                    one.repeats && has_same_bits(forecast(tested_, *request).forecast.view(), found.forecast.view());
            } else {
                one.first_seconds = found.seconds;
            }
        } catch (const std::exception& error) {
            if (report_.failures++ == 0) {
                report_.first_failure = error.what();
            }
        }
    }

    /// Where a case's requests come from.
    struct Turn {
        std::size_t data = 0;
        std::size_t first_column = 0;  ///< In the first round; each round begins so many further:
        std::size_t stride = 0;        ///< no case sees the same columns each time, and all are used soon.
    };

    struct Timed {
        OwnedForecast forecast;
        double seconds = 0;
    };

    Timed forecast(ForecastService& service, const StressRequest& request) {
        const auto start = options_.probes.clock();
        const Forecast result = service.forecast(request.series(), request.options());
        const std::chrono::duration<double> taken = options_.probes.clock() - start;
        return {result.keep(), taken.count()};
    }

    /// The tested forecast, and the seconds of the planned program for the same, 0 without one.
    std::pair<Timed, double> forecast_in_turns(const StressRequest& request, bool tested_first) {
        if (planned_ == nullptr) {
            return {forecast(tested_, request), 0};
        }
        (void)forecast(*planned_, request);  // untimed: eager left other data in the caches, and threads asleep
        if (tested_first) {
            Timed found = forecast(tested_, request);
            return {std::move(found), forecast(*planned_, request).seconds};
        }
        const double planned = forecast(*planned_, request).seconds;
        return {forecast(tested_, request), planned};
    }

    /// Eager whatever the environment makes of the baseline's mode.
    Timed forecast_eager(const StressRequest& request) {
        const ScopedStance stance(Stance::force_eager);
        return forecast(baseline_, request);
    }

    void count(StressCase& one, std::size_t data, const StressRequest& request, const Timed& found,
               const Timed& expected) {
        const ForecastDeviation deviation =
            compare_forecasts(found.forecast.view(), expected.forecast.view(), request.scales, options_.thresholds);
        one.jumps.add(deviation, options_.thresholds);
        for (std::size_t i = 0; i < deviation.variates.size(); ++i) {
            const std::size_t column = request.columns[i];
            one.deviation.add(deviation.variates[i]);
            StressVariate& variate = variates_[{data, column}];
            variate.data = one.data;
            variate.name = data_[data].table.names[column];
            ++variate.forecasts;
            variate.deviation.add(deviation.variates[i]);
        }
        one.tested.add(found.seconds);
        one.baseline.add(expected.seconds);
        ++report_.forecasts;
    }

    ForecastService& tested_;
    ForecastService& baseline_;
    ForecastService* planned_;  ///< May be null.
    const StressOptions& options_;
    const std::vector<StressData>& data_;
    StressReport report_;
    std::vector<Turn> turns_;                                                ///< Of each case.
    std::map<std::pair<std::size_t, std::size_t>, StressVariate> variates_;  ///< By data set and column.
};

}  // namespace detail

/// Makes the same requests of `tested` and, in mode `eager`, of `baseline`, and compares: values, recaptures, memory,
/// cache files (`StressReport::checks`). Latencies are compared with those of `planned`, in turns: the program that one
/// would run without the tested mode, with the same threads and kernels (`planned_mode`); null where there is none.
/// Requests are cut from `data`, whose names differ. Warms `tested` up when it is not ready; every size of request is
/// made once of both before any is timed, so that the first call is never compared with later ones, and then as often
/// as `iterations_of` says. What a request throws is counted. Throws `Error`: `invalid_argument` for two data sets of
/// one name, and what the warm-up meets. The services may be one. Where a backend's mode `eager` runs the very kernels
/// that are tested, as a device's does, give the baseline another backend to find faults of these.
///
///     const StressReport report = stress(service, baseline, {.level = StressLevel::quick}, {{"metrics", table}});
///     REQUIRE(report.passed());
inline StressReport stress(ForecastService& tested, ForecastService& baseline, const StressOptions& options,
                           const std::vector<StressData>& data, ForecastService* planned = nullptr) {
    return detail::StressRun(tested, baseline, options, data, planned).run();
}

}  // namespace totograph::serve
