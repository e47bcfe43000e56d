// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <vector>

#include <totograph/forecast/cpu/eager_forecaster.hpp>

#include "models/toto1/fixture.hpp"
#include "models/toto1/series.hpp"

// Toto-Open-Base-1.0 at its full size, with untrained weights: 151 million parameters, 12 layers of 768.

using namespace made_up;
using Model = tg::toto1::open_base_1_0;

namespace {

constexpr tg::Bucket bucket{.variates = 2, .context = 256, .horizon = 128};
constexpr tg::ForecasterOptions bf16_weights{.weights = tg::DType::bf16};
using Fused = tg::Forecaster<Model, bucket>;
using Bf16 = tg::Forecaster<Model, bucket, bf16_weights>;

const auto& weights() {
    static const auto made = tg::untrained<Model>(1);
    return made;
}

Request request() {
    Request made = waves(1, 2, 250);
    make_gaps(made);
    return made;
}

template <class AnyForecaster>
std::vector<float> forecast(int threads) {
    AnyForecaster forecaster(weights(), {.threads = threads});
    const Request asked = request();
    return forecaster.forecast(asked.series(), {.horizon = 100}).mean();
}

/// Two executors that round in another order, over one forecast.
const std::vector<float>& fused() {
    static const auto values = forecast<Fused>(2);
    return values;
}

std::size_t checkpoint_parameters() {
    Index total = 0;
    for (const auto& tensor : tg::checkpoint_tensors<Model>()) {
        total += tensor.shape.size();
    }
    return static_cast<std::size_t>(total);
}

}  // namespace

TEST_CASE("the fused executor and the eager one") {
    tg::EagerForecaster recorded(weights().weights, tg::record_forecast<Model, bucket>());
    const auto eager = recorded.forecast(request().series(), {.horizon = 100}).mean();
    fixture::check_close("mean", fused(), eager, 1e-5);
    for (const float value : eager) {
        CHECK(std::isfinite(value));
    }
}

TEST_CASE("the number of threads does not change a bit") {
    CHECK(forecast<Fused>(1) == fused());
    CHECK(forecast<Fused>(3) == fused());
}

TEST_CASE("bf16 weights and f32 weights") {
    // A bf16 has 8 bits, so a weight is off by up to 1 part in 512, each in another direction.
    const auto found = forecast<Bf16>(2);
    fixture::check_close("mean", found, fused(), 1.0 / 256);
    CHECK(fixture::relative_error(found, fused()) > 1e-6);
}

TEST_CASE("the architecture has 151 million parameters, and prepared weights take no more room than they do") {
    CHECK(checkpoint_parameters() / 1'000'000 == 151);
    (void)forecast<Fused>(1);
    (void)forecast<Bf16>(1);
    const auto f32_bytes = weights().weights.prepared<tg::cpu::PreparedWeights<float>>()->bytes();
    const auto bf16_bytes = weights().weights.prepared<tg::cpu::PreparedWeights<tg::BFloat16>>()->bytes();
    CHECK(f32_bytes <= checkpoint_parameters() * sizeof(float));
    CHECK(f32_bytes < Fused::weight_bytes * 101 / 100);
    CHECK(bf16_bytes < Bf16::weight_bytes * 101 / 100);
    CHECK(bf16_bytes <= checkpoint_parameters() * sizeof(tg::BFloat16) * 102 / 100);  // biases stay f32
}

TEST_CASE("a forecaster takes the memory that was planned") {
    // Keys and values of 11 layers and 2 variates, of 4 patches of context and 1 of forecast; and the cache's length.
    constexpr std::size_t keys_and_values = std::size_t{11} * 2 * 2 * (4 + 1) * 768 * sizeof(float);
    static_assert(Fused::kv_cache_bytes >= keys_and_values && Fused::kv_cache_bytes <= keys_and_values + 64);
    const Fused one(weights(), {.threads = 1});
    const Fused two(weights(), {.threads = 2});
    const std::size_t scratch = two.memory_bytes() - one.memory_bytes();
    const std::size_t result = 2 * 128 * sizeof(float);
    CHECK(one.memory_bytes() == Fused::state_bytes + Fused::arena_bytes + scratch + result);
    CHECK(one.memory_bytes() < std::size_t{8} << 20U);
}
