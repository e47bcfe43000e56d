// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include <doctest/doctest.h>

#include <totograph/serve/service.hpp>
#include <totograph/serve/stance.hpp>

#include "io/support.hpp"
#include "serve/service_fakes.hpp"

// Stances that serve in mode eager where a recapture would be needed.

using namespace service_fakes;
using serve::ScopedStance;
using serve::Stance;
using tg::ErrorCode;
using tg::test::check_error;

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

namespace {

/// Asks until a request is served in mode `default`, for at most ten seconds; how many were served eagerly before.
int ask_until_captured(OneBackend& one) {
    for (int eager = 0; eager < 10000; ++eager) {
        if (one.ask(1) == one.fake->value_of(Mode::standard)) {
            return eager;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return -1;
}

}  // namespace

TEST_CASE("eager_then_capture serves in mode eager while a bucket that is used often is built in the background") {
    OneBackend one;
    one.fake->waits_for = std::make_shared<std::atomic<bool>>(false);
    const ScopedStance stance(Stance::eager_then_capture);
    CHECK(one.ask(1) == one.fake->value_of(Mode::eager));
    CHECK(one.ask(1) == one.fake->value_of(Mode::eager));  // the second one has it built
    CHECK(one.ask(1) == one.fake->value_of(Mode::eager));
    CHECK(one.entry(small).builds == 0);
    CHECK(one.entry(small).eager_fallbacks == 3);
    CHECK(one.entry(small).all_recaptures() == 0);  // there was no warm-up
    // A bucket that is used meanwhile waits for its turn, and is not made twice.
    CHECK(one.ask(8) == one.fake->value_of(Mode::eager));
    CHECK(one.ask(8) == one.fake->value_of(Mode::eager));
    CHECK(one.fake->count(Mode::standard) == 0);
    *one.fake->waits_for = true;
    one.fake->waits_for->notify_all();
    REQUIRE(ask_until_captured(one) >= 0);
    CHECK(one.entry(small).builds == 1);
    CHECK(one.entry(small).captures == 2);
    CHECK(one.entry(small).bytes_held == fake_bytes);
    CHECK(one.fake->count(Mode::eager) == 2);
    CHECK(one.ask(8) == one.fake->value_of(Mode::eager));  // begins to build this one
    CHECK_FALSE(one.service.is_ready());
    (void)one.service.warm_up();  // waits for that
    CHECK(one.service.is_ready());
    CHECK(one.ask(8) == one.fake->value_of(Mode::standard));
    CHECK(one.entry(large).builds == 1);
}

TEST_CASE("eager_then_capture: what cannot be built stays eager, and is tried again after a release") {
    OneBackend one;
    one.fake->waits_for = std::make_shared<std::atomic<bool>>(true);
    one.fake->fails_in = Mode::standard;
    const ScopedStance stance(Stance::eager_then_capture);
    for (int i = 0; i < 20; ++i) {
        CHECK(one.ask(1) == one.fake->value_of(Mode::eager));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(one.entry(small).builds == 0);
    CHECK(one.entry(small).failures == 0);
    CHECK(one.entry(small).eager_fallbacks == 20);
    one.service.release(small);
    CHECK(one.fake->tries == 1);
    one.fake->fails_in.reset();
    CHECK(ask_until_captured(one) >= 2);
    CHECK(one.fake->tries == 2);
}

TEST_CASE("eager_then_capture after a warm-up counts recaptures, and a service may end while it builds") {
    OneBackend one;
    (void)one.service.warm_up();
    one.service.release(small);
    const ScopedStance stance(Stance::eager_then_capture);
    const int eager = ask_until_captured(one);
    CHECK(eager >= 2);
    CHECK(one.entry(small).all_recaptures() == static_cast<std::uint64_t>(eager));
    CHECK(one.entry(small).eager_fallbacks == static_cast<std::uint64_t>(eager));
    const auto may_build = std::make_shared<std::atomic<bool>>(false);
    std::thread release;
    {
        OneBackend other;
        other.fake->waits_for = may_build;
        (void)other.ask(1);
        (void)other.ask(1);
        release = std::thread([may_build] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            *may_build = true;
            may_build->notify_all();
        });
    }
    CHECK(may_build->load());  // its end has waited for what it builds
    release.join();
}

TEST_CASE("eager_then_capture builds nothing before a first request") {
    check_error(ErrorCode::invalid_argument, {"capture_after is 0", "expected 1 or more"}, [] {
        const OneBackend one;
        serve::ForecastService(one.registry, {.capture_after = 0});
    });
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
    CHECK(other.entry(small).eager_fallbacks == 0);
    CHECK(other.fake->made.empty());
}
