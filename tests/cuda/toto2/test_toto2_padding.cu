// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime.h>

#include "cuda/toto2/cuda_cases.hpp"
#include "models/properties.hpp"
#include "models/toto2/padding_model.hpp"

// What forecasts of Toto 2.0 keep to on a device: tests/models/toto2/test_padding.cpp says so of the CPU.

namespace {

using namespace properties;
using toto2_padding::largest;
using toto2_padding::Model;
namespace tg = totograph;

template <tg::Bucket bucket, tg::cuda::Precision precision>
using Forecaster = tg::cuda::Forecaster<Model, bucket, tg::cuda::ForecasterOptions{.precision = precision}>;

/// Loaded anew: weights that forecasters share would be one, whatever the test does.
auto weights() {
    return tg::load<Model::Checkpoint>(toto2_fixture::folder("leading_gaps_blocks"));
}

template <tg::cuda::Precision precision>
void check() {
    Forecaster<largest, precision> large(weights());
    shorter_horizon_begins_a_longer_one(large, requests(3, 4, 64).back(), {16, 32});
    series_do_not_see_each_other(large, requests(3, 4, 64).back());
    Forecaster<largest, precision> fresh(weights());
    nothing_is_left_behind(fresh, large, waves(1, 2, 11), waves(3, 4, 64), 30);
}

}  // namespace

TEST_CASE("series, horizons and earlier requests change no bit, f32") {
    check<tg::cuda::Precision::f32>();
}

TEST_CASE("series, horizons and earlier requests change no bit, bf16") {
    check<tg::cuda::Precision::bf16>();
}

TEST_CASE("a smaller request, by a bucket of its size") {
    // Other sizes may run other algorithms, which sum in another order.
    constexpr tg::Bucket bucket{.batch = 2, .variates = 3, .context = 35, .horizon = 22};
    Forecaster<largest, tg::cuda::Precision::f32> large(weights());
    Forecaster<bucket, tg::cuda::Precision::f32> exact(weights());
    for (const Request& request : requests(2, 3, 35)) {
        const auto expected = exact.forecast(request.series(), {.horizon = bucket.horizon}).keep();
        const auto found = large.forecast(request.series(), {.horizon = bucket.horizon}).keep();
        fixture::check_close("quantiles", {found.values().begin(), found.values().end()},
                             {expected.values().begin(), expected.values().end()}, 1e-5);
    }
}

TEST_CASE("values on the device are imputed as those on the host are") {
    static_assert(tg::FamilyOf<Model>::imputation != tg::Imputation::as_given);
    Forecaster<largest, tg::cuda::Precision::f32> forecaster(weights());
    Request request = waves(2, 3, 35);
    make_gaps(request);
    std::fill_n(request.observed.end() - 4, 4, std::uint8_t{0});  // the newest steps, which are read all the same
    const auto expected = forecaster.forecast(request.series(), {.horizon = 22}).keep();
    std::vector<float> values = request.values;
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = request.observed[i] == 0 ? std::nanf("") : values[i];
    }
    const tg::cuda::DeviceMemory memory(values.size() * sizeof(float));
    REQUIRE(cudaMemcpy(memory.data(), values.data(), memory.size(), cudaMemcpyHostToDevice) == cudaSuccess);
    tg::cuda::DeviceSeries series{
        .series = request.series(), .values = reinterpret_cast<const float*>(memory.data()), .nan_is_gap = true};
    series.series.values = {};
    series.series.observed = {};
    const auto made = forecaster.forecast_on(nullptr, series, {.horizon = 22});
    std::vector<float> found(made.size());
    REQUIRE(cudaMemcpy(found.data(), made.data, found.size() * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(*made.not_finite == 0);
    CHECK(std::equal(found.begin(), found.end(), expected.values().begin(), expected.values().end()));
}
