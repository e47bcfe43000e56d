// SPDX-License-Identifier: Apache-2.0
// Which nodes become one kernel. That the kernels are right is shown by tests/exec.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/feed_forward.hpp>
#include <totograph/nn/rms_norm.hpp>
#include <totograph/nn/rotary.hpp>

#include "support/plans.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

/// Plans what a function records.
template <class Record>
Planned planned(Record&& record, Passes passes = Passes{}) {
    Recorder r;
    record(r);
    require_recorded(r.graph());
    Planned result = plan_of(r.take_graph(), passes);
    check_plan(result);
    return result;
}

/// How many steps of each kind.
struct Steps {
    int pointwise = 0;
    int reductions = 0;
    int gemms = 0;
    int structural = 0;

    friend bool operator==(const Steps&, const Steps&) = default;
};

Steps steps_of(const Planned& plan) {
    return {count_steps(plan, KernelKind::pointwise), count_steps(plan, KernelKind::reduction),
            count_steps(plan, KernelKind::gemm), count_steps(plan, KernelKind::structural)};
}

Tensor layer(Recorder& r, Tensor x, Index columns) {
    const int number = r.graph().size();
    return linear(x, r.weight("w{}", {columns, x.extent(-1)}, number), r.weight("b{}", {columns}, number));
}

void keep(Recorder& r, Tensor x) {
    r.store(r.state("out", x.shape(), x.dtype(), r.graph().size()), x);
}

}  // namespace

TEST_CASE("an elementwise chain is one kernel that writes into the state") {
    const auto record = [](Recorder& r) {
        const Tensor x = r.state("x", {4, 8});
        keep(r, exp(x * 2.0 + r.state("row", {8})) - x);
    };
    const Planned fused = planned(record);
    CHECK(steps_of(fused) == Steps{.pointwise = 1});
    CHECK(fused.plan.buffers.empty());
    CHECK(fused.plan.kernels[0].operand_count == 2);
    CHECK(steps_of(planned(record, Passes::none())).pointwise == 4);
}

TEST_CASE("a value with two users is computed once") {
    const Planned plan = planned([](Recorder& r) {
        const Tensor x = r.state("x", {4, 8});
        const Tensor shared = exp(x);
        keep(r, shared + 1.0);
        keep(r, shared * 2.0);
    });
    CHECK(steps_of(plan) == Steps{.pointwise = 3});
    CHECK(plan.plan.buffers.size() == 1);
}

TEST_CASE("equal nodes are computed once when asked for") {
    const auto record = [](Recorder& r) {
        const Tensor x = softmax(r.state("x", {4, 8}));
        keep(r, exp(x * 2.0) + 1.0);
        keep(r, exp(x * 2.0) * 3.0);
    };
    CHECK(count_nodes(planned(record).graph, Op::exp) == 1);
    CHECK(count_nodes(planned(record, Passes::none()).graph, Op::exp) == 2);
}

TEST_CASE("a normalized layer is a reduction and a GEMM") {
    const auto record = [](Recorder& r) {
        const Tensor x = r.state("x", {4, 8});
        keep(r, silu(layer(r, nn::rms_norm(x, r.weight("scale", {8}), 1e-5), 6)));
    };
    const Planned plan = planned(record);
    CHECK(steps_of(plan) == Steps{.reductions = 1, .gemms = 1});
    const Kernel& reduction = kernel_of(plan, plan.plan.steps[0]);
    CHECK(reduction.prologue.count == 1);  // x * x
    CHECK(reduction.chain.count == 3);     // 1 / sqrt(. + epsilon)
    Passes keep_scales;
    keep_scales.fold_scales = false;
    keep_scales.defer_row_scales = false;
    CHECK(steps_of(planned(record, keep_scales)) == Steps{.pointwise = 1, .reductions = 1, .gemms = 1});
}

TEST_CASE("a gated feed-forward layer is two GEMMs") {
    const Planned plan = planned([](Recorder& r) {
        const Tensor x = r.state("x", {4, 8});
        using FeedForward = nn::SwiGlu<nn::SwiGluSize{.width = 8, .hidden = 12}>;
        const FeedForward feed_forward{.gate = {.projection = {r, "in"_name}}, .down = {r, "out"_name}};
        keep(r, x + feed_forward.record(x));
    });
    CHECK(steps_of(plan) == Steps{.gemms = 2});
    CHECK(kernel_of(plan, plan.plan.steps[0]).accumulators == 2);
    CHECK(kernel_of(plan, plan.plan.steps[1]).accumulators == 1);
}

TEST_CASE("two GEMMs of one input are computed together, a third one and those of other inputs apart") {
    const auto accumulators_of = [](const Planned& plan) {
        std::vector<int> found;
        for (const Step& step : plan.plan.steps) {
            found.push_back(kernel_of(plan, step).accumulators);
        }
        std::sort(found.begin(), found.end());
        return found;
    };
    const Planned three = planned([](Recorder& r) {
        const Tensor x = r.state("x", {4, 8});
        keep(r, layer(r, x, 6) * layer(r, x, 6) * layer(r, x, 6));
    });
    CHECK(steps_of(three) == Steps{.gemms = 2});
    CHECK(accumulators_of(three) == std::vector{1, 2});
    const Planned others = planned([](Recorder& r) {
        keep(r, layer(r, r.state("x", {4, 8}), 6) * layer(r, r.state("y", {4, 8}), 6));
    });
    CHECK(steps_of(others) == Steps{.gemms = 2});
    CHECK(accumulators_of(others) == std::vector{1, 1});
}

TEST_CASE("pairs are rotated before a split that would part them") {
    const auto record = [](Index parts) {
        return [=](Recorder& r) {
            const Tensor rotated = rotate_pairs(r.state("x", {4, 12}));
            keep(r, reshape(rotated, {4, parts, 12 / parts}) * 2.0);
        };
    };
    CHECK(steps_of(planned(record(3))) == Steps{.pointwise = 1});  // four in each part
    CHECK(steps_of(planned(record(4))) == Steps{.pointwise = 2});  // three
}

TEST_CASE("a rotary embedding is the end of the GEMM before it, and is stored into a cache") {
    const Planned plan = planned([](Recorder& r) {
        const Tensor x = r.state("x", {1, 2, 3, 5, 12});
        const Tensor cosines = r.state("cosines", {1, 1, 1, 5, 1, 6});
        const Tensor sines = r.state("sines", {1, 1, 1, 5, 1, 6});
        r.store_at(r.state("keys", {1, 2, 3, 9, 12}), nn::rotate(layer(r, x, 12), cosines, sines), 3,
                   r.state("length", {1}, DType::i32));
    });
    CHECK(steps_of(plan) == Steps{.gemms = 1});
    CHECK(plan.plan.steps[0].output.space == Space::state);
    CHECK(plan.plan.steps[0].output.position >= 0);
    CHECK(plan.plan.steps[0].output.position_stride == 12);
}

TEST_CASE("types that a kernel cannot mix are kept apart") {
    const Planned gemm = planned([](Recorder& r) {
        keep(r, cast(layer(r, r.state("x", {4, 8}), 6), DType::f64) * 2.0);
    });
    CHECK(steps_of(gemm) == Steps{.pointwise = 1, .gemms = 1});
    const Planned pairs = planned([](Recorder& r) {
        keep(r, rotate_pairs(cast(r.state("x", {4, 8}, DType::f64), DType::f32)));
    });
    CHECK(steps_of(pairs) == Steps{.pointwise = 2});
}

TEST_CASE("views cost no step") {
    const Planned plan = planned([](Recorder& r) {
        const Tensor x = r.state("x", {4, 3, 8});
        const Tensor at = r.state("at", {1}, DType::i32);
        keep(r, take(permute(slice(x, 2, 0, 4, 2), {1, 0, 2}), 1, at) * reshape(r.state("y", {12}), {3, 1, 4}));
        keep(r, layer(r, slice(x, 2, 1, 5), 6));
    });
    CHECK(steps_of(plan) == Steps{.pointwise = 1, .gemms = 1});
}

TEST_CASE("what is taken at a position is read before the position changes") {
    const auto record = [](bool changes) {
        return [=](Recorder& r) {
            const Tensor at = r.state("at", {1}, DType::i32);
            const Tensor taken = exp(take(r.state("x", {4, 8}), 0, at));
            if (changes) {
                r.store(at, at + 1.0);
            }
            keep(r, taken * 2.0);
        };
    };
    CHECK(steps_of(planned(record(false))) == Steps{.pointwise = 1});
    CHECK(steps_of(planned(record(true))).pointwise == 3);
}

TEST_CASE("of two positions one can be a view") {
    const Planned plan = planned([](Recorder& r) {
        const Tensor x = take(r.state("x", {4, 3, 8}), 0, r.state("first", {1}, DType::i32));
        keep(r, take(x, 1, r.state("second", {1}, DType::i32)) * 2.0);
    });
    CHECK(steps_of(plan) == Steps{.pointwise = 1, .structural = 1});
}

TEST_CASE("a view that must move elements is one copy") {
    const Planned plan = planned([](Recorder& r) {
        const Tensor x = r.state("x", {4, 8});
        keep(r, layer(r, reshape(permute(x, {1, 0}), {2, 16}), 6));
    });
    CHECK(steps_of(plan) == Steps{.pointwise = 1, .gemms = 1});
}

TEST_CASE("a state that a later node of the kernel would overwrite is stored apart") {
    const Planned plan = planned([](Recorder& r) {
        const Tensor x = r.state("x", {4, 8});
        r.store(x, x * 2.0);
    });
    CHECK(steps_of(plan) == Steps{.pointwise = 1, .structural = 1});
}

TEST_CASE("chains are cut at the sizes of a kernel") {
    const Planned plan = planned([](Recorder& r) {
        Tensor x = r.state("x", {4, 8});
        for (int i = 0; i < 30; ++i) {
            x = x + r.state("more", {8}, DType::f32, i);
        }
        keep(r, x);
    });
    CHECK(plan.plan.steps.size() >= 3);
    CHECK(plan.plan.steps.size() <= 4);
    for (const Kernel& kernel : plan.plan.kernels) {
        CHECK(kernel.operand_count <= max_operands);
        CHECK(kernel.chain.count <= max_instructions);
    }
}

TEST_CASE("chains of one operand are cut at the instructions of a kernel") {
    const Planned plan = planned([](Recorder& r) {
        Tensor x = r.state("x", {4, 8});
        for (int i = 0; i < 2 * max_instructions; ++i) {
            x = i % 2 == 0 ? exp(x) : sin(x);
        }
        keep(r, x);
    });
    CHECK(plan.plan.steps.size() > 2);
    for (const Kernel& kernel : plan.plan.kernels) {
        CHECK(kernel.chain.count <= max_instructions);
    }
}
