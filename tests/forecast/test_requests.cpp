// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "io/support.hpp"
#include "models/toto1/cases.hpp"
#include "models/toto1/series.hpp"

// Requests that cannot be served are refused with a sentence before anything runs; hard ones that can be are served.

using namespace made_up;
using tg::ErrorCode;
using Model = fixture::models::Exogenous;

namespace {

constexpr tg::Bucket bucket{.batch = 2, .variates = 4, .context = 32, .horizon = 16, .exogenous = 2};
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

auto& forecaster() {
    static tg::Forecaster<Model, bucket> made(tg::load<Model>(fixture::folder("exogenous")), {.threads = 1});
    return made;
}

/// A request that the forecaster serves: two series of two targets and one exogenous variate, 20 steps, all filled in.
Request good() {
    Request request = waves(2, 3, 20);
    request.observed.assign(request.values.size(), 1);
    make_groups(request, 2);
    request.exogenous = 1;
    request.future = waves(2, 1, 11).values;
    return request;
}

constexpr tg::ForecastOptions good_options{.horizon = 11};

const tg::OwnedForecast& expected() {
    static const auto forecast = forecaster().forecast(good().series(), good_options).keep();
    return forecast;
}

/// Breaks a good request and checks the error; then a good one has the forecast that it always has.
void refuse(ErrorCode code, std::initializer_list<std::string_view> parts,
            const std::function<void(Request&, tg::ForecastOptions&)>& break_it) {
    (void)expected();
    Request request = good();
    tg::ForecastOptions options = good_options;
    break_it(request, options);
    tg::test::check_error(code, parts, [&] { (void)forecaster().forecast(request.series(), options); });
    CHECK(different_bits(expected(), forecaster().forecast(good().series(), good_options)) == 0);
}

}  // namespace

TEST_CASE("NaN and infinity where a value is claimed to be observed") {
    for (const float bad : {not_a_number, infinity, -infinity}) {
        refuse(ErrorCode::invalid_series, {"series 1, variate 2, step 7", "NaN or infinity", "not observed"},
               [&](Request& request, auto&) { request.values[(1 * 3 + 2) * 20 + 7] = bad; });
        refuse(ErrorCode::invalid_series, {"series 0, variate 0, step 0"}, [&](Request& request, auto&) {
            request.observed.clear();  // all are observed
            request.values[0] = bad;
        });
    }
}

TEST_CASE("NaN and infinity in gaps are as good as zeros there") {
    Request zeros = good();
    make_gaps(zeros);
    const auto with_zeros = forecaster().forecast(zeros.series(), good_options).keep();
    for (const float filler : {not_a_number, infinity, -infinity}) {
        Request request = zeros;
        for (std::size_t i = 0; i < request.values.size(); ++i) {
            request.values[i] = request.observed[i] != 0 ? request.values[i] : filler;
        }
        CHECK(different_bits(with_zeros, forecaster().forecast(request.series(), good_options)) == 0);
    }
}

TEST_CASE("nothing to start from") {
    refuse(ErrorCode::invalid_series, {"empty", "at least one step"}, [](Request& request, auto&) {
        request.steps = 0;
        request.values.clear();
        request.observed.clear();
        request.groups.clear();
    });
    refuse(ErrorCode::invalid_series, {"empty"}, [](Request& request, auto&) { request.steps = -3; });
    refuse(ErrorCode::invalid_series, {"series 0, variate 1", "no observed value"},
           [](Request& request, auto&) { std::fill_n(request.observed.begin() + 20, 20, std::uint8_t{0}); });
    refuse(ErrorCode::invalid_series, {"series 0, variate 0", "no observed value"},
           [](Request& request, auto&) { request.observed.assign(request.observed.size(), 0); });
    refuse(ErrorCode::invalid_argument, {"batch 0"}, [](Request& request, auto&) { request.batch = 0; });
    refuse(ErrorCode::invalid_argument, {"-1 variates"}, [](Request& request, auto&) { request.variates = -1; });
}

TEST_CASE("of values on a device, all else is checked") {
    constexpr auto plan = tg::forecast_plan<Model, bucket>();
    Request request = good();
    request.observed[3] = 0;
    const auto check_with = [&](const tg::ForecastPlan& of) {
        tg::Series series = request.series();
        series.values = {};
        (void)tg::check_for(series, good_options, of, tg::ValuesOn::device);
    };
    const auto check = [&] { check_with(plan); };
    check();
    std::fill_n(request.observed.begin() + 20, 20, std::uint8_t{0});
    tg::test::check_error(ErrorCode::invalid_series, {"series 0, variate 1 has no observed value at all"}, check);
    request.observed = {1, 1};
    tg::test::check_error(ErrorCode::invalid_argument, {"observed should hold", "found 2. Cut the span to these"},
                          check);
    request.observed.clear();
    check();
    request.groups[0] = -1;
    tg::test::check_error(ErrorCode::invalid_argument, {"group ids should not be negative"}, check);
    request = good();
    request.future[0] = infinity;
    tg::test::check_error(ErrorCode::invalid_series, {"future_exogenous holds NaN or infinity"}, check);
    request = good();
    tg::ForecastPlan of_host = plan;
    of_host.imputation.reset();
    tg::test::check_error(ErrorCode::invalid_argument, {"reads its series on the host"}, [&] { check_with(of_host); });
}

TEST_CASE("sizes that do not match") {
    refuse(ErrorCode::invalid_argument, {"values", "[batch, variates, steps] = [2, 3, 20]", "found 119"},
           [](Request& request, auto&) { request.values.pop_back(); });
    refuse(ErrorCode::invalid_argument, {"values", "found 0"}, [](Request& request, auto&) { request.values.clear(); });
    refuse(ErrorCode::invalid_argument, {"observed", "[2, 3, 20]", "found 121"},
           [](Request& request, auto&) { request.observed.push_back(1); });
    refuse(ErrorCode::invalid_argument, {"groups", "[batch, variates]", "[2, 3]", "found 5"},
           [](Request& request, auto&) { request.groups.resize(5); });
    refuse(ErrorCode::invalid_argument, {"future_exogenous", "[batch, exogenous, horizon] = [2, 1, 11]", "found 21"},
           [](Request& request, auto&) { request.future.pop_back(); });
    refuse(ErrorCode::invalid_argument, {"future_exogenous", "[2, 1, 12]", "found 22"},
           [](Request&, tg::ForecastOptions& options) { options.horizon = 12; });
    refuse(ErrorCode::invalid_argument, {"future_exogenous", "[2, 0, 11]", "found 22"},
           [](Request& request, auto&) { request.exogenous = 0; });
    // The product of these is 2^96, which no integer holds.
    refuse(ErrorCode::invalid_argument, {"values", "[4294967296, 4294967296, 4294967296]"},
           [](Request& request, auto&) { request.batch = request.variates = request.steps = Index{1} << 32U; });
}

TEST_CASE("horizons and numbers of samples that make no sense") {
    refuse(ErrorCode::invalid_argument, {"horizon", "at least 1", "found 0"},
           [](Request&, tg::ForecastOptions& options) { options.horizon = 0; });
    refuse(ErrorCode::invalid_argument, {"horizon", "found -7"},
           [](Request&, tg::ForecastOptions& options) { options.horizon = -7; });
    refuse(ErrorCode::invalid_argument, {"samples", "0 or more", "found -1"},
           [](Request&, tg::ForecastOptions& options) { options.samples = -1; });
}

TEST_CASE("draws that make no sense") {
    using totograph::Series;
    const auto refuse_draws = [](const totograph::IdDraws& draws, std::string_view part) {
        const std::array<float, 4> values{1, 2, 3, 4};
        Series series{.steps = 4, .values = values};
        series.draws = draws;
        tg::test::check_error(ErrorCode::invalid_argument, {part},
                              [&] { totograph::check_request(series, {.context = 4, .horizon = 1}); });
    };
    for (const float bad : {0.0F, -1.0F, not_a_number, infinity}) {
        refuse_draws({.temperature = bad}, "temperature of draws should be above 0");
    }
    refuse_draws({.filter = {.top_k = -1}}, "top_k should be 0 or more");
    refuse_draws({.filter = {.top_p = 0}}, "top_p above 0 and at most 1");
    refuse_draws({.filter = {.top_p = 1.5F}}, "top_p above 0 and at most 1");
}

TEST_CASE("one row that ends behind its memory, or was not observed where it is read") {
    const std::array<float, 6> values{1, 2, 3, 4, 5, 6};
    const tg::Series behind{.steps = 4, .values = values, .offset = 2};
    CHECK_NOTHROW(tg::check_request(behind, {.context = 4, .horizon = 1}));
    const tg::Series beyond{.steps = 4, .values = values, .offset = 3};
    tg::test::check_error(ErrorCode::invalid_argument, {"values should hold", "from element 3 on", "found 6"},
                          [&] { tg::check_request(beyond, {.context = 4, .horizon = 1}); });
    const std::array<std::uint8_t, 4> observed{1, 0, 0, 0};
    const tg::Series old{.steps = 4, .observed = observed};
    CHECK_NOTHROW(tg::check_request(old, {.context = 4, .horizon = 1}, tg::ValuesOn::device));
    tg::test::check_error(ErrorCode::invalid_series, {"no observed value in its newest 3 steps"},
                          [&] { tg::check_request(old, {.context = 3, .horizon = 1}, tg::ValuesOn::device); });
}

TEST_CASE("marks of a known future are as many as its values") {
    const std::array<float, 4> values{1, 2, 3, 4};
    const std::array<float, 3> future{1, not_a_number, not_a_number};
    const std::array<std::uint8_t, 3> known{1, 0, 1};
    tg::Series series{.variates = 2, .steps = 2, .values = values, .exogenous = 1, .future_exogenous = future};
    const auto check = [&] { tg::check_request(series, {.variates = 2, .context = 2, .horizon = 3}); };
    series.future_observed = known;
    tg::test::check_error(ErrorCode::invalid_series, {"NaN or infinity at element 2"}, check);
    series.future_observed = std::span(known).first(2);  // the third one is not read
    tg::test::check_error(ErrorCode::invalid_argument, {"future_observed should hold as many", "3, found 2"}, check);
}

TEST_CASE("of buckets that serve a request in parts equally well the first is chosen") {
    const std::array buckets{tg::Bucket{.variates = 3, .context = 32, .horizon = 16},
                             tg::Bucket{.variates = 4, .context = 32, .horizon = 16},
                             tg::Bucket{.batch = 2, .variates = 4, .context = 32, .horizon = 16}};
    const auto chosen = [&](Index batch) {
        return tg::choose_bucket(buckets, {.batch = batch, .variates = 2, .steps = 8}, {.horizon = 9}, false);
    };
    CHECK(chosen(1) == 0);
    CHECK(chosen(2) == 2);
    CHECK(chosen(3) == 2);  // in two runs
    const std::span<const tg::Bucket> equal = std::span(buckets).first(2);
    CHECK(tg::choose_bucket(equal, {.batch = 3, .variates = 2, .steps = 8}, {.horizon = 9}, false) == 0);
}

TEST_CASE("requests that are too large for the bucket") {
    refuse(ErrorCode::no_bucket, {"context of 33 steps", "compiled 32", "newest steps"},
           [](Request& request, tg::ForecastOptions& options) {
               request = waves(1, 1, 33);
               options.context = tg::ContextPolicy::error;
           });
    refuse(ErrorCode::no_bucket, {"1 x 5 x 8 -> 11", "2 x 4 x 32 -> 16"},
           [](Request& request, auto&) { request = waves(1, 5, 8); });
    refuse(ErrorCode::no_bucket, {"17 steps", "compiled 16", "extend"},
           [](Request& request, tg::ForecastOptions& options) {
               request = waves(1, 1, 8);
               options.horizon = 17;
           });
    refuse(ErrorCode::no_bucket, {"3 exogenous", "2 exogenous"}, [](Request& request, auto&) {
        request = waves(1, 4, 8);
        request.exogenous = 3;
        request.future = waves(1, 3, 11).values;
    });
    refuse(ErrorCode::no_bucket, {"9 samples", "no samples"},
           [](Request&, tg::ForecastOptions& options) { options.samples = 9; });
}

TEST_CASE("group ids that the model has no meaning for") {
    refuse(ErrorCode::invalid_argument, {"not be negative", "found -2"},
           [](Request& request, auto&) { request.groups = {0, 1, 0, 0, -2, 0}; });
    // 20 steps are two and a half patches of 8: the first patch ends after 4 steps.
    const auto change_at = [](Index step) {
        return [step](Request& request, auto&) {
            request.groups.assign(request.groups.size(), 0);
            std::fill(request.groups.begin() + 4 * 20 + step, request.groups.begin() + 5 * 20, 1);
        };
    };
    refuse(ErrorCode::invalid_argument, {"changes inside a patch", "series 1, variate 1, step 5", "8 steps"},
           change_at(5));
    refuse(ErrorCode::invalid_argument, {"series 1, variate 1, step 19"}, change_at(19));
    for (const Index allowed : {0, 4, 12}) {
        Request request = good();
        tg::ForecastOptions options = good_options;
        change_at(allowed)(request, options);
        CHECK_NOTHROW((void)forecaster().forecast(request.series(), options));
    }
}

TEST_CASE("group ids for each variate are as good as for each step") {
    Request request = good();
    request.groups = {0, 1, 0, 0, 1, 0};
    CHECK(different_bits(expected(), forecaster().forecast(request.series(), good_options)) == 0);
    request.groups = {7, 2147483647, 7, 7, 2147483647, 7};
    CHECK(different_bits(expected(), forecaster().forecast(request.series(), good_options)) == 0);
}

TEST_CASE("exogenous variates that cannot be") {
    refuse(ErrorCode::invalid_argument, {"of 3 variates, 3 cannot be exogenous"}, [](Request& request, auto&) {
        request.exogenous = 3;
        request.future.clear();
    });
    refuse(ErrorCode::invalid_argument, {"-1 cannot be exogenous"},
           [](Request& request, auto&) { request.exogenous = -1; });
    for (const float bad : {not_a_number, infinity}) {
        refuse(ErrorCode::invalid_series, {"future_exogenous", "element 21", "no gaps"},
               [&](Request& request, auto&) { request.future[21] = bad; });
    }
}

TEST_CASE("extreme but finite values give finite forecasts") {
    const float largest = std::numeric_limits<float>::max();
    for (const float size : {largest, 1e38F, 1e30F, 1e-38F, std::numeric_limits<float>::denorm_min(), 0.0F}) {
        CAPTURE(size);
        Request request = waves(2, 4, 32);
        for (std::size_t i = 0; i < request.values.size(); ++i) {
            request.values[i] = i % 3 == 0 ? -size : size;
        }
        for (const float value : forecaster().forecast(request.series()).mean()) {
            // What overflows on the way, or lies beyond half the range, is 0: the reference's replacement.
            CHECK(std::abs(value) <= largest / 2);
        }
    }
}

TEST_CASE("constant series are forecast on their own level") {
    for (const float level : {0.0F, 1.0F, -3e5F, 1e30F, 1e-30F}) {
        CAPTURE(level);
        Request request = waves(1, 2, 32);
        request.values.assign(request.values.size(), level);
        for (const float value : forecaster().forecast(request.series()).mean()) {
            // The scale of a constant is the square root of the smallest variance, 0.1; the head's means are a few
            // units.
            CHECK(std::abs(value - level) <= 3.0F + 1e-6F * std::abs(level));
        }
    }
}

TEST_CASE("a single observed step is enough") {
    Request request = good();
    request.observed.assign(request.observed.size(), 0);
    for (std::size_t row = 0; row < 6; ++row) {
        request.observed[row * 20 + 3 * row] = 1;
    }
    const auto forecast = forecaster().forecast(request.series(), good_options).keep();
    for (const float value : forecast.view().mean()) {
        CHECK(std::isfinite(value));
    }
    for (const float value : forecaster().forecast(waves(1, 1, 1).series(), {.horizon = 1}).mean()) {
        CHECK(std::isfinite(value));
    }
}

TEST_CASE("a context that is longer than the bucket is that of its newest steps, to the bit") {
    Request request = waves(2, 3, 50);
    make_gaps(request);
    make_groups(request, 2);
    const auto cut = part_of(request, {.batch = 2, .variates = 3, .steps = bucket.context});
    const auto expected_of_cut = forecaster().forecast(cut.series(), good_options).keep();
    const auto found = forecaster().forecast(request.series(), good_options);
    CHECK(different_bits(expected_of_cut, found) == 0);
    CHECK(found.context() == bucket.context);
    CHECK(forecaster().forecast(part_of(request, {.steps = 7}).series(), good_options).context() == 7);
    // What is not used may be anything; what is used is named as the caller counts it.
    request.values[5] = not_a_number;
    request.observed[5] = 1;
    CHECK(different_bits(expected_of_cut, forecaster().forecast(request.series(), good_options)) == 0);
    request.values[4 * 50 + 49] = not_a_number;
    request.observed[4 * 50 + 49] = 1;
    tg::test::check_error(ErrorCode::invalid_series, {"series 1, variate 1, step 49"},
                          [&] { (void)forecaster().forecast(request.series(), good_options); });
    std::fill_n(request.observed.begin() + 18, 32, std::uint8_t{0});
    tg::test::check_error(ErrorCode::invalid_series, {"series 0, variate 0", "newest 32 steps"},
                          [&] { (void)forecaster().forecast(request.series(), good_options); });
}

TEST_CASE("rows that lie apart are as good as a copy of them") {
    const Request compact = good();
    tg::Series apart = compact.series();
    apart.stride = 27;
    apart.offset = 4;
    std::vector<float> values(4 + 6 * 27, not_a_number);
    std::vector<std::uint8_t> observed(values.size(), 9);
    std::vector<std::int32_t> groups(values.size(), -5);
    for (Index row = 0; row < 6; ++row) {
        std::copy_n(compact.values.begin() + row * 20, 20, values.begin() + 4 + row * 27);
        std::copy_n(compact.observed.begin() + row * 20, 20, observed.begin() + 4 + row * 27);
        std::copy_n(compact.groups.begin() + row * 20, 20, groups.begin() + 4 + row * 27);
    }
    apart.values = values;
    apart.observed = observed;
    apart.groups = groups;
    CHECK(different_bits(expected(), forecaster().forecast(apart, good_options)) == 0);
    // All that the last row needs, and no more.
    const std::size_t least = 4 + 5 * 27 + 20;
    apart.values = std::span(values).first(least);
    CHECK(different_bits(expected(), forecaster().forecast(apart, good_options)) == 0);
    const auto refuse_apart = [&](std::initializer_list<std::string_view> parts) {
        tg::test::check_error(ErrorCode::invalid_argument, parts,
                              [&] { (void)forecaster().forecast(apart, good_options); });
    };
    apart.values = std::span(values).first(least - 1);
    refuse_apart({"values", "[2, 3, 20]", "27 elements apart", "element 4", "found 158"});
    apart.values = values;
    apart.observed = std::span(observed).first(least - 1);
    refuse_apart({"observed", "found 158"});
    apart.observed = observed;
    apart.groups = std::span(groups).first(least - 1);
    refuse_apart({"groups", "found 158"});
    apart.groups = groups;
    apart.stride = -1;
    refuse_apart({"stride", "negative", "-1"});
    apart.stride = 27;
    apart.offset = -1;
    refuse_apart({"offset", "negative", "-1"});
    apart.offset = 4;
    apart.stride = std::numeric_limits<Index>::max();
    refuse_apart({"values", "found 166"});
    apart.offset = std::numeric_limits<Index>::max();
    refuse_apart({"values", "found 166"});
}

TEST_CASE("of a future that is known for longer, the steps of the forecast are used") {
    Request request = good();
    tg::Series series = request.series();
    const std::vector<float> longer = waves(2, 1, 19).values;
    std::vector<float> first;
    for (const Index row : {0, 1}) {
        first.insert(first.end(), longer.begin() + row * 19, longer.begin() + row * 19 + 11);
    }
    series.future_exogenous = first;
    const auto exact = forecaster().forecast(series, good_options).keep();
    series.future_exogenous = longer;
    series.future_steps = 19;
    CHECK(different_bits(exact, forecaster().forecast(series, good_options)) == 0);
    std::vector<float> open_end = longer;
    open_end[11] = open_end[37] = not_a_number;  // beyond the horizon
    series.future_exogenous = open_end;
    CHECK(different_bits(exact, forecaster().forecast(series, good_options)) == 0);
    const auto refuse_future = [&](Index steps, std::initializer_list<std::string_view> parts) {
        series.future_steps = steps;
        tg::test::check_error(ErrorCode::invalid_argument, parts,
                              [&] { (void)forecaster().forecast(series, good_options); });
    };
    refuse_future(0, {"[2, 1, 11]", "found 38", "future_steps"});
    refuse_future(18, {"[2, 1, 18]", "found 38"});
    refuse_future(10, {"known for 10 steps", "11 are to be forecast"});
}

TEST_CASE("a batch of means beyond the bucket runs in parts, and a horizon goes on where that is asked for") {
    Request request = waves(5, 3, 20);
    make_gaps(request);
    make_groups(request, 2);
    request.exogenous = 1;
    request.future = waves(5, 1, 40).values;
    tg::Series series = request.series();
    series.future_steps = 40;
    tg::ForecastOptions options{.horizon = 16};
    const auto all = forecaster().forecast(series, options).keep();
    CHECK(all.view().batch() == 5);
    const auto alone = [&](Index which, const tg::ForecastOptions& wanted) {
        tg::Series one = series;
        one.batch = 1;
        one.values = series.values.subspan(static_cast<std::size_t>(which * 60), 60);
        one.observed = series.observed.subspan(static_cast<std::size_t>(which * 60), 60);
        one.groups = series.groups.subspan(static_cast<std::size_t>(which * 60), 60);
        one.future_exogenous = series.future_exogenous.subspan(static_cast<std::size_t>(which * 40), 40);
        return forecaster().forecast(one, wanted).keep();
    };
    options.horizon = 40;
    options.extend = true;
    const auto extended = forecaster().forecast(series, options).keep();
    for (Index which = 0; which < 5; ++which) {
        CAPTURE(which);
        const Part part{.first_series = which, .batch = 1, .variates = 3};
        CHECK(different_bits(alone(which, {.horizon = 16}), part_of(all.view(), part, 16, 0).view()) == 0);
        CHECK(different_bits(alone(which, options), part_of(extended.view(), part, 40, 0).view()) == 0);
        CHECK(different_bits(part_of(all.view(), part, 16, 0), part_of(extended.view(), part, 16, 0).view()) == 0);
    }
}
