// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "models/toto1/series.hpp"
#include "models/toto1/shared_forecasters.hpp"

// Weights are shared by forecasters of several threads.

using namespace made_up;
using shared::load;
using shared::make_forecaster;
using shared::mean_bucket;
using shared::sampled_bucket;

namespace {

constexpr int rounds = 5;

/// A different request each round.
Request request(const tg::Bucket& bucket, int round) {
    return waves(bucket.batch, bucket.variates, bucket.context - round);
}

/// Forecasts of all rounds, by a forecaster of its own.
template <tg::Bucket bucket>
std::vector<tg::OwnedForecast> run(const tg::Weights& weights, int threads) {
    const auto forecaster = make_forecaster<bucket>(weights, threads);
    std::vector<tg::OwnedForecast> all;
    for (int round = 0; round < rounds; ++round) {
        all.push_back(forecaster->forecast(request(bucket, round).series(), {.seed = 9}).keep());
    }
    return all;
}

void check_same(const std::vector<tg::OwnedForecast>& found, const std::vector<tg::OwnedForecast>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t round = 0; round < found.size(); ++round) {
        CAPTURE(round);
        CHECK(different_bits(found[round], expected[round].view()) == 0);
    }
}

}  // namespace

TEST_CASE("forecasters that are made and used at the same time give what they give one after the other") {
    const auto mean = run<mean_bucket>(load(), 1);
    const auto samples = run<sampled_bucket>(load(), 1);
    for (const int threads : {1, 2}) {
        CAPTURE(threads);
        const auto shared = load();  // nothing is prepared yet: the forecasters race for it
        std::vector<std::vector<tg::OwnedForecast>> found(4);
        std::vector<std::thread> team;
        team.emplace_back([&] { found[0] = run<mean_bucket>(shared, threads); });
        team.emplace_back([&] { found[1] = run<mean_bucket>(shared, threads); });
        team.emplace_back([&] { found[2] = run<sampled_bucket>(shared, threads); });
        team.emplace_back([&] { found[3] = run<sampled_bucket>(shared, threads); });
        for (std::thread& thread : team) {
            thread.join();
        }
        check_same(found[0], mean);
        check_same(found[1], mean);
        check_same(found[2], samples);
        check_same(found[3], samples);
    }
}

TEST_CASE("a forecaster may be made in one thread and used in another") {
    const auto expected = run<mean_bucket>(load(), 1);
    const auto forecaster = make_forecaster<mean_bucket>(load(), 2);
    std::vector<tg::OwnedForecast> found;
    for (int round = 0; round < rounds; ++round) {
        std::thread([&] { found.push_back(forecaster->forecast(request(mean_bucket, round).series()).keep()); }).join();
    }
    check_same(found, expected);
}

TEST_CASE("weights outlive the object that they were loaded into") {
    const auto expected = run<mean_bucket>(load(), 1);
    auto weights = std::make_unique<tg::Weights>(load());
    const auto forecaster = make_forecaster<mean_bucket>(*weights, 1);
    weights.reset();
    CHECK(different_bits(expected[0], forecaster->forecast(request(mean_bucket, 0).series())) == 0);
}
