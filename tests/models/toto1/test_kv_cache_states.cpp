// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <totograph/forecast/kv_cache.hpp>

#include "io/support.hpp"
#include "models/toto1/cases.hpp"
#include "models/toto1/series.hpp"

// What the KV caches hold after a forecast, against one prefill of context and forecast together.
//
// Values are the same in both. Keys are the same but for xPos: the key of dimension d at position p carries the factor
// s_d^-((p - centre) / 512), where s_d = (2 (d mod head_dim/2) + 0.4 head_dim) / (1.4 head_dim) and the centre is half
// of the last position of the call that made it, rounded down. So keys of two calls differ by s_d^((one centre - other
// centre) / 512).

using namespace made_up;
using Model = fixture::models::Small;

namespace {

constexpr Index patch = Model::config.patch_size;
constexpr Index width = Model::config.embed_dim;
constexpr tg::Bucket short_bucket{.variates = 2, .context = 3 * patch, .horizon = 3 * patch};
constexpr tg::Bucket long_bucket{.variates = 2, .context = 5 * patch, .horizon = patch};
constexpr double rounding = 1e-5;

/// Positions of one cache tensor of one variate.
std::vector<float> positions(const std::vector<float>& cache, Index capacity, Index variate, Index first, Index count) {
    const auto begin = cache.begin() + (variate * capacity + first) * width;
    return {begin, begin + count * width};
}

/// Keys as a call with another centre makes them: `difference` is the new centre less the old one.
std::vector<float> recentred(std::vector<float> keys, Index difference) {
    const Index head_dim = Model::config.head_dim();
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto dimension = static_cast<double>(static_cast<Index>(i) % head_dim % (head_dim / 2));
        const auto size = static_cast<double>(head_dim);
        const double scale = (2.0 * dimension + 0.4 * size) / (1.4 * size);
        keys[i] =
            static_cast<float>(static_cast<double>(keys[i]) * std::pow(scale, static_cast<double>(difference) / 512.0));
    }
    return keys;
}

struct Forecasters {
    tg::ModelWeights<Model> weights = tg::load<Model>(fixture::folder("mixture"));
    tg::Forecaster<Model, short_bucket> stepwise{weights, {.threads = 1}};
    tg::Forecaster<Model, long_bucket> at_once{weights, {.threads = 1}};

    Forecasters() {
        Request request = waves(1, 2, short_bucket.context);
        const auto forecast = stepwise.forecast(request.series()).mean();
        // The last patch is forecast, but not read again, so the cache ends before it.
        Request longer{.batch = 1, .variates = 2, .steps = long_bucket.context};
        for (Index variate = 0; variate < 2; ++variate) {
            const auto context = request.values.begin() + variate * request.steps;
            const auto future = forecast.begin() + variate * short_bucket.horizon;
            longer.values.insert(longer.values.end(), context, context + request.steps);
            longer.values.insert(longer.values.end(), future, future + 2 * patch);
        }
        (void)at_once.forecast(longer.series());
    }
};

}  // namespace

TEST_CASE("caches belong to time-wise layers and have a capacity that fits exactly") {
    using Layout = decltype(Forecasters::stepwise)::Executor::Layout;
    for (int layer = 0; layer < Model::config.num_layers; ++layer) {
        const bool is_time_wise = Model::config.layer_kind(layer) == tg::toto1::LayerKind::time_wise;
        for (const char* name : {"prefix.keys", "prefix.values"}) {
            const auto* entry = Layout::find(name, layer);
            REQUIRE((entry != nullptr) == is_time_wise);
            CHECK((!is_time_wise || entry->slot.shape == tg::Shape{1, 1, 2, 3, width}));
        }
        for (const char* name : {"suffix.keys", "suffix.values"}) {
            const auto* entry = Layout::find(name, layer);
            REQUIRE((entry != nullptr) == is_time_wise);
            CHECK((!is_time_wise || entry->slot.shape == tg::Shape{1, 1, 2, 2, width}));
        }
    }
}

TEST_CASE("the prefix holds what a longer prefill holds at the same positions") {
    Forecasters both;
    for (const int layer : {0, 2}) {
        const auto short_values = both.stepwise.read_state<float>("prefix.values", layer);
        const auto short_keys = both.stepwise.read_state<float>("prefix.keys", layer);
        const auto long_values = both.at_once.read_state<float>("prefix.values", layer);
        const auto long_keys = both.at_once.read_state<float>("prefix.keys", layer);
        for (Index variate = 0; variate < 2; ++variate) {
            CAPTURE(layer);
            CAPTURE(variate);
            fixture::check_close("values", positions(short_values, 3, variate, 0, 3),
                                 positions(long_values, 5, variate, 0, 3), rounding);
            // Last positions 2 and 4 have the centres 1 and 2.
            const auto found = positions(short_keys, 3, variate, 0, 3);
            const auto other = positions(long_keys, 5, variate, 0, 3);
            fixture::check_close("keys", found, recentred(other, -1), rounding);
            fixture::check_close("keys the other way", recentred(found, 1), other, rounding);
            CHECK(fixture::relative_error(found, other) > 10 * rounding);
        }
    }
}

TEST_CASE("the suffix holds what a longer prefill holds after the context") {
    Forecasters both;
    const auto compare = [&](int layer, Index step, Index centre, double bound) {
        const auto values = both.stepwise.read_state<float>("suffix.values", layer);
        const auto keys = both.stepwise.read_state<float>("suffix.keys", layer);
        const auto long_values = both.at_once.read_state<float>("prefix.values", layer);
        const auto long_keys = both.at_once.read_state<float>("prefix.keys", layer);
        for (Index variate = 0; variate < 2; ++variate) {
            CAPTURE(layer);
            CAPTURE(step);
            CAPTURE(variate);
            fixture::check_close("values", positions(values, 2, variate, step, 1),
                                 positions(long_values, 5, variate, 3 + step, 1), bound);
            fixture::check_close("keys", positions(keys, 2, variate, step, 1),
                                 recentred(positions(long_keys, 5, variate, 3 + step, 1), centre - 2), bound);
        }
    };
    // Position 3 has the centre 1, like the prefill before it, so its attention is that of one prefill.
    compare(0, 0, 1, rounding);
    compare(2, 0, 1, rounding);
    // Position 4 has the centre 2, but attends to keys of centre 1. The first layer's keys and values come before that;
    // later ones feel it, in the reference too: a factor of at most 3.5^(1 / 512), 0.25 percent, on a key.
    compare(0, 1, 2, rounding);
    compare(2, 1, 2, 2.5e-3);
}

TEST_CASE("the length counts the patches that were decoded, and each forecast begins anew") {
    Forecasters both;
    const auto length = [&] { return both.stepwise.read_state<std::int32_t>("suffix.length").front(); };
    CHECK(length() == 2);
    const Request request = waves(1, 2, 20);
    (void)both.stepwise.forecast(request.series(), {.horizon = 1});
    CHECK(length() == 0);
    (void)both.stepwise.forecast(request.series(), {.horizon = patch + 1});
    CHECK(length() == 1);
    (void)both.stepwise.forecast(request.series());
    CHECK(length() == 2);
}

TEST_CASE("the label before the patches takes a position of the context's cache") {
    constexpr tg::Bucket bucket{.variates = 1, .context = 3 * patch, .horizon = patch};
    using Labelled = fixture::models::Exogenous;
    static_assert(Labelled::config.variate_labels && Labelled::config.patch_size == patch);
    tg::Forecaster<Labelled, bucket> forecaster(tg::untrained<Labelled>(), {.threads = 1});
    const Request request = waves(1, 1, 2 * patch);
    (void)forecaster.forecast(request.series());
    CHECK(kv_cache(forecaster, "prefix") == tg::KvCachePositions{3, 4});
}

TEST_CASE("between forecasts the host reads length and capacity of the caches, and resets them") {
    Forecasters both;
    auto& forecaster = both.stepwise;
    // Toto's `seq_len`: three patches of context; two of the three forecast patches were appended.
    CHECK(kv_cache(forecaster, "prefix") == tg::KvCachePositions{3, 3});
    CHECK(kv_cache(forecaster, "suffix") == tg::KvCachePositions{2, 2});
    const Request request = waves(1, 2, patch + 1);
    (void)forecaster.forecast(request.series(), {.horizon = patch + 1});
    CHECK(kv_cache(forecaster, "prefix") == tg::KvCachePositions{2, 3});
    CHECK(kv_cache(forecaster, "suffix") == tg::KvCachePositions{1, 2});
    // A step appends behind what the cache holds: after a reset at its begin.
    reset_kv_cache(forecaster, "suffix");
    CHECK(kv_cache(forecaster, "suffix") == tg::KvCachePositions{0, 2});
    const auto poison = std::vector<float>(static_cast<std::size_t>(2 * 2 * width), std::nanf(""));
    forecaster.write_state("suffix.values", poison, 0);
    forecaster.run<1>();
    CHECK(kv_cache(forecaster, "suffix") == tg::KvCachePositions{1, 2});
    const auto values = forecaster.read_state<float>("suffix.values", 0);
    CHECK(std::count_if(values.begin(), values.end(), [](float x) { return std::isnan(x); }) == 2 * width);
    CHECK_FALSE(std::isnan(positions(values, 2, 1, 0, 1).front()));
    tg::test::check_error(tg::ErrorCode::invalid_argument, {"'middle'"}, [&] { (void)kv_cache(forecaster, "middle"); });
    tg::test::check_error(tg::ErrorCode::invalid_argument, {"'prefix'", "no length of its own"},
                          [&] { reset_kv_cache(forecaster, "prefix"); });
}
