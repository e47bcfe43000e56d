// SPDX-License-Identifier: Apache-2.0
// However the launches of a forecast reach the device, its numbers are the same.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>
#include <totograph/serve/backends/cuda_backend.hpp>

#include "cuda/device_test.hpp"
#include "cuda/replay_requests.hpp"

using device_test::values_of;
using namespace replay;
using tg::cuda::Capture;
using tg::cuda::Execution;

namespace {

using Forecaster =
    tg::cuda::Forecaster<Model, sampled, tg::cuda::ForecasterOptions{.precision = tg::cuda::Precision::bf16}>;

const auto& weights() {
    static const auto loaded = tg::load<Model>(fixture::folder("mixture"));
    return loaded;
}

/// The samples of a forecast of all patches, and of one that is a patch shorter.
std::vector<float> forecasts(Forecaster& forecaster) {
    const Request request = request_for(sampled);
    std::vector<float> all = values_of(forecaster.forecast(request.series(), {.seed = 5}));
    const auto shorter = values_of(
        forecaster.forecast(request.series(), {.seed = 5, .horizon = sampled.horizon - Model::config.patch_size}));
    all.insert(all.end(), shorter.begin(), shorter.end());
    return all;
}

}  // namespace

TEST_CASE("every way to capture gives the same samples to the bit") {
    Forecaster whole(weights());
    const std::vector<float> expected = forecasts(whole);
    CHECK(whole.replays(sampled.horizon) == 1);
    for (const Capture capture : {Capture::regional, Capture::device_loop, Capture::none}) {
        CAPTURE(static_cast<int>(capture));
        for (const bool overlaps : {true, false}) {
            Forecaster forecaster(weights(), {.execution = {.capture = capture, .overlaps = overlaps}});
            CHECK(forecasts(forecaster) == expected);
            CHECK(forecasts(forecaster) == expected);  // again: what one forecast leaves behind changes nothing
        }
    }
    Forecaster waiting(weights(), {.execution = {.capture = Capture::none, .waits = true}});
    CHECK(forecasts(waiting) == expected);
}

TEST_CASE("how many graphs there are, and how many a forecast replays") {
    constexpr tg::Index patches = sampled.horizon / Model::config.patch_size;
    const Forecaster regional(weights(), {.execution = {.capture = Capture::regional}});
    const Forecaster loop(weights(), {.execution = {.capture = Capture::device_loop}});
    const Forecaster none(weights(), {.execution = {.capture = Capture::none}});
    // Before the layers, each of them, and after them, for both programs; and the end.
    constexpr auto regions = static_cast<std::size_t>(Model::config.num_layers) + 2;
    CHECK(regional.captures() == 2 * regions + 1);
    CHECK(regional.replays(sampled.horizon) == static_cast<tg::Index>(regions) * patches + 1);
    CHECK(loop.replays(sampled.horizon) == 1);
    CHECK(none.captures() == 0);
    CHECK(none.replays(sampled.horizon) == 0);
}

TEST_CASE("GEMMs that are not tuned are as near to tuned ones as rounding lets them be") {
    Forecaster tuned(weights());
    Forecaster untuned(weights(), {.execution = {.tunes = false}});
    const Request request = request_for(sampled);
    const std::vector<float> expected = tuned.forecast(request.series(), {.seed = 5}).mean();
    const std::vector<float> found = untuned.forecast(request.series(), {.seed = 5}).mean();
    float largest = 0;
    for (const float value : expected) {
        largest = std::max(largest, std::abs(value));
    }
    // The first step only: from then on samples feed back. Sums in another order, rounded to the 8 bits of bf16.
    for (std::size_t row = 0; row < expected.size(); row += static_cast<std::size_t>(sampled.horizon)) {
        CHECK(std::abs(expected[row] - found[row]) <= 2e-2F * largest);
    }
}

TEST_CASE("the backend `cuda` serves every mode, and tells beforehand what it will replay and hold") {
    tg::serve::BackendRegistry registry;
    tg::serve::add_cuda_backend<Model, tg::cuda::ForecasterOptions{.precision = tg::cuda::Precision::bf16}, sampled>(
        registry, weights());
    const auto backend = registry.get("cuda");
    CHECK(backend->unavailable({}).empty());
    CHECK(backend->unavailable({.device = 4096}).find("device 4096") != std::string::npos);
    const Request request = request_for(sampled);
    Forecaster alone(weights());
    const std::vector<float> expected = values_of(alone.forecast(request.series(), {.seed = 5}));
    for (const tg::serve::Mode mode : tg::serve::all_modes) {
        CAPTURE(tg::serve::name(mode));
        const auto forecaster = backend->make(sampled, mode, {});
        const auto found = values_of(forecaster->forecast(request.series(), {.seed = 5}));
        const auto again = values_of(forecaster->forecast(request.series(), {.seed = 5}));
        CHECK(device_test::is_same(found, again));
        const bool is_tuned =
            mode == tg::serve::Mode::max_autotune || mode == tg::serve::Mode::max_autotune_no_cudagraphs;
        CHECK((!is_tuned || device_test::is_same(found, expected)));
        const tg::serve::Explanation explanation = backend->explain(sampled, mode);
        CHECK(explanation.graph_launches == forecaster->replays());
        CHECK(explanation.memory_bytes() == forecaster->memory_bytes());
        CHECK(!backend->describe(mode).empty());
    }
}
