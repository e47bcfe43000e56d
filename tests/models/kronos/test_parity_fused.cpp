// SPDX-License-Identifier: Apache-2.0
#include <string>

#include <totograph/totograph.hpp>

#include "models/kronos/cases.hpp"
#include "models/kronos/fixture.hpp"
#include "models/kronos/parity.hpp"

// All kinds of schedules by the fused executor: without a window that slides, with one that grows and then slides, and
// with one that slides from the first step on.

namespace {

template <class Case>
void check(const std::string& name) {
    using Forecaster = totograph::Forecaster<kronos_cases::Inspected<Case>, Case::bucket>;
    Forecaster forecaster(kronos_fixture::load<Case>(name), {.threads = 2});
    kronos_fixture::Parity<Case, Forecaster> parity(forecaster, name);
    parity.check_greedy();
    parity.check_drawn();
}

}  // namespace

TEST_CASE("one_series: the fused executor agrees with the reference") {
    check<kronos_cases::one_series>("one_series");
}
TEST_CASE("head_of_52: the fused executor agrees with the reference") {
    check<kronos_cases::head_of_52>("head_of_52");
}
TEST_CASE("sliding_window: the fused executor agrees with the reference") {
    check<kronos_cases::sliding_window>("sliding_window");
}

TEST_CASE("one_series: with weights in bf16 the tokenizer keeps f32, and the same ids are the likeliest") {
    using Case = kronos_cases::one_series;
    constexpr totograph::ForecasterOptions options{.weights = totograph::DType::bf16};
    using Forecaster = totograph::Forecaster<kronos_cases::Inspected<Case>, Case::bucket, options>;
    Forecaster forecaster(kronos_fixture::load<Case>("one_series"), {.threads = 2});
    const auto rounded = kronos_fixture::Parity<Case, Forecaster>(forecaster, "one_series").check_rounded();
    CHECK(rounded.others == 0);
    CHECK(rounded.s1_logits > 1e-4);  // f32 is within 1e-5
    CHECK(rounded.s1_logits < 1e-2);
    CHECK(rounded.s2_logits < 1e-2);
}
