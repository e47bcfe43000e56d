// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/serve/service.hpp>
#include <totograph/serve/stance.hpp>

#include "io/support.hpp"
#include "serve/service_fakes.hpp"

// What happens when a service that is ready needs what is not there; and that nothing happens when all is there.

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

// Not inlined: the compiler would see memory of malloc go where it expects that of another operator new.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size == 0 ? 1 : size); memory != nullptr) {
        return memory;
    }
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

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
    // Mode eager is no exception when it is the mode that serves.
    one.service.set_mode(Mode::eager);
    check_error(ErrorCode::recapture, {"eager", "mode_changed"}, [&] { (void)one.ask(8); });
    (void)one.service.warm_up();
    CHECK(one.ask(1) == one.fake->value_of(Mode::eager));
}

TEST_CASE("eager_on_recapture serves in mode eager, and builds that once") {
    OneBackend one;
    (void)one.service.warm_up();
    one.service.release(small);
    const ScopedStance stance(Stance::eager_on_recapture);
    CHECK(one.ask(1) == one.fake->value_of(Mode::eager));
    CHECK(one.ask(1) == one.fake->value_of(Mode::eager));
    CHECK(one.ask(8) == one.fake->value_of(Mode::standard));
    CHECK(one.fake->count(Mode::eager) == 1);
    CHECK(one.fake->count(Mode::standard) == 3);
    CHECK(one.entry(small).all_recaptures() == 2);
    CHECK(one.entry(small).eager_fallbacks == 2);
    CHECK(one.entry(small).forecasts == 0);
    CHECK(one.entry(small, Mode::eager).forecasts == 2);
    CHECK(one.entry(small, Mode::eager).builds == 1);
    CHECK(one.entry(small, Mode::eager).all_recaptures() == 0);
    CHECK(one.entry(small, Mode::eager).captures == 0);
}

TEST_CASE("force_eager serves everything in mode eager, warmed up or not") {
    OneBackend one;
    {
        const ScopedStance stance(Stance::force_eager);
        CHECK(one.ask(1) == one.fake->value_of(Mode::eager));
        CHECK(one.fake->count(Mode::standard) == 0);
    }
    (void)one.service.warm_up();
    {
        const ScopedStance stance(Stance::force_eager);
        CHECK(one.ask(1) == one.fake->value_of(Mode::eager));
        CHECK(one.ask(8) == one.fake->value_of(Mode::eager));
        CHECK(one.fake->count(Mode::eager) == 2);
        CHECK(one.entry(small).eager_fallbacks == 2);
        CHECK(one.entry(small).all_recaptures() == 0);
    }
    CHECK(one.ask(1) == one.fake->value_of(Mode::standard));
    // In mode eager it is no fallback.
    one.service.set_mode(Mode::eager);
    const ScopedStance stance(Stance::force_eager);
    CHECK(one.ask(1) == one.fake->value_of(Mode::eager));
    CHECK(one.entry(small, Mode::eager).eager_fallbacks == 0);
    // A backend without it cannot obey.
    OneBackend other;
    other.fake->modes = {Mode::standard};
    check_error(ErrorCode::invalid_argument, {"'fake'", "'eager'", "default"}, [&] { (void)other.ask(1); });
    CHECK(other.entry(small).failures == 1);
    CHECK(other.fake->made.empty());
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
        (void)count();  // counters of a fallback are made when it is first met
        CHECK(count() == 0);
    }
    const std::size_t before = allocations;
    const std::vector<float> some(10);
    CHECK(allocations > before);  // the counter counts
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
