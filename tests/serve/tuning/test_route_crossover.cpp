// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/io/cache/cache_folder.hpp>
#include <totograph/serve/service.hpp>
#include <totograph/serve/tuning/route_crossover.hpp>

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
