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
