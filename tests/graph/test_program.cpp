// SPDX-License-Identifier: Apache-2.0
// A program is a constant of its model, and says the same as planning the model while the test runs.
#include <algorithm>
#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/state_layout.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/rms_norm.hpp>

#include "support/plans.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

/// Tensors are named before they are used: the order of a call's arguments is the compiler's, and may differ between
/// compiling and running.
struct Model {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {4, 6});
        const Tensor scale = r.weight("scale", {6});
        Tensor y = nn::rms_norm(x, scale, 1e-5);
        for (int layer = 0; layer < 2; ++layer) {
            const Tensor weight = r.weight("w{}", {6, 6}, layer);
            const Tensor bias = r.weight("b{}", {6}, layer);
            y = silu(linear(y, weight, bias));
            const Tensor cache = r.state("cache", {4, 9, 6}, DType::f32, layer);
            const Tensor rows = reshape(y, {4, 1, 6});
            r.store(cache, rows, 1, 3);
        }
        r.store(x, y);
    }
};

struct Other {
    static constexpr void record(Recorder& r) {
        const Tensor n = r.state("n", {3}, DType::i32);
        r.store(n, n + 1.0);
        r.store(r.state("y", {4, 6}), r.state("x", {4, 6}) * 2.0);
    }
};

using P = Program<Model>;
using Recorded = Program<Model, Passes::none()>;

static_assert(P::states[1].shape == Shape{4, 9, 6});
static_assert(P::passes == Passes{} && Recorded::passes == Passes::none());
static_assert(P::steps.size() < Recorded::steps.size());
static_assert(P::Operations::size == 0);

}  // namespace

TEST_CASE("a program is the plan of its model") {
    const Planned planned = plan_of<Model>();
    check_plan(planned);
    REQUIRE(P::graph.size() == planned.graph.size());
    for (int id = 0; id < P::graph.size(); ++id) {
        CHECK(P::graph[id] == planned.graph[id]);
    }
    CHECK(std::equal(P::kernels.begin(), P::kernels.end(), planned.plan.kernels.begin(), planned.plan.kernels.end()));
    REQUIRE(P::steps.size() == planned.plan.steps.size());
    for (std::size_t i = 0; i < P::steps.size(); ++i) {
        CHECK(P::steps[i].kernel == planned.plan.steps[i].kernel);
        CHECK(P::steps[i].output.index == planned.plan.steps[i].output.index);
        CHECK(P::steps[i].output.offset == planned.plan.steps[i].output.offset);
    }
    CHECK(P::weights.size() == planned.plan.weights.size());
    CHECK(P::buffers.size() == planned.plan.buffers.size());
    CHECK(P::arena_bytes == planned.plan.arena_bytes);
}

TEST_CASE("programs that run together share their states") {
    using Layout = StateLayout<P, Program<Other>>;
    static_assert(Layout::count == 5 && Layout::program_count == 2);
    static_assert(Layout::place_of<P>(0, {}) == Layout::place_of<Program<Other>>(2, {}));
    static_assert(Layout::arena_bytes == std::max(P::arena_bytes, Program<Other>::arena_bytes));
    REQUIRE(Layout::find("x") != nullptr);
    CHECK(Layout::find("x") == &Layout::entries[Layout::place_of<P>(0, {})]);
    CHECK(Layout::find("cache", 7) == nullptr);
    for (std::size_t i = 0; i < Layout::count; ++i) {
        CHECK(Layout::entries[i].offset % buffer_alignment == 0);
        for (std::size_t j = 0; j < i; ++j) {
            CHECK(Layout::entries[j].offset + Layout::entries[j].bytes() <= Layout::entries[i].offset);
        }
    }
    CHECK(Layout::entries[Layout::count - 1].offset + Layout::entries[Layout::count - 1].bytes() == Layout::bytes);
}
