// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/models/toto1/demo_1_0.hpp>
#include <totograph/totograph.hpp>

#include "io/support.hpp"
#include "models/toto1/fixture.hpp"

// What tools/demo_model/make_fixture.py wrote with the reference, from the same checkpoint.

namespace {

namespace tg = totograph;
using Model = tg::toto1::demo_1_0;

constexpr tg::Bucket bucket{.variates = 3, .context = 77, .horizon = 32};
using Forecaster = tg::Forecaster<fixture::Tapped<Model>, bucket>;

/// Relative to the largest magnitude of each tensor, of which 2.5e-6 was measured, and of each row. Trained weights
/// amplify rounding more than the random ones of the other cases do, and the sixteen locations of a step can nearly
/// cancel all together: the reference's own f32 is 1.2e-5 of a row from its f64, locations 1.6e-5, as make_fixture.py
/// prints. The bounds of rows are three times that.
constexpr fixture::Bounds bounds{.tensor = 2e-5, .row = 3.6e-5, .row_of_head_locations = 4.8e-5};
constexpr auto components = static_cast<std::size_t>(Model::config.k_components);

/// The head's parameters against those of the reference, of which `expected` cuts out what the executor just computed.
template <class Cut>
void check_head(Forecaster& forecaster, const std::string& tap, const std::string& name, const Cut& expected) {
    for (const char* parameter : {"df", "loc", "scale", "probs"}) {
        const std::string key = name + "_" + parameter;
        const std::vector<float> values = expected(key);
        fixture::check_rows(key, forecaster.read_state<float>(tap + parameter), values, components, bounds.tensor,
                            key.ends_with("loc") ? bounds.row_of_head_locations : bounds.row);
    }
}

}  // namespace

TEST_CASE("the demo checkpoint: head parameters and the mean agree with the reference") {
    const fixture::Tensors tensors(TOTOGRAPH_TEST_DATA "/demo_model");
    const fixture::Inputs inputs(tensors, bucket);
    Forecaster forecaster(tg::load<Model>(TOTOGRAPH_MODELS "/demo"));
    forecaster.fill(inputs.series, bucket, 0);
    forecaster.run<0>();
    check_head(forecaster, "tap.head_", "head", [&](const std::string& key) { return tensors[key]; });

    // Decoding: the second step has seen the first patch of a given future.
    constexpr auto patch = static_cast<std::size_t>(Model::config.patch_size);
    constexpr auto steps = static_cast<std::size_t>(Forecaster::sizes.steps);
    const auto of_step = [&](std::size_t step) {
        return [&tensors, step](const std::string& key) {
            const std::vector<float> all = tensors[key];
            const auto size = static_cast<std::ptrdiff_t>(all.size() / steps);
            const auto first = all.begin() + static_cast<std::ptrdiff_t>(step) * size;
            return std::vector<float>(first, first + size);
        };
    };
    check_head(forecaster, "tap.", "trace", of_step(0));
    const std::vector<float> future = tensors["future"];
    auto forecast = forecaster.read_state<float>("forecast");
    for (std::size_t row = 0; row < static_cast<std::size_t>(bucket.variates); ++row) {
        std::copy_n(future.data() + row * steps * patch, patch, forecast.data() + row * steps * patch);
    }
    forecaster.write_state("forecast", forecast);
    forecaster.run<1>();
    check_head(forecaster, "tap.", "trace", of_step(1));

    fixture::check_rows("mean_kv", forecaster.forecast(inputs.series).mean(), tensors["mean_kv"], bucket.horizon,
                        bounds.tensor, bounds.row);
}

TEST_CASE("the demo checkpoint: weights that another store has kept on disk give the same forecast") {
    const fixture::Tensors tensors(TOTOGRAPH_TEST_DATA "/demo_model");
    const fixture::Inputs inputs(tensors, bucket);
    const tg::test::ScratchFolder scratch;
    const auto forecast = [&](std::size_t& hits) {
        const auto weights = tg::load<Model>(TOTOGRAPH_MODELS "/demo");
        Forecaster forecaster(weights);
        const auto store = weights.weights.prepared<tg::cpu::PreparedWeights<float>>();
        hits = store->cache_report().hits;
        CHECK(store->cache_report().not_written.empty());
        return forecaster.forecast(inputs.series).mean();
    };
    ::unsetenv("TOTOGRAPH_CACHE_DIR");  // which the one who runs the tests may have set
    std::size_t hits = 0;
    const std::vector<float> expected = forecast(hits);
    CHECK(hits == 0);
    ::setenv("TOTOGRAPH_CACHE_DIR", scratch.path().c_str(), 1);
    CHECK(forecast(hits) == expected);
    CHECK(hits == 0);
    CHECK(forecast(hits) == expected);
    CHECK(hits > 0);
    ::unsetenv("TOTOGRAPH_CACHE_DIR");
}
