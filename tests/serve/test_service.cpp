// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/serve/backends/backend_registry.hpp>
#include <totograph/serve/explain/explain_text.hpp>
#include <totograph/serve/service.hpp>

#include "io/support.hpp"
#include "serve/service_fakes.hpp"

using namespace service_fakes;
using tg::ErrorCode;
using tg::test::check_error;

namespace {

/// An environment variable for the length of a scope. No other thread runs meanwhile.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() { ::unsetenv(name_); }

private:
    const char* name_;
};

}  // namespace

TEST_CASE("a registry keeps backends by name, in order") {
    const TwoBackends two;
    CHECK(two.registry.names() == std::vector<std::string>{"near", "far"});
    CHECK(two.registry.get("far") == two.far);
    CHECK(two.registry.all().size() == 2);
    check_error(ErrorCode::invalid_argument, {"'other'", "near, far"}, [&] { (void)two.registry.get("other"); });
    check_error(ErrorCode::invalid_argument, {"\\x1b"}, [&] { (void)two.registry.get("\x1b[2J"); });
    serve::BackendRegistry copy = two.registry;
    check_error(ErrorCode::invalid_argument, {"'far'", "near, far"}, [&] { copy.add(fake("far", 3, {small})); });
    check_error(ErrorCode::invalid_argument, {"''"}, [&] { copy.add(fake("", 3, {small})); });
    check_error(ErrorCode::invalid_argument, {"null pointer"}, [&] { copy.add(nullptr); });
    copy.add(fake("third", 3, {small}));
    CHECK(copy.names().size() == 3);
    CHECK(two.registry.names().size() == 2);
}

TEST_CASE("the environment goes before the mode that a program asks for") {
    CHECK(serve::choose_mode(Mode::standard, nullptr, nullptr) == Mode::standard);
    CHECK(serve::choose_mode(Mode::standard, "", "") == Mode::standard);
    CHECK(serve::choose_mode(Mode::standard, "0", nullptr) == Mode::standard);
    CHECK(serve::choose_mode(Mode::standard, "1", nullptr) == Mode::eager);
    CHECK(serve::choose_mode(Mode::standard, "1", "max-autotune") == Mode::eager);
    CHECK(serve::choose_mode(Mode::standard, "1", "nonsense") == Mode::eager);
    for (const Mode mode : serve::all_modes) {
        const std::string text(serve::name(mode));
        CHECK(serve::choose_mode(Mode::eager, nullptr, text.c_str()) == mode);
        CHECK(serve::mode_of(text) == mode);
    }
    check_error(ErrorCode::invalid_argument, {"TOTOGRAPH_MODE", "'fast'", "reduce-overhead"},
                [] { (void)serve::choose_mode(Mode::eager, "0", "fast"); });

    const TwoBackends two;
    const serve::ServiceOptions options{.mode = Mode::standard, .routes = {{.max_batch = 2, .mode = Mode::eager}}};
    {
        const Variable mode("TOTOGRAPH_MODE", "reduce-overhead");
        serve::ForecastService service(two.registry, options);
        CHECK(service.mode() == Mode::reduce_overhead);
        CHECK(ask(service, 1) == two.near->value_of(Mode::reduce_overhead));  // before a route's mode as well
        const Variable disable("TOTOGRAPH_DISABLE", "1");
        CHECK(service.mode() == Mode::reduce_overhead);  // it is read when a mode is set
        service.set_mode(Mode::max_autotune);
        CHECK(service.mode() == Mode::eager);
        CHECK(ask(service, 8) == two.near->value_of(Mode::eager));
    }
    {
        const Variable disable("TOTOGRAPH_DISABLE", "yes");
        two.near->modes = {Mode::standard};
        check_error(ErrorCode::invalid_argument, {"'near'", "'eager'", "default", "TOTOGRAPH_DISABLE"},
                    [&] { serve::ForecastService(two.registry, {.mode = Mode::standard}); });
    }
    CHECK(serve::ForecastService(two.registry, {.mode = Mode::standard}).mode() == Mode::standard);
}

TEST_CASE("requests go to backends and modes by their number of series") {
    const TwoBackends two;
    serve::ForecastService service(
        two.registry, {.backend = "far",
                       .mode = Mode::max_autotune,
                       .routes = {{.max_batch = 1, .backend = "near", .mode = Mode::eager}, {.max_batch = 4}}});
    CHECK(ask(service, 1) == two.near->value_of(Mode::eager));
    CHECK(ask(service, 1, 60) == two.near->value_of(Mode::eager));
    CHECK(ask(service, 2) == two.far->value_of(Mode::max_autotune));
    CHECK(ask(service, 4) == two.far->value_of(Mode::max_autotune));
    CHECK(ask(service, 8) == two.far->value_of(Mode::max_autotune));
    CHECK(service.backend() == "far");
    CHECK(service.buckets() == std::vector<Bucket>{small, large});
    // A route without a mode of its own follows the service's.
    service.set_mode(Mode::standard);
    CHECK(ask(service, 1) == two.near->value_of(Mode::eager));
    CHECK(ask(service, 4) == two.far->value_of(Mode::standard));
    CHECK(ask(service, 8) == two.far->value_of(Mode::standard));
}

TEST_CASE("the service inside of a package takes the mode that it is given") {
    const TwoBackends two;
    const Variable mode("TOTOGRAPH_MODE", "reduce-overhead");
    serve::ServiceOptions options{.backend = "near", .mode = Mode::eager, .reads_mode_of_environment = false};
    options.reads_backend_of_environment = false;
    serve::ForecastService inside(two.registry, options);
    CHECK(inside.mode() == Mode::eager);
    CHECK(ask(inside, 1) == two.near->value_of(Mode::eager));
    inside.set_mode(Mode::standard);
    CHECK(inside.mode() == Mode::standard);
}

TEST_CASE("the environment goes before the backends that a program asks for") {
    const TwoBackends two;
    const serve::ServiceOptions options{
        .backend = "near", .mode = Mode::standard, .routes = {{.max_batch = 2, .backend = "near"}}};
    {
        const Variable backend("TOTOGRAPH_BACKEND", "far");
        serve::ForecastService service(two.registry, options);
        CHECK(service.backend() == "far");
        CHECK(ask(service, 1) == two.far->value_of(Mode::standard));
        CHECK(ask(service, 8) == two.far->value_of(Mode::standard));
    }
    {
        const Variable backend("TOTOGRAPH_BACKEND", "");
        CHECK(serve::ForecastService(two.registry, options).backend() == "near");
    }
    const Variable backend("TOTOGRAPH_BACKEND", "nowhere");
    check_error(ErrorCode::invalid_argument, {"'nowhere'"}, [&] { serve::ForecastService(two.registry, options); });
}

TEST_CASE("the environment picks a backend by its precision") {
    const TwoBackends two;
    two.near->computes_in = "f32";
    two.far->computes_in = "bf16";
    const serve::ServiceOptions options{
        .backend = "near", .mode = Mode::standard, .routes = {{.max_batch = 2, .backend = "near"}}};
    const auto backend_in = [&](const char* precision) {
        const Variable variable("TOTOGRAPH_PRECISION", precision);
        serve::ForecastService service(two.registry, options);
        CHECK(service.backend_of(1) == service.backend());
        return service.backend();
    };
    CHECK(backend_in("bf16") == "far");
    CHECK(backend_in("f32") == "near");
    CHECK(backend_in("") == "near");
    check_error(ErrorCode::invalid_argument, {"TOTOGRAPH_PRECISION", "'fp8'", "'near': f32", "'far': bf16"},
                [&] { (void)backend_in("fp8"); });
    {
        const Variable backend("TOTOGRAPH_BACKEND", "far");
        CHECK(backend_in("bf16") == "far");
        check_error(ErrorCode::invalid_argument, {"'f32'", "the backend 'far' has not"},
                    [&] { (void)backend_in("f32"); });
    }
    // One that is not available is passed over; if it is the only one of the precision, that is the error.
    two.far->reason = "it sleeps";
    check_error(ErrorCode::device_failure, {"it sleeps"}, [&] { (void)backend_in("bf16"); });
    // The service inside of a package does not ask.
    serve::ServiceOptions inside = options;
    inside.reads_backend_of_environment = false;
    const Variable variable("TOTOGRAPH_PRECISION", "bf16");
    CHECK(serve::ForecastService(two.registry, inside).backend() == "near");
}

TEST_CASE("the cheapest bucket that holds a request serves it, and sizes do not decide whether it samples") {
    OneBackend one;
    const Ones request{.batch = 1, .variates = 1, .steps = 8};
    CHECK(one.service.forecast(request.series()).sample_count() == 4);  // though a bucket of means would be cheaper
    CHECK(one.service.forecast(request.series(), {.samples = 0}).sample_count() == 0);
    CHECK(one.service.forecast(request.series(), {.horizon = 3, .samples = 2}).sample_count() == 2);
    CHECK(one.entry(sampled).forecasts == 2);
    CHECK(one.entry(small).forecasts == 1);
    (void)one.ask(2);
    CHECK(one.entry(large).forecasts == 1);
    const auto too_wide = [&] {
        const Ones wide{.batch = 1, .variates = 3, .steps = 8};
        (void)one.service.forecast(wide.series(), {.samples = 0});
    };
    check_error(ErrorCode::no_bucket, {"'fake'", "1 x 3 x 8", to_string(large), to_string(sampled)}, too_wide);
    check_error(ErrorCode::no_bucket, {"1 x 3 x 8"}, too_wide);
    // They are counted, though no entry can.
    CHECK(one.service.snapshot().requests_without_bucket == 2);
    CHECK(one.entry(small).failures + one.entry(large).failures + one.entry(sampled).failures == 0);
    one.service.reset_counters();
    CHECK(one.service.snapshot().requests_without_bucket == 0);

    // What no bucket holds runs in parts, as one forecast.
    const Ones many{.batch = 9, .variates = 1, .steps = 65};
    const auto forecast = one.service.forecast(many.series(), {.samples = 0});
    CHECK(forecast.batch() == 9);
    CHECK(forecast.context() == large.context);
    CHECK(one.entry(large).forecasts == 1);
    CHECK(one.service.snapshot().requests_without_bucket == 0);

    // Also when only the other backend samples.
    serve::BackendRegistry registry;
    registry.add(fake("means", 1, {small}));
    registry.add(fake("samples", 2, {sampled}));
    serve::ForecastService service(
        registry, {.backend = "samples", .mode = Mode::standard, .routes = {{.max_batch = 1, .backend = "means"}}});
    check_error(ErrorCode::no_bucket, {"'means'", "samples = 0"}, [&] { (void)service.forecast(request.series()); });
    CHECK(service.forecast(request.series(), {.samples = 0}).sample_count() == 0);
}

TEST_CASE("a service that was not warmed up builds what requests need, once") {
    OneBackend one;
    CHECK(one.fake->made.empty());
    CHECK_FALSE(one.service.is_ready());
    const serve::ScopedStance stance(serve::Stance::fail_on_recapture);  // nothing is a recapture before warm-up
    CHECK(one.ask(1) == one.fake->value_of(Mode::standard));
    (void)one.ask(1);
    (void)one.ask(1);
    CHECK(one.fake->made.size() == 1);
    CHECK_FALSE(one.service.is_ready());
    const auto entry = one.entry(small);
    CHECK(entry.forecasts == 3);
    CHECK(entry.builds == 1);
    CHECK(entry.captures == 2);
    CHECK(entry.replays == 6);
    CHECK(entry.all_recaptures() == 0);
    CHECK(entry.failures == 0);
    CHECK(entry.bytes_held == fake_bytes);
    CHECK(one.service.memory_bytes() == fake_bytes);
    one.service.reset_counters();
    CHECK(one.entry(small).forecasts == 0);
    CHECK(one.entry(small).bytes_held == fake_bytes);
    // Its forecasters may share their threads.
    (void)one.ask(2);
    REQUIRE(one.fake->pools.size() == 2);
    CHECK(one.fake->pools[0] != nullptr);
    CHECK(one.fake->pools[0] == one.fake->pools[1]);
}

TEST_CASE("a backend without a device has no streams, and the host reads its series") {
    const TwoBackends two;
    serve::ForecastService service(two.registry);
    const std::vector<float> values(8, 1.0F);
    const tg::Series series{.steps = 8, .values = values};
    check_error(ErrorCode::invalid_argument, {"has no streams"},
                [&] { (void)service.forecast_on(nullptr, series, {.horizon = 1}); });
    check_error(ErrorCode::invalid_argument, {"has no streams"}, [&] {
        (void)service.forecast_on(nullptr, tg::cuda::DeviceSeries{.series = {.steps = 8}, .values = values.data()},
                                  {.horizon = 1});
    });
    check_error(ErrorCode::invalid_argument, {"has no streams"}, [&] { two.near->wait_stream(0, nullptr, nullptr); });
}

TEST_CASE("a warm-up builds and runs all that requests can reach") {
    const TwoBackends two;
    serve::ForecastService service(
        two.registry,
        {.backend = "far", .mode = Mode::standard, .routes = {{.max_batch = 1, .backend = "near"}, {.max_batch = 2}}});
    const serve::WarmUpReport report = service.warm_up({.forecasts = 3});
    CHECK(service.is_ready());
    // `near` serves one series with any bucket; `far` never needs the bucket of one series.
    REQUIRE(report.rows.size() == 3);
    CHECK(two.near->made.size() == 2);
    REQUIRE(two.far->made.size() == 1);
    CHECK(two.far->made[0].bucket == large);
    for (const serve::WarmUpReport::Row& row : report.rows) {
        CHECK(row.mode == Mode::standard);
        CHECK(row.captures == 2);
        CHECK(row.bytes == fake_bytes);
        CHECK(row.build_seconds > 0);
        CHECK(row.first_seconds > 0);
        CHECK(row.later_seconds > 0);
        CHECK(row.build_seconds < report.seconds);
    }
    // Its own forecasts are not counted.
    CHECK(entry_of(service.snapshot(), "far", large, Mode::standard).forecasts == 0);
    CHECK(entry_of(service.snapshot(), "far", large, Mode::standard).builds == 1);

    const serve::WarmUpReport again = service.warm_up({.forecasts = 0, .include_eager = true});
    REQUIRE(again.rows.size() == 6);
    CHECK(again.rows[0].build_seconds == 0);
    CHECK(again.rows[0].first_seconds == 0);
    CHECK(again.rows[1].mode == Mode::eager);
    CHECK(two.near->count(Mode::eager) == 2);
    CHECK(two.near->count(Mode::standard) == 2);
    const std::string text = to_string(report);
    CHECK(text.find("near     default  1 x 2 x 16 -> 8, no samples") != std::string::npos);
    CHECK(text.find("ready after") != std::string::npos);
    CHECK(to_string(again).find(" - ") != std::string::npos);
    CHECK(to_string(serve::WarmUpReport{}) == "nothing to build\nready after -\n");
}

TEST_CASE("a warm-up builds what serves larger requests in parts") {
    const auto warmed = [](std::vector<Bucket> buckets) {
        serve::BackendRegistry registry;
        registry.add(
            std::make_shared<FakeBackend>("few", 1.0F, std::vector<Bucket>{{.batch = 4, .context = 32, .horizon = 8}}));
        registry.add(std::make_shared<FakeBackend>("many", 2.0F, std::move(buckets)));
        serve::ForecastService service(registry, {.backend = "many", .routes = {{.max_batch = 4, .backend = "few"}}});
        const serve::WarmUpReport report = service.warm_up();
        const std::vector<float> values(8 * 32, 1.0F);
        const serve::ScopedStance stance(serve::Stance::fail_on_recapture);
        CHECK(service.forecast({.batch = 8, .variates = 1, .steps = 32, .values = values}).batch() == 8);
        return report.rows.size() - 1;  // besides that of the first backend
    };
    const Bucket four{.batch = 4, .context = 32, .horizon = 8};
    CHECK(warmed({four}) == 1);
    // Eight go to a bucket that holds them whole; fewer to the other backend.
    CHECK(warmed({four, {.batch = 8, .context = 32, .horizon = 8}}) == 1);
    // Nine would take two runs of either.
    CHECK(warmed({four, {.batch = 5, .context = 32, .horizon = 8}}) == 2);
    // The one that holds more series forecasts less.
    CHECK(warmed({four, {.batch = 32, .context = 32, .horizon = 4}}) == 2);
}

TEST_CASE("a warm-up of some buckets, and one that fails") {
    OneBackend one;
    CHECK(one.service.warm_up({.buckets = {large}}).rows.size() == 1);
    CHECK(one.service.is_ready());
    check_error(ErrorCode::no_bucket, {"1 x 9 x 9 -> 9", to_string(small)},
                [&] { (void)one.service.warm_up({.buckets = {{.variates = 9, .context = 9, .horizon = 9}}}); });
    check_error(ErrorCode::invalid_argument, {"-1"}, [&] { (void)one.service.warm_up({.forecasts = -1}); });

    OneBackend other;
    other.fake->fails_at = large;
    check_error(ErrorCode::out_of_memory, {}, [&] { (void)other.service.warm_up(); });
    CHECK_FALSE(other.service.is_ready());
    other.fake->fails_at.reset();
    CHECK(other.service.warm_up().rows.size() == 3);
    CHECK(other.service.is_ready());
    CHECK(other.fake->made.size() == 3);  // what the first attempt built is kept
}

TEST_CASE("a service is not ready when its last warm-up failed, though an earlier one succeeded") {
    OneBackend one;
    (void)one.service.warm_up({.buckets = {small}});
    CHECK(one.service.is_ready());
    // What is refused at once changes nothing.
    check_error(ErrorCode::invalid_argument, {"-1"}, [&] { (void)one.service.warm_up({.forecasts = -1}); });
    one.fake->modes = {Mode::standard};
    check_error(ErrorCode::invalid_argument, {"'eager'"}, [&] { (void)one.service.warm_up({.include_eager = true}); });
    CHECK(one.fake->made.size() == 1);
    CHECK(one.service.is_ready());
    one.fake->fails_at = large;
    check_error(ErrorCode::out_of_memory, {}, [&] { (void)one.service.warm_up(); });
    CHECK_FALSE(one.service.is_ready());
    CHECK(one.ask(1) == one.fake->value_of(Mode::standard));  // what is there serves
    const serve::ScopedStance stance(serve::Stance::fail_on_recapture);
    check_error(ErrorCode::recapture, {"not_warmed_up"}, [&] { (void)one.ask(8); });
    one.fake->fails_at.reset();
    (void)one.service.warm_up();
    CHECK(one.service.is_ready());
}

TEST_CASE("bytes held are those of forecasters that were kept, as of the end of the warm-up") {
    OneBackend one;
    one.fake->fails_to_tell = true;
    check_error(ErrorCode::device_failure, {}, [&] { (void)one.service.warm_up(); });
    CHECK(one.service.memory_bytes() == 0);  // it keeps none that was not counted
    CHECK(one.entry(small).bytes_held == 0);
    CHECK(one.entry(small).builds == 0);
    one.fake->fails_to_tell = false;
    one.fake->grows = 24;
    (void)one.service.warm_up();
    CHECK(one.entry(small).bytes_held == fake_bytes + 24);
    CHECK(one.service.memory_bytes() == 3 * (fake_bytes + 24));
    one.service.release(small);
    CHECK(one.entry(small).bytes_held == 0);
}

TEST_CASE("a backend that cannot be used is passed over, or told about when it is named") {
    TwoBackends two;
    two.near->reason = "It has no device.";
    serve::ForecastService service(two.registry, {.mode = Mode::standard});
    CHECK(service.backend() == "far");
    check_error(ErrorCode::device_failure, {"'near'", "It has no device."},
                [&] { serve::ForecastService(two.registry, {.backend = "near"}); });
    check_error(ErrorCode::device_failure, {"'near'"},
                [&] { serve::ForecastService(two.registry, {.routes = {{.max_batch = 1, .backend = "near"}}}); });
    two.far->reason = "It is far away.";
    check_error(ErrorCode::device_failure, {"It has no device.", "It is far away."},
                [&] { serve::ForecastService{two.registry}; });
    check_error(ErrorCode::device_failure, {"empty"}, [] { serve::ForecastService{serve::BackendRegistry()}; });
}
