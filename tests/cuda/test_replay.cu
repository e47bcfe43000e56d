// SPDX-License-Identifier: Apache-2.0
// What holds of forecasts on a device beyond one result: of two at once, and of those that cannot be.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "cuda/device_test.hpp"
#include "cuda/replay_requests.hpp"

using device_test::CallersStream;
using device_test::is_same;
using device_test::values_of;
using namespace replay;

namespace {

using enum tg::cuda::Precision;

template <tg::Bucket bucket, tg::cuda::Precision precision = f32>
using Forecaster = tg::cuda::Forecaster<Model, bucket, tg::cuda::ForecasterOptions{.precision = precision}>;

const auto& weights() {
    static const auto loaded = tg::load<Model>(fixture::folder("mixture"));
    return loaded;
}

bool is_same(const std::vector<float>& expected, const tg::Forecast& forecast) {
    const auto found = forecast.samples();
    return found.size() == expected.size() &&
           std::memcmp(found.data(), expected.data(), expected.size() * sizeof(float)) == 0;
}

/// The error code that a call throws; -1 when it throws none.
template <class Call>
int error_of(Call&& call) {
    try {
        call();
    } catch (const tg::Error& error) {
        MESSAGE(error.what());
        return static_cast<int>(error.code());
    }
    return -1;
}

constexpr int device_failure = static_cast<int>(tg::ErrorCode::device_failure);
constexpr int no_bucket = static_cast<int>(tg::ErrorCode::no_bucket);

}  // namespace

TEST_CASE("two forecasters on two streams give what each gives alone") {
    Forecaster<sampled> first(weights());
    Forecaster<sampled> second(weights());
    const Request request = request_for(sampled);
    Request other = request_for(sampled);
    for (float& value : other.values) {
        value = 2.0F - value;
    }
    const auto expected_first = values_of(first.forecast(request.series(), {.seed = 1}));
    const auto expected_second = values_of(second.forecast(other.series(), {.seed = 2}));
    REQUIRE(expected_first != expected_second);
    const CallersStream left;
    const CallersStream right;
    std::vector<float> found_first(expected_first.size());
    std::vector<float> found_second(expected_second.size());
    int different = 0;
    for (int round = 0; round < 50; ++round) {
        const auto on_left = first.forecast_on(left.stream, request.series(), {.seed = 1});
        const auto on_right = second.forecast_on(right.stream, other.series(), {.seed = 2});
        REQUIRE(on_left.request == sampled);
        // Behind the forecasts, on their streams: the copies wait for them and for nothing else.
        REQUIRE(cudaMemcpyAsync(found_first.data(), on_left.data, found_first.size() * sizeof(float),
                                cudaMemcpyDeviceToHost, left.stream) == cudaSuccess);
        REQUIRE(cudaMemcpyAsync(found_second.data(), on_right.data, found_second.size() * sizeof(float),
                                cudaMemcpyDeviceToHost, right.stream) == cudaSuccess);
        REQUIRE(cudaStreamSynchronize(left.stream) == cudaSuccess);
        REQUIRE(cudaStreamSynchronize(right.stream) == cudaSuccess);
        different += found_first == expected_first && found_second == expected_second ? 0 : 1;
    }
    CHECK(different == 0);
}

TEST_CASE("the same seed draws what it draws on the CPU") {
    Forecaster<many_samples> forecaster(weights());
    const Request request = request_for(many_samples);
    const auto found = values_of(forecaster.forecast(request.series(), {.seed = seed}));
    const auto expected = samples_on_cpu();
    REQUIRE(found.size() == expected.size());
    double largest = 0;
    for (const float value : expected) {
        largest = std::max(largest, std::abs(static_cast<double>(value)));
    }
    std::size_t close = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double gap = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
        close += gap <= 1e-4 * largest ? 1U : 0U;  // NaN is not close
    }
    // A uniform number that lies at the boundary of two components, or at that of a rejection, may fall on either side
    // after another rounding: then a draw comes from another component, and those of later patches follow it.
    CHECK_MESSAGE(static_cast<double>(close) >= 0.999 * static_cast<double>(found.size()),
                  close << " of " << found.size());
}

TEST_CASE("a device that does not exist is an error") {
    CHECK(error_of([] { Forecaster<sampled> forecaster(weights(), {.device = 4096}); }) == device_failure);
    CHECK(error_of([] { Forecaster<sampled> forecaster(weights(), {.device = -1}); }) == device_failure);
}

TEST_CASE("requests that do not fit are errors, and leave the forecaster as it was") {
    Forecaster<sampled> forecaster(weights());
    const Request request = request_for(sampled);
    const auto expected = values_of(forecaster.forecast(request.series(), {.seed = seed}));
    const auto fails = [&](tg::Bucket sizes, tg::ForecastOptions options) {
        const Request wrong = request_for(sizes);
        CHECK(error_of([&] { (void)forecaster.forecast(wrong.series(), options); }) == no_bucket);
        CHECK(error_of([&] { (void)forecaster.forecast_on(nullptr, wrong.series(), options); }) == no_bucket);
        CHECK(is_same(expected, forecaster.forecast(request.series(), {.seed = seed})));
    };
    tg::Bucket larger = sampled;
    larger.variates = 4;
    fails(larger, {});
    larger = sampled;
    larger.context = 65;
    fails(larger, {.context = tg::ContextPolicy::error});
    fails(sampled, {.horizon = 25});
    fails(sampled, {.samples = 0});
    // Results that stay on the device are of one piece.
    const auto fails_on = [&](tg::Bucket sizes, tg::ForecastOptions options) {
        const Request wrong = request_for(sizes);
        CHECK(error_of([&] { (void)forecaster.forecast_on(nullptr, wrong.series(), options); }) == no_bucket);
        CHECK(is_same(expected, forecaster.forecast(request.series(), {.seed = seed})));
    };
    larger = sampled;
    larger.batch = 3;
    fails_on(larger, {});
    fails_on(sampled, {.samples = 13});
    fails_on(sampled, {.horizon = 25, .extend = true});
}

TEST_CASE("a context that is longer than the bucket's is that of its newest steps") {
    Forecaster<sampled> forecaster(weights());
    tg::Bucket longer = sampled;
    longer.context = 101;
    const Request request = request_for(longer);
    const Request cut = part_of(request, {.batch = 2, .variates = 3, .steps = sampled.context});
    const auto expected = values_of(forecaster.forecast(cut.series(), {.seed = seed}));
    const auto found = forecaster.forecast(request.series(), {.seed = seed});
    CHECK(is_same(expected, found));
    CHECK(found.context() == sampled.context);
    const device_test::CallersStream stream;
    const auto on_device = forecaster.forecast_on(stream.stream, request.series(), {.seed = seed});
    std::vector<float> values(expected.size());
    stream.wait();
    REQUIRE(cudaMemcpy(values.data(), on_device.data, values.size() * sizeof(float), cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    CHECK(device_test::is_same(expected, values));
}

TEST_CASE("series and samples beyond the bucket run in parts, with the draws of one piece") {
    Forecaster<sampled> forecaster(weights());
    tg::Bucket larger = sampled;
    larger.batch = 3;
    const Request request = request_for(larger);
    const auto whole = forecaster.forecast(request.series(), {.seed = seed, .samples = 20}).keep();
    CHECK(forecaster.last_replays() == 4 * forecaster.replays(sampled.horizon));
    CHECK(whole.view().batch() == 3);
    CHECK(whole.view().sample_count() == 20);
    const auto points = static_cast<std::size_t>(3 * sampled.horizon);
    for (Index series = 0; series < 3; ++series) {
        CAPTURE(series);
        const Part alone{.first_series = series, .batch = 1, .variates = 3, .steps = sampled.context};
        const Request one = part_of(request, alone);
        const auto first = values_of(forecaster.forecast(one.series(), {.seed = seed}));
        const auto rest =
            values_of(forecaster.forecast(one.series(), {.seed = seed, .samples = 8, .first_sample = 12}));
        // Eight that both of them have, at other places of the bucket.
        const auto both = values_of(forecaster.forecast(one.series(), {.seed = seed, .samples = 8, .first_sample = 4}));
        const auto inside = whole.view().samples().subspan(static_cast<std::size_t>(series) * points * 20, points * 20);
        std::vector<float> found(points * 20);
        std::vector<float> shifted(points * 8);
        for (std::size_t point = 0; point < points; ++point) {
            std::copy_n(first.begin() + static_cast<std::ptrdiff_t>(point * 12), 12,
                        found.begin() + static_cast<std::ptrdiff_t>(point * 20));
            std::copy_n(rest.begin() + static_cast<std::ptrdiff_t>(point * 8), 8,
                        found.begin() + static_cast<std::ptrdiff_t>(point * 20) + 12);
            std::copy_n(first.begin() + static_cast<std::ptrdiff_t>(point * 12) + 4, 8,
                        shifted.begin() + static_cast<std::ptrdiff_t>(point * 8));
        }
        // Series alone and in a pair take the same kernels, row by row; sums may be cut at other places.
        fixture::check_close("parts of series " + std::to_string(series), found,
                             std::vector<float>(inside.begin(), inside.end()), 1e-6);
        fixture::check_close("shifted samples", both, shifted, 1e-6);
    }
}

TEST_CASE("a horizon beyond the bucket's goes on from medians") {
    Forecaster<sampled> forecaster(weights());
    const Request request = request_for(sampled);
    const tg::ForecastOptions options{.seed = seed, .horizon = 60, .samples = 12, .extend = true};
    const auto extended = forecaster.forecast(request.series(), options).keep();
    CHECK(extended.view().horizon() == 60);
    const auto first = values_of(forecaster.forecast(request.series(), {.seed = seed}));
    for (std::size_t row = 0; row < 6; ++row) {
        for (std::size_t at = 0; at < 24 * 12; ++at) {
            REQUIRE(extended.view().samples()[row * 60 * 12 + at] == first[row * 24 * 12 + at]);
        }
    }
    for (const float value : extended.view().samples()) {
        REQUIRE(std::isfinite(value));
    }
}

namespace {

/// Whether the device holds the same series and marks, padding and all.
template <class One, class Another>
void check_same_inputs(One& one, Another& another) {
    for (const char* const name : {"series", "observed"}) {
        INFO(name);
        CHECK(device_test::is_same(one.template read_state<float>(name), another.template read_state<float>(name)));
    }
}

}  // namespace

TEST_CASE("marks of observed steps that are on the device already are right for every request") {
    // A series of 768 KiB travels in four parts while it is written, the last of which ends where it ends.
    constexpr tg::Bucket large{.batch = 96, .variates = 1, .context = 2048, .horizon = 8};
    using Large = Forecaster<large>;
    CHECK(Large::keeps_inputs());
    CHECK(!Forecaster<sampled>::keeps_inputs());
    const Request full = waves(96, 1, 2048);
    Request gaps = full;
    make_gaps(gaps);
    const Request shorter = part_of(full, {.batch = 96, .steps = 2000});
    const Request fewer = part_of(full, {.first_series = 3, .batch = 90, .steps = 2048});
    const Request one = part_of(full, {.first_series = 7, .batch = 1, .steps = 100});
    Large keeps(weights());
    Large forgets(weights());
    const auto expected = [&](const Request& request) {
        forgets.fill(full.series(), large, 0);  // so nothing is known of the marks: all is written and copied
        return values_of(forgets.forecast(request.series()));
    };
    const auto check = [&](const char* what, const Request& request) {
        INFO(what);
        CHECK(is_same(values_of(keeps.forecast(request.series())), expected(request)));
        check_same_inputs(keeps, forgets);
    };
    REQUIRE(!is_same(expected(full), expected(gaps)));
    for (int round = 0; round < 2; ++round) {
        check("nothing is missing", full);
        check("as the one before", full);
        check("gaps", gaps);
        check("nothing is missing after gaps", full);
        check("fewer steps", shorter);
        check("as the one before", shorter);
        check("fewer series", fewer);
        check("one short series", one);
        check("as the one before", one);
    }
    // What is refused is on its way already; the device holds nothing that the next request could take for its own.
    Request wrong = fewer;
    wrong.values.back() = INFINITY;
    const CallersStream stream;
    const auto refuses = [&](auto&& forecast) {
        try {
            forecast();
            FAIL_CHECK("a series with an infinity was forecast");
        } catch (const tg::Error& error) {
            CHECK(error.code() == tg::ErrorCode::invalid_series);
            CHECK(std::string(error.what()).find("series 89, variate 0, step 2047 holds NaN") != std::string::npos);
        }
    };
    refuses([&] { (void)keeps.forecast(wrong.series()); });
    check("behind what was refused", one);
    refuses([&] { (void)keeps.forecast_on(stream.stream, wrong.series()); });
    check("behind what was refused", full);
    // On streams of the caller's.
    const auto on_device = keeps.forecast_on(stream.stream, fewer.series());
    std::vector<float> found(on_device.size());
    REQUIRE(cudaMemcpyAsync(found.data(), on_device.data, found.size() * sizeof(float), cudaMemcpyDeviceToHost,
                            stream.stream) == cudaSuccess);
    stream.wait();
    CHECK(is_same(found, expected(fewer)));
    // With values on the device, where the call copies the inputs but for those.
    for (const Request* const request : std::initializer_list<const Request*>{&full, &gaps, &full}) {
        tg::cuda::DeviceMemory values(request->values.size() * sizeof(float));
        REQUIRE(cudaMemcpyAsync(values.data(), request->values.data(), values.size(), cudaMemcpyHostToDevice,
                                stream.stream) == cudaSuccess);
        tg::Series series = request->series();
        series.values = {};
        const auto made = keeps.forecast_on(
            stream.stream,
            tg::cuda::DeviceSeries{.series = series, .values = reinterpret_cast<const float*>(values.data())});
        found.resize(made.size());
        REQUIRE(cudaMemcpyAsync(found.data(), made.data, found.size() * sizeof(float), cudaMemcpyDeviceToHost,
                                stream.stream) == cudaSuccess);
        stream.wait();
        CHECK(is_same(found, expected(*request)));
    }
    // What the caller wrote to the state is gone with the next request.
    check("nothing is missing", full);
    keeps.write_state("observed", std::vector<float>(96 * 2048, 0.0F));
    check("after other marks", full);
}

TEST_CASE("padding that is on the device already is not written again, and what a larger request left is") {
    constexpr tg::Bucket large{.batch = 8, .variates = 3, .context = 2048, .horizon = 8};
    constexpr tg::Bucket small{.batch = 3, .variates = 3, .context = 64, .horizon = 8};
    const auto check_parts = [&]<tg::Bucket bucket>() {
        const Request full = waves(bucket.batch, bucket.variates, bucket.context);
        Request gaps = part_of(full, {.batch = bucket.batch - 1, .variates = 2, .steps = bucket.context - 9});
        make_gaps(gaps);
        Forecaster<bucket> keeps(weights());
        Forecaster<bucket> forgets(weights());
        const auto check = [&](const Request& request) {
            CAPTURE(request.batch);
            CAPTURE(request.variates);
            CAPTURE(request.steps);
            forgets.fill(full.series(), bucket, 0);  // so nothing is known of the padding: all is written and copied
            const auto expected = values_of(forgets.forecast(request.series()));
            CHECK(is_same(values_of(keeps.forecast(request.series())), expected));
            check_same_inputs(keeps, forgets);
        };
        check(part_of(full, {.batch = 1, .variates = 1, .steps = 30}));
        check(full);
        check(part_of(full, {.batch = 2, .variates = 3, .steps = bucket.context}));             // fewer series
        check(part_of(full, {.batch = bucket.batch, .variates = 1, .steps = bucket.context}));  // fewer variates
        check(part_of(full, {.batch = bucket.batch, .variates = 1, .steps = bucket.context}));
        check(part_of(full, {.batch = 2, .variates = 3, .steps = 20}));  // fewer steps
        check(part_of(full, {.batch = 2, .variates = 3, .steps = 20}));
        check(gaps);
        check(part_of(full, {.batch = 1, .variates = 2, .steps = 33}));
        check(full);
    };
    CHECK(Forecaster<large>::keeps_inputs());
    check_parts.template operator()<large>();
    CHECK(!Forecaster<small>::keeps_inputs());
    check_parts.template operator()<small>();
}
