// SPDX-License-Identifier: Apache-2.0
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/models/toto1/family.hpp>

#include "models/toto1/case_list.hpp"
#include "models/toto1/intermediates.hpp"
#include "models/toto1/planned_forecast.hpp"

// Every case with a cache and without one, by its plan: what the fused executor runs. Compiling each for that executor
// takes long: without a cache, a choice of them that has every kind of kernel is in test_parity_fused_*.cpp.

namespace {

namespace tg = fixture::tg;

template <tg::toto1::Rewrites rewrites, class CaseType>
void check_mode(const CaseType& test) {
    using Model = typename CaseType::Model;
    const fixture::Tensors tensors(test.name);
    const fixture::Inputs inputs(tensors, CaseType::bucket);
    const auto weights = tg::load<Model>(fixture::folder(test.name)).weights;
    const auto recorded = tg::record_forecast<tg::toto1::WithRewrites<Model, rewrites>, CaseType::bucket>();
    fixture::check_mean_values(tensors, CaseType::bucket, rewrites.kv_cache, fixture::Bounds{},
                               tg::test::planned_forecast(recorded, weights, inputs.series));
}

template <class CaseType>
void check(const CaseType& test) {
    check_mode<tg::toto1::Rewrites{}>(test);
    check_mode<tg::toto1::Rewrites{.kv_cache = false}>(test);
}

}  // namespace

TEST_CASE("mixture: what is planned agrees with the reference, with a cache and without") {
    check(fixture::mixture);
}
TEST_CASE("univariate_one_patch: what is planned agrees with the reference, with a cache and without") {
    check(fixture::univariate_one_patch);
}
TEST_CASE("student_t: what is planned agrees with the reference, with a cache and without") {
    check(fixture::student_t);
}
TEST_CASE("space_first: what is planned agrees with the reference, with a cache and without") {
    check(fixture::space_first);
}
TEST_CASE("time_only: what is planned agrees with the reference, with a cache and without") {
    check(fixture::time_only);
}
TEST_CASE("groups_and_gaps: what is planned agrees with the reference, with a cache and without") {
    check(fixture::groups_and_gaps);
}
TEST_CASE("all_padding_patch: what is planned agrees with the reference, with a cache and without") {
    check(fixture::all_padding_patch);
}
TEST_CASE("std_mean_scaler: what is planned agrees with the reference, with a cache and without") {
    check(fixture::std_mean_scaler);
}
TEST_CASE("causal_scaler: what is planned agrees with the reference, with a cache and without") {
    check(fixture::causal_scaler);
}
TEST_CASE("unstabilized: what is planned agrees with the reference, with a cache and without") {
    check(fixture::unstabilized);
}
TEST_CASE("tight_stabilizer: what is planned agrees with the reference, with a cache and without") {
    check(fixture::tight_stabilizer);
}
TEST_CASE("large_offset: what is planned agrees with the reference, with a cache and without") {
    check(fixture::large_offset);
}
TEST_CASE("constant: what is planned agrees with the reference, with a cache and without") {
    check(fixture::constant);
}
TEST_CASE("exogenous: what is planned agrees with the reference, with a cache and without") {
    check(fixture::exogenous);
}
TEST_CASE("wide_heads: what is planned agrees with the reference, with a cache and without") {
    check(fixture::wide_heads);
}
