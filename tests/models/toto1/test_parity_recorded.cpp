// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/models/toto1/family.hpp>

#include "models/toto1/case_list.hpp"
#include "models/toto1/intermediates.hpp"
#include "models/toto1/planned_forecast.hpp"
#include "models/toto1/tapped.hpp"

// Every case, recorded when the test runs, against the reference: its nodes one by one, as the eager executor runs
// them, and its plan, which is what the fused executor runs. Compiling each plan takes long: a choice of them is in
// test_parity_fused_*.cpp.

namespace {

namespace tg = fixture::tg;

/// The mean of a model with its rewrites, in each way.
template <tg::toto1::Rewrites rewrites, class CaseType>
void check_mean_both_ways(const CaseType& test) {
    using Model = tg::toto1::WithRewrites<typename CaseType::Model, rewrites>;
    const fixture::Tensors tensors(test.name);
    const fixture::Inputs inputs(tensors, CaseType::bucket);
    const auto weights = tg::load<typename CaseType::Model>(fixture::folder(test.name)).weights;
    const auto check = [&](const std::vector<float>& mean) {
        fixture::check_mean_values(tensors, CaseType::bucket, rewrites.kv_cache, fixture::Bounds{}, mean);
    };
    const auto recorded = tg::record_forecast<Model, CaseType::bucket>();
    SUBCASE("by nodes") {
        tg::EagerForecaster forecaster(weights, recorded);
        check(forecaster.forecast(inputs.series).mean());
    }
    SUBCASE("as planned") {
        check(tg::test::PlannedForecaster(recorded, weights).forecast(inputs.series));
    }
}

template <class CaseType>
void check(const CaseType& test) {
    using Model = typename CaseType::Model;
    SUBCASE("intermediates") {
        const fixture::Tensors tensors(test.name);
        const fixture::Inputs inputs(tensors, CaseType::bucket);
        const auto weights = tg::load<Model>(fixture::folder(test.name)).weights;
        const auto recorded = tg::record_forecast<fixture::Tapped<Model>, CaseType::bucket>();
        SUBCASE("by nodes") {
            tg::EagerForecaster programs(weights, recorded);
            programs.fill(inputs.series, CaseType::bucket, 0);
            fixture::check_programs(
                tensors, Model::config,
                [&](std::size_t program) {
                    if (program == 0) {
                        programs.run<0>();
                    } else {
                        programs.run<1>();
                    }
                },
                [&](const std::string& name, int layer) { return programs.read_state<float>(name, layer); },
                [&](const std::vector<float>& forecast) { programs.write_state("forecast", forecast); });
        }
        SUBCASE("as planned") {
            tg::test::PlannedForecaster programs(recorded, weights);
            programs.fill(inputs.series);
            fixture::check_programs(
                tensors, Model::config, [&](std::size_t program) { programs.run(program); },
                [&](const std::string& name, int layer) { return programs.read_state(name, layer); },
                [&](const std::vector<float>& forecast) { programs.write_state("forecast", forecast); });
        }
    }
    SUBCASE("mean") {
        check_mean_both_ways<tg::toto1::Rewrites{}>(test);
    }
    SUBCASE("mean without a cache") {
        check_mean_both_ways<tg::toto1::Rewrites{.kv_cache = false}>(test);
    }
}

/// The plan of a case with gaps and with groups of variates, made otherwise.
void check_without(tg::Passes passes) {
    using Case = decltype(fixture::groups_and_gaps);
    const fixture::Tensors tensors(fixture::groups_and_gaps.name);
    const fixture::Inputs inputs(tensors, Case::bucket);
    tg::test::PlannedForecaster forecaster(tg::record_forecast<Case::Model, Case::bucket>(),
                                           tg::load<Case::Model>(fixture::folder("groups_and_gaps")).weights, passes);
    fixture::check_mean_values(tensors, Case::bucket, true, fixture::Bounds{}, forecaster.forecast(inputs.series));
}

}  // namespace

TEST_CASE("mixture: nodes and plans agree with the reference") {
    check(fixture::mixture);
}

TEST_CASE("univariate_one_patch: nodes and plans agree with the reference") {
    check(fixture::univariate_one_patch);
}

TEST_CASE("student_t: nodes and plans agree with the reference") {
    check(fixture::student_t);
}

TEST_CASE("space_first: nodes and plans agree with the reference") {
    check(fixture::space_first);
}

TEST_CASE("time_only: nodes and plans agree with the reference") {
    check(fixture::time_only);
}

TEST_CASE("groups_and_gaps: nodes and plans agree with the reference") {
    check(fixture::groups_and_gaps);
}

TEST_CASE("all_padding_patch: nodes and plans agree with the reference") {
    check(fixture::all_padding_patch);
}

TEST_CASE("std_mean_scaler: nodes and plans agree with the reference") {
    check(fixture::std_mean_scaler);
}

TEST_CASE("causal_scaler: nodes and plans agree with the reference") {
    check(fixture::causal_scaler);
}

TEST_CASE("unstabilized: nodes and plans agree with the reference") {
    check(fixture::unstabilized);
}

TEST_CASE("tight_stabilizer: nodes and plans agree with the reference") {
    check(fixture::tight_stabilizer);
}

TEST_CASE("large_offset: nodes and plans agree with the reference") {
    check(fixture::large_offset);
}

TEST_CASE("constant: nodes and plans agree with the reference") {
    check(fixture::constant);
}

TEST_CASE("exogenous: nodes and plans agree with the reference") {
    check(fixture::exogenous);
}

TEST_CASE("wide_heads: nodes and plans agree with the reference") {
    check(fixture::wide_heads);
}

// Each pass over the graph, switched off. Forecasters compiled without any of them are in test_executors.cpp and
// test_rewrites_mean.cpp.

TEST_CASE("as planned, equal nodes computed twice") {
    check_without({.merge_equal_nodes = false});
}

TEST_CASE("as planned, scales out of the weights") {
    check_without({.fold_scales = false});
}

TEST_CASE("as planned, rows scaled before GEMMs") {
    check_without({.defer_row_scales = false});
}

TEST_CASE("as planned, linear layers apart") {
    check_without({.compose_linears = false});
}

TEST_CASE("as planned, every elementwise node a kernel") {
    check_without({.fuse_elementwise = false});
}

TEST_CASE("as planned without passes") {
    check_without(tg::Passes::none());
}
