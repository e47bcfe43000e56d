// SPDX-License-Identifier: Apache-2.0
// Which nodes are read below a bound alone. Models are recorded while the test runs.
#include <string_view>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/bounds.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/passes/find_bounds.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/rows.hpp>

#include "support/plans.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

constexpr AxisBounds rows{1, 2, 3, 4};
constexpr AxisBounds none{};

/// A state that is written, of which nobody reads what is beyond the bounds.
Tensor out(Recorder& r, const char* name, const Shape& shape, const AxisBounds& bounds = rows) {
    return r.state(name, shape, DType::f32, {}, StateUse::any, bounds);
}

/// The bounds that are found of what a function records and stores.
template <class Record>
AxisBounds found(const Record& record) {
    Recorder r;
    const Tensor watched = record(r);
    const int id = watched.id();
    require_recorded(r.graph());
    return find_bounds(r.graph())[static_cast<std::size_t>(id)];
}

}  // namespace

TEST_CASE("a graph without bounds has none") {
    Recorder r;
    const Tensor x = r.state("x", {2, 3});
    r.store(r.state("y", {2, 3}), x + 1.0);
    CHECK(find_bounds(r.graph()).empty());
}

TEST_CASE("rows that are stored below a bound are computed below it") {
    CHECK(found([](Recorder& r) {
              const Tensor x = r.state("x", {2, 3, 4, 5, 8}) + 1.0;
              const Tensor y = linear(exp(x), r.weight("w", {8, 8}));
              r.store(out(r, "y", {2, 3, 4, 5, 8}), y * mean(y));
              return x;
          }) == rows);
}

TEST_CASE("what any reader reads as a whole has no bound") {
    CHECK(found([](Recorder& r) {
              const Tensor x = r.state("x", {2, 3, 4, 5, 8}) + 1.0;
              r.store(out(r, "y", {2, 3, 4, 5, 8}), exp(x));
              r.store(r.state("z", {2, 3, 4, 5, 8}), x * 2.0);
              return x;
          }) == none);
    CHECK(found([](Recorder& r) {  // by another bound
              const Tensor x = r.state("x", {2, 3, 4, 5, 8}) + 1.0;
              r.store(out(r, "y", {2, 3, 4, 5, 8}), exp(x));
              r.store(out(r, "z", {2, 3, 4, 5, 8}, {1, 0, 4, 4}), x * 2.0);
              return x;
          }) == AxisBounds{1, 0, 0, 4});
}

TEST_CASE("a sum over an axis reads all of it") {
    CHECK(found([](Recorder& r) {
              const Tensor x = r.state("x", {2, 3, 4, 5}) + 1.0;
              r.store(out(r, "y", {2, 3, 4, 1}), sum(x));
              return x;
          }) == AxisBounds{1, 2, 3});
    CHECK(found([](Recorder& r) {
              const Tensor x = r.state("x", {2, 3, 4, 5}) + 1.0;
              r.store(out(r, "y", {2, 3, 4, 5}), softmax(x));
              return x;
          }) == AxisBounds{1, 2, 3});
    CHECK(found([](Recorder& r) {  // those of what comes before do not read what is beyond
              const Tensor x = r.state("x", {2, 3, 4, 5}) + 1.0;
              r.store(out(r, "y", {2, 3, 4, 5}), cumsum(x));
              return x;
          }) == rows);
}

TEST_CASE("moments of rows in use read all steps of these rows") {
    CHECK(found([](Recorder& r) {
              const Tensor x = r.state("x", {2, 3, 4, 5}) + 1.0;
              r.store(out(r, "y", {2, 3, 4, 3, 5}), cast(running_moments(x, nullptr, 1), DType::f32));
              return x;
          }) == AxisBounds{1, 2, 3});
}

TEST_CASE("views carry bounds of the axes that stay") {
    const auto through = [](auto view, const Shape& shape) {
        return found([&](Recorder& r) {
            const Tensor x = r.state("x", {2, 3, 4, 5, 8}) + 1.0;
            r.store(out(r, "y", shape), view(x));
            return x;
        });
    };
    CHECK(through([](Tensor x) { return reshape(x, {2, 3, 4, 5, 2, 4}); }, {2, 3, 4, 5, 2, 4}) == rows);
    CHECK(through([](Tensor x) { return reshape(x, {2, 1, 3, 4, 40}); }, {2, 1, 3, 4, 40}) == AxisBounds{1, 3, 4});
    CHECK(through([](Tensor x) { return reshape(x, {6, 4, 5, 8}); }, {6, 4, 5, 8}) == AxisBounds{0, 0, 2, 3, 4});
    CHECK(through([](Tensor x) { return permute(x, {0, 2, 1, 3, 4}); }, {2, 4, 3, 5, 8}) == AxisBounds{1, 3, 2, 4});
    CHECK(through([](Tensor x) { return slice(x, 3, 0, 2); }, {2, 3, 4, 2, 8}) == rows);
    CHECK(through([](Tensor x) { return slice(x, 3, 1, 2); }, {2, 3, 4, 2, 8}) == AxisBounds{1, 2, 3});
    CHECK(through([](Tensor x) { return slice(x, 3, 0, 2, 2); }, {2, 3, 4, 2, 8}) == AxisBounds{1, 2, 3});
    // What begins behind others is read up to less than the bound.
    CHECK(through([](Tensor x) { return concatenate(x, x, 3); }, {2, 3, 4, 10, 8}) == AxisBounds{1, 2, 3, 4});
    CHECK(found([](Recorder& r) {
              const Tensor x = r.state("x", {2, 1, 4, 5, 8}) + 1.0;
              r.store(out(r, "y", {2, 3, 4, 5, 8}), expand(x, {2, 3, 4, 5, 8}));
              return x;
          }) == AxisBounds{1, 0, 3, 4});
}

TEST_CASE("a store along an axis, from elsewhere than its begin, writes all of its value") {
    CHECK(found([](Recorder& r) {
              const Tensor x = r.state("x", {2, 3, 4, 2, 8}) + 1.0;
              r.store(out(r, "y", {2, 3, 4, 5, 8}), x, 3, 0);
              return x;
          }) == rows);
    CHECK(found([](Recorder& r) {
              const Tensor x = r.state("x", {2, 3, 4, 2, 8}) + 1.0;
              r.store(out(r, "y", {2, 3, 4, 5, 8}), x, 3, 2);
              return x;
          }) == AxisBounds{1, 2, 3});
    CHECK(found([](Recorder& r) {
              const Tensor x = r.state("x", {2, 3, 4, 2, 8}) + 1.0;
              r.store_at(out(r, "y", {2, 3, 4, 5, 8}), x, 3, r.state("at", {1}, DType::i32));
              return x;
          }) == AxisBounds{1, 2, 3});
}

TEST_CASE("places that are data are below the bound of the axis, but bound nothing themselves") {
    const auto of_taken = [](bool is_also_stored) {
        return found([&](Recorder& r) {
            const Tensor x = r.state("x", {2, 3, 4, 5, 8}) + 1.0;
            r.store(out(r, "y", {2, 3, 4, 1, 8}), take(x, 3, r.state("at", {1}, DType::i32)));
            if (is_also_stored) {
                r.store(out(r, "z", {2, 3, 4, 5, 8}), exp(x));
            }
            return x;
        });
    };
    CHECK(of_taken(true) == rows);
    CHECK(of_taken(false) == AxisBounds{1, 2, 3});
    CHECK(found([](Recorder& r) {  // also where all of the result is read
              const Tensor x = r.state("x", {2, 3, 4, 5, 8}) + 1.0;
              r.store(r.state("y", {2, 3, 4, 1, 8}), take(x, 3, r.state("at", {1}, DType::i32)));
              r.store(out(r, "z", {2, 3, 4, 5, 8}), exp(x));
              return x;
          }) == AxisBounds{0, 0, 0, 4});
    CHECK(found([](Recorder& r) {  // rows of a reshaped tensor, as `rows_from` picks them
              const Tensor x = r.state("x", {2, 1, 4, 5, 8}) + 1.0;
              r.store(out(r, "y", {2, 1, 4, 2, 8}), nn::rows_from(x, r.state("at", {2}, DType::i32), 2));
              r.store(out(r, "z", {2, 1, 4, 5, 8}), exp(x));
              return x;
          }) == AxisBounds{1, 0, 3, 4});
}

TEST_CASE("a causal query reads keys up to its own place") {
    const auto keys = [](nn::AttentionOptions options, bool is_bounded) {
        return found([&](Recorder& r) {
            options.heads = 2;
            const Tensor x = r.state("x", {2, 3, 4, 5, 8});
            const Tensor key = exp(x);
            const Tensor attended = nn::attention(x, {key, x, r.state("length", {2}, DType::i32)}, options);
            r.store(out(r, "y", {2, 3, 4, 5, 8}, is_bounded ? rows : AxisBounds{1, 2, 3}), attended);
            return key;
        });
    };
    CHECK(keys({}, true) == rows);
    CHECK(keys({}, false) == AxisBounds{1, 2, 3});
    CHECK(keys({.is_causal = false}, true) == AxisBounds{1, 2, 3});
    CHECK(keys({.queries = QueryPlaces::last}, true) == AxisBounds{1, 2, 3});
}

TEST_CASE("among variates, only a mask hides those beyond the bound") {
    const auto keys = [](bool has_groups) {
        return found([&](Recorder& r) {
            const Tensor x = r.state("x", {2, 3, 4, 5, 8});
            const Tensor key = exp(x);
            const Tensor groups = r.state("groups", {2, 4, 5}, DType::i32);
            const Tensor y = has_groups ? nn::variate_attention(x, key, x, groups, {.heads = 2})
                                        : nn::variate_attention(x, key, x, {.heads = 2});
            r.store(out(r, "y", {2, 3, 4, 5, 8}), y);
            return key;
        });
    };
    CHECK(keys(true) == rows);
    CHECK(keys(false) == AxisBounds{1, 2, 0, 4});
}

TEST_CASE("what a model declares of a tensor holds, whoever reads it, and survives rewrites") {
    Recorder r;
    const Tensor x = r.state("x", {2, 3, 4, 5, 8});
    const Tensor y = r.bound(linear(x * r.weight("scale", {8}), r.weight("w", {8, 8})), 3, 4);
    r.store(r.state("y", {2, 3, 4, 5, 8}), exp(y));
    require_recorded(r.graph());
    CHECK(find_bounds(r.graph())[static_cast<std::size_t>(y.id())] == AxisBounds{0, 0, 0, 4});
    const Planned planned = plan_of(r.take_graph());
    int bounded = 0;
    for (const Step& step : planned.plan.steps) {
        // The product and what follows it are one kernel, which writes a state that is read as a whole.
        bounded += kernel_of(planned, step).bounds.any() ? 1 : 0;
    }
    CHECK(bounded == 0);
    int declared = 0;
    for (const Node& node : planned.graph.nodes) {
        declared += node.op == Op::linear && node.bounds == AxisBounds{0, 0, 0, 4} ? 1 : 0;
    }
    CHECK(declared == 1);
}
