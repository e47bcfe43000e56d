// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <totograph/forecast/cpu/forecaster.hpp>

#include "models/nanovlm/cases.hpp"
#include "models/nanovlm/fixture.hpp"
#include "models/nanovlm/parity.hpp"

// Three cases by the fused executor: groups of heads, positions that are rescaled, and pixels with padded prompts.

namespace {

template <class Case, totograph::ForecasterOptions options = totograph::ForecasterOptions{}>
using Inspected = totograph::Forecaster<nanovlm_cases::Inspected<Case>, Case::bucket, options>;

template <class Case>
void check(const std::string& name) {
    Inspected<Case> forecaster(nanovlm_fixture::load<Case>(name), {.threads = 2});
    nanovlm_fixture::Parity<Case, Inspected<Case>>(forecaster, name).check_greedy();
}

}  // namespace

TEST_CASE("tokens_15_to_5: the fused executor agrees with the reference") {
    check<nanovlm_cases::tokens_15_to_5>("tokens_15_to_5");
}
TEST_CASE("rope_rescaled: the fused executor agrees with the reference") {
    check<nanovlm_cases::rope_rescaled>("rope_rescaled");
}
TEST_CASE("vision_and_language: the fused executor agrees with the reference") {
    check<nanovlm_cases::vision_and_language>("vision_and_language");
}

TEST_CASE("vision_and_language: with weights in bf16 the likeliest tokens are the same") {
    using Case = nanovlm_cases::vision_and_language;
    constexpr totograph::ForecasterOptions options{.weights = totograph::DType::bf16};
    using Forecaster = Inspected<Case, options>;
    Forecaster forecaster(nanovlm_fixture::load<Case>("vision_and_language"), {.threads = 2});
    const auto rounded = nanovlm_fixture::Parity<Case, Forecaster>(forecaster, "vision_and_language").check_rounded();
    CHECK(rounded.others == 0);    // the closest two logits are 0.5 apart
    CHECK(rounded.logits > 1e-4);  // f32 is within 1e-5
    CHECK(rounded.logits < 2e-2);  // bf16 rounds by 2^-9 = 2e-3; a few dozen roundings, at random
}
