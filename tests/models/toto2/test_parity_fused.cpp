// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <totograph/totograph.hpp>

#include "models/toto2/cases.hpp"
#include "models/toto2/fixture.hpp"

// A choice of cases by the fused executor: one pass with uneven heads, and blocks with everything a request can have.
// The plans of all cases are in test_parity_planned.cpp.

namespace {

using namespace toto2_fixture;

template <class Case>
void check(const std::string& name) {
    const Tensors tensors(name);
    const Inputs inputs(tensors, Case::bucket.horizon, Case::config.patch_size);
    tg::Forecaster<Case, Case::bucket> forecaster(tg::load<Case>(folder(name)), {.threads = 2});
    const tg::QuantileForecast forecast = forecaster.forecast(inputs.series);
    check_quantiles(tensors, {forecast.values().begin(), forecast.values().end()}, Case::bucket.variates);
}

}  // namespace

TEST_CASE("uneven_heads: the fused executor agrees with the reference") {
    check<toto2_cases::uneven_heads>("uneven_heads");
}
TEST_CASE("known_gaps_blocks: the fused executor agrees with the reference") {
    check<toto2_cases::known_gaps_blocks>("known_gaps_blocks");
}
