// SPDX-License-Identifier: Apache-2.0
// Sizes that no other program of the tests compiles: what the compiler would plan of them, planned while the test runs.
#include <doctest/doctest.h>

#include <totograph/forecast/bucket.hpp>
#include <totograph/forecast/family.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/models/toto2/config.hpp>
#include <totograph/models/toto2/family.hpp>

#include "support/loop_plan.hpp"

using namespace totograph;

namespace {

// As the programs' largest: 16 variates of which 4 are known ahead.
constexpr Bucket largest{.variates = 16, .context = 4096, .horizon = 768, .exogenous = 4};

template <class Model>
Index check_tables(ModelList<Model>) {
    const auto plan = test::LoopPlan::of<Model>();
    const ProgramTables tables = plan.tables();
    // The room of graph/program.hpp: beyond it a program does not compile.
    CHECK(tables.kernels.size() <= 128);
    CHECK(tables.states.size() <= 192);
    return plan.loops().unrolled(&Loop::steps, tables.steps.size());
}

template <class Model>
Index steps_of() {
    return check_tables(typename FamilyOf<Model>::template Schedule<largest>::Models{});
}

}  // namespace

TEST_CASE("published sizes are planned within the tables of programs, each layer with the same steps") {
    const Index of_4m = steps_of<toto2::toto2_4m>();
    const Index of_two_layers = steps_of<toto2::toto2_22m>() - of_4m;
    CHECK(of_two_layers > 0);
    CHECK(steps_of<toto2::toto2_2_5b>() - of_4m == 22 * of_two_layers);
}
