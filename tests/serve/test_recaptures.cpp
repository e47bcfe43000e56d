// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/serve/service.hpp>
#include <totograph/serve/stance.hpp>

#include "io/support.hpp"
#include "serve/service_fakes.hpp"
#include "support/count_allocations.hpp"

// What happens when a service that is ready needs what is not there; and that nothing happens when all is there.

using namespace service_fakes;
using serve::RecaptureReason;
using serve::ScopedStance;
using serve::Stance;
using tg::ErrorCode;
using tg::test::check_error;

namespace {

std::uint64_t recaptures(const serve::Snapshot::Entry& entry, RecaptureReason reason) {
    return entry.recaptures[static_cast<std::size_t>(reason)];
}

}  // namespace

TEST_CASE("stances nest, and belong to a thread") {
    CHECK(serve::current_stance() == Stance::standard);
    const ScopedStance outer(Stance::force_eager);
    {
        const ScopedStance inner(Stance::fail_on_recapture);
        CHECK(serve::current_stance() == Stance::fail_on_recapture);
        std::thread([] { CHECK(serve::current_stance() == Stance::standard); }).join();
    }
    CHECK(serve::current_stance() == Stance::force_eager);
    CHECK(serve::name(Stance::standard) == "default");
}

TEST_CASE("what was released is a recapture") {
    OneBackend one;
    (void)one.service.warm_up();
    CHECK(one.entry(small).bytes_held == fake_bytes);
    one.service.release(small);
    CHECK(one.service.memory_bytes() == 2 * fake_bytes);
    CHECK(one.entry(small).bytes_held == 0);
    CHECK(one.service.is_ready());  // of what was not released
    CHECK(one.ask(1) == one.fake->value_of(Mode::standard));
    CHECK(recaptures(one.entry(small), RecaptureReason::released) == 1);
    CHECK(one.entry(small).all_recaptures() == 1);
    CHECK(one.entry(small).builds == 2);
    (void)one.ask(1);
    CHECK(one.entry(small).all_recaptures() == 1);
    one.service.release(small);
    one.service.release(small);  // again: nothing is there to free
    CHECK(one.service.memory_bytes() == 2 * fake_bytes);
    (void)one.ask(1);
    CHECK(recaptures(one.entry(small), RecaptureReason::released) == 2);  // the first release is still the reason
    check_error(ErrorCode::no_bucket, {"1 x 5 x 5", to_string(small)},
                [&] { one.service.release({.variates = 5, .context = 5, .horizon = 5}); });
}

TEST_CASE("another mode is a recapture, unless it is warmed up") {
    OneBackend one;
    (void)one.service.warm_up();
    one.service.set_mode(Mode::reduce_overhead);
    CHECK_FALSE(one.service.is_ready());
    CHECK(one.ask(1) == one.fake->value_of(Mode::reduce_overhead));
    CHECK(recaptures(one.entry(small, Mode::reduce_overhead), RecaptureReason::mode_changed) == 1);
    CHECK(one.service.memory_bytes() == 4 * fake_bytes);  // what was built for the other mode stays
    (void)one.service.warm_up();
    CHECK(one.service.is_ready());
    (void)one.ask(8);
    CHECK(one.entry(large, Mode::reduce_overhead).all_recaptures() == 0);
    one.service.set_mode(Mode::standard);
    CHECK(one.service.is_ready());
    CHECK(one.ask(1) == one.fake->value_of(Mode::standard));
    CHECK(one.entry(small).all_recaptures() == 0);
    CHECK(one.fake->made.size() == 6);
    one.service.release(small);  // in all modes
    CHECK(one.service.memory_bytes() == 4 * fake_bytes);
}

TEST_CASE("a bucket that was left out of the warm-up is a recapture") {
    OneBackend one;
    (void)one.service.warm_up({.buckets = {large}});
    (void)one.ask(1);
    CHECK(recaptures(one.entry(small), RecaptureReason::not_warmed_up) == 1);
    CHECK(one.fake->made.size() == 2);
}

TEST_CASE("fail_on_recapture builds nothing, and says what is missing") {
    OneBackend one;
    (void)one.service.warm_up();
    one.service.release(small);
    const ScopedStance stance(Stance::fail_on_recapture);
    check_error(ErrorCode::recapture, {to_string(small), "'fake'", "default", "released", "warm_up()"},
                [&] { (void)one.ask(1); });
    CHECK(one.fake->made.size() == 3);
    CHECK(recaptures(one.entry(small), RecaptureReason::released) == 1);
    CHECK(one.entry(small).failures == 1);
    CHECK(one.entry(small).builds == 1);
    CHECK(one.ask(8) == one.fake->value_of(Mode::standard));  // what is there serves
    one.service.set_mode(Mode::reduce_overhead);
    check_error(ErrorCode::recapture, {"reduce-overhead", "mode_changed"}, [&] { (void)one.ask(8); });
    (void)one.service.warm_up();
    CHECK(one.ask(1) == one.fake->value_of(Mode::reduce_overhead));
}

TEST_CASE("mode eager has nothing to capture: building for it is no recapture, whatever the stance") {
    for (const Stance stance : {Stance::standard, Stance::fail_on_recapture, Stance::eager_on_recapture}) {
        OneBackend one;
        (void)one.service.warm_up();
        one.service.set_mode(Mode::eager);
        CHECK_FALSE(one.service.is_ready());  // a request has to wait for a build all the same
        const ScopedStance scoped(stance);
        CHECK(one.ask(1) == one.fake->value_of(Mode::eager));
        CHECK(one.ask(1) == one.fake->value_of(Mode::eager));
        const auto entry = one.entry(small, Mode::eager);
        CHECK(entry.builds == 1);
        CHECK(entry.forecasts == 2);
        CHECK(entry.all_recaptures() == 0);
        CHECK(entry.eager_fallbacks == 0);
        CHECK(entry.failures == 0);
        // Back to another mode, which that bucket was not built for.
        one.service.set_mode(Mode::max_autotune);
        one.fake->modes = {Mode::eager, Mode::max_autotune};
        if (stance == Stance::standard) {
            (void)one.ask(1);
            CHECK(recaptures(one.entry(small, Mode::max_autotune), RecaptureReason::mode_changed) == 1);
        }
    }
}

TEST_CASE("a service is ready again once what is warm is built for the new mode, whoever builds it") {
    OneBackend one;
    (void)one.service.warm_up({.buckets = {small, large}});
    one.service.set_mode(Mode::reduce_overhead);
    (void)one.ask(1);
    CHECK_FALSE(one.service.is_ready());
    SUBCASE("a request") {
        (void)one.ask(8);
    }
    SUBCASE("nobody, for it is released") {
        one.service.release(large);
    }
    CHECK(one.service.is_ready());
}

TEST_CASE("the reason is what happened to the bucket last") {
    OneBackend one;
    const auto reasons = [&](Mode mode) { return one.entry(small, mode).recaptures; };
    using Counts = decltype(serve::ForecastCounts::recaptures);
    (void)one.service.warm_up({.buckets = {large}});
    one.service.release(small);  // which was not there
    {
        const ScopedStance stance(Stance::eager_on_recapture);
        (void)one.ask(1);
        (void)one.ask(1);  // what a fallback built does not count
        CHECK(reasons(Mode::standard) == Counts{2, 0, 0});
        one.service.release(small);
        (void)one.ask(1);
        CHECK(reasons(Mode::standard) == Counts{3, 0, 0});
    }
    (void)one.service.warm_up();
    one.service.release(small);
    one.service.set_mode(Mode::max_autotune);  // another mode, but it is not there because it was released
    {
        const ScopedStance stance(Stance::eager_on_recapture);
        (void)one.ask(1);
        (void)one.ask(1);
    }
    CHECK(reasons(Mode::max_autotune) == Counts{0, 2, 0});
    (void)one.ask(1);
    CHECK(reasons(Mode::max_autotune) == Counts{0, 3, 0});
    one.service.set_mode(Mode::standard);
    (void)one.ask(1);
    CHECK(reasons(Mode::standard) == Counts{3, 0, 1});
}

TEST_CASE("counters are there at 0 for all that a route can reach, before anything is built") {
    const auto near = std::make_shared<FakeBackend>("near", 1.0F, std::vector<Bucket>{small, large});
    const auto far = std::make_shared<FakeBackend>("far", 2.0F, std::vector<Bucket>{small, large});
    serve::BackendRegistry registry;
    registry.add(near);
    registry.add(far);
    serve::ForecastService service(
        registry, {.backend = "far", .mode = Mode::standard, .routes = {{.max_batch = 1, .backend = "near"}}});
    const auto names = [&] {
        std::vector<std::string> list;
        for (const serve::Snapshot::Entry& entry : service.snapshot().entries) {
            list.push_back(entry.backend + " " + to_string(entry.bucket) + " " + std::string(name(entry.mode)));
            CHECK_FALSE(entry.is_in_use());
            CHECK(entry.all_recaptures() + entry.failures + entry.eager_fallbacks == 0);
        }
        return list;
    };
    const std::string few = to_string(small);
    const std::string many = to_string(large);
    // `far` never needs the bucket of one series.
    CHECK(names() == std::vector<std::string>{"far " + many + " default", "near " + few + " default",
                                              "near " + many + " default"});
    service.set_mode(Mode::max_autotune);
    CHECK(names() == std::vector<std::string>{"far " + many + " default", "far " + many + " max-autotune",
                                              "near " + few + " default", "near " + few + " max-autotune",
                                              "near " + many + " default", "near " + many + " max-autotune"});
    CHECK(near->made.empty());
    CHECK(far->made.empty());
    far->modes = {Mode::standard, Mode::max_autotune};
    CHECK_THROWS_AS(service.set_mode(Mode::reduce_overhead), tg::Error);
    CHECK(names().size() == 6);
}

TEST_CASE("a forecast allocates nothing when all is there") {
    OneBackend one;
    (void)one.service.warm_up({.include_eager = true});
    const Ones request{.batch = 2, .variates = 1, .steps = 20};
    const auto count = [&] {
        const std::size_t before = allocations;
        (void)one.service.forecast(request.series(), {.seed = 7, .samples = 0});
        (void)one.service.forecast(request.series());
        (void)one.service.is_ready();
        return allocations - before;
    };
    CHECK(count() == 0);
    for (const Stance stance : {Stance::force_eager, Stance::fail_on_recapture, Stance::eager_on_recapture}) {
        const ScopedStance scoped(stance);
        (void)count();  // what a fallback needs is made when it is first met
        CHECK(count() == 0);
    }
    const std::size_t before = allocations;
    const std::vector<float> some(10);
    CHECK(allocations > before);  // the counter counts
}

TEST_CASE("the first forecast of quantiles after a warm-up allocates nothing") {
    static constexpr std::array<double, 5> levels{0.1, 0.25, 0.5, 0.75, 0.9};
    const auto fake = std::make_shared<FakeBackend>("fake", 1.0F, std::vector<Bucket>{small});
    fake->levels = levels;
    serve::BackendRegistry registry;
    registry.add(fake);
    serve::ForecastService service(registry, {.mode = Mode::standard});
    (void)service.warm_up();
    const Ones request{.variates = 2, .steps = 16};
    const std::size_t before = allocations;
    const tg::Forecast forecast = service.forecast(request.series());
    CHECK(allocations == before);
    CHECK(forecast.values().size() == 2 * 8 * 5);
}

TEST_CASE("a result that there is no memory to keep for is an error that names its size") {
    OneBackend one;
    const Ones request{.batch = 8, .variates = 2, .steps = 20};
    const tg::Forecast held = one.service.forecast(request.series(), {.samples = 4});  // whose memory is taken
    {
        const NoMemoryFor result(2000);
        check_error(ErrorCode::out_of_memory, {"the copy of a result", "takes 2.00 KiB", "ask for less"},
                    [&] { (void)one.service.forecast(request.series(), {.samples = 4}); });
    }
    CHECK(one.service.forecast(request.series(), {.samples = 4}).sample_count() == 4);
    CHECK(one.entry(sampled).failures == 1);
}

TEST_CASE("nothing is built for a request that would be refused") {
    OneBackend one;
    one.fake->patch_size = 4;
    Ones request{.batch = 1, .variates = 1, .steps = 8};
    tg::Series series = request.series();
    const std::vector<std::int32_t> groups{0, 0, 0, 0, 0, 0, 0, 1};
    series.groups = groups;
    check_error(ErrorCode::invalid_argument, {"changes inside a patch"},
                [&] { (void)one.service.forecast(series, {.samples = 0}); });
    check_error(ErrorCode::invalid_argument, {"samples are numbered"},
                [&] { (void)one.service.forecast(request.series(), {.samples = 4, .first_sample = 0xffffffffU}); });
    CHECK(one.fake->made.empty());
}

TEST_CASE("services of several threads count together, and give back what they hold") {
    const auto fake = std::make_shared<FakeBackend>("fake", 1.0F, std::vector<Bucket>{small});
    serve::BackendRegistry registry;
    registry.add(fake);
    const auto metrics = std::make_shared<serve::Metrics>();
    constexpr int each = 2000;
    const auto work = [&](Stance stance) {
        serve::ForecastService service(registry, {.mode = Mode::standard, .metrics = metrics});
        (void)service.warm_up();
        const ScopedStance scoped(stance);
        const Ones request{.batch = 1, .variates = 1, .steps = 8};
        for (int i = 0; i < each; ++i) {
            (void)service.forecast(request.series(), {.samples = 0});
        }
        return service.snapshot().entries.size();
    };
    std::thread first([&] { (void)work(Stance::standard); });
    std::thread second([&] { (void)work(Stance::fail_on_recapture); });
    first.join();
    second.join();
    const serve::Snapshot snapshot = metrics->snapshot();
    REQUIRE(snapshot.entries.size() == 1);
    CHECK(snapshot.entries[0].forecasts == 2 * each);
    CHECK(snapshot.entries[0].builds == 2);
    CHECK(snapshot.entries[0].all_recaptures() == 0);
    CHECK(snapshot.entries[0].bytes_held == 0);
    serve::ForecastService service(registry, {.mode = Mode::standard, .metrics = metrics});
    (void)service.warm_up();
    CHECK(metrics->snapshot().entries[0].bytes_held == fake_bytes);
    CHECK(service.metrics() == metrics);
}
