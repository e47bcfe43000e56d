// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <totograph/forecast/cpu/eager_forecaster.hpp>
#include <totograph/forecast/weights/model_weights.hpp>
#include <totograph/graph/passes/rewrite.hpp>

#include "models/toto2/cases.hpp"
#include "models/toto2/fixture.hpp"

// Each exact rewrite of the algorithm, switched off, gives the same forecast up to rounding; and what the rewrites are
// for: constants and scales of the reference are in the weights when a program runs.

namespace {

using namespace toto2_fixture;
using tg::Op;
using tg::toto2::Rewrites;

template <class Case, Rewrites rewrites>
std::vector<float> forecast(const std::string& name) {
    const Tensors tensors(name);
    const Inputs inputs(tensors, Case::bucket.horizon, Case::config.patch_size);
    tg::EagerForecaster forecaster(tg::load<Case>(folder(name)).weights,
                                   tg::record_forecast<tg::toto2::WithRewrites<Case, rewrites>, Case::bucket>());
    const tg::Forecast result = forecaster.forecast(inputs.series);
    return {result.values().begin(), result.values().end()};
}

/// A few hundred roundings of f32 in another order, of the largest value of a variate.
constexpr double rounding = 1e-5;

template <class Case, Rewrites rewrites>
void check(const std::string& name) {
    const auto expected = forecast<Case, Rewrites{}>(name);
    const auto found = forecast<Case, rewrites>(name);
    fixture::check_rows(name, found, expected,
                        static_cast<std::size_t>(Case::bucket.horizon * tg::toto2::Toto2Config::levels), rounding,
                        rounding);
}

template <Rewrites rewrites>
void check_all() {
    check<toto2_cases::known_gaps_blocks, rewrites>("known_gaps_blocks");
    check<toto2_cases::uneven_heads, rewrites>("uneven_heads");
    check<toto2_cases::few_observations, rewrites>("few_observations");
}

/// How many nodes of an op run, and how many of those read something that is made of the checkpoint's tensors.
struct Count {
    int all = 0;
    int of_weights = 0;
};

template <class Case, tg::Bucket bucket = Case::bucket>
std::array<Count, tg::op_count> counts() {
    const auto recorded = tg::record_forecast<Case, bucket>();
    const tg::Graph graph = tg::rewrite(recorded.graphs[0], tg::Passes{});
    const auto known = tg::find_weight_expressions(graph);
    std::vector<char> of_checkpoint(known.size(), 0);
    std::array<Count, tg::op_count> result{};
    for (int id = 0; id < graph.size(); ++id) {
        const tg::Node& node = graph[id];
        bool reads = node.op == Op::weight;
        for (int i = 0; i < node.input_count; ++i) {
            const auto input = static_cast<std::size_t>(node.inputs[static_cast<std::size_t>(i)]);
            reads = reads || (known[input] != 0 && of_checkpoint[input] != 0);
        }
        of_checkpoint[static_cast<std::size_t>(id)] = reads ? 1 : 0;
        if (known[static_cast<std::size_t>(id)] == 0) {
            Count& count = result[static_cast<std::size_t>(node.op)];
            count.all += 1;
            count.of_weights += reads ? 1 : 0;
        }
    }
    return result;
}

}  // namespace

TEST_CASE("a residual stream that is multiplied") {
    check_all<Rewrites{.plain_residuals = false}>();
}

TEST_CASE("scales of queries apart from their weights") {
    check_all<Rewrites{.scale_in_queries = false}>();
}

TEST_CASE("skip projections apart") {
    check_all<Rewrites{.joined_projections = false}>();
}

TEST_CASE("patches of which nothing is known, embedded one by one") {
    check_all<Rewrites{.constant_unknown = false}>();
}

TEST_CASE("rows that nobody reads") {
    check_all<Rewrites{.read_rows_only = false}>();
}

TEST_CASE("attention over a lone variate") {
    check<toto2_cases::long_positions, Rewrites{.skip_lone_variate = false}>("long_positions");
}

TEST_CASE("values and output of a lone variate as one GEMM") {
    check<toto2_cases::long_positions, Rewrites{.lone_variate_matrix = true}>("long_positions");
    using Case = tg::toto2::WithRewrites<toto2_cases::long_positions, Rewrites{.lone_variate_matrix = true}>;
    const auto count = counts<Case, toto2_cases::long_positions::bucket>();
    CHECK(count[static_cast<std::size_t>(Op::linear)].all == 7 + 4 + 4);
}

TEST_CASE("without any rewrite") {
    check_all<Rewrites{.plain_residuals = false,
                       .scale_in_queries = false,
                       .joined_projections = false,
                       .constant_unknown = false,
                       .read_rows_only = false,
                       .skip_lone_variate = false}>();
}

TEST_CASE("constants of unit scaling, residual weights, scales of dimensions and skip projections are in the weights") {
    using Case = toto2_cases::published_shape;
    const auto count = counts<Case>();
    const auto of = [&](Op op) { return count[static_cast<std::size_t>(op)]; };
    constexpr int layers = Case::config.num_layers;
    // Queries, keys, values, output, two branches and their end; two in each two-layer projection. Queries of the last
    // layer over time are of the rows that are read.
    CHECK(of(Op::linear).all == 7 * layers + 4);
    // Biases of four GEMMs of a layer and of two of each two-layer projection; an epsilon for each norm but the
    // first, whose is a constant. The last layer over time normalizes twice: all rows for keys, and those that are read
    // for queries.
    CHECK(of(Op::add).of_weights == 4 * layers + 4 + 2 * layers + 1);
    // Nothing is multiplied by, or divided by, anything of the checkpoint when the program runs.
    CHECK(of(Op::multiply).of_weights == 0);
    CHECK(of(Op::divide).of_weights == 0);
    // Residual additions are plain: one multiplication for each norm, and one for each gate.
    CHECK(of(Op::softplus).all == 0);
    CHECK(of(Op::silu).all == layers + 2);
    CHECK(of(Op::where).of_weights == 1);  // patches behind a short context are unknown
}

TEST_CASE("a lone variate has no attention, no queries and no keys") {
    const auto count = counts<toto2_cases::long_positions>();
    // The layer over time has seven GEMMs, the one over variates five.
    CHECK(count[static_cast<std::size_t>(Op::linear)].all == 7 + 5 + 4);
    CHECK(count[static_cast<std::size_t>(Op::attention)].all == 1);
}
