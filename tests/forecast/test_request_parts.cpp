// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/log.hpp>
#include <totograph/core/machine_memory.hpp>
#include <totograph/core/random.hpp>
#include <totograph/forecast/bucket_choice.hpp>
#include <totograph/forecast/request_parts.hpp>

#include "io/support.hpp"
#include "models/toto1/series.hpp"
#include "support/count_allocations.hpp"

// How requests that are larger than a bucket are divided, with a forecaster that computes nothing and shows in its
// values all that it was asked: the draw's name, and the history it was given.

using namespace made_up;
using tg::Bucket;
using tg::ErrorCode;

namespace {

constexpr Index patch = 8;

/// What is forecast for a step of a sample.
float told(const tg::Series& series, Index row, Index step, std::uint64_t seed, std::uint32_t sample) {
    float history = 0;
    for (Index back = 1; back <= series.steps; ++back) {
        const auto at = static_cast<std::size_t>(series.row_begin(row) + series.steps - back);
        const bool seen = series.observed.empty() || series.observed[at] != 0;
        const std::int32_t group = series.has_groups_by_step() ? series.groups[at]
                                   : series.groups.empty()     ? 0
                                                               : series.groups[static_cast<std::size_t>(row)];
        history = 0.75F * history + (seen ? series.values[at] : -50.0F) + static_cast<float>(group);
    }
    const Index exogenous = row % series.variates - (series.variates - series.exogenous);
    if (exogenous >= 0 && !series.future_exogenous.empty()) {
        const Index known = row / series.variates * series.exogenous + exogenous;
        return series.future_exogenous[static_cast<std::size_t>(known * series.future_steps + step)];
    }
    const auto words =
        tg::random_words({.seed = seed,
                          .series = series.first_series + static_cast<std::uint32_t>(row / series.variates),
                          .variate = static_cast<std::uint32_t>(row % series.variates),
                          .sample = sample,
                          .time = static_cast<std::uint32_t>(step)});
    return history + tg::uniform_float(words.word[0]);
}

/// Forecasts with one bucket.
class Teller {
public:
    explicit Teller(const Bucket& bucket) : bucket_(bucket) {}

    tg::Forecast forecast(const tg::Series& series, const tg::ForecastOptions& options) {
        return tg::forecast_in_parts(
            series, options, tg::ForecastPlan::of(bucket_, patch), memory,
            [this](const tg::Series& part, const Bucket& request, std::uint64_t seed, std::uint32_t first_sample) {
                ++runs;
                CHECK(bucket_.holds(request));
                CHECK(request.context == part.steps);
                values_.clear();
                for (Index row = 0; row < part.rows(); ++row) {
                    for (Index step = 0; step < request.horizon; ++step) {
                        for (Index sample = 0; sample < std::max<Index>(1, request.samples); ++sample) {
                            values_.push_back(
                                told(part, row, step, seed, first_sample + static_cast<std::uint32_t>(sample)));
                        }
                    }
                }
                return tg::Forecast(values_, request.batch, request.variates, request.horizon, request.samples,
                                    not_finite);
            });
    }

    int runs = 0;
    Index not_finite = 0;  ///< Of each run.
    tg::PartsMemory memory;

private:
    Bucket bucket_;
    std::vector<float> values_;
};

/// A request with all that one can have.
Request full(Index batch) {
    Request request = waves(batch, 3, 40);
    make_gaps(request);
    make_groups(request, 2);
    request.exogenous = 1;
    request.horizon = 64;
    request.future = waves(batch, 1, 64).values;
    return request;
}

tg::Series series_of(const Request& request) {
    tg::Series series = request.series();
    series.future_steps = request.horizon;
    return series;
}

constexpr Bucket small{.batch = 2, .variates = 3, .context = 40, .horizon = 20, .samples = 16, .exogenous = 1};
constexpr Bucket large{.batch = 9, .variates = 3, .context = 99, .horizon = 64, .samples = 99, .exogenous = 1};

}  // namespace

TEST_CASE("a request that fits is one run, and takes no memory") {
    Teller teller(small);
    const Request request = full(2);
    const tg::ForecastOptions options{.seed = 3, .horizon = 20, .samples = 16};
    Teller whole(large);
    CHECK(different_bits(whole.forecast(series_of(request), options).keep(),
                         teller.forecast(series_of(request), options)) == 0);
    CHECK(teller.runs == 1);
    CHECK(teller.memory.bytes() == 0);
}

TEST_CASE("a batch and samples in parts are what they are in one piece") {
    const Request request = full(5);
    for (const Index samples : {1, 16, 17, 40}) {
        CAPTURE(samples);
        Teller teller(small);
        Teller whole(large);
        const tg::ForecastOptions options{.seed = 3, .horizon = 9, .samples = samples, .first_sample = 1000};
        const auto expected = whole.forecast(series_of(request), options).keep();
        CHECK(whole.runs == 1);
        CHECK(different_bits(expected, teller.forecast(series_of(request), options)) == 0);
        CHECK(teller.runs == 3 * ((samples + 15) / 16));
        // The memory is used again, also for less.
        const auto bytes = teller.memory.bytes();
        CHECK(bytes >= static_cast<std::size_t>(5 * 3 * 9 * samples) * sizeof(float));
        const auto fewer = part_of(request, {.batch = 3, .variates = 3, .steps = 40});
        CHECK(different_bits(whole.forecast(fewer.series(), options).keep(),
                             teller.forecast(fewer.series(), options)) == 0);
        CHECK(teller.memory.bytes() == bytes);
    }
}

TEST_CASE("samples alone may be more than a bucket has") {
    const Request request = full(2);
    Teller teller(small);
    Teller whole(large);
    const tg::ForecastOptions options{.seed = 3, .horizon = 9, .samples = 40};
    CHECK(different_bits(whole.forecast(series_of(request), options).keep(),
                         teller.forecast(series_of(request), options)) == 0);
    CHECK(whole.runs == 1);
    CHECK(teller.runs == 3);
    CHECK(small.holds({.samples = 16}));
    CHECK_FALSE(small.holds({.samples = 17}));
}

TEST_CASE("one id for each variate goes with its series") {
    Request request = full(5);
    request.groups.clear();
    for (std::int32_t row = 0; row < 15; ++row) {
        request.groups.push_back(row);
    }
    Teller teller(small);
    Teller whole(large);
    const tg::ForecastOptions options{.seed = 3, .horizon = 9, .samples = 4};
    CHECK(different_bits(whole.forecast(series_of(request), options).keep(),
                         teller.forecast(series_of(request), options)) == 0);
}

TEST_CASE("several known futures go with their series") {
    Request request = full(5);
    request.exogenous = 2;
    request.future = waves(5, 2, 64).values;
    Bucket some = small;
    some.exogenous = 2;
    Bucket all = large;
    all.exogenous = 2;
    Teller teller(some);
    Teller whole(all);
    const tg::ForecastOptions options{.seed = 3, .horizon = 9, .samples = 4};
    CHECK(different_bits(whole.forecast(series_of(request), options).keep(),
                         teller.forecast(series_of(request), options)) == 0);
    CHECK(teller.runs == 3);
}

TEST_CASE("a mean has parts of its batch alone") {
    Bucket mean = small;
    mean.samples = 0;
    Bucket all = large;
    all.samples = 0;
    Teller teller(mean);
    Teller whole(all);
    const Request request = full(5);
    CHECK(different_bits(whole.forecast(series_of(request), {.horizon = 20}).keep(),
                         teller.forecast(series_of(request), {.horizon = 20})) == 0);
    CHECK(teller.runs == 3);
    tg::test::check_error(ErrorCode::no_bucket, {"7 samples", "no samples"},
                          [&] { (void)teller.forecast(series_of(request), {.horizon = 20, .samples = 7}); });
}

TEST_CASE("less is no help where samples are asked of means, or means of samples") {
    const Request request = full(2);
    const auto refuse = [&](const Bucket& bucket, Index samples, std::string_view advice) {
        Teller teller(bucket);
        const tg::ForecastOptions options{.horizon = 9, .samples = samples};
        const std::array buckets{bucket};
        for (const bool is_set : {false, true}) {
            CAPTURE(is_set);
            tg::test::check_error(ErrorCode::no_bucket, {to_string(bucket), advice}, [&] {
                is_set ? (void)tg::choose_bucket(buckets, series_of(request), options, false, "")
                       : (void)teller.forecast(series_of(request), options);
            });
        }
    };
    Bucket mean = small;
    mean.samples = 0;
    refuse(small, 0, "Leave ForecastOptions::samples open, or compile a size without samples");
    refuse(mean, 7, "Leave ForecastOptions::samples open, or compile a size with samples");
}

TEST_CASE("a longer context keeps its newest steps, and says so") {
    std::vector<std::string> lines;
    tg::set_logs("sizes");
    tg::set_log_sink([&](tg::LogTopic, std::string_view line) { lines.emplace_back(line); });
    const Request request = full(2);
    const Request cut = part_of(request, {.batch = 2, .variates = 3, .steps = 24});
    Bucket shorter = small;
    shorter.context = 24;
    Teller teller(shorter);
    const tg::ForecastOptions options{.horizon = 9, .samples = 4};
    tg::Series exact = cut.series();
    exact.exogenous = 1;
    exact.future_exogenous = request.future;
    exact.future_steps = 64;
    const auto expected = teller.forecast(exact, options).keep();
    CHECK(lines.empty());
    const auto found = teller.forecast(series_of(request), options);
    CHECK(different_bits(expected, found) == 0);
    CHECK(found.context() == 24);
    CHECK(found.keep().view().context() == 24);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0] ==
          "of a context of 40 steps the newest 24 are used, as many as were compiled for; of others likewise");
    // The same where rows lie apart.
    const auto apart = [](const auto& rows) {
        std::vector<std::decay_t<decltype(rows[0])>> memory(7 + 6 * 50);
        for (Index row = 0; row < 6; ++row) {
            std::copy_n(rows.begin() + row * 40, 40, memory.begin() + 7 + row * 50);
        }
        return memory;
    };
    const auto values = apart(request.values);
    const auto observed = apart(request.observed);
    const auto groups = apart(request.groups);
    tg::Series rows = series_of(request);
    rows.values = values;
    rows.observed = observed;
    rows.groups = groups;
    rows.stride = 50;
    rows.offset = 7;
    CHECK(different_bits(expected, teller.forecast(rows, options)) == 0);
    CHECK(lines.size() == 1);  // once for each forecaster
    tg::set_log_sink({});
    tg::set_logs("");
    tg::test::check_error(ErrorCode::no_bucket, {"context of 40 steps", "compiled 24", "ContextPolicy::newest"}, [&] {
        (void)teller.forecast(series_of(request), {.horizon = 9, .samples = 4, .context = tg::ContextPolicy::error});
    });
}

TEST_CASE("an extended horizon goes on from medians, with other draws, gaps and groups that move along") {
    const Request request = full(3);
    Teller teller(small);
    const tg::ForecastOptions options{.seed = 3, .horizon = 50, .samples = 20, .extend = true};
    const auto found = teller.forecast(series_of(request), options).keep();
    CHECK(teller.runs == 4 * 2 * 2);  // chunks of 16 steps, each of two parts of the batch and two of the samples
    Teller by_hand(small);
    Request now = request;
    for (Index chunk = 0, done = 0; done < 50; ++chunk, done += 16) {
        CAPTURE(chunk);
        const Index steps = std::min<Index>(16, 50 - done);
        const auto forecast =
            by_hand.forecast(series_of(now), {.seed = tg::seed_of_chunk(3, chunk), .horizon = steps, .samples = 20})
                .keep();
        for (std::size_t row = 0; row < 9; ++row) {
            for (std::size_t at = 0; at < static_cast<std::size_t>(steps) * 20; ++at) {
                REQUIRE(found.view().samples()[(row * 50 + static_cast<std::size_t>(done)) * 20 + at] ==
                        forecast.view().samples()[row * static_cast<std::size_t>(steps) * 20 + at]);
            }
        }
        const std::vector<float> medians = forecast.view().median();
        Request next{.batch = 3, .variates = 3, .steps = now.steps + steps, .exogenous = 1};
        next.horizon = now.horizon - steps;
        const auto grow = [&](const auto& from, auto& to, const auto& value) {
            for (Index row = 0; row < 9; ++row) {
                to.insert(to.end(), from.begin() + row * now.steps, from.begin() + (row + 1) * now.steps);
                for (Index step = 0; step < steps; ++step) {
                    to.push_back(value(row, step));
                }
            }
        };
        grow(now.values, next.values,
             [&](Index row, Index step) { return medians[static_cast<std::size_t>(row * steps + step)]; });
        grow(now.observed, next.observed, [](Index, Index) { return std::uint8_t{1}; });
        grow(now.groups, next.groups, [](Index row, Index) { return static_cast<std::int32_t>(row % 3 % 2); });
        for (Index row = 0; row < 3; ++row) {
            next.future.insert(next.future.end(), now.future.begin() + row * now.horizon + steps,
                               now.future.begin() + (row + 1) * now.horizon);
        }
        now = next;
    }
    CHECK(found.view().context() == 40);
}

TEST_CASE("a history goes on with medians of quantiles, and keeps its newest steps") {
    constexpr std::array<double, 3> levels{0.1, 0.5, 0.9};
    const std::vector<float> quantiles{0, 1, 5, 10, 11, 15, 20, 21, 25, 30, 31, 35};
    const tg::Forecast chunk(quantiles, 1, 1, 4, 0, 0, levels);
    const std::vector<float> values{100, 101, 102};
    const tg::Series series{.steps = 3, .values = values};
    const auto extended = [&](Index most_steps) {
        tg::PartsMemory memory;
        const tg::Series longer = tg::forecast_detail::extended(series, chunk, most_steps, memory);
        CHECK(longer.steps == static_cast<Index>(longer.values.size()));
        return std::vector<float>(longer.values.begin(), longer.values.end());
    };
    CHECK(extended(9) == std::vector<float>{100, 101, 102, 1, 11, 21, 31});
    CHECK(extended(5) == std::vector<float>{102, 1, 11, 21, 31});
    CHECK(extended(4) == std::vector<float>{1, 11, 21, 31});
    CHECK(extended(3) == std::vector<float>{11, 21, 31});
}

TEST_CASE("what cannot be extended") {
    const Request request = full(1);
    Teller teller(small);
    const auto refuse = [&](ErrorCode code, std::initializer_list<std::string_view> parts, const tg::Series& series,
                            const tg::ForecastOptions& options) {
        tg::test::check_error(code, parts, [&] { (void)teller.forecast(series, options); });
        CHECK(teller.runs == 0);
    };
    refuse(ErrorCode::no_bucket, {"21 steps", "compiled 20", "ForecastOptions::extend"}, series_of(request),
           {.horizon = 21});
    refuse(ErrorCode::invalid_argument, {"known for 64 steps", "65"}, series_of(request),
           {.horizon = 65, .extend = true});
    tg::Series unknown = series_of(request);
    unknown.future_exogenous = {};
    // Results that no machine has memory for, counted beyond any integer.
    refuse(ErrorCode::out_of_memory,
           {"1 x 3 x 40 -> 2305843009213693952, 7 samples", "takes 176160768 TiB", "ask for less"}, unknown,
           {.horizon = Index{1} << 61U, .samples = 7, .extend = true});
    refuse(ErrorCode::out_of_memory, {"takes 48.0 TiB", "this machine has"}, unknown,
           {.horizon = Index{1} << 22U, .samples = Index{1} << 20U, .extend = true});
    refuse(ErrorCode::invalid_argument, {"numbered up to 4294967295"}, unknown,
           {.horizon = 9, .samples = 7, .first_sample = 4294967290U});
    CHECK(teller.forecast(unknown, {.horizon = 9, .samples = 6, .first_sample = 4294967290U}).sample_count() == 6);
    // The number of a series names its draws, so it does not begin again at 0.
    tg::Series last = unknown;
    last.first_series = 4294967295U;
    CHECK(teller.forecast(last, {.horizon = 9}).batch() == 1);
    teller.runs = 0;
    const Request three = full(3);
    tg::Series beyond = series_of(three);
    beyond.future_exogenous = {};
    beyond.first_series = 4294967294U;
    refuse(ErrorCode::invalid_argument, {"series are numbered up to 4294967295", "3 from number 4294967294 on"}, beyond,
           {.horizon = 9});
    // A bucket of less than a patch: groups by step would no longer agree with patches.
    Bucket tiny = small;
    tiny.horizon = 5;
    Teller less(tiny);
    tg::test::check_error(ErrorCode::invalid_argument, {"groups", "less than a patch of 8"},
                          [&] { (void)less.forecast(unknown, {.horizon = 6, .extend = true}); });
    Bucket whole_patch = small;
    whole_patch.horizon = patch;
    CHECK(Teller(whole_patch).forecast(unknown, {.horizon = 9, .extend = true}).horizon() == 9);
    unknown.groups = {};
    CHECK(less.forecast(unknown, {.horizon = 12, .extend = true}).horizon() == 12);
    CHECK(less.runs == 3);
}

TEST_CASE("what a model has no meaning for is refused before anything runs") {
    const Request request = full(1);
    tg::Series series = series_of(request);
    tg::ForecastPlan plan = tg::ForecastPlan::of(small, patch);
    CHECK(tg::check_for(series, {.horizon = 40, .extend = true}, plan).horizon == 40);
    plan.takes_groups_by_step = false;
    tg::test::check_error(ErrorCode::invalid_argument, {"one group id for each variate", "[batch, variates]"},
                          [&] { (void)tg::check_for(series, {}, plan); });
    const std::vector<std::int32_t> by_variate{0, 1, 1};
    series.groups = by_variate;
    // The second chunk would read a gap of the first one's future as an observed zero of its history.
    const std::vector<std::uint8_t> known(64, 1);
    series.future_observed = known;
    tg::test::check_error(ErrorCode::invalid_argument, {"without gaps"},
                          [&] { (void)tg::check_for(series, {}, plan); });
    plan.takes_future_gaps = true;
    CHECK(tg::check_for(series, {}, plan).horizon == 20);
    tg::test::check_error(ErrorCode::invalid_argument, {"40 steps goes beyond 20", "Series::future_observed"},
                          [&] { (void)tg::check_for(series, {.horizon = 40, .extend = true}, plan); });
}

TEST_CASE("a result that there is no memory for is an error that names its size") {
    struct Full {
        std::size_t size = 0;
        void resize(std::size_t count) {
            size = count;
            throw std::bad_alloc();
        }
    };
    Full values;
    tg::test::check_error(
        ErrorCode::out_of_memory, {"2 x 3 x 40 -> 20, 1024 samples", "takes 480 KiB", "ask for less"}, [&] {
            tg::forecast_detail::make_room(
                values, {.batch = 2, .variates = 3, .context = 40, .horizon = 20, .samples = 1024}, 1024);
        });
    CHECK(values.size == 122880);
    CHECK(tg::machine_memory() > 1 << 20);
}

TEST_CASE("a history that there is no memory to extend in is an error that names its size") {
    constexpr Bucket long_context{.variates = 1, .context = 4096, .horizon = 8};
    Teller teller(long_context);
    const Request request = waves(1, 1, 4096);
    {
        const NoMemoryFor history(10'000);
        tg::test::check_error(ErrorCode::out_of_memory, {"a history with the forecast behind it takes 16.0 KiB"},
                              [&] { (void)teller.forecast(request.series(), {.horizon = 16, .extend = true}); });
    }
    CHECK(teller.forecast(request.series(), {.horizon = 16, .extend = true}).horizon() == 16);
}

TEST_CASE("values that are not finite are counted in all parts") {
    const Request request = full(5);
    Teller teller(small);
    teller.not_finite = 3;
    CHECK(teller.forecast(series_of(request), {.horizon = 20, .samples = 16}).not_finite() == 3 * 3);
    CHECK(teller.forecast(series_of(request), {.horizon = 33, .samples = 17, .extend = true}).not_finite() ==
          3 * 3 * 2 * 3);
    teller.not_finite = 0;
    CHECK(teller.forecast(series_of(request), {.horizon = 20, .samples = 16}).is_finite());
}

TEST_CASE("values are left to who runs a request only where it runs as it is") {
    constexpr Bucket bucket{.batch = 2, .variates = 3, .context = 40, .horizon = 20};
    const auto reaches_run = [&](const Request& request, const tg::ForecastOptions& options, bool checks) {
        tg::PartsMemory memory;
        bool reached = false;
        const auto run = [&](const tg::Series& part, const Bucket& of_part, tg::ValuesOn values) {
            reached = true;
            CHECK(values == tg::ValuesOn::host_later);
            tg::check_values(part, of_part.context);
            return tg::Forecast();
        };
        const auto plan = tg::ForecastPlan::of(bucket, patch);
        tg::test::check_error(ErrorCode::invalid_series, {"series 1, variate 2, step 37 holds NaN or infinity"}, [&] {
            if (checks) {
                (void)tg::forecast_in_parts(
                    request.series(), options, plan, memory,
                    [&](const tg::Series& part, const Bucket& of_part, std::uint64_t, std::uint32_t,
                        tg::ValuesOn values) { return run(part, of_part, values); });
            } else {
                (void)tg::forecast_in_parts(request.series(), options, plan, memory,
                                            [&](const tg::Series& part, const Bucket& of_part, std::uint64_t,
                                                std::uint32_t) { return run(part, of_part, tg::ValuesOn::host); });
            }
        });
        return reached;
    };
    const auto with_nan = [](Request request, Index steps) {
        request.values[static_cast<std::size_t>(5 * steps + 37)] = std::nanf("");
        return request;
    };
    const Request wrong = with_nan(waves(2, 3, 40), 40);
    CHECK(reaches_run(wrong, {}, true));
    CHECK_FALSE(reaches_run(wrong, {}, false));
    Request gaps = wrong;
    gaps.observed.assign(gaps.values.size(), 1);
    CHECK_FALSE(reaches_run(gaps, {}, true));
    CHECK_FALSE(reaches_run(with_nan(waves(3, 3, 40), 40), {}, true));       // in two parts
    CHECK_FALSE(reaches_run(wrong, {.horizon = 40, .extend = true}, true));  // in two chunks
    CHECK_FALSE(reaches_run(with_nan(waves(2, 3, 44), 44), {}, true));       // its newest 40 steps
}

TEST_CASE("what a model has put behind a history is nobody's mistake") {
    constexpr Bucket bucket{.variates = 1, .context = 40, .horizon = 8};
    const Request request = waves(1, 1, 40);
    tg::PartsMemory memory;
    const std::vector<float> values(8, std::nanf(""));
    int runs = 0;
    const auto run = [&](const tg::Series&, const Bucket& of_part, std::uint64_t, std::uint32_t, tg::ValuesOn where) {
        ++runs;
        CHECK(where == tg::ValuesOn::host);
        return tg::Forecast(values, 1, 1, of_part.horizon, 0, of_part.horizon);
    };
    const auto forecast = tg::forecast_in_parts(request.series(), {.horizon = 16, .extend = true},
                                                tg::ForecastPlan::of(bucket, patch), memory, run);
    CHECK(runs == 2);
    CHECK(forecast.not_finite() == 16);
}
