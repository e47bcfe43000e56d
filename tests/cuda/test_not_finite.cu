// SPDX-License-Identifier: Apache-2.0
// Values that are no finite numbers, counted on the device and brought back with the result.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include "cuda/device_test.hpp"
#include "forecast/smallest_family.hpp"
#include "models/toto1/weights.hpp"
#include "support/tensor_sources.hpp"

namespace {

namespace tg = totograph;
using device_test::check_has;
using device_test::error_of;

struct Small {
    static constexpr tg::toto1::Toto1Config config{.patch_size = 8,
                                                   .embed_dim = 32,
                                                   .num_layers = 2,
                                                   .num_heads = 4,
                                                   .mlp_hidden_dim = 64,
                                                   .spacewise_every_n_layers = 2,
                                                   .k_components = 3};
};
constexpr tg::Bucket bucket{.batch = 2, .variates = 3, .context = 32, .horizon = 40, .samples = 70};

template <tg::cuda::Precision precision>
using Forecaster = tg::cuda::Forecaster<Small, bucket, tg::cuda::ForecasterOptions{.precision = precision}>;

/// Two series of two variates and 20 steps; the second one is too large for f32, or as harmless as the first.
std::vector<float> values(bool is_too_large) {
    std::vector<float> result(2 * 2 * 20);
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = is_too_large && i >= 2 * 20 ? 3.4e38F : static_cast<float>(i * 7 % 13);
    }
    return result;
}

template <tg::cuda::Precision precision>
void check() {
    Forecaster<precision> forecaster(tg::untrained<Small>());
    const std::vector<float> good = values(false);
    const std::vector<float> bad = values(true);
    const tg::Series good_series{.batch = 2, .variates = 2, .steps = 20, .values = good};
    const tg::Series bad_series{.batch = 2, .variates = 2, .steps = 20, .values = bad};
    for (int round = 0; round < 2; ++round) {
        CHECK(forecaster.forecast(good_series).is_finite());
        // Of the whole horizon, and of less than the bucket along each axis.
        CHECK(forecaster.forecast(bad_series).not_finite() == 2 * 40 * 70);
        const tg::Forecast part = forecaster.forecast(bad_series, {.horizon = 21, .samples = 33});
        CHECK(part.not_finite() == 2 * 21 * 33);
        const std::vector<float> found = device_test::values_of(part);
        const std::vector<float> zeros(found.size() / 2, 0.0F);
        CHECK(
            device_test::is_same({found.begin() + static_cast<std::ptrdiff_t>(found.size() / 2), found.end()}, zeros));
    }
    // The other series of the batch is left as it was.
    const std::vector<float> with_good = device_test::values_of(forecaster.forecast(good_series, {.seed = 5}));
    const std::vector<float> with_bad = device_test::values_of(forecaster.forecast(bad_series, {.seed = 5}));
    const auto half = static_cast<std::ptrdiff_t>(with_good.size() / 2);
    CHECK(device_test::is_same({with_good.begin(), with_good.begin() + half},
                               {with_bad.begin(), with_bad.begin() + half}));
    // On a stream of the caller's.
    const device_test::CallersStream stream;
    const tg::cuda::DeviceForecast on_device = forecaster.forecast_on(stream.stream, bad_series, {.horizon = 40});
    stream.wait();
    CHECK(*on_device.not_finite == 2 * 40 * 70);
    (void)forecaster.forecast_on(stream.stream, good_series);
    stream.wait();
    CHECK(*on_device.not_finite == 0);
}

}  // namespace

TEST_CASE("a series that is too large for f32 is counted on the device") {
    SUBCASE("f32") {
        check<tg::cuda::Precision::f32>();
    }
    SUBCASE("bf16") {
        check<tg::cuda::Precision::bf16>();
    }
}

TEST_CASE("a family without marks: a zero keeps its sign on the device, and what is no finite number is counted") {
    using smallest_family::Partial;
    constexpr tg::Bucket small{.variates = 3, .context = 2, .horizon = 40};
    tg::cuda::Forecaster<Partial, small, tg::cuda::ForecasterOptions{}> forecaster(
        tg::ModelWeights<Partial>{tg::Weights(std::make_shared<tg::test::TensorMap>(
            std::map<std::string, std::vector<float>>{{"factor", {0.5F, 1, 3}}}))});
    const std::vector<float> newest{-0.0F, -1, 3.4e38F};  // one has no root, and one overflows
    const tg::Series series{.variates = 3, .steps = 1, .values = newest};
    for (int round = 0; round < 2; ++round) {
        const tg::Forecast found = forecaster.forecast(series, {.horizon = 33});
        CHECK(found.not_finite() == 33 * (3 + 1));
        const std::vector<float> values = device_test::values_of(found);
        REQUIRE(values.size() == 3 * 33 * 3);
        for (std::size_t i = 0; i < values.size(); ++i) {
            CAPTURE(i);
            const std::size_t row = i / (33 * 3);
            CHECK(std::isnan(values[i]) == (row == 1));
            CHECK(std::isinf(values[i]) == (row == 2 && i % 3 == 2));
            if (row != 1) {
                CHECK(std::signbit(values[i]) == (row == 0));
            }
        }
    }
}

TEST_CASE("weights that are not finite are an error when they are put on the device") {
    const auto broken = fixture::changed_weights(
        tg::untrained<Small>(), [](const std::string& tensor, const tg::Shape&, std::span<float> values) {
            if (tensor == "model.output_distribution.loc_proj.weight") {
                values[33] = std::numeric_limits<float>::quiet_NaN();
            }
        });
    const std::string error = error_of([&] { Forecaster<tg::cuda::Precision::f32> forecaster(broken); });
    check_has(error,
              "tensor_mismatch: The tensor 'model.output_distribution.loc_proj.weight' of the checkpoint holds NaN");
    check_has(error, "at [1, 1]");
}
