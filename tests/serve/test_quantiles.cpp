// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdlib>
#include <vector>

#include <totograph/serve/backends/cpu_backend.hpp>
#include <totograph/serve/service.hpp>

#include "models/toto2/cases.hpp"
#include "models/toto2/fixture.hpp"

// A service of a model that forecasts quantiles: Toto 2.0 through all of its modes, against the reference.

namespace {

using namespace toto2_fixture;
namespace serve = tg::serve;
using Model = toto2_cases::one_patch;

/// What these tests measure is kept for no program of the one who runs them.
[[maybe_unused]] const bool has_no_cache = ::setenv("TOTOGRAPH_CACHE_DIR", "", 1) == 0;

const serve::BackendRegistry& backends() {
    static const serve::BackendRegistry registry = [] {
        serve::BackendRegistry all;
        serve::add_cpu_backend<Model, Model::bucket>(all, tg::load<Model>(folder("one_patch")));
        return all;
    }();
    return registry;
}

std::vector<float> values_of(const tg::Forecast& forecast) {
    return {forecast.values().begin(), forecast.values().end()};
}

}  // namespace

TEST_CASE("a service forecasts the reference's quantiles in every mode") {
    const Tensors tensors("one_patch");
    const Inputs inputs(tensors, Model::bucket.horizon, Model::config.patch_size);
    std::vector<float> fused;
    for (const serve::Mode mode : serve::all_modes) {
        CAPTURE(serve::name(mode));
        serve::ForecastService service(backends(), {.mode = mode, .resources = {.threads = 1}});
        (void)service.warm_up();
        CHECK(service.is_ready());
        const tg::Forecast forecast = service.forecast(inputs.series);
        CHECK(forecast.levels().size() == 9);
        CHECK(forecast.sample_count() == 0);
        check_quantiles(tensors, values_of(forecast), Model::bucket.variates);
        CHECK(forecast.quantile(0.5) == forecast.median());
        if (mode != serve::Mode::eager) {
            fused = fused.empty() ? values_of(forecast) : fused;
            CHECK(values_of(forecast) == fused);
        }
    }
}

TEST_CASE("a batch beyond what was compiled is served in parts, with the same quantiles") {
    const Tensors tensors("one_patch");
    const Inputs inputs(tensors, Model::bucket.horizon, Model::config.patch_size);
    serve::ForecastService service(backends(), {.mode = serve::Mode::standard, .resources = {.threads = 1}});
    const std::vector<float> once = values_of(service.forecast(inputs.series));
    tg::Series twice = inputs.series;
    twice.batch *= 2;
    const auto doubled = [](const auto& row) {
        auto both = row;
        both.insert(both.end(), row.begin(), row.end());
        return both;
    };
    const auto values = doubled(inputs.values);
    const auto observed = doubled(inputs.observed);
    const auto groups = doubled(inputs.groups);
    twice.values = values;
    twice.observed = observed;
    twice.groups = groups;
    const std::vector<float> found = values_of(service.forecast(twice));
    REQUIRE(found.size() == 2 * once.size());
    CHECK(std::vector<float>(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(once.size())) == once);
    CHECK(std::vector<float>(found.begin() + static_cast<std::ptrdiff_t>(once.size()), found.end()) == once);
}
