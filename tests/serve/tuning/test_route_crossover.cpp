// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/core/log.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/serve/routing.hpp>
#include <totograph/serve/service.hpp>
#include <totograph/serve/tuning/route_crossover.hpp>
#include <totograph/serve/tuning/tuned_threads.hpp>

#include "io/support.hpp"
#include "serve/tuning/costly_backends.hpp"

// Up to which batch one backend is the faster one, with backends whose time is made up.

namespace {

using namespace costly_backends;
using serve::BackendTimer;
using serve::detail::CrossoverPlace;
using serve::detail::known_crossover;
using tg::test::ScratchFolder;

constexpr Bucket one{.variates = 2, .context = 16, .horizon = 8, .exogenous = 1};
constexpr Bucket many{.batch = 64, .variates = 4, .context = 32, .horizon = 8};

/// The first is quick for few series, the second alike for all.
struct Pair {
    World world;
    std::shared_ptr<CostlyBackend> near;
    std::shared_ptr<CostlyBackend> far;

    explicit Pair(Cost of_near, Cost of_far = {.fixed = milliseconds(60)}, std::vector<Bucket> of_far_buckets = {many})
        : near(std::make_shared<CostlyBackend>(world, "near", of_near, std::vector{one})),
          far(std::make_shared<CostlyBackend>(world, "far", of_far, std::move(of_far_buckets))) {}

    Index crossover(const CrossoverPlace& place, const serve::BackendResources& resources = {}) {
        const auto timer = [&](const std::shared_ptr<CostlyBackend>& backend) {
            return BackendTimer(backend, Mode::standard, resources, [this] { return world.now; });
        };
        BackendTimer small = timer(near);
        BackendTimer large = timer(far);
        return known_crossover(small, large, resources, place);
    }
};

CrossoverPlace place_in(const ScratchFolder& folder, std::string identity = "a processor") {
    return {{folder.path(), {}}, std::move(identity)};
}

}  // namespace

TEST_CASE("the crossover is the last power of two up to which the first takes no longer") {
    CHECK(Pair({.each = milliseconds(10)}).crossover({}) == 4);                              // 40 and 60, 80 and 60
    CHECK(Pair({.each = milliseconds(15)}).crossover({}) == 4);                              // 60 and 60
    CHECK(Pair({.each = milliseconds(100)}).crossover({}) == 0);                             // never
    CHECK(Pair({.each = milliseconds(1)}, {.each = milliseconds(2)}).crossover({}) == 256);  // always
}

TEST_CASE("measuring ends where a larger batch would take too long, and keeps what is known") {
    Pair pair({.each = milliseconds(100)}, {.each = milliseconds(200)});
    CHECK(pair.crossover({}) == 2);  // three forecasts each: 0.9 s, 1.8 s, and 3.6 s would be more than 5 s in all
    CHECK(pair.world.now == milliseconds(2700));
}

TEST_CASE("of both backends the first forecast counts alike") {
    // The first one of the near one is the longest of all, and 0.6 s every later one.
    CHECK(Pair({.each = milliseconds(600), .cold = milliseconds(600)}, {.fixed = milliseconds(700)}).crossover({}) ==
          1);
}

TEST_CASE("nothing else is tuned while backends are compared") {
    Pair pair({.each = milliseconds(100)});
    bool is_free = false;
    pair.world.amid = [&] {
        std::thread([&] {
            if (serve::detail::tuning_turn().try_lock()) {
                is_free = true;
                serve::detail::tuning_turn().unlock();
            }
        }).join();
    };
    CHECK(pair.crossover({}) == 0);
    CHECK_FALSE(is_free);
}

TEST_CASE("a log sink is called when the turn to compare is over") {
    Pair pair({.each = milliseconds(100)});
    int lines = 0;
    int free = 0;
    tg::set_log_sink([&](tg::LogTopic, std::string_view) {
        ++lines;
        std::thread([&] {
            if (serve::detail::tuning_turn().try_lock()) {
                ++free;
                serve::detail::tuning_turn().unlock();
            }
        }).join();
    });
    tg::set_logs("tuning");
    const ScratchFolder folder;
    CHECK(pair.crossover(place_in(folder)) == 0);  // a line of the measurement, the choice, and the file
    CHECK(pair.crossover(place_in(folder)) == 0);  // and one that it was measured before
    tg::set_logs("");
    tg::set_log_sink({});
    CHECK(lines == 4);
    CHECK(free == lines);
}

TEST_CASE("requests are compared that both backends serve in one piece") {
    Pair pair({.each = milliseconds(10)});
    const BackendTimer small(pair.near, Mode::standard, {});
    const BackendTimer large(pair.far, Mode::standard, {});
    CHECK(serve::common_request(small, large) == Bucket{.variates = 2, .context = 16, .horizon = 8});
    CHECK_FALSE(serve::common_request(large, small).has_value());
    Pair apart({.each = milliseconds(10)}, {}, {Bucket{.variates = 2, .context = 8, .horizon = 8}});
    try {
        apart.crossover({});
        FAIL("it should have thrown");
    } catch (const tg::Error& error) {
        CHECK(error.code() == tg::ErrorCode::invalid_argument);
        CHECK(std::string(error.what()).find("'near' and 'far'. Compile one, or name max_batch.") != std::string::npos);
    }
}

TEST_CASE("a crossover is measured once on a machine, kept where its owner alone writes") {
    const ScratchFolder folder;
    Pair pair({.each = milliseconds(10)});
    CHECK(pair.crossover(place_in(folder)) == 4);
    CHECK(pair.world.forecasts > 0);
    REQUIRE(folder.file_count() > 0);
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
        if (file.path().extension() == ".cache") {
            CHECK(file.path().filename().string().starts_with("routes-"));
            CHECK((file.status().permissions() & std::filesystem::perms(022)) == std::filesystem::perms::none);
        }
    }
    const auto forecasts_of = [&](const std::string& identity, const serve::BackendResources& resources = {}) {
        pair.world.forecasts = 0;
        CHECK(pair.crossover(place_in(folder, identity), resources) == 4);
        return pair.world.forecasts;
    };
    CHECK(forecasts_of("a processor") == 0);
    // On another processor, device, with other threads or another model it is another question.
    CHECK(forecasts_of("another processor") > 0);
    CHECK(forecasts_of("a processor", {.threads = 3}) > 0);
    pair.far->device = "another card";
    CHECK(forecasts_of("a processor") > 0);
    pair.near->flops = 2;
    CHECK(forecasts_of("a processor") > 0);
    CHECK(forecasts_of("a processor") == 0);
    // Of one that does not tell what it runs on, nothing is kept.
    pair.far->device.clear();
    CHECK(forecasts_of("a processor") > 0);
    CHECK(forecasts_of("a processor") > 0);
}

TEST_CASE("routes are measured against what is kept behind them") {
    using serve::Route;
    using serve::detail::route_limits;
    using Limits = std::vector<Index>;
    // Up to how many series the route of the row is faster than the one of the column.
    using Table = std::vector<Limits>;
    static constexpr Index no = -1;  // not asked for
    const auto limits = [](const std::vector<Route>& routes, const Table& table) {
        return route_limits(routes, [&](std::size_t route, std::size_t behind) {
            CHECK(table[route][behind] != no);
            return table[route][behind];
        });
    };
    CHECK(limits({{}, {}}, {{no, 2, no}, {no, no, 8}}) == Limits{2, 8});
    // The second is never faster than the last, so the first is compared with the last.
    CHECK(limits({{}, {}}, {{no, no, 0}, {no, no, 0}}) == Limits{0, 0});
    CHECK(limits({{}, {}}, {{no, no, 1}, {no, no, 0}}) == Limits{1, 0});
    // Nor is it where the first is faster for all that it would get.
    CHECK(limits({{}, {}}, {{no, 16, 4}, {no, no, 8}}) == Limits{4, 0});
    // What names max_batch keeps it.
    CHECK(limits({{}, {.max_batch = 2}}, {{no, 4, no}, {}}) == Limits{1, 2});
    CHECK(limits({{}, {.max_batch = 1}}, {{no, 4, no}, {}}) == Limits{0, 1});
    CHECK(limits({{}, {.max_batch = 8}}, {{no, 4, no}, {}}) == Limits{4, 8});
    CHECK(limits({{.max_batch = 4}, {}}, {{}, {no, no, 2}}) == Limits{4, 0});
    CHECK(limits({{.max_batch = 4}, {}}, {{}, {no, no, 4}}) == Limits{4, 0});
    CHECK(limits({{.max_batch = 4}, {}}, {{}, {no, no, 5}}) == Limits{4, 5});
    CHECK(limits({{.max_batch = 4}, {}, {}}, {{}, {no, no, 16, 8}, {no, no, no, 2}}) == Limits{4, 8, 0});
    // Those that do not ascend are refused before anything is measured.
    CHECK_THROWS_WITH_AS(limits({{}, {.max_batch = 2}, {.max_batch = 2}}, {}),
                         doctest::Contains("at most 2 series follows one of 2"), tg::Error);
}

TEST_CASE("a service resolves measured routes before others") {
    ::setenv("TOTOGRAPH_CACHE_DIR", "", 1);
    World world{.sleeps = true};
    serve::BackendRegistry registry;
    const auto add = [&](const char* name, Cost cost) {
        registry.add(std::make_shared<CostlyBackend>(world, name, cost, std::vector{one}));
    };
    add("each", {.each = milliseconds(10)});
    add("slow", {.fixed = milliseconds(25)});
    add("fast", {.fixed = milliseconds(2)});
    {
        const serve::ForecastService service(
            registry, {.backend = "fast", .routes = {{.backend = "each"}, {.max_batch = 2, .backend = "slow"}}});
        CHECK(service.backend_of(1) == "each");
        CHECK(service.backend_of(2) == "slow");
        CHECK(service.backend_of(3) == "fast");
    }
    const serve::ForecastService service(registry,
                                         {.backend = "fast", .routes = {{.backend = "each"}, {.backend = "slow"}}});
    for (const Index batch : {1, 2, 4}) {
        CHECK(service.backend_of(batch) == "fast");
    }
}

TEST_CASE("a route without max_batch takes the crossover of this machine") {
    ::setenv("TOTOGRAPH_CACHE_DIR", "", 1);
    Pair pair({.each = milliseconds(30)}, {.fixed = milliseconds(90)});
    pair.world.sleeps = true;
    serve::BackendRegistry registry;
    registry.add(pair.far);
    registry.add(pair.near);
    {
        const serve::ForecastService service(registry, {.backend = "far", .routes = {{.backend = "near"}}});
        CHECK(service.backend_of(1) == "near");
        CHECK(service.backend_of(8) == "far");
    }
    // Where the first is never the faster one, nothing goes there.
    Pair slow({.each = milliseconds(90)}, {.fixed = milliseconds(20)});
    slow.world.sleeps = true;
    serve::BackendRegistry others;
    others.add(slow.far);
    others.add(slow.near);
    const serve::ForecastService service(others, {.backend = "far", .routes = {{.backend = "near"}}});
    CHECK(service.backend_of(1) == "far");
    // Nor is there anything to measure between a backend and itself.
    try {
        const serve::ForecastService refused(others, {.backend = "far", .routes = {{.backend = "far"}}});
        FAIL("it should have thrown");
    } catch (const tg::Error& error) {
        CHECK(error.code() == tg::ErrorCode::invalid_argument);
        CHECK(std::string(error.what()).find("Name max_batch.") != std::string::npos);
    }
}
