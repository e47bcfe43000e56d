// SPDX-License-Identifier: Apache-2.0
// A family that the library does not know, on the device against the eager executor on the CPU.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/cuda.hpp>

#include "cuda/second_family_eager.hpp"
#include "forecast/second_family/family.hpp"
#include "forecast/second_family/request.hpp"

namespace {

namespace tg = totograph;
using second_family::Small;

/// The mean of what was observed of a row, to which the family adds its scaled quantiles.
double mean_of_row(const tg::Series& series, std::size_t row) {
    double count = 0;
    double total = 0;
    const auto steps = static_cast<std::size_t>(series.steps);
    for (std::size_t i = row * steps; i < (row + 1) * steps; ++i) {
        const bool is_observed = series.observed.empty() || series.observed[i] != 0;
        count += is_observed ? 1 : 0;
        total += is_observed ? double{series.values[i]} : 0;
    }
    return total / count;
}

/// How far so many roundings that know nothing of each other go, in units of the largest one: each is anywhere below
/// that, a third of its square on average; of 10,000 values one is beyond four standard deviations.
double reach_of(double roundings) {
    return 4 * std::sqrt(roundings / 3);
}
/// 26 GEMMs and attention products follow one another: the embedding, six in each of four layers, and the head. Each
/// rounds both of its inputs; residuals and norms pass errors on as they are. (With weights alone as bf16, the CPU is
/// off by 0.3 of one rounding.)
constexpr double roundings = 52;
/// In every precision f32: a sum of the steps and a division, the same for the deviation, and the last two operations.
double f32_roundings(const tg::Series& series) {
    return 4 + 2 * static_cast<double>(series.steps);
}
constexpr double f32_rounding = 0x1p-24;

/// @param rounding  the most that rounding to the precision changes of a number, as a part of it
void check_close(const tg::QuantileForecast& found, const std::vector<float>& expected, const tg::Series& series,
                 double rounding) {
    const std::vector<float> values(found.values().begin(), found.values().end());
    REQUIRE(values.size() == expected.size());
    const auto rows = static_cast<std::size_t>(series.rows());
    const std::size_t of_row = values.size() / rows;
    for (std::size_t row = 0; row < rows; ++row) {
        const double mean = mean_of_row(series, row);
        double largest = 0;
        for (std::size_t i = row * of_row; i < (row + 1) * of_row; ++i) {
            largest = std::max(largest, std::abs(expected[i] - mean));
        }
        const double bound = reach_of(roundings) * rounding * largest +
                             reach_of(f32_roundings(series)) * f32_rounding * (std::abs(mean) + largest);
        for (std::size_t i = row * of_row; i < (row + 1) * of_row; ++i) {
            CAPTURE(i);
            CHECK(std::abs(double{values[i]} - double{expected[i]}) <= bound);
        }
    }
}

template <tg::cuda::Precision precision>
void check(double rounding) {
    using Forecaster =
        tg::cuda::Forecaster<Small, second_family::larger, tg::cuda::ForecasterOptions{.precision = precision}>;
    const second_family::Request request;
    Forecaster forecaster(tg::untrained<Small>(second_family::weights_seed));
    const std::vector<float> expected = second_family::eager_quantiles();
    for (int round = 0; round < 2; ++round) {  // the second one is a replay after another
        const tg::QuantileForecast found = forecaster.forecast(request.series());
        CHECK(found.levels().size() == second_family::levels.size());
        check_close(found, expected, request.series(), rounding);
    }
}

/// Random walks from a level on.
struct Walks {
    Walks(tg::Index batch, tg::Index variates, tg::Index steps, double level)
        : series{.batch = batch, .variates = variates, .steps = steps} {
        for (tg::Index i = 0; i < series.rows() * steps; ++i) {
            level += tg::test::uniform(static_cast<std::uint64_t>(i + steps));
            values.push_back(static_cast<float>(level));
        }
        series.values = values;
    }
    Walks(const Walks&) = delete;
    Walks& operator=(const Walks&) = delete;

    std::vector<float> values;
    tg::Series series;
};

}  // namespace

TEST_CASE("a second family in f32") {
    check<tg::cuda::Precision::f32>(f32_rounding);
}
TEST_CASE("a second family in tf32") {
    check<tg::cuda::Precision::tf32>(0x1p-10);  // tensor cores may cut bits off
}
TEST_CASE("a second family in bf16") {
    check<tg::cuda::Precision::bf16>(0x1p-8);
}

TEST_CASE("many inputs of a family that says nothing of its gaps are those of the request, whatever came before") {
    using Forecaster = tg::cuda::Forecaster<Small, second_family::longest,
                                            tg::cuda::ForecasterOptions{.precision = tg::cuda::Precision::f32}>;
    static_assert(Forecaster::keeps_inputs());
    Forecaster forecaster(tg::untrained<Small>(second_family::weights_seed));
    const auto check = [&](const tg::Series& series) {
        check_close(forecaster.forecast(series), second_family::eager_quantiles(series), series, f32_rounding);
    };
    const Walks full(3, 4, 1280, 100);
    const Walks other(3, 4, 1280, -50);
    const Walks few(1, 2, 41, 7);
    const second_family::Request gaps;
    check(full.series);
    check(other.series);  // of the same extents: its marks are there
    check(gaps.series());
    check(few.series);
    Walks unknown(1, 2, 41, 9);
    unknown.values[50] = std::nanf("");
    CHECK_THROWS_AS((void)forecaster.forecast(unknown.series), tg::Error);
    check(few.series);
    check(Walks(1, 2, 41, -9).series);
    check(full.series);
    check(Walks(3, 4, 3, 1).series);
}

TEST_CASE("a family that says nothing of its gaps takes no values on the device") {
    using Forecaster = tg::cuda::Forecaster<Small, second_family::larger,
                                            tg::cuda::ForecasterOptions{.precision = tg::cuda::Precision::f32}>;
    const second_family::Request request;
    Forecaster forecaster(tg::untrained<Small>(second_family::weights_seed));
    tg::cuda::DeviceSeries series{.series = request.series()};
    series.values = series.series.values.data();  // never read
    series.series.values = {};
    try {
        (void)forecaster.forecast_on(nullptr, series);
        FAIL("it should throw");
    } catch (const tg::Error& error) {
        CHECK(error.code() == tg::ErrorCode::invalid_argument);
        CHECK(std::string(error.what()).find("reads its series on the host") != std::string::npos);
    }
}
