// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/serve/metrics/metrics.hpp>
#include <totograph/serve/metrics/snapshot.hpp>
#include <totograph/serve/mode.hpp>
#include <totograph/serve/served_backend.hpp>
#include <totograph/serve/served_slots.hpp>
#include <totograph/serve/service_options.hpp>
#include <totograph/serve/stance.hpp>

#include "io/support.hpp"
#include "serve/service_fakes.hpp"

// What serves requests, without the service around it: no lock, and nobody runs what is found.

using namespace service_fakes;
using serve::RecaptureReason;
using serve::ScopedStance;
using serve::Stance;
using serve::detail::ServedSlots;
using serve::detail::Slot;
using tg::ErrorCode;
using tg::test::check_error;

namespace {

/// The slots of one of two backends.
struct NearSlots {
    TwoBackends backends;
    serve::Metrics metrics;
    std::optional<ServedSlots> slots{std::in_place, backends.registry,
                                     serve::ServiceOptions{.backend = "near", .mode = Mode::standard}, metrics};

    /// What serves a request for the mean of so many series.
    Slot& ask(Index batch) {
        const Ones request{.batch = batch, .variates = 1, .steps = 8};
        return slots->slot_for(request.series(), {.samples = 0});
    }
    /// Where a bucket is served in a mode.
    [[nodiscard]] const Slot& slot(std::size_t which, Mode mode) const {
        return slots->routing().backends.front().places[which].at(mode);
    }
    [[nodiscard]] serve::Snapshot::Entry entry(const Bucket& bucket, Mode mode = Mode::standard) const {
        return entry_of(metrics.snapshot(), "near", bucket, mode);
    }
};

}  // namespace

TEST_CASE("a slot is built for the first request that needs it, and found by those after it") {
    NearSlots near;
    CHECK(near.slots->memory_bytes() == 0);
    Slot& first = near.ask(1);
    CHECK(&first == &near.slot(0, Mode::standard));
    REQUIRE(first.forecaster);
    const auto* const built = first.forecaster.get();
    CHECK(&near.ask(1) == &first);
    CHECK(first.forecaster.get() == built);
    CHECK(&near.ask(8) == &near.slot(1, Mode::standard));
    CHECK(near.backends.near->made.size() == 2);
    CHECK(near.backends.far->made.empty());
    CHECK(near.slots->memory_bytes() == 2 * fake_bytes);
    CHECK(near.entry(small).builds == 1);
    CHECK(near.entry(small).all_recaptures() == 0);  // nothing was warmed up
    CHECK(near.entry(small).forecasts == 0);         // those are for who runs what it finds to count
    CHECK(first.counters == &near.metrics.counters("near", small, Mode::standard));
}

TEST_CASE("a slot that was released is empty, and filling it again is a recapture for that reason") {
    NearSlots near;
    (void)near.slots->warm_up({});
    near.slots->release(small);
    CHECK_FALSE(near.slot(0, Mode::standard).forecaster);
    CHECK(near.slot(1, Mode::standard).forecaster);
    {
        const ScopedStance stance(Stance::fail_on_recapture);
        check_error(ErrorCode::recapture, {"released"}, [&] { (void)near.ask(1); });
        CHECK_FALSE(near.slot(0, Mode::standard).forecaster);
    }
    CHECK(near.ask(1).forecaster);
    CHECK(near.entry(small).recaptures[static_cast<std::size_t>(RecaptureReason::released)] == 2);
    CHECK(near.entry(small).all_recaptures() == 2);
    CHECK(near.entry(small).failures == 1);
}

TEST_CASE("slots are ready when all that was warmed up is there in the mode that serves it") {
    NearSlots near;
    (void)near.ask(1);
    (void)near.ask(8);
    CHECK_FALSE(near.slots->is_ready());  // all is there, but nobody has said that this is all
    (void)near.slots->warm_up({.forecasts = 0});
    CHECK(near.slots->is_ready());
    near.slots->set_mode(Mode::eager);
    CHECK_FALSE(near.slots->is_ready());
    (void)near.ask(1);
    CHECK_FALSE(near.slots->is_ready());
    near.slots->release(large);
    CHECK(near.slots->is_ready());  // `small` is all that is left to be ready
    near.slots->set_mode(Mode::standard);
    CHECK(near.slots->is_ready());
    near.slots->set_mode(Mode::max_autotune);
    CHECK_FALSE(near.slots->is_ready());
}

TEST_CASE("a warm-up is finished when all is built, and before anything is ready") {
    NearSlots near;
    int calls = 0;
    const auto finish = [&] {
        ++calls;
        CHECK(near.slots->memory_bytes() == 2 * fake_bytes);
        CHECK_FALSE(near.slots->is_ready());
    };
    (void)near.slots->warm_up({}, finish);
    CHECK(near.slots->is_ready());
    // What cannot be warmed up changes nothing.
    check_error(ErrorCode::invalid_argument, {"-1"}, [&] { (void)near.slots->warm_up({.forecasts = -1}, finish); });
    check_error(ErrorCode::no_bucket, {to_string(sampled), to_string(small)},
                [&] { (void)near.slots->warm_up({.buckets = {sampled}}, finish); });
    CHECK(calls == 1);
    CHECK(near.slots->is_ready());
    const auto fail = [] { throw std::runtime_error("no room"); };
    CHECK_THROWS_AS((void)near.slots->warm_up({}, fail), std::runtime_error);
    CHECK_FALSE(near.slots->is_ready());
    CHECK(near.backends.near->made.size() == 2);
    (void)near.slots->warm_up({}, finish);
    CHECK(near.slots->is_ready());
}

TEST_CASE("a request that no bucket holds is counted, and gets no slot") {
    NearSlots near;
    const Ones wide{.batch = 1, .variates = 3, .steps = 8};
    check_error(ErrorCode::no_bucket, {"near", to_string(large)},
                [&] { (void)near.slots->slot_for(wide.series(), {.samples = 0}); });
    CHECK(near.metrics.snapshot().requests_without_bucket == 1);
    CHECK(near.backends.near->made.empty());
    CHECK(near.slots->buckets() == std::vector<Bucket>{small, large});
    CHECK(near.slots->bucket_of({.variates = 1, .context = 17, .horizon = 8}) == large);
    CHECK_FALSE(near.slots->bucket_of({.variates = 3, .context = 8, .horizon = 8}));
    CHECK(near.slots->largest_result() == 8 * 2 * 8);  // series, variates and steps of `large`
}

TEST_CASE("what is built in the background comes into its slot after as many requests as the options say") {
    NearSlots near;
    near.slots.emplace(near.backends.registry,
                       serve::ServiceOptions{.backend = "near", .mode = Mode::standard, .capture_after = 3},
                       near.metrics);
    const auto may_build = std::make_shared<std::atomic<bool>>(true);
    near.backends.near->waits_for = may_build;
    const ScopedStance stance(Stance::eager_then_capture);
    for (int request = 0; request < 2; ++request) {
        CHECK(&near.ask(1) == &near.slot(0, Mode::eager));
    }
    near.slots->release(large);  // waits for what is built: nothing yet
    CHECK(near.backends.near->tries == 0);
    *may_build = false;
    CHECK(&near.ask(1) == &near.slot(0, Mode::eager));  // the third one
    CHECK(&near.ask(1) == &near.slot(0, Mode::eager));  // nobody waits for what is not done
    CHECK_FALSE(near.slot(0, Mode::standard).forecaster);
    *may_build = true;
    may_build->notify_all();
    near.slots->release(large);
    CHECK(&near.ask(1) == &near.slot(0, Mode::standard));
    CHECK(near.slot(0, Mode::standard).forecaster);
    CHECK(near.backends.near->tries == 1);
    CHECK(near.entry(small).builds == 1);
    CHECK(near.entry(small).eager_fallbacks == 4);
}

TEST_CASE("what slots hold is given back when they end") {
    NearSlots near;
    (void)near.slots->warm_up({.include_eager = true});
    CHECK(near.entry(small).bytes_held == fake_bytes);
    CHECK(near.entry(large, Mode::eager).bytes_held == fake_bytes);
    near.slots.reset();
    const serve::Snapshot after = near.metrics.snapshot();
    CHECK(after.entries.size() == 4);
    for (const serve::Snapshot::Entry& entry : after.entries) {
        CHECK(entry.bytes_held == 0);
        CHECK(entry.builds == 1);
    }
}
