// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <totograph/forecast/cpu/eager_forecaster.hpp>

#include "models/nanovlm/cases.hpp"
#include "models/nanovlm/fixture.hpp"
#include "models/nanovlm/parity.hpp"

// Every case, node by node as it is recorded: tokens, and every tensor on the way there.

namespace {

template <class Case>
void check(const std::string& name) {
    using Model = nanovlm_cases::Inspected<Case>;
    totograph::EagerForecaster forecaster(nanovlm_fixture::load<Case>(name).weights,
                                          totograph::record_forecast<Model, Case::bucket>());
    nanovlm_fixture::Parity<Case, totograph::EagerForecaster>(forecaster, name).check_greedy();
}

}  // namespace

TEST_CASE("tokens_15_to_5: the recorded programs agree with the reference") {
    check<nanovlm_cases::tokens_15_to_5>("tokens_15_to_5");
}
TEST_CASE("left_padded: the recorded programs agree with the reference") {
    check<nanovlm_cases::left_padded>("left_padded");
}
TEST_CASE("image_rows_padded: the recorded programs agree with the reference") {
    check<nanovlm_cases::image_rows_padded>("image_rows_padded");
}
TEST_CASE("rope_rescaled: the recorded programs agree with the reference") {
    check<nanovlm_cases::rope_rescaled>("rope_rescaled");
}
TEST_CASE("multi_query: the recorded programs agree with the reference") {
    check<nanovlm_cases::multi_query>("multi_query");
}
TEST_CASE("vision_and_language: the recorded programs agree with the reference") {
    check<nanovlm_cases::vision_and_language>("vision_and_language");
}
