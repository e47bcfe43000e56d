// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <totograph/forecast/cpu/eager_forecaster.hpp>

#include "models/kronos/cases.hpp"
#include "models/kronos/fixture.hpp"
#include "models/kronos/parity.hpp"

// Every case, node by node as it is recorded: ids, forecasts, and every tensor on the way there.

namespace {

template <class Case>
void check(const std::string& name) {
    using Model = kronos_cases::Inspected<Case>;
    totograph::EagerForecaster forecaster(kronos_fixture::load<Case>(name).weights,
                                          totograph::record_forecast<Model, Case::bucket>());
    kronos_fixture::Parity<Case, totograph::EagerForecaster> parity(forecaster, name);
    parity.check_greedy();
    parity.check_drawn();
}

/// How far a cache that rolls leads from the reference, which computes each window anew, given the reference's ids.
template <class Case>
auto check_rolling(const std::string& name) {
    using Model = kronos_cases::InspectedRolling<Case>;
    using Forecaster = totograph::EagerForecaster;
    Forecaster forecaster(kronos_fixture::load<Case>(name).weights, totograph::record_forecast<Model, Case::bucket>());
    kronos_fixture::Parity<Case, Forecaster, Model> parity(forecaster, name);
    const auto result = parity.check_rounded();
    MESSAGE(name << ": logits are " << result.s1_logits << " and " << result.s2_logits << " off, " << result.others
                 << " of " << result.ids << " likeliest ids are others");
    return result;
}

}  // namespace

TEST_CASE("one_series: the recorded programs agree with the reference") {
    check<kronos_cases::one_series>("one_series");
}
TEST_CASE("head_of_52: the recorded programs agree with the reference") {
    check<kronos_cases::head_of_52>("head_of_52");
}
TEST_CASE("sliding_window: the recorded programs agree with the reference") {
    check<kronos_cases::sliding_window>("sliding_window");
}
TEST_CASE("no_volume: the recorded programs agree with the reference") {
    check<kronos_cases::no_volume>("no_volume");
}
TEST_CASE("no_amount_clipped: the recorded programs agree with the reference") {
    check<kronos_cases::no_amount_clipped>("no_amount_clipped");
}
TEST_CASE("unequal_bits: the recorded programs agree with the reference") {
    check<kronos_cases::unequal_bits>("unequal_bits");
}

TEST_CASE("a cache that rolls keeps the candles of the window, as they were") {
    // With one layer keys and values depend on their candle alone: the first ids' logits are the reference's. The
    // dependency layer reads what that layer saw then, in another window.
    const auto one_layer = check_rolling<kronos_cases::no_volume>("no_volume");
    CHECK(one_layer.s1_logits < 1e-5);
    CHECK(one_layer.s2_logits > 1e-4);
    const auto two_layers = check_rolling<kronos_cases::head_of_52>("head_of_52");
    CHECK(two_layers.s1_logits > 1e-4);
    const auto four_layers = check_rolling<kronos_cases::sliding_window>("sliding_window");
    CHECK(four_layers.s1_logits > 1e-4);
}
