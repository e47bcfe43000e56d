// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <totograph/diagnostics/stress/batch_costs.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/serve/tuning/backend_timer.hpp>

#include "serve/tuning/costly_backends.hpp"

// What batches cost, with backends whose time is made up.

namespace {

using namespace costly_backends;

constexpr Bucket sampled{.variates = 1, .context = 16, .horizon = 8, .samples = 4};
constexpr Bucket mean{.variates = 1, .context = 16, .horizon = 8};

/// The first takes 10 ms a series, the second 45 ms whatever it is, of means alone.
struct Two {
    World world;
    std::vector<serve::BackendTimer> timers;

    Two() {
        add("near", {.each = milliseconds(10)}, {mean, sampled});
        add("far", {.fixed = milliseconds(45)}, {mean});
    }
    void add(const std::string& name, Cost cost, std::vector<Bucket> buckets) {
        timers.emplace_back(std::make_shared<CostlyBackend>(world, name, cost, std::move(buckets)), Mode::standard,
                            serve::BackendResources{}, [this] { return world.now; });
    }
};

}  // namespace

TEST_CASE("batches of 1 to 256 are planned for each number of samples") {
    const auto plan = serve::plan_batches(mean, std::array<Index, 2>{0, 4});
    REQUIRE(plan.size() == 18);
    CHECK(plan.front() == mean);
    CHECK(plan[8].batch == 256);
    CHECK(plan[9] == sampled);
    CHECK(plan.back().batch == 256);
}

TEST_CASE("each backend is timed for each batch, up to one that takes too long") {
    Two two;
    const auto plan = serve::plan_batches(mean, std::array<Index, 2>{0, 4});
    std::size_t told = 0;
    const auto costs =
        serve::measure_batches(two.timers, plan, 0.3, [&](std::size_t done, std::size_t) { told = done; });
    CHECK(told == 36);
    REQUIRE(costs.size() == 18);
    CHECK(*costs[0].seconds[0] == doctest::Approx(0.01));
    CHECK(*costs[2].seconds[0] == doctest::Approx(0.04));
    CHECK(*costs[5].seconds[0] == doctest::Approx(0.32));  // 32 series: the first beyond 0.3 s
    CHECK_FALSE(costs[6].seconds[0].has_value());
    CHECK(*costs[8].seconds[1] == doctest::Approx(0.045));
    CHECK(*costs[9].seconds[0] == doctest::Approx(0.01));  // other samples begin anew
    CHECK_FALSE(costs[9].seconds[1].has_value());          // no bucket of the second samples
    CHECK(*costs[2].fastest() == 0);
    CHECK(*costs[3].fastest() == 1);
    CHECK_FALSE(costs[17].fastest().has_value());
    CHECK(serve::overtaken_from(costs, 0) == 8);
    CHECK_FALSE(serve::overtaken_from(costs, 4).has_value());

    const std::string text = serve::batches_markdown(costs, two.timers);
    for (const char* const words :
         {"| series | samples |", "| 8      |    mean | 80.0 ms |             100 | 45.0 ms |",
          "Of means, 'near' is overtaken from a batch of 8 on.", "With 4 samples, 'near' is never overtaken."}) {
        CAPTURE(text);
        CHECK(text.find(words) != std::string::npos);
    }
    const auto json = nlohmann::json::parse(serve::batches_json(costs, two.timers));
    REQUIRE(json["batches"].size() == 18);
    CHECK(json["batches"][3]["request"]["batch"] == 8);
    CHECK(json["batches"][3]["seconds"]["far"].get<double>() == doctest::Approx(0.045));
    CHECK(json["batches"][9]["seconds"]["far"].is_null());
}

TEST_CASE("the first backend is overtaken for good, and by what is faster alone") {
    const auto cost = [](Index batch, std::optional<double> first, std::optional<double> second) {
        Bucket request = mean;
        request.batch = batch;
        return serve::BatchCost{request, {first, second}};
    };
    CHECK(cost(1, 2.0, 2.0).fastest() == 0);
    CHECK(cost(1, 2.0, 1.0).fastest() == 1);
    CHECK(cost(1, std::nullopt, 3.0).fastest() == 1);
    const std::vector costs{cost(1, 1.0, 2.0), cost(2, 3.0, 2.0), cost(4, 2.0, 2.0), cost(8, 9.0, 2.0),
                            cost(16, std::nullopt, 3.0)};
    CHECK(serve::overtaken_from(costs, 0) == 8);
    CHECK_FALSE(serve::overtaken_from(std::span(costs).first(3), 0).has_value());
}

TEST_CASE("a series counts once, however many variates it has") {
    World world;
    const Bucket request{.batch = 8, .variates = 2, .context = 16, .horizon = 8};
    std::vector<serve::BackendTimer> timers;
    timers.emplace_back(
        std::make_shared<CostlyBackend>(world, "near", Cost{.each = milliseconds(10)}, std::vector{request}),
        Mode::standard, serve::BackendResources{}, [&] { return world.now; });
    const auto costs = serve::measure_batches(timers, std::array{request}, 1);
    const std::string text = serve::batches_markdown(costs, timers);
    CAPTURE(text);
    CHECK(text.find("| 8      |    mean | 80.0 ms |             100 | near |") != std::string::npos);
}

TEST_CASE("of one backend alone there is nothing to overtake") {
    Two two;
    two.timers.pop_back();
    const auto costs = serve::measure_batches(two.timers, std::array{mean}, 1);
    CHECK(serve::batches_markdown(costs, two.timers).find("overtaken") == std::string::npos);
}
