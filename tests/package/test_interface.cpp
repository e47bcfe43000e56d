// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/c/totograph.h>
#include <totograph/core/error.hpp>
#include <totograph/io/constant_json.hpp>
#include <totograph/package/interface/scatter.hpp>
#include <totograph/package/interface/series.hpp>
#include <totograph/package/interface/status.hpp>
#include <totograph/package/interface/structures.hpp>

namespace tg = totograph;
namespace package = totograph::package;

namespace {

struct Document {
    static constexpr void write(tg::io::ConstantJson& json) {
        json.begin_object().member("a", 16).member("b", -7).member("c", true).member("d", "x y");
        json.key("e").begin_array().value(10.0).value(5e-4).value(0.25).value(-1.5).end_array();
        json.key("f").begin_array().end_array().end_object();
    }
};

totograph_series series_of(const float* values, std::int64_t batch, std::int64_t variates, std::int64_t steps,
                           std::array<std::int64_t, 3> strides) {
    totograph_series series = TOTOGRAPH_SERIES_INIT;
    series.batch = batch;
    series.variates = variates;
    series.steps = steps;
    series.values = values;
    std::copy(strides.begin(), strides.end(), series.values_strides);
    return series;
}

/// The element that the library reads.
float at(const tg::Series& series, tg::Index row, tg::Index step) {
    return series.values[static_cast<std::size_t>(series.row_begin(row) + step)];
}

}  // namespace

TEST_CASE("JSON that is written while compiling") {
    constexpr auto text = tg::io::constant_json<Document>();
    CHECK(std::string_view(text.data(), text.size()) ==
          R"({"a":16,"b":-7,"c":true,"d":"x y","e":[10,5e-4,25e-2,-15e-1],"f":[]})");
}

TEST_CASE("a caller's strides: read in place where rows of touching steps are equally far apart, else copied") {
    std::vector<float> memory(100);
    for (std::size_t i = 0; i < memory.size(); ++i) {
        memory[i] = static_cast<float>(i);
    }
    struct Case {
        std::int64_t batch, variates, steps;
        std::array<std::int64_t, 3> strides;
        bool in_place;
    };
    for (const Case& one :
         {Case{2, 3, 4, {0, 0, 0}, true}, Case{2, 3, 4, {12, 4, 1}, true}, Case{2, 3, 4, {30, 10, 1}, true},
          Case{2, 3, 4, {40, 10, 1}, false}, Case{2, 3, 4, {12, 1, 3}, false}, Case{2, 3, 4, {4, 8, 1}, false},
          Case{1, 1, 9, {0, 0, 1}, true}, Case{1, 1, 9, {0, 0, 3}, false}, Case{3, 1, 4, {10, 7, 1}, true},
          Case{1, 3, 4, {0, 2, 1}, false}, Case{1, 2, 5, {0, 0, 1}, false}}) {
        const std::string text = std::to_string(one.strides[0]) + ", " + std::to_string(one.strides[1]) + ", " +
                                 std::to_string(one.strides[2]);
        CAPTURE(text);
        const totograph_series given = series_of(memory.data(), one.batch, one.variates, one.steps, one.strides);
        const package::SeriesOfCaller view(given);
        CHECK(view.is_in_place() == one.in_place);
        const bool is_row_major = one.strides == std::array<std::int64_t, 3>{0, 0, 0};
        const auto strides = is_row_major ? std::array<std::int64_t, 3>{12, 4, 1} : one.strides;
        for (tg::Index batch = 0; batch < one.batch; ++batch) {
            for (tg::Index variate = 0; variate < one.variates; ++variate) {
                for (tg::Index step = 0; step < one.steps; ++step) {
                    const auto place = batch * strides[0] + variate * strides[1] + step * strides[2];
                    CHECK(at(view.series(), batch * one.variates + variate, step) == static_cast<float>(place));
                }
            }
        }
    }
    // Backwards: the newest step lies first.
    const package::SeriesOfCaller backwards(series_of(memory.data() + 8, 1, 1, 9, {0, 0, -1}));
    CHECK(at(backwards.series(), 0, 0) == 8);
    CHECK(at(backwards.series(), 0, 8) == 0);
}

TEST_CASE("NaN is a gap where the caller says so, beside the gaps that a mask has") {
    std::vector<float> values{1, NAN, 3, 4, 5, NAN};
    std::vector<std::uint8_t> observed{1, 1, 1, 0, 1, 1};
    totograph_series given = series_of(values.data(), 1, 2, 3, {0, 0, 0});
    CHECK(package::SeriesOfCaller(given).series().observed.empty());
    given.nan_is_gap = 1;
    const package::SeriesOfCaller alone(given);
    CHECK(alone.is_in_place());
    CHECK(std::vector<std::uint8_t>(alone.series().observed.begin(), alone.series().observed.end()) ==
          std::vector<std::uint8_t>{1, 0, 1, 1, 1, 0});
    given.observed = observed.data();
    const package::SeriesOfCaller both(given);
    CHECK(std::vector<std::uint8_t>(both.series().observed.begin(), both.series().observed.end()) ==
          std::vector<std::uint8_t>{1, 0, 1, 0, 1, 0});
    CHECK(observed[1] == 1);  // the caller's memory stays as it is
}

TEST_CASE("a gap of rows that lie far apart takes a mask of the steps alone") {
    constexpr std::int64_t apart = 1000;
    std::vector<float> values(apart + 3, 7.0F);
    std::vector<std::uint8_t> observed(values.size(), 1);
    values[0] = 1;
    values[apart + 2] = 2;
    observed[1] = 0;
    for (const auto& [batch, variates] : {std::pair<std::int64_t, std::int64_t>{1, 2}, {2, 1}}) {
        totograph_series given = series_of(values.data(), batch, variates, 3, {variates * apart, apart, 1});
        given.nan_is_gap = 1;
        values[apart] = 3;
        CHECK(package::SeriesOfCaller(given).is_in_place());
        values[apart] = NAN;
        const package::SeriesOfCaller alone(given);
        CHECK(std::vector<std::uint8_t>(alone.series().observed.begin(), alone.series().observed.end()) ==
              std::vector<std::uint8_t>{1, 1, 1, 0, 1, 1});
        CHECK(at(alone.series(), 0, 0) == 1);
        CHECK(at(alone.series(), 1, 2) == 2);
        given.observed = observed.data();
        std::copy_n(given.values_strides, 3, given.observed_strides);
        const package::SeriesOfCaller both(given);
        CHECK(std::vector<std::uint8_t>(both.series().observed.begin(), both.series().observed.end()) ==
              std::vector<std::uint8_t>{1, 0, 1, 0, 1, 1});
        CHECK(both.series().values.size() == 6);
    }
}

TEST_CASE("sizes that no memory has are refused before anything is read") {
    const float one = 0;
    constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
    for (const auto& [batch, variates, steps] : {std::array{huge, huge, huge}, std::array<std::int64_t, 3>{1, 1, huge},
                                                 std::array<std::int64_t, 3>{1 << 20, 1 << 20, 2}}) {
        CHECK_THROWS_AS(package::SeriesOfCaller(series_of(&one, batch, variates, steps, {0, 0, 0})), tg::Error);
    }
    CHECK_THROWS_AS(package::SeriesOfCaller(series_of(nullptr, 1, 1, 1, {0, 0, 0})), tg::Error);
}

TEST_CASE("a known future of no steps is refused, and not left out") {
    const std::vector<float> memory(16, 1.0F);
    totograph_series given = series_of(memory.data(), 1, 2, 4, {0, 0, 0});
    given.exogenous = 1;
    CHECK(package::SeriesOfCaller(given).series().future_exogenous.empty());
    given.future_exogenous = memory.data();
    for (const std::int64_t steps : {0, -4}) {
        given.future_steps = steps;
        CHECK_THROWS_WITH_AS(package::SeriesOfCaller{given},
                             doctest::Contains(("has " + std::to_string(steps) + " steps").c_str()), tg::Error);
    }
    given.future_steps = 3;
    CHECK(package::SeriesOfCaller(given).series().future_exogenous.size() == 3);
    given.exogenous = 0;  // of no variate there is nothing to know
    CHECK_THROWS_WITH_AS(package::SeriesOfCaller{given}, doctest::Contains("has 3 steps of no variate"), tg::Error);
    given.future_steps = 0;
    CHECK(package::SeriesOfCaller(given).series().future_exogenous.empty());
}

TEST_CASE("results go to where the caller's strides say") {
    const auto fill = [](std::span<float> row_major) {
        for (std::size_t i = 0; i < row_major.size(); ++i) {
            row_major[i] = static_cast<float>(i);
        }
    };
    const std::array<tg::Index, 2> extents{2, 3};
    std::array<float, 6> to{};
    package::write_strided(to.data(), extents, nullptr, fill);
    CHECK(to == std::array<float, 6>{0, 1, 2, 3, 4, 5});
    const std::array<std::int64_t, 2> turned{1, 2};
    package::write_strided(to.data(), extents, turned.data(), fill);
    CHECK(to == std::array<float, 6>{0, 3, 1, 4, 2, 5});
    const std::array<std::int64_t, 2> backwards{-3, 1};
    package::write_strided(to.data() + 3, extents, backwards.data(), fill);
    CHECK(to == std::array<float, 6>{3, 4, 5, 0, 1, 2});
}

TEST_CASE("a sentence is cut to the room that an error has, between characters") {
    totograph_error error = TOTOGRAPH_ERROR_INIT;
    CHECK(package::report(&error, TOTOGRAPH_NO_BUCKET, std::string(3000, 'x')) == TOTOGRAPH_NO_BUCKET);
    CHECK(std::strlen(error.sentence) == sizeof error.sentence - 1);
    CHECK(error.status == TOTOGRAPH_NO_BUCKET);
    error.size = offsetof(totograph_error, sentence) + 4;  // room for three bytes and the end
    (void)package::report(&error, TOTOGRAPH_NO_BUCKET, "ab\xC3\xA4");
    CHECK(std::string_view(error.sentence) == "ab");
    (void)package::report(&error, TOTOGRAPH_OK, {});
    CHECK((error.status == TOTOGRAPH_OK && std::string_view(error.sentence).empty()));
    (void)package::report(&error, TOTOGRAPH_NO_BUCKET, "ab");
    error.size = 0;
    (void)package::report(&error, TOTOGRAPH_OK, {});
    CHECK(error.status == TOTOGRAPH_NO_BUCKET);  // an error without room stays as it is
    CHECK(package::guarded(nullptr, [] { throw tg::Error(tg::ErrorCode::io_failure, "x"); }) == TOTOGRAPH_IO_FAILURE);
    CHECK(package::guarded(nullptr, [] { throw std::bad_alloc(); }) == TOTOGRAPH_OUT_OF_MEMORY);
    CHECK(package::guarded(nullptr, [] { throw 1; }) == TOTOGRAPH_UNFORESEEN);
}

TEST_CASE("structures of other versions") {
    totograph_request request = TOTOGRAPH_REQUEST_INIT;
    request.horizon = 5;
    request.seed = 7;
    request.size = offsetof(totograph_request, seed);  // a version that had no seed
    const totograph_request read = package::read_structure(&request, "totograph_request");
    CHECK(read.horizon == 5);
    CHECK(read.seed == 0);
    CHECK(read.size == sizeof read);
    request.size = 1U << 20U;
    CHECK_THROWS_AS(package::read_structure(&request, "totograph_request"), tg::Error);
    CHECK(package::options_of(request).seed == 7);
    request.reserved = 1;  // for what a later version may ask
    CHECK_THROWS_WITH_AS(package::options_of(request), doctest::Contains("reserved field of a request is 1"),
                         tg::Error);

    totograph_bucket bucket{};
    bucket.size = offsetof(totograph_bucket, context);
    package::write_structure(&bucket, package::c_bucket({.batch = 2, .variates = 3, .context = 4}), "totograph_bucket");
    CHECK(bucket.variates == 3);
    CHECK(bucket.context == 0);
    CHECK(bucket.size == offsetof(totograph_bucket, context));
}
