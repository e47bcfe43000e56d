// SPDX-License-Identifier: Apache-2.0
// What a service refuses, counts and tells.
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/log.hpp>
#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/explain/explain_text.hpp>
#include <totograph/serve/service.hpp>
#include <totograph/serve/tuning/tune_threads.hpp>

#include "io/support.hpp"
#include "serve/service_fakes.hpp"

using namespace service_fakes;
using tg::ErrorCode;
using tg::test::check_error;

TEST_CASE("arguments that cannot be are refused") {
    const TwoBackends two;
    const auto refuse = [&](const serve::ServiceOptions& options, std::initializer_list<std::string_view> parts) {
        check_error(ErrorCode::invalid_argument, parts, [&] { serve::ForecastService(two.registry, options); });
    };
    refuse({.backend = "nobody"}, {"'nobody'", "near, far"});
    refuse({.routes = {{.max_batch = 1, .backend = "nobody"}}}, {"'nobody'"});
    refuse({.routes = {{.max_batch = 0}}}, {"at most 0", "ascends"});
    refuse({.routes = {{.max_batch = -3}}}, {"at most -3"});
    refuse({.routes = {{.max_batch = 4}, {.max_batch = 4}}}, {"at most 4", "one of 4"});
    refuse({.mode = static_cast<Mode>(99)}, {"'unknown'", "eager"});
    refuse({.routes = {{.max_batch = 1, .mode = static_cast<Mode>(99)}}}, {"'unknown'"});
    two.far->modes = {Mode::standard};
    refuse({.routes = {{.max_batch = 1, .backend = "far"}}}, {"'far'", "'max-autotune'", "it has: default"});

    serve::BackendRegistry empty;
    empty.add(fake("empty", 1, {}));
    check_error(ErrorCode::invalid_argument, {"'empty'", "no compiled sizes"}, [&] { serve::ForecastService{empty}; });

    serve::ForecastService service(two.registry, {.mode = Mode::standard});
    check_error(ErrorCode::invalid_argument, {"'unknown'"}, [&] { service.set_mode(static_cast<Mode>(99)); });
    CHECK(service.mode() == Mode::standard);
    two.near->makes_nothing = true;
    check_error(ErrorCode::invalid_argument, {"'near'", "no forecaster"}, [&] { (void)ask(service, 1); });
    CHECK(entry_of(service.snapshot(), "near", small, Mode::standard).failures == 1);
}

TEST_CASE("nothing is built for a request that is malformed, and failures are counted") {
    OneBackend one;
    Ones request{.batch = 1, .variates = 1, .steps = 4};
    request.values.resize(3);
    check_error(ErrorCode::invalid_argument, {"values"},
                [&] { (void)one.service.forecast(request.series(), {.samples = 0}); });
    CHECK(one.fake->made.empty());
    CHECK(one.entry(small).failures == 1);
    const tg::Series nothing{};
    CHECK_THROWS_AS((void)one.service.forecast(nothing, {.samples = 0}), tg::Error);
    const tg::Series negative{.batch = -5, .variates = 1, .steps = 1};
    CHECK_THROWS_AS((void)one.service.forecast(negative, {.horizon = -1, .samples = -1}), tg::Error);
    CHECK(one.fake->made.empty());
    const Ones good{.batch = 1, .variates = 1, .steps = 4};
    check_error(ErrorCode::invalid_series, {"seed"},
                [&] { (void)one.service.forecast(good.series(), {.seed = refused_seed, .samples = 0}); });
    CHECK(one.fake->made.size() == 1);
    CHECK(one.entry(small).failures == 4);
    CHECK(one.entry(small).forecasts == 0);
    CHECK_FALSE(one.service.forecast(good.series(), {.seed = not_finite_seed, .samples = 0}).is_finite());
    CHECK(one.service.forecast(good.series(), {.samples = 0}).is_finite());
    CHECK(one.entry(small).forecasts == 2);
    CHECK(one.entry(small).not_finite == 1);
}

TEST_CASE("an explanation is that of the backend and mode that serve a bucket") {
    const TwoBackends two;
    const serve::ForecastService service(two.registry,
                                         {.backend = "far",
                                          .mode = Mode::standard,
                                          .routes = {{.max_batch = 1, .backend = "near", .mode = Mode::eager}}});
    CHECK(service.explain(small).backend == "near");
    CHECK(service.explain(small).mode == "eager");
    CHECK(service.explain(large).backend == "far");
    CHECK(service.explain(large).mode == "default");
    CHECK(service.explain(large).bucket == large);
    CHECK(service.explain(large, Mode::max_autotune).mode == "max-autotune");
    CHECK(service.explain(large, {}, "near").backend == "near");
    CHECK(two.near->made.empty());
    check_error(ErrorCode::no_bucket, {to_string(sampled), to_string(large)}, [&] { (void)service.explain(sampled); });
    check_error(ErrorCode::invalid_argument, {"'nobody'"}, [&] { (void)service.explain(small, {}, "nobody"); });
    check_error(ErrorCode::invalid_argument, {"'unknown'"},
                [&] { (void)service.explain(small, static_cast<Mode>(99)); });
}

TEST_CASE("a made-up request fills its bucket") {
    constexpr Bucket bucket{.batch = 2, .variates = 3, .context = 16, .horizon = 8, .samples = 4, .exogenous = 1};
    const serve::SyntheticRequest made(bucket);
    const tg::Bucket request = tg::request_sizes(made.series(), made.options(), Bucket{});
    CHECK(request == bucket);
    CHECK_NOTHROW(tg::check_request(made.series(), request));
}

TEST_CASE("threads are tuned by halving, and the fewest that are as fast are taken") {
    const auto tune = [](int most, const std::vector<double>& seconds) {
        std::size_t next = 0;
        auto tuning = serve::detail::tune_threads(most, [&](int, double) { return seconds.at(next++); });
        CHECK(tuning.trials.size() == next);
        return tuning;
    };
    CHECK(tune(1, {5}).best == 1);
    CHECK(tune(8, {1, 2}).best == 8);                 // much slower with 4: no need to try 2
    CHECK(tune(8, {4, 3, 2, 1}).best == 1);           // better and better
    CHECK(tune(8, {1, 1.01, 1.25, 1.5}).best == 4);   // as fast with 4
    CHECK(tune(6, {1.2, 1, 1.1}).best == 3);          // 6, 3, 1
    CHECK(tune(8, {1, 1.02, 1.04, 1.06}).best == 4);  // no sliding away in small steps
    CHECK(to_string(tune(2, {0.25, 1})) == "2 threads 250 ms, 1 thread 1.00 s: takes 2");
}

TEST_CASE("long forecasts are measured a few times only") {
    const auto measure = [](const std::vector<double>& seconds, double too_slow) {
        std::size_t next = 0;
        const double median = serve::detail::median_seconds([&] { return seconds.at(next++); }, too_slow);
        CHECK(next == seconds.size());
        return median;
    };
    CHECK(measure({0.3, 0.2, 0.1}, 1) == 0.1);                  // not the first one
    CHECK(measure({9e-3, 4e-3, 1e-3, 2e-3, 8e-3}, 1) == 2e-3);  // until they took 10 ms
    CHECK(measure({2.0, 1.9}, 2.5) == 1.9);
    CHECK(measure({1.9, 2.0}, 2.5) == 1.9);
    CHECK(measure({2.6}, 2.5) == 2.6);  // it cannot be chosen
    std::vector<double> limits;
    (void)serve::detail::tune_threads(4, [&](int threads, double too_slow) {
        limits.push_back(too_slow);
        return threads == 4 ? 1.0 : 1.2;
    });
    REQUIRE(limits.size() == 3);
    CHECK(limits[0] > 1e300);  // the first is never hopeless
    CHECK(limits[1] == doctest::Approx(1.3));
}

TEST_CASE("what a service does is logged when asked for") {
    std::vector<std::string> lines;
    tg::set_log_sink([&](tg::LogTopic topic, std::string_view line) {
        lines.push_back(std::string(tg::name(topic)) + ": " + std::string(line));
    });
    tg::set_logs("capture,sizes");
    OneBackend one;
    (void)one.ask(1);
    one.service.release(small);
    tg::set_logs("");
    (void)one.ask(1);
    tg::set_log_sink({});
    const auto holds = [&](std::string_view part) {
        return std::any_of(lines.begin(), lines.end(),
                           [&](const std::string& line) { return line.find(part) != std::string::npos; });
    };
    REQUIRE(lines.size() == 3);
    CHECK(holds("sizes: a request of 1 x 1 x 8 goes to size 1 x 2 x 16 -> 8, no samples of 'fake' in mode default"));
    CHECK(holds("capture: built size 1 x 2 x 16 -> 8, no samples of 'fake' in mode default in "));
    CHECK(holds("sizes: released size 1 x 2 x 16 -> 8, no samples"));
}

TEST_CASE("observations score what a service forecast, and snapshots tell") {
    OneBackend one;
    const Ones request{.variates = 2, .steps = 8};
    const tg::Forecast forecast = one.service.forecast(request.series(), {.samples = 0});
    const double said = forecast.mean().front();
    one.service.expect("shop", 100, forecast, 0, 1);
    CHECK(one.service.observe("shop", 100, said - 2));
    CHECK(one.service.observe("shop", 101, said + 4));
    CHECK_FALSE(one.service.observe("shop", 100 + forecast.horizon(), said));
    const auto accuracy = one.service.snapshot().accuracy;
    REQUIRE(accuracy.size() == 1);
    CHECK(accuracy.front().scored == 2);
    CHECK(accuracy.front().missed == 1);
    CHECK(accuracy.front().mae == doctest::Approx(3));
    CHECK(accuracy.front().bias == doctest::Approx(-1));
    CHECK(accuracy.front().banded == 0);  // of a mean
    check_error(ErrorCode::invalid_argument, {"series 0 and variate 2"},
                [&] { one.service.expect("shop", 0, forecast, 0, 2); });

    const tg::Forecast sampled_one = one.service.forecast(request.series(), {.samples = 4});
    one.service.expect("band", 0, sampled_one);
    CHECK(one.service.observe("band", 0, sampled_one.median().front()));
    CHECK(one.service.snapshot().accuracy.front().coverage == doctest::Approx(1));
}
