// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <totograph/diagnostics/drift.hpp>
#include <totograph/diagnostics/stress.hpp>

#include "diagnostics/stress_fakes.hpp"
#include "io/support.hpp"

// The parts that a stress run is made of, and forecasts that are kept to compare later ones with.

using namespace stress_fakes;
using namespace totograph::serve;
using totograph::Error;
using totograph::ErrorCode;

namespace {

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// A service of the fake backend in mode `default`.
std::unique_ptr<ForecastService> service_of(Machine& machine) {
    BackendRegistry registry;
    constexpr Bucket mean{.variates = 4, .context = 64, .horizon = 16};
    registry.add(std::make_shared<FakeBackend>(machine, std::vector<Bucket>{small, mean}));
    return std::make_unique<ForecastService>(registry, ServiceOptions{.mode = Mode::standard});
}

std::vector<std::pair<std::string, StressRequest>> two_requests() {
    return {{"whole", make_stress_request(waves(), small, 0, 0, 1).value()},
            {"mean", make_stress_request(waves(), {.variates = 2, .context = 20, .horizon = 5}, 1, 2, 2).value()}};
}

}  // namespace

TEST_CASE("deviations in units of the scale") {
    const std::vector<float> expected{1, 2, 3, 4};
    const std::vector<double> scales{2.0};
    const auto compare = [&](const std::vector<float>& found, Index samples, const StressThresholds& thresholds = {}) {
        const Index horizon = samples == 0 ? 4 : 4 / samples;
        return compare_forecasts({found, 1, 1, horizon, samples}, {expected, 1, 1, horizon, samples}, scales,
                                 thresholds)
            .variates[0];
    };
    const Deviation mean = compare({1, 2, 4, 2}, 0);
    CHECK(mean.values == 4);
    CHECK(mean.mae() == doctest::Approx(3.0 / 4 / 2));
    CHECK(mean.rmse() == doctest::Approx(std::sqrt((0.25 + 1.0) / 4)));
    CHECK(mean.largest == 1.0);
    CHECK(mean.worst_mae == mean.mae());
    CHECK(mean.jumps == 0);
    CHECK_FALSE(mean.is_bitwise_equal);
    CHECK(compare(expected, 0).is_bitwise_equal);

    // Two futures of two steps: the values of the second one are 2 and 4.
    const Deviation sampled = compare({1, 12, 3, 14}, 2);
    CHECK(sampled.futures == 2);
    CHECK(sampled.jumps == 1);
    CHECK(sampled.worst_mae == 0);
    CHECK(sampled.mae() == 0);
    CHECK(sampled.values == 2);
    const Deviation median = compare({1, 12, 3, 14}, 2, StressThresholds::bf16());
    CHECK(median.values == 2);
    CHECK(median.jumps == 0);
    CHECK(median.mae() == doctest::Approx(5.0 / 2));

    // Medians of few samples differ by chance: they scatter by as much as their quartiles tell.
    CHECK(median.scatter() == doctest::Approx(1.41 * 0.74 / std::sqrt(2.0) * 0.5 / 2));
    CHECK(median.worst_mae == doctest::Approx(median.mae() - 5 * median.scatter()));
    CHECK(mean.scatter() == 0);

    const Deviation infinite = compare({1, std::numeric_limits<float>::infinity(), 3, 4}, 0);
    CHECK(infinite.not_finite == 1);
    CHECK(infinite.mae() == 0);
    // Zeros in place of what was no finite number, on either side.
    const auto replaced = [&](Index of_found, Index of_expected) {
        return compare_forecasts({expected, 1, 1, 4, 0, of_found}, {expected, 1, 1, 4, 0, of_expected}, scales, {})
            .variates[0]
            .not_finite;
    };
    CHECK(replaced(0, 0) == 0);
    CHECK(replaced(3, 0) == 3);
    CHECK(replaced(0, 2) == 2);
    CHECK_THROWS_AS(compare_forecasts({expected, 1, 1, 4, 0}, {expected, 1, 1, 2, 2}, scales, {}), Error);
    CHECK_THROWS_AS(compare_forecasts({expected, 1, 2, 2, 0}, {expected, 1, 2, 2, 0}, scales, {}), Error);
}

TEST_CASE("the scale of a series") {
    const std::vector<float> values{1, 3, 1, 3};
    const std::vector<std::uint8_t> ends{1, 0, 0, 1};
    CHECK(series_scale(values, {}) == doctest::Approx(1.0));
    CHECK(series_scale(values, ends) == doctest::Approx(1.0));
    const std::vector<float> constant{5, 5, 5};
    CHECK(series_scale(constant, {}) == doctest::Approx(0.05));
    const std::vector<float> nothing{0, 0};
    CHECK(series_scale(nothing, {}) == 1.0);
}

TEST_CASE("the scale is no finer than what the model gives") {
    // A history that hardly moves, and a forecast that does.
    const std::vector<float> expected{-0.1F, 0.1F, -0.1F, 0.1F};
    const std::vector<float> found{-0.1F, 0.1F, -0.1F, 0.1F + 1e-6F};
    const std::vector<double> scales{1e-8};
    const auto deviation = compare_forecasts({found, 1, 1, 4, 0}, {expected, 1, 1, 4, 0}, scales, {}).variates[0];
    CHECK(deviation.is_within({}));
    CHECK(deviation.largest ==
          doctest::Approx(1e-6 / (0.74 * 0.2)).epsilon(0.1));  // a float near 0.1 has steps of 7e-9
}

TEST_CASE("the scale of what a model gives does not follow its farthest draws") {
    std::vector<float> values(1000);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>(i) / 1000;
    }
    const double usual = forecast_scale(values);
    CHECK(usual == doctest::Approx(0.74 * 0.5).epsilon(0.01));
    values[7] = 1e9F;
    values[900] = -1e9F;
    CHECK(forecast_scale(values) == doctest::Approx(usual).epsilon(0.01));
    values[3] = std::numeric_limits<float>::quiet_NaN();
    values[4] = std::numeric_limits<float>::infinity();
    CHECK(forecast_scale(values) == doctest::Approx(usual).epsilon(0.02));
    CHECK(forecast_scale(std::vector<float>{5, 5, 5, 5}) == doctest::Approx(0.05));
    CHECK(forecast_scale(std::vector<float>{7}) == doctest::Approx(0.07));
    CHECK(forecast_scale({}) == 0);
    CHECK(forecast_scale(std::vector<float>{std::numeric_limits<float>::infinity()}) == 0);
}

TEST_CASE("one wrong step of a long horizon") {
    constexpr Index horizon = 400;
    constexpr Index samples = 64;
    const std::vector<double> scales{1.0};
    std::vector<float> expected(horizon * samples);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        expected[i] = static_cast<float>(std::sin(static_cast<double>(i)));
    }
    const auto deviation_with = [&](Index drawn, float off, const StressThresholds& thresholds) {
        const auto each = static_cast<std::size_t>(std::max<Index>(1, drawn));
        std::vector<float> found = expected;
        for (std::size_t i = 0; i < each; ++i) {
            found[211 * each + i] += off;
        }
        const std::size_t all = horizon * each;
        return compare_forecasts({std::span(found).first(all), 1, 1, horizon, drawn},
                                 {std::span(std::as_const(expected)).first(all), 1, 1, horizon, drawn}, scales,
                                 thresholds)
            .variates[0];
    };
    const Deviation mean = deviation_with(0, 0.02F, {});
    CHECK(mean.mae() < 1e-4);
    CHECK(mean.worst_step ==
          doctest::Approx(0.02 / std::max(1.0, forecast_scale(std::span(expected).first(horizon)))).epsilon(0.01));
    CHECK_FALSE(mean.is_within({}));
    CHECK(deviation_with(0, 0.0005F, {}).is_within({}));

    const Deviation medians = deviation_with(samples, 5, StressThresholds::bf16());
    CHECK(medians.worst_mae < 2e-2);
    CHECK(medians.worst_step > 1);
    CHECK_FALSE(medians.is_within(StressThresholds::bf16()));
    CHECK(deviation_with(samples, 0.1F, StressThresholds::bf16()).is_within(StressThresholds::bf16()));

    // Values of futures are compared one by one: all of them are told to have jumped.
    CHECK(deviation_with(samples, 0.05F, {}).jumps == samples);
    const Deviation less = deviation_with(samples, 0.005F, {});
    CHECK(less.jumps == 0);
    CHECK(less.mae() < 1e-4);
    CHECK(less.worst_step == doctest::Approx(0.005 / std::max(1.0, forecast_scale(expected))).epsilon(0.01));
    CHECK_FALSE(less.is_within({}));
    CHECK(deviation_with(samples, 0.0005F, {}).is_within({}));
    CHECK(deviation_with(7, 0.005F, {}).worst_step == 0);  // too few futures to tell
}

TEST_CASE("jumps that are chance, and jumps that are none") {
    const auto forecast = [](std::size_t futures, std::initializer_list<std::size_t> jumped, std::uint64_t draws) {
        ForecastDeviation one;
        one.jumped.resize(futures);
        for (const std::size_t future : jumped) {
            one.jumped[future] = 1;
        }
        one.draws = draws;
        return one;
    };
    const StressThresholds thresholds{.jumps = 1e-3};
    const auto fault = [&](const std::vector<ForecastDeviation>& forecasts) {
        Jumps jumps;
        for (const ForecastDeviation& one : forecasts) {
            jumps.add(one, thresholds);
        }
        return jumps.fault(thresholds);
    };
    CHECK(fault({}).empty());
    CHECK(fault({forecast(0, {}, 0)}).empty());
    CHECK(fault({forecast(80, {1, 2}, 100)}).empty());
    CHECK(fault({forecast(80, {1, 2, 3}, 100)}) == "too many");
    CHECK(fault({forecast(80, {1, 2, 3}, 3000)}).empty());
    CHECK(fault({forecast(80, {0, 1, 2, 3, 4, 5}, 1000), forecast(80, {}, 100'000)}).empty());
    CHECK(fault({forecast(80, {0, 1, 2, 3, 4, 5, 6}, 1000), forecast(80, {}, 100'000)}) == "too many of one forecast");
    CHECK(fault({forecast(80, {3}, 4000), forecast(80, {3}, 4000)}).empty());
    CHECK(fault({forecast(80, {3}, 4000), forecast(80, {3}, 4000), forecast(80, {3}, 4000)}) ==
          "the same one of every forecast");
    CHECK(fault({forecast(80, {3}, 4000), forecast(80, {4}, 4000), forecast(80, {3}, 4000)}).empty());

    // However many values a future has, most of them agree.
    CHECK(fault({forecast(100, {1, 12, 23, 34, 45}, 1'000'000)}).empty());
    CHECK(fault({forecast(100, {1, 12, 23, 34, 45, 56}, 1'000'000)}) == "too many");

    // Two jumps are chance in each of these, and not in all of them.
    Jumps all;
    for (int i = 0; i < 3; ++i) {
        Jumps one;
        one.add(forecast(8, {1, 2}, 100), thresholds);
        CHECK(one.fault(thresholds).empty());
        all.add(one);
    }
    CHECK(all.jumped() == 6);
    CHECK(all.futures() == 24);
    CHECK(all.draws() == 300);
    CHECK(all.fault(thresholds) == "too many");
}

TEST_CASE("requests are cut from data: other rows and columns each time, without columns that are blank there") {
    const StressData data = waves();
    const Bucket sizes{.batch = 1, .variates = 2, .context = 60, .horizon = 4, .samples = 8};
    std::set<std::size_t> columns;
    std::set<float> first;
    for (std::size_t turn = 0; turn < 30; ++turn) {
        const StressRequest request = make_stress_request(data, sizes, turn, 2 * turn, 3).value();
        REQUIRE(request.values.size() == 120);
        REQUIRE(request.columns.size() == 2);
        columns.insert(request.columns.begin(), request.columns.end());
        first.insert(request.values[0]);
        for (std::size_t i = 0; i < 120; ++i) {
            const std::size_t column = request.columns[i / 60];
            CHECK(std::isfinite(request.values[i]));
            if (column < 2) {
                CHECK(request.observed[i] == 1);
            }
        }
        CHECK(request.seed == 3 + turn);
    }
    CHECK(columns == std::set<std::size_t>{0, 1, 2, 3, 4});
    CHECK(first.size() > 10);
    CHECK_FALSE(make_stress_request(data, {.context = 401, .horizon = 1}, 0, 0, 0));
    StressData blank{"blank", {}};
    blank.table.names = {"a"};
    blank.table.columns = {std::vector<double>(10, std::numeric_limits<double>::quiet_NaN())};
    CHECK_FALSE(make_stress_request(blank, {.context = 5, .horizon = 1}, 0, 0, 0));
}

TEST_CASE("what a level asks for fits the buckets and does not repeat") {
    const std::vector<Bucket> buckets{small, large, {.variates = 1, .context = 1, .horizon = 1, .exogenous = 0}};
    std::size_t before = 0;
    for (const StressLevel level : all_stress_levels) {
        const std::vector<Bucket> plan = plan_stress(buckets, level);
        CHECK(plan.size() > before);
        before = plan.size();
        for (std::size_t i = 0; i < plan.size(); ++i) {
            CHECK((buckets[0].holds(plan[i]) || buckets[1].holds(plan[i]) || buckets[2].holds(plan[i])));
            for (std::size_t j = 0; j < i; ++j) {
                CHECK(plan[i] != plan[j]);
            }
        }
        CHECK(stress_level_of(name(level)) == level);
    }
    CHECK_THROWS_AS(stress_level_of("fast"), Error);
    std::vector<Index> contexts;
    for (const Bucket& sizes : plan_axis(buckets, &Bucket::context)) {
        contexts.push_back(sizes.context);
    }
    CHECK(contexts == std::vector<Index>{16, 32, 64, 128});
    for (const StressLevel level : all_stress_levels) {
        for (const Bucket& sizes : plan_stress(buckets, level, 50)) {
            CHECK(sizes.context <= 50);
        }
        CHECK_FALSE(plan_stress(buckets, level, 1).empty());
    }
    // A quick run asks the later, larger buckets for little, but for what only they serve.
    const std::vector<Bucket> ascending{{.variates = 8, .context = 64, .horizon = 16, .samples = 8},
                                        {.variates = 16, .context = 128, .horizon = 64, .samples = 64},
                                        {.variates = 32, .context = 128, .horizon = 64, .samples = 64}};
    const std::vector<Bucket> quick = plan_stress(ascending, StressLevel::quick);
    REQUIRE(quick.size() == 4);
    CHECK(quick[0] == ascending[0]);
    CHECK(quick[2] == Bucket{.variates = 3, .context = 63, .horizon = 31, .samples = 9});
    CHECK(quick[3] == Bucket{.variates = 24, .context = 95, .horizon = 47, .samples = 47});
    CHECK(iterations_of(StressLevel::quick) == 3);
    CHECK(iterations_of(StressLevel::full) == 10);
    CHECK(iterations_of(StressLevel::production_check) == 20);
    CHECK(iterations_of(StressOptions{}, slow_eager_seconds) == 1);
    CHECK(iterations_of(StressOptions{}, slow_eager_seconds / 2) == 3);
    CHECK(iterations_of(StressOptions{.level = StressLevel::full}, slow_eager_seconds) == 10);
    CHECK(iterations_of(StressOptions{.iterations = 4}, slow_eager_seconds) == 4);
}

TEST_CASE("what a mode is timed beside") {
    CHECK(planned_mode(Mode::max_autotune) == Mode::standard);
    CHECK(planned_mode(Mode::reduce_overhead) == Mode::standard);
    CHECK_FALSE(planned_mode(Mode::standard));
    CHECK_FALSE(planned_mode(Mode::eager));
}

TEST_CASE("thresholds are those that are documented") {
    CHECK(StressThresholds::f32().mae == 1e-4);
    CHECK(StressThresholds::f32().compared == Compared::values);
    CHECK(StressThresholds::bf16().mae == 5e-3);
    CHECK(StressThresholds{}.recaptures == 0);
    CHECK(StressThresholds{}.slowest == 1.1);
    CHECK(StressThresholds{}.least_jump() == 1e-3);
    CHECK(StressThresholds{.mae = 0.01}.least_jump() == doctest::Approx(0.1));
}

TEST_CASE("quantiles of latencies") {
    Latencies latencies;
    CHECK(latencies.median() == 0);
    for (const double seconds : {4.0, 1.0, 3.0, 2.0}) {
        latencies.add(seconds);
    }
    CHECK(latencies.median() == doctest::Approx(2.5));
    CHECK(latencies.quantile(0.99) == doctest::Approx(3.97));
    CHECK(latencies.largest() == 4);
}

TEST_CASE("variants are measured in turns, and the first is what they are measured by") {
    Machine machine;
    std::vector<int> order;
    const auto variant = [&](int number, std::chrono::milliseconds latency, float off) {
        struct Timed final : BucketForecaster {
            Machine& machine;
            std::vector<int>& order;
            FakeForecaster inner;
            int number;
            std::chrono::milliseconds latency;
            float off;
            std::vector<float> values{};
            Timed(Machine& on, std::vector<int>& told, int which, std::chrono::milliseconds takes, float wrong)
                : machine(on), order(told), inner(on, small, true), number(which), latency(takes), off(wrong) {}
            tg::Forecast forecast(const tg::Series& series, const tg::ForecastOptions& options) override {
                order.push_back(number);
                const auto start = machine.now;
                const tg::Forecast exact = inner.forecast(series, options);
                machine.now = start + latency;
                values.assign(exact.samples().begin(), exact.samples().end());
                for (float& value : values) {
                    value += off;
                }
                return {values, exact.batch(), exact.variates(), exact.horizon(), exact.sample_count()};
            }
            [[nodiscard]] std::size_t memory_bytes() const override { return 1000; }
        };
        return [&, number, latency, off] { return std::make_unique<Timed>(machine, order, number, latency, off); };
    };
    using std::chrono::milliseconds;
    const std::vector<Variant> variants{{"as it is", "", variant(0, milliseconds(10), 0)},
                                        {"without a", "a", variant(1, milliseconds(20), 0.0005F)},
                                        {"without b", "b", variant(2, milliseconds(15), 0)},
                                        {"wrong", "", variant(3, milliseconds(15), 1)},
                                        {"other", "", variant(4, milliseconds(15), 1), false}};
    const std::vector<StressRequest> requests{make_stress_request(waves(), small, 0, 0, 1).value()};
    const auto results = compare_variants(variants, requests, 2, {}, machine.probes());
    CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 4, 3, 2, 1, 0});
    REQUIRE(results.size() == 5);
    CHECK(results[0].ratios.median() == 1);
    CHECK(results[1].ratios.median() == doctest::Approx(2));
    CHECK(results[1].deviation.mae() > 0);
    CHECK(results[2].seconds.median() == doctest::Approx(0.015));
    CHECK(results[2].deviation.is_bitwise_equal);
    CHECK(results[0].worth() == "within its spread");
    CHECK(results[1].worth() == "saves");
    VariantResult quick = results[1];
    quick.ratios = {};
    quick.ratios.add(0.5);
    CHECK(quick.worth() == "costs");
    quick.ratios.add(2);
    CHECK(quick.worth() == "within its spread");
    CHECK(results[1].agrees({}));
    CHECK_FALSE(results[1].agrees({.mae = 1e-6}));
    CHECK_FALSE(results[3].agrees({}));
    CHECK(results[4].agrees({}));  // it need not
    CHECK(has(markdown_text(results), "| without a |"));
    const auto document = nlohmann::json::parse(json_text(results, build_identity()));
    CHECK(document["variants"][1]["ratio"] == doctest::Approx(2));
    CHECK(document["variants"][2]["deviation"]["bitwise_equal"] == true);
}

TEST_CASE("builds are measured in every mode that a backend has") {
    Machine machine;
    const std::vector<std::shared_ptr<const tg::serve::Backend>> backends{std::make_shared<FakeBackend>(machine)};
    const std::vector<Bucket> buckets{small, {.context = 3, .horizon = 1}};
    const auto rows = measure_builds(backends, buckets, {}, 2, 3, machine.probes());
    REQUIRE(rows.size() == 4);  // no reduce-overhead, no second bucket
    for (const BuildLatency& row : rows) {
        CHECK(row.bucket == small);
        CHECK(row.first_build_seconds == doctest::Approx(1.0));
        CHECK(row.build.count() == 1);
        CHECK(row.build.median() == doctest::Approx(1.0));
        CHECK(row.later.count() == 6);
        CHECK(row.first_seconds == doctest::Approx(row.mode == Mode::eager ? 0.01 : 0.001));
    }
    CHECK(has(markdown_text(rows), "max-autotune"));
    const auto document = nlohmann::json::parse(json_text(rows, build_identity()));
    CHECK(document["builds"].size() == 4);
    CHECK(document["builds"][0]["mode"] == "eager");
    CHECK(regional_text(rows).empty());

    // What takes no time was measured, too.
    StressProbes still = machine.probes();
    still.clock = [] { return std::chrono::nanoseconds(5); };
    CHECK(measure_builds(backends, buckets, {}, 2, 1, still).size() == 4);
}

TEST_CASE("regional capture against that of the whole") {
    const auto row = [](const std::string& backend, Mode mode, Index captures, double build, double later) {
        BuildLatency one{.backend = backend, .mode = mode, .bucket = small};
        one.captures = captures;
        one.build.add(build);
        one.later.add(later);
        return one;
    };
    const std::vector<BuildLatency> rows{
        row("cuda", Mode::standard, 0, 1, 1), row("cuda", Mode::max_autotune, 2, 0.4, 0.010),
        row("cuda-regional", Mode::standard, 0, 1, 1), row("cuda-regional", Mode::max_autotune, 7, 0.1, 0.012),
        row("cpu", Mode::max_autotune, 0, 1, 1)};
    CHECK(regional_text(rows) ==
          "- " + to_string(small) +
              ", max-autotune: 'cuda-regional' builds in 0.25 of the time of 'cuda' (7 captures, 2 of the whole) and "
              "forecasts in 1.2 of it.\n");
}

TEST_CASE("a table over an axis") {
    Machine machine;
    StressOptions options;
    options.sizes = plan_axis(std::vector<Bucket>{small, large}, &Bucket::batch);
    const StressReport report = run(machine, options);
    const std::string text = sweep_markdown(report, "batch", &Bucket::batch);
    CHECK(has(text, "| 1     |"));
    CHECK(has(text, "| 2     |"));
    CHECK(has(text, "8000"));  // series a second, at 8 in 1 ms
}

TEST_CASE("recorded forecasts are read back to the bit") {
    Machine machine;
    const auto service = service_of(machine);
    const totograph::test::ScratchFolder folder;
    const auto path = folder.path() / "forecasts.safetensors";
    const DriftSet set = record_forecasts(*service, build_identity(), two_requests());
    save_forecasts(set, path);
    const DriftSet read = load_forecasts(path);
    CHECK(read.build == to_string(build_identity()));
    CHECK(read.backend == "fake");
    CHECK(read.mode == "default");
    REQUIRE(read.cases.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(read.cases[i].name == set.cases[i].name);
        CHECK(read.cases[i].request.sizes == set.cases[i].request.sizes);
        CHECK(read.cases[i].request.seed == set.cases[i].request.seed);
        CHECK(read.cases[i].request.values == set.cases[i].request.values);
        CHECK(read.cases[i].request.observed == set.cases[i].request.observed);
        CHECK(read.cases[i].forecast == set.cases[i].forecast);
    }

    const DriftReport same = compare_with(*service, build_identity(), read);
    CHECK(same.passed());
    CHECK(same.rows[0].deviation.is_bitwise_equal);
    CHECK(has(markdown_text(same), "# Drift: passed"));
    CHECK(has(markdown_text(same), "| whole | passed | equal |"));
}

TEST_CASE("drift is found") {
    Machine machine;
    const auto service = service_of(machine);
    const DriftSet set = record_forecasts(*service, build_identity(), two_requests());
    const auto report_with = [&](const Faults& faults) {
        machine.faults = faults;
        return compare_with(*service, build_identity(), set);
    };
    const DriftReport rounding =
        report_with({.kernel = [](float value, Index, Index, Index) { return value * 1.000001F; }});
    CHECK(rounding.passed());
    CHECK_FALSE(rounding.rows[0].deviation.is_bitwise_equal);
    const DriftReport off = report_with(
        {.kernel = [](float value, Index variate, Index, Index) { return value + (variate == 1 ? 0.004F : 0); }});
    CHECK_FALSE(off.passed());
    CHECK(off.rows[0].deviation.worst_mae > 1e-4);
    CHECK(has(markdown_text(off), "worst step"));
    CHECK_FALSE(report_with({.kernel = [](float, Index, Index, Index) { return std::nanf(""); }}).passed());

    // What stays is as close as before: that half of a case's futures go another way is what fails it.
    const DriftReport half = report_with(
        {.kernel = [](float value, Index, Index, Index sample) { return sample % 2 == 0 ? value + 5 : value; }});
    CHECK(half.rows[0].jumps.jumped() == 16);
    CHECK(half.rows[0].deviation.is_within({}));
    CHECK_FALSE(half.rows[0].passed);

    // A jump of each case may be chance; of ten cases it is none.
    std::vector<std::pair<std::string, StressRequest>> many;
    for (std::size_t i = 0; i < 10; ++i) {
        many.emplace_back("case " + std::to_string(i), make_stress_request(waves(), small, i, i, i).value());
    }
    machine.faults = {};
    const DriftSet ten = record_forecasts(*service, build_identity(), many);
    int forecasts = 0;
    machine.faults = {.kernel = [&](float value, Index, Index, Index sample) {
        return sample == (3 * forecasts) % 32 ? value + 5 : value;
    }};
    machine.faults.on_forecast = [&] { ++forecasts; };
    const DriftReport jumping = compare_with(*service, build_identity(), ten);
    CHECK(std::all_of(jumping.rows.begin(), jumping.rows.end(), [](const auto& row) { return row.passed; }));
    CHECK(jumping.jumps_fault == "too many");
    CHECK_FALSE(jumping.passed());
    CHECK(has(markdown_text(jumping), "Futures that jumped, of all cases: too many."));
    CHECK(nlohmann::json::parse(json_text(jumping))["jumps_fault"] == "too many");
    const DriftReport failing =
        report_with({.on_forecast = [] { throw Error(ErrorCode::device_failure, "The device is gone."); }});
    CHECK_FALSE(failing.passed());
    CHECK(has(markdown_text(failing), "whole: The device is gone."));
    const auto document = nlohmann::json::parse(json_text(failing));
    CHECK(document["passed"] == false);
    CHECK(document["cases"][1]["failure"] == "The device is gone.");
}

TEST_CASE("what holds no recorded forecasts is refused with a reason") {
    Machine machine;
    const totograph::test::ScratchFolder folder;
    const auto path = folder.path() / "forecasts.safetensors";
    save_forecasts(record_forecasts(*service_of(machine), build_identity(), two_requests()), path);
    const std::string bytes = totograph::test::content_of(path);
    using totograph::test::check_error;
    check_error(ErrorCode::invalid_file, {"short"},
                [&] { (void)load_forecasts(folder.file("short", bytes.substr(0, bytes.size() / 2))); });
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string changed = bytes;
        const std::size_t at = changed.find(from);
        REQUIRE(at != std::string::npos);
        changed.replace(at, from.size(), to);
        return folder.file("changed", changed);
    };
    check_error(ErrorCode::invalid_file, {"its format is", "forecasts 9"},
                [&] { (void)load_forecasts(with("totograph forecasts 1", "totograph forecasts 9")); });
    check_error(ErrorCode::invalid_file, {"0.values", "missing"},
                [&] { (void)load_forecasts(with("\"0.values\"", "\"9.values\"")); });
    check_error(ErrorCode::invalid_file, {"no whole number '0.seed'"},
                [&] { (void)load_forecasts(with("\"0.seed\"", "\"9.seed\"")); });
    check_error(ErrorCode::invalid_file, {"no whole number 'cases'"},
                [&] { (void)load_forecasts(with("\"cases\":\"2\"", "\"cases\":\"x\"")); });
    check_error(ErrorCode::invalid_file, {"no case"},
                [&] { (void)load_forecasts(with("\"cases\":\"2\"", "\"cases\":\"0\"")); });
    check_error(ErrorCode::invalid_file, {"contradict"},
                [&] { (void)load_forecasts(with("\"shape\":[1,4,64]", "\"shape\":[1,64,4]")); });
    // A shape may claim any number of elements where the dtype is not known: nothing is asked for before it is checked.
    for (const std::string dtype : {"X9", "F32"}) {
        std::string header =
            R"({"__metadata__":{"format":"totograph forecasts 1","cases":"1","0.seed":"1"},"0.values":)"
            R"({"dtype":")" +
            dtype + R"(","shape":[1,1,4611686018427387],"data_offsets":[0,0]}})";
        const std::uint64_t size = header.size();
        header.insert(0, reinterpret_cast<const char*>(&size), sizeof size);
        check_error(ErrorCode::invalid_file, {"0.values"}, [&] { (void)load_forecasts(folder.file("claim", header)); });
    }
    // Cut anywhere, or with any bit wrong: an error or other numbers, and never more than the file holds.
    for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 40) {
        CHECK_THROWS_AS((void)load_forecasts(folder.file("cut", bytes.substr(0, size))), Error);
    }
    const auto document_end = static_cast<std::size_t>(bytes.find("}}") + 2);
    for (std::size_t at = 0; at < std::min(bytes.size(), document_end + 8); ++at) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 7)));
        try {
            const DriftSet set = load_forecasts(folder.file("damaged", damaged));
            CHECK(set.cases.size() <= 2);
        } catch (const Error& error) {
            CHECK_FALSE(std::string(error.what()).empty());
        }
    }
    check_error(ErrorCode::file_not_found, {"nowhere"}, [&] { (void)load_forecasts(folder.path() / "nowhere"); });
}
