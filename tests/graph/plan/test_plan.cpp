// SPDX-License-Identifier: Apache-2.0
// What every plan must keep: buffers that live at once do not overlap, kernels stay inside their tensors, and every
// store happens once.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/programs.hpp>
#include <totograph/models/toto1/rewrites.hpp>

#include "support/plans.hpp"
#include "support/tensor_sources.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

struct SmallToto {
    static constexpr toto1::Toto1Config config{.patch_size = 4,
                                               .embed_dim = 24,
                                               .num_layers = 4,
                                               .num_heads = 2,
                                               .mlp_hidden_dim = 32,
                                               .spacewise_every_n_layers = 2,
                                               .k_components = 3};
};
struct LabelledToto {
    static constexpr toto1::Toto1Config config{.patch_size = 8,
                                               .embed_dim = 16,
                                               .num_layers = 2,
                                               .num_heads = 4,
                                               .mlp_hidden_dim = 24,
                                               .spacewise_every_n_layers = 2,
                                               .spacewise_first = true,
                                               .scaler = toto1::Scaler::causal,
                                               .head = toto1::Head::student_t,
                                               .variate_labels = true};
};

constexpr Bucket sampled{.batch = 2, .variates = 3, .context = 30, .horizon = 9, .samples = 5};
constexpr Bucket lone_mean{.variates = 1, .context = 16, .horizon = 4};
constexpr Bucket exogenous{.batch = 1, .variates = 3, .context = 17, .horizon = 20, .samples = 2, .exogenous = 1};

template <class Program>
void check_with_all_passes() {
    check_plan(plan_of<Program>());
    check_plan(plan_of<Program>(Passes::none()));
    Passes unfused;
    unfused.fuse_elementwise = false;
    check_plan(plan_of<Program>(unfused));
    Passes fused = Passes::none();
    fused.fuse_elementwise = true;
    check_plan(plan_of<Program>(fused));
}

/// A graph of made-up operations: elementwise chains, reductions, GEMMs, views and stores in any order.
Graph made_up_graph(std::uint64_t seed) {
    Recorder r;
    std::uint64_t draws = 0;
    const auto draw = [&](std::size_t below) {
        return static_cast<std::size_t>((uniform(seed * 977 + draws++) + 1.0) * 0.4999999 * static_cast<double>(below));
    };
    std::vector<Tensor> values{r.state("a", {4, 6}), r.state("b", {4, 6}), r.state("c", {4, 6})};
    const Tensor position = r.state("at", {1}, DType::i32);
    int names = 0;
    for (int i = 0; i < 40; ++i) {
        const Tensor x = values[draw(values.size())];
        const Tensor y = values[draw(values.size())];
        switch (draw(15)) {
            case 0: values.push_back(x + y); break;
            case 1: values.push_back(x * y - 1.0); break;
            case 2: values.push_back(x - mean(x * y)); break;
            case 3: values.push_back(sum(x) * y); break;
            case 4:
                values.push_back(linear(x, r.weight("w.{}", {6, 6}, names), r.weight("b.{}", {6}, names)));
                ++names;
                break;
            case 5: values.push_back(reshape(permute(reshape(x, {6, 4}), {1, 0}), {4, 6})); break;
            case 6: values.push_back(concatenate(slice(x, 0, 2, 2), slice(y, 0, 1, 2), 0)); break;
            case 13: values.push_back(concatenate(slice(x, 0, 2, 2) * 2.0, slice(y, 0, 1, 2) + 1.0, 0)); break;
            case 14: values.push_back(concatenate(slice(x, 1, 0, 2), slice(y, 1, 1, 4) * 3.0, 1)); break;
            case 7: values.push_back(expand(slice(x, 0, static_cast<Index>(draw(4)), 1), {4, 6}) + y); break;
            case 8: values.push_back(softmax(x)); break;
            case 9: values.push_back(expand(take(x, 0, position), {4, 6})); break;
            case 10: r.store(values[draw(3)], x); break;
            case 11: r.store(values[draw(3)], slice(x, 0, 1, 3) * 2.0, 0, static_cast<Index>(draw(2))); break;
            default: r.store_at(values[draw(3)], slice(y, 0, 3, 1), 0, position); break;
        }
    }
    for (std::size_t i = values.size() - 3; i < values.size(); ++i) {
        r.store(r.state("out", {4, 6}, DType::f32, static_cast<int>(i)), values[i]);
    }
    return r.take_graph();
}

/// Long chains of one size: two buffers are enough, however many values there are.
struct Softmaxes {
    static constexpr void record(Recorder& r) {
        Tensor x = r.state("x", {4, 16});
        for (int i = 0; i < 10; ++i) {
            x = softmax(x);
        }
        r.store(r.state("out", {4, 16}), x);
    }
};

/// Layers of equal shapes are equal kernels.
struct Layers {
    static constexpr void record(Recorder& r) {
        Tensor x = r.state("x", {4, 16});
        for (int i = 0; i < 10; ++i) {
            x = silu(linear(x, r.weight("w{}", {16, 16}, i), r.weight("b{}", {16}, i)));
        }
        r.store(r.state("out", {4, 16}), x);
    }
};

/// GEMMs of two parts side by side: of a GEMM and an input, of an elementwise step and a GEMM; and of what is read
/// elsewhere, too.
struct SideBySide {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {4, 16});
        const auto layer = [&](Tensor in, Index columns, int number) {
            return linear(in, r.weight("w{}", {columns, in.extent(-1)}, number));
        };
        r.store(r.state("out", {4, 8}, DType::f32, 0), layer(concatenate(silu(layer(x, 32, 0)), x, 1), 8, 1));
        r.store(r.state("out", {4, 8}, DType::f32, 1),
                layer(concatenate(softmax(x) * 2.0, silu(layer(x, 32, 2)), 1), 8, 3));
        const Tensor twice = silu(layer(x, 32, 4));
        r.store(r.state("out", {4, 8}, DType::f32, 2), layer(concatenate(twice, x, 1), 8, 5));
        r.store(r.state("out", {4, 32}, DType::f32, 3), twice * 2.0);
    }
};

/// Parts of one weight are weights of their own.
struct Parts {
    static constexpr void record(Recorder& r) {
        const Tensor bias = r.weight("b", {12});
        const Tensor x = r.state("x", {4});
        for (int i = 0; i < 3; ++i) {
            r.store(r.state("out", {4}, DType::f32, i), x + slice(bias, 0, i, 4, 2));
        }
    }
};

/// Two GEMMs, rows of weights put behind the result of the second, and a third; and, of layers, the same in each.
struct RowsOfWeights {
    static constexpr void record(Recorder& r) { r.store(r.state("y", {6, 8}), record(r, 4)); }

    static constexpr Tensor record(Recorder& r, Index rows) {
        const Tensor hidden = silu(linear(r.state("x", {rows, 8}), r.weight("in", {8, 8})));
        const Tensor more = expand(r.weight("row", {1, 8}) * 0.5, {2, 8});
        Tensor x = concatenate(linear(hidden, r.weight("embed", {8, 8})), more, 0);
        x = repeat(5, x, [&](Tensor input, LayerIndex layer) {
            const Tensor other = expand(r.weight("layers.{}.row", {1, 8}, layer), {2, 8});
            const Tensor body = silu(linear(slice(input, 0, 0, rows), r.weight("layers.{}.w", {8, 8}, layer)));
            return concatenate(body, other, 0);
        });
        return linear(x, r.weight("out", {8, 8}));
    }
};

/// Rows of weights behind more rows than are worth it.
struct ManyRowsOfWeights {
    static constexpr Index rows = 40000;
    static constexpr void record(Recorder& r) {
        r.store(r.state("y", {rows + 2, 8}), linear(RowsOfWeights::record(r, rows), r.weight("last", {8, 8})));
    }
};

/// As many, behind a GEMM that makes twice as much.
struct ManyRowsBehindWideGemm {
    static constexpr Index rows = 40000;
    static constexpr void record(Recorder& r) {
        const Tensor hidden = silu(linear(r.state("x", {rows, 8}), r.weight("in", {16, 8})));
        const Tensor more = expand(r.weight("row", {1, 8}) * 0.5, {2, 8});
        const Tensor x = concatenate(linear(hidden, r.weight("embed", {8, 16})), more, 0);
        r.store(r.state("y", {rows + 2, 8}), linear(x, r.weight("out", {8, 8})));
    }
};

/// A norm that a GEMM reads, put beside what that makes; of a state, which a store might change, or of what was made.
template <Index rows, bool reads_state>
struct NormBesideGemm {
    static constexpr void record(Recorder& r) {
        const Tensor stream = r.state("stream", {rows, 8});
        const Tensor x = reads_state ? stream : tanh(stream);
        const Tensor normed = x * rsqrt(mean(x * x) + 1e-5);
        const Tensor hidden = silu(linear(normed, r.weight("w", {8, 8})));
        r.store(r.state("y", {rows, 8}), linear(concatenate(normed, hidden, 1), r.weight("v", {8, 16})));
    }
};

/// A GEMM of one row that stands for several.
struct LinearOfExpanded {
    static constexpr void record(Recorder& r) {
        const Tensor x = expand(r.state("x", {1, 8}), {6, 8});
        r.store(r.state("y", {6, 8}), tanh(linear(x, r.weight("w", {8, 8}))));
    }
};

}  // namespace

TEST_CASE("plans of Toto's programs") {
    check_with_all_passes<toto1::Prefill<SmallToto, sampled, toto1::Rewrites{}>>();
    check_with_all_passes<toto1::Decode<SmallToto, sampled, toto1::Rewrites{}>>();
    check_with_all_passes<toto1::Prefill<SmallToto, lone_mean, toto1::Rewrites{}>>();
    check_with_all_passes<toto1::Prefill<LabelledToto, exogenous, toto1::Rewrites{}>>();
    check_with_all_passes<toto1::Decode<LabelledToto, exogenous, toto1::Rewrites{}>>();
}

TEST_CASE("plans of Toto's programs without rewrites of the algorithm") {
    constexpr toto1::Rewrites none{false, false, false, false, false, true};
    check_with_all_passes<toto1::BeginHistory<SmallToto, sampled, none>>();
    check_with_all_passes<toto1::Recompute<SmallToto, sampled, none>>();
}

TEST_CASE("plans of made-up graphs") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        const Graph graph = made_up_graph(seed);
        require_recorded(graph);
        check_plan(plan_of(graph));
        check_plan(plan_of(graph, Passes::none()));
    }
}

TEST_CASE("buffers are used again") {
    const Planned planned = plan_of<Softmaxes>();
    CHECK(planned.plan.buffers.size() == 10);
    CHECK(planned.plan.arena_bytes == 2 * aligned_size(4 * 16 * sizeof(float)));
    check_plan(planned);
}

TEST_CASE("equal steps share their kernel") {
    const Planned planned = plan_of<Layers>();
    CHECK(planned.plan.steps.size() == 10);
    CHECK(planned.plan.kernels.size() == 1);
    CHECK(planned.plan.weights.size() == 20);
    check_plan(planned);
}

TEST_CASE("different weights have different identities, and equal ones equal identities in other programs") {
    const Planned planned = plan_of<Parts>();
    REQUIRE(planned.plan.weights.size() == 3);
    const auto& weights = planned.plan.weights;
    CHECK(weights[0].identity != weights[1].identity);
    CHECK(weights[1].identity != weights[2].identity);
    CHECK(weights[0].identity != weights[2].identity);

    const Planned prefill = plan_of<toto1::Prefill<SmallToto, sampled, toto1::Rewrites{}>>();
    const Planned decode = plan_of<toto1::Decode<SmallToto, sampled, toto1::Rewrites{}>>();
    std::size_t packed = 0;
    std::size_t shared = 0;
    for (const PreparedWeight& weight : decode.plan.weights) {
        const bool is_known =
            std::any_of(prefill.plan.weights.begin(), prefill.plan.weights.end(),
                        [&](const PreparedWeight& other) { return other.identity == weight.identity; });
        packed += weight.packed ? 1 : 0;
        shared += weight.packed && is_known ? 1 : 0;
    }
    CHECK(packed > 20);
    CHECK(shared == packed);  // all matrices; small tables differ
}

TEST_CASE("parts of a concatenation are written in place") {
    const Planned planned = plan_of<SideBySide>();
    check_plan(planned);
    int concatenations = 0;
    for (const Step& step : planned.plan.steps) {
        const Kernel& kernel = kernel_of(planned, step);
        concatenations += kernel.kind == KernelKind::structural && kernel.op == Op::concatenate ? 1 : 0;
    }
    CHECK(concatenations == 1);  // of what another step reads as well
    CHECK(count_steps(planned, KernelKind::gemm) == 6);
    // A copy of the input, the product of the softmax, and what reads the third GEMM twice.
    CHECK(count_steps(planned, KernelKind::pointwise) == 3);
}

TEST_CASE("rows of weights are put into a concatenation before the first GEMM, but not into those of layers") {
    const Planned planned = plan_of<RowsOfWeights>();
    check_plan(planned);
    const auto& steps = planned.plan.steps;
    const auto kind_of = [&](std::size_t step) { return kernel_of(planned, steps[step]).kind; };
    CHECK(kind_of(0) == KernelKind::pointwise);
    CHECK(kind_of(1) == KernelKind::gemm);
    CHECK(kind_of(2) == KernelKind::gemm);
    // Both are parts of one buffer.
    CHECK(steps[0].output.index == steps[2].output.index);
    CHECK(steps[0].output.offset == 4 * 8);
    int copies = 0;
    for (std::size_t step = 1; step < steps.size(); ++step) {
        copies += kind_of(step) == KernelKind::pointwise ? 1 : 0;
    }
    CHECK(copies > 0);
}

TEST_CASE("a large concatenation does not take memory before it must") {
    const Planned planned = plan_of<ManyRowsOfWeights>();
    CHECK(kernel_of(planned, planned.plan.steps[0]).kind == KernelKind::gemm);
    // Where the GEMM takes more memory than that, it is no matter.
    const Planned behind_wide = plan_of<ManyRowsBehindWideGemm>();
    CHECK(kernel_of(behind_wide, behind_wide.plan.steps[0]).kind == KernelKind::pointwise);
}

TEST_CASE("a GEMM reads no rows that are one and the same: no library takes them") {
    const Planned planned = plan_of<LinearOfExpanded>();
    check_plan(planned);
    REQUIRE(planned.plan.steps.size() == 2);
    const Kernel& gemm = kernel_of(planned, planned.plan.steps[1]);
    REQUIRE(gemm.kind == KernelKind::gemm);
    CHECK(gemm.input_stride == 8);
}

TEST_CASE("of many rows, a part of a concatenation waits for the GEMM that follows its norm, if it reads no state") {
    const auto gemm_after_norm = []<class Model>(std::type_identity<Model>) {
        const Planned planned = plan_of<Model>();
        check_plan(planned);
        const auto& steps = planned.plan.steps;
        for (std::size_t step = 0; step + 1 < steps.size(); ++step) {
            if (kernel_of(planned, steps[step]).kind == KernelKind::reduction) {
                return kernel_of(planned, steps[step + 1]).kind == KernelKind::gemm;
            }
        }
        return false;
    };
    CHECK(gemm_after_norm(std::type_identity<NormBesideGemm<65, false>>()));
    CHECK_FALSE(gemm_after_norm(std::type_identity<NormBesideGemm<64, false>>()));
    CHECK_FALSE(gemm_after_norm(std::type_identity<NormBesideGemm<65, true>>()));
}
