// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "io/support.hpp"
#include "models/toto1/cases.hpp"
#include "models/toto1/series.hpp"

using namespace made_up;
using Model = fixture::models::Small;

namespace {

constexpr tg::Bucket tiny{.variates = 2, .context = 16, .horizon = 8};
constexpr tg::Bucket long_context{.variates = 2, .context = 64, .horizon = 8};
constexpr tg::Bucket many_variates{.batch = 2, .variates = 4, .context = 32, .horizon = 16};
constexpr tg::Bucket sampled{.batch = 1, .variates = 2, .context = 32, .horizon = 16, .samples = 4};

// Given in another order than that of their costs.
using Set = tg::BucketSet<Model, many_variates, sampled, tiny, long_context>;

// Rows through the layers: batch * variates * (patches of context + samples * patches of horizon).
static_assert(Set::count == 4);
static_assert(Set::by_cost[0] == tiny);           // 2 * (2 + 1) = 6
static_assert(Set::by_cost[1] == long_context);   // 2 * (8 + 1) = 18
static_assert(Set::by_cost[2] == sampled);        // 2 * (4 + 4 * 2) = 24
static_assert(Set::by_cost[3] == many_variates);  // 8 * (4 + 2) = 48

// Equally cheap: the one that is named first is tried first.
constexpr tg::Bucket one_variate{.variates = 1, .context = 40, .horizon = 8};  // 1 * (5 + 1) = 6
static_assert(tg::bucket_cost<Model>(tiny) == tg::bucket_cost<Model>(one_variate));
static_assert(tg::buckets_by_cost<Model, sampled, tiny, one_variate>[0] == tiny);
static_assert(tg::buckets_by_cost<Model, sampled, one_variate, tiny>[0] == one_variate);

// The numbers of a request that nobody has checked overflow nothing.
constexpr tg::Index most = std::numeric_limits<tg::Index>::max();
constexpr auto largest = tg::forecast_detail::cost_in_parts({.batch = most, .horizon = most, .samples = most}, sampled);
static_assert(largest.chunks == most / sampled.horizon + 1);
static_assert(largest.runs > static_cast<double>(most));
static_assert(tg::forecast_detail::cost_in_parts({.context = -most - 1}, sampled).dropped == 0);

const auto& weights() {
    static const auto loaded = tg::load<Model>(fixture::folder("mixture"));
    return loaded;
}

Set& set() {
    static Set all(weights(), {.threads = 1});
    return all;
}

/// The threads of this process.
std::ptrdiff_t threads_now() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

tg::Bucket chosen(const Request& request, const tg::ForecastOptions& options) {
    return Set::by_cost[Set::find(request.series(), options)];
}

/// What the exact forecaster of a bucket says.
template <tg::Bucket bucket>
tg::OwnedForecast alone(const Request& request, const tg::ForecastOptions& options) {
    tg::Forecaster<Model, bucket> forecaster(weights(), {.threads = 1});
    return forecaster.forecast(request.series(), options).keep();
}

}  // namespace

TEST_CASE("the cheapest bucket that holds a request serves it") {
    CHECK(chosen(waves(1, 2, 16), {.horizon = 8, .samples = 0}) == tiny);
    CHECK(chosen(waves(1, 1, 1), {.horizon = 1, .samples = 0}) == tiny);
    CHECK(chosen(waves(1, 2, 17), {.horizon = 8, .samples = 0}) == long_context);
    CHECK(chosen(waves(1, 2, 16), {.horizon = 9, .samples = 0}) == many_variates);
    CHECK(chosen(waves(2, 1, 16), {.horizon = 8, .samples = 0}) == many_variates);
    CHECK(chosen(waves(1, 3, 16), {.horizon = 8, .samples = 0}) == many_variates);
    CHECK(chosen(waves(1, 2, 16), {.horizon = 8, .samples = 1}) == sampled);
    CHECK(chosen(waves(1, 2, 16), {.horizon = 8, .samples = 4}) == sampled);
}

TEST_CASE("sizes that a request leaves open are the bucket's") {
    const auto mean = set().forecast(waves(1, 2, 16).series(), {.samples = 0}).keep();
    CHECK(mean.view().horizon() == tiny.horizon);
    CHECK(mean.view().sample_count() == 0);
    CHECK(chosen(waves(1, 2, 60), {.samples = 0}) == long_context);
    CHECK(chosen(waves(2, 2, 16), {.samples = 0}) == many_variates);
    using Means = tg::BucketSet<Model, tiny, long_context>;
    CHECK(Means::by_cost[Means::find(waves(1, 2, 16).series(), {})] == tiny);
    CHECK(Means::by_cost[Means::find(waves(1, 2, 60).series(), {})] == long_context);
}

TEST_CASE("whether a forecast is sampled depends on what is asked for, and never on its sizes") {
    // A bucket of means would be cheaper for the first of these.
    for (const tg::Index horizon : {8, 16}) {
        CAPTURE(horizon);
        CHECK(chosen(waves(1, 2, 16), {.horizon = horizon}) == sampled);
        const auto samples = set().forecast(waves(1, 2, 16).series(), {.seed = 3, .horizon = horizon});
        CHECK(samples.horizon() == horizon);
        CHECK(samples.sample_count() == sampled.samples);
    }
    CHECK(chosen(waves(1, 2, 16), {}) == sampled);
    CHECK(chosen(waves(1, 2, 16), {.samples = 0}) == tiny);
}

TEST_CASE("forecasts of a set are those of its buckets") {
    const Request request = waves(1, 2, 13);
    const auto check = [&]<tg::Bucket bucket>(const tg::ForecastOptions& options) {
        REQUIRE(chosen(request, options) == bucket);
        CHECK(different_bits(alone<bucket>(request, options), set().forecast(request.series(), options)) == 0);
    };
    check.operator()<tiny>({.horizon = 5, .samples = 0});
    check.operator()<many_variates>({.horizon = 13, .samples = 0});
    check.operator()<sampled>({.seed = 5, .horizon = 13, .samples = 3});
    // A mean forecast of a horizon that the cheap bucket has too, from the expensive one.
    const auto cheap = set().forecast(request.series(), {.horizon = 5, .samples = 0}).keep();
    CHECK(different_bits(alone<many_variates>(request, {.horizon = 5}), cheap.view()) == 0);
}

TEST_CASE("what was moved from is told as such, and what it was moved to goes on") {
    const Request request = waves(1, 2, 13);
    const auto refuse = [](std::string_view what, const auto& use) {
        tg::test::check_error(tg::ErrorCode::invalid_argument, {what, "had been moved from"}, use);
    };
    tg::Forecaster<Model, tiny> first(weights(), {.threads = 1});
    const auto expected = first.forecast(request.series()).keep();
    auto second = std::move(first);
    CHECK(different_bits(expected, second.forecast(request.series())) == 0);
    refuse("A forecaster", [&] { (void)first.forecast(request.series()); });
    refuse("A forecaster", [&] { first.fill(request.series(), tiny, 0); });
    refuse("A forecaster", [&] { first.run<0>(); });
    refuse("A forecaster", [&] { (void)first.read_state<float>(tg::states::series); });
    refuse("A forecaster",
           [&] { first.write_state(tg::states::series, second.read_state<float>(tg::states::series)); });
    first = std::move(second);
    CHECK(different_bits(expected, first.forecast(request.series())) == 0);

    Set one(weights(), {.threads = 1});
    Set other = std::move(one);
    CHECK(different_bits(expected, other.forecast(request.series(), {.horizon = 8, .samples = 0})) == 0);
    refuse("A forecaster", [&] { (void)one.forecast(request.series()); });
    refuse("A forecaster", [&] { (void)one.memory_bytes(); });

    auto loaded = weights();
    const auto kept = std::move(loaded);
    refuse("Weights", [&] { (void)tg::Forecaster<Model, tiny>(loaded, {.threads = 1}); });
    CHECK(&kept.weights.source() == &weights().weights.source());
}

TEST_CASE("a request that no bucket holds is told which there are") {
    const auto refuse = [](const Request& request, const tg::ForecastOptions& options,
                           std::initializer_list<std::string_view> parts) {
        tg::test::check_error(tg::ErrorCode::no_bucket, parts,
                              [&] { (void)set().forecast(request.series(), options); });
    };
    const auto strict = tg::ContextPolicy::error;
    refuse(waves(1, 2, 65), {.horizon = 8, .samples = 0, .context = strict},
           {"1 x 2 x 65 -> 8, no samples", "1 x 2 x 16 -> 8, no samples", "1 x 2 x 64 -> 8, no samples",
            "1 x 2 x 32 -> 16, 4 samples", "2 x 4 x 32 -> 16, no samples"});
    refuse(waves(1, 2, 65), {.context = strict}, {"1 x 2 x 65", "larger one"});
    // What is no request at all is told as such.
    tg::test::check_error(tg::ErrorCode::invalid_argument, {"samples should be 0 or more, found -2"},
                          [] { (void)set().forecast(waves(1, 2, 8).series(), {.samples = -2}); });
    // Held by a bucket, but one of means: never in silence.
    refuse(waves(1, 3, 8), {}, {"1 x 3 x 8", "samples = 0", "2 x 4 x 32 -> 16, no samples"});
    refuse(waves(1, 5, 8), {}, {"1 x 5 x 8"});
    refuse(waves(1, 1, 8), {.horizon = 17}, {"-> 17", "ForecastOptions::extend"});
    refuse(waves(1, 3, 8), {.samples = 4}, {"4 samples"});
}

TEST_CASE("what no bucket holds runs in parts, in the bucket that loses least") {
    constexpr tg::ForecastOptions means{.horizon = 8, .samples = 0};
    CHECK(chosen(waves(1, 2, 65), means) == long_context);   // uses most of the context
    CHECK(chosen(waves(5, 2, 16), means) == many_variates);  // in three runs, and not in five
    CHECK(chosen(waves(5, 2, 64), means) == long_context);   // the context goes before the runs
    CHECK(chosen(waves(2, 1, 8), {}) == sampled);
    CHECK(chosen(waves(1, 1, 8), {.samples = 5}) == sampled);
    // What can be forecast without an extension is.
    CHECK(chosen(waves(1, 2, 64), {.horizon = 16, .samples = 0, .extend = true}) == many_variates);
    CHECK(chosen(waves(1, 2, 64), {.horizon = 17, .samples = 0, .extend = true}) == many_variates);

    const auto check = [&]<tg::Bucket bucket>(const Request& request, const tg::ForecastOptions& options) {
        REQUIRE(chosen(request, options) == bucket);
        CHECK(different_bits(alone<bucket>(request, options), set().forecast(request.series(), options)) == 0);
    };
    check.operator()<long_context>(waves(1, 2, 80), means);
    check.operator()<sampled>(waves(3, 2, 13), {.seed = 5, .horizon = 13, .samples = 6});
    CHECK(set().forecast(waves(3, 2, 13).series()).batch() == 3);
}

TEST_CASE("an extended horizon takes the bucket that goes on least often, then the one with the most context") {
    constexpr tg::Bucket near{.variates = 2, .context = 64, .horizon = 32};
    constexpr tg::Bucket far{.variates = 2, .context = 32, .horizon = 96};
    constexpr tg::Bucket farther{.variates = 2, .context = 16, .horizon = 112};
    const std::vector<tg::Bucket> buckets{near, far, farther};
    const Request request = waves(1, 2, 64);
    const auto chosen_for = [&](tg::Index horizon) {
        const tg::ForecastOptions options{.horizon = horizon, .extend = true};
        return buckets[tg::choose_bucket(buckets, request.series(), options, false)];
    };
    CHECK(chosen_for(32) == near);      // held
    CHECK(chosen_for(33) == far);       // in one chunk, with half of the context, and not in two with all of it
    CHECK(chosen_for(96) == far);       // likewise: with more context than what reaches farther
    CHECK(chosen_for(97) == farther);   // in one chunk
    CHECK(chosen_for(192) == far);      // two chunks of either
    CHECK(chosen_for(193) == farther);  // two chunks, and not three
    CHECK(chosen_for(225) == far);      // three chunks of either
}

TEST_CASE("the forecasters of a set share one team of threads") {
    const auto before = threads_now();
    {
        Set all(weights(), {.threads = 3});
        CHECK(threads_now() == before + 2);  // the caller's is the third
        const Request request = waves(1, 2, 13);
        const tg::ForecastOptions options{.seed = 5, .horizon = 13, .samples = 3};
        CHECK(different_bits(alone<sampled>(request, options), all.forecast(request.series(), options)) == 0);
    }
    CHECK(threads_now() == before);

    const auto pool = std::make_shared<tg::cpu::ThreadPool>(2);
    const auto with_pool = threads_now();
    Set one(weights(), {.pool = pool});
    tg::Forecaster<Model, tiny> other(weights(), {.pool = pool});
    CHECK(threads_now() == with_pool);
    CHECK(other.executor().threads() == 2);
}

TEST_CASE("a number of threads below 0 is refused, and 0 is all") {
    const auto refuse = [](auto&& make) {
        tg::test::check_error(tg::ErrorCode::invalid_argument, {"-2 threads", "Pass 0"}, make);
    };
    refuse([] { tg::Forecaster<Model, tiny>(weights(), {.threads = -2}); });
    refuse([] { Set(weights(), {.threads = -2}); });
    const tg::Forecaster<Model, tiny> all(weights());
    CHECK(all.memory_bytes() > 0);
    CHECK(tg::thread_pool_of({})->threads() == tg::default_threads());
}

TEST_CASE("the sets' memory is that of its forecasters") {
    const auto bytes = [&]<tg::Bucket bucket>() {
        return tg::Forecaster<Model, bucket>(weights(), {.threads = 1}).memory_bytes();
    };
    const Set unused(weights(), {.threads = 1});  // no request in parts has needed room yet
    CHECK(unused.memory_bytes() == bytes.operator()<tiny>() + bytes.operator()<long_context>() +
                                       bytes.operator()<many_variates>() + bytes.operator()<sampled>());
}
