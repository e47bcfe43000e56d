// SPDX-License-Identifier: Apache-2.0
#include <totograph/graph/facts.hpp>

#include <cstddef>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/state_layout.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

#include "graph/explain_models.hpp"

using namespace totograph;
using totograph::tests::Planned;
using totograph::tests::SmallModel;

namespace {

using Small = Facts<Program<SmallModel>>;

// Recorded: the input; in each layer 8 nodes of the norm, 4 of each linear layer, silu, and the residual; 4 of the
// head, the output, the store. Rewriting moves the norm's scale into the weights and the row scale behind the GEMM
// (one node more a layer), and merges the two epsilons.
static_assert(Small::recorded_nodes == 1 + 2 * 18 + 4 + 2);
static_assert(Small::nodes == Small::recorded_nodes + 2 - 1);
static_assert(Small::steps == 7 && Small::kernels == 4 && Small::pointwise_kernels == 0);
static_assert(count_kernels(Small::tables, KernelKind::gemm) == 3);

// Norm: a square and an addition for each element, epsilon and root for each row.
static_assert(Small::step(0) == StepFacts{32 * 2 + 4 * 2, 128, 16});
// Up: three instructions for each result; reads x, the weight, one scale a row, the bias.
static_assert(Small::step(1) == StepFacts{2 * 4 * 16 * 8 + 64 * 3, 128 + 512 + 16 + 64, 256});
// Down: bias and residual.
static_assert(Small::step(2) == StepFacts{2 * 4 * 8 * 16 + 32 * 2, 256 + 512 + 32 + 128, 128});
static_assert(Small::step(6) == StepFacts{2 * 4 * 2 * 8 + 8, 128 + 64 + 8, 32});
// In bfloat16 a packed weight is half as large, and nothing else is.
static_assert(Small::step(1, DType::bf16) == StepFacts{1216, 720 - 256, 256});

static_assert(Small::run() ==
              StepFacts{2 * (72 + 1216 + 1088) + 136, 2 * (128 + 720 + 928) + 200, 2 * (16 + 256 + 128) + 32});
static_assert(Small::run(DType::bf16).bytes_read == Small::run().bytes_read - (2 * 1024 + 64) / 2);

// The norm's scales are inside the weights of `up`.
static_assert(Small::weight_bytes() == 2 * (512 + 64 + 512 + 32) + 64 + 8);
static_assert(Small::weight_bytes(DType::bf16) == 2 * (256 + 64 + 256 + 32) + 32 + 8);

// At most the hidden layer, two residual streams, and a row scale lie in the arena at once.
static_assert(Small::arena_bytes == 64 + 256 + 128 + 128);
static_assert(Small::state_bytes == 128 + 64);
static_assert(Small::bytes_of_states("in") == 128 && Small::bytes_of_states("none") == 0);
static_assert(Small::state_bytes == StateLayout<Program<SmallModel>>::bytes);

}  // namespace

TEST_CASE("a plan made at run time has the facts of the program") {
    const Planned planned(&SmallModel::record);
    CHECK(facts_of(planned.tables()) == Small::run());
    CHECK(weight_bytes(planned.tables(), DType::bf16) == Small::weight_bytes(DType::bf16));
    CHECK(bytes_of_states(planned.tables()) == Small::state_bytes);
    CHECK(planned.tables().arena_bytes == Small::arena_bytes);
    CHECK(planned.tables().recorded_nodes == 0);
}

TEST_CASE("attention counts the capacity of its keys, causal attention half of it") {
    const Planned causal([](Recorder& r) {
        const auto rows = [&](std::string_view name) { return r.state(name, {1, 1, 2, 4, 8}); };
        const Tensor valid = r.state("valid", {1}, DType::i32);
        r.store(rows("out"), nn::causal_attention(rows("query"), rows("key"), rows("value"), valid, {.heads = 2}));
    });
    CHECK(causal.step(0) == StepFacts{2 * (4 * 4 * 4 * 8) / 2, 3 * 256 + 4, 256});

    const Planned cached([](Recorder& r) {
        const auto prefix = [&](std::string_view name) { return r.state(name, {1, 1, 2, 5, 8}); };
        const auto suffix = [&](std::string_view name) { return r.state(name, {1, 3, 2, 4, 8}); };
        const auto count = [&](std::string_view name) { return r.state(name, {1}, DType::i32); };
        const Tensor query = r.state("query", {1, 3, 2, 1, 8});
        r.store(r.state("out", {1, 3, 2, 1, 8}),
                nn::cached_attention(query, {prefix("prefix.keys"), prefix("prefix.values"), count("prefix.length")},
                                     {suffix("suffix.keys"), suffix("suffix.values"), count("suffix.length")},
                                     {.heads = 2}));
    });
    // 3 samples of 2 variates ask once each; the samples share the prefix.
    CHECK(cached.step(0) == StepFacts{4 * (3 * 2) * (5 + 4) * 8, 192 + 2 * 320 + 4 + 2 * 768 + 4, 192});
    CHECK(bytes_of_states(cached.tables(), "prefix.") == 2 * 320 + 64);

    const Planned variates([](Recorder& r) {
        const auto rows = [&](std::string_view name) { return r.state(name, {1, 1, 3, 4, 8}); };
        const Tensor groups = r.state("groups", {1, 3, 4}, DType::i32);
        r.store(rows("out"), nn::variate_attention(rows("query"), rows("key"), rows("value"), groups, {.heads = 2}));
    });
    CHECK(variates.step(0) == StepFacts{4 * (4 * 3) * 3 * 8, 3 * 384 + 48, 384});
}

TEST_CASE("an axis that only repeats is read once, and constants are no work") {
    const Planned planned([](Recorder& r) {
        const Tensor x = r.state("x", {4, 8});
        const Tensor row = r.state("row", {1, 8});
        r.store(r.state("out", {4, 8}), maximum(x * row + 0.5, 0.0));
    });
    CHECK(planned.tables().steps.size() == 1);
    CHECK(planned.step(0) == StepFacts{3 * 32, 128 + 32, 128});
    CHECK(count_kernels(planned.tables(), KernelKind::pointwise) == 1);
}

TEST_CASE("scans, softmax and what only moves elements") {
    const Planned planned([](Recorder& r) {
        const Tensor x = r.state("x", {2, 6});
        r.store(r.state("sums", {2, 6}), cumsum(x));
        r.store(r.state("moments", {2, 3, 1}, DType::f64), running_moments(x, &x, 6));
        r.store(r.state("shares", {2, 6}), softmax(x));
        r.store(r.state("both", {2, 12}), concatenate(x, x, 1));
        r.store(r.state("rows", {3, 2, 6}), embedding(r.state("table", {50, 6}), r.state("ids", {3, 2}, DType::i32)));
        r.store(r.state("places", {2, 1}, DType::i32), argmax(x));
        r.store(r.state("sorted", {2, 6}), sort(x));
        const Tensor last = r.state("count", {1}, DType::i32) - 1.0;
        r.store(r.state("one", {2, 1}), take(x, 1, last));
    });
    const auto of = [&planned](Op op) {
        for (std::size_t place = 0; place < planned.tables().steps.size(); ++place) {
            const auto kernel = static_cast<std::size_t>(planned.tables().steps[place].kernel);
            if (planned.tables().kernels[kernel].kind == KernelKind::structural &&
                planned.tables().kernels[kernel].op == op) {
                return planned.step(place);
            }
        }
        return StepFacts{-1, -1, -1};
    };
    CHECK(of(Op::cumsum) == StepFacts{12, 48, 48});
    CHECK(of(Op::running_moments) == StepFacts{12 * 12, 2 * 48, 6 * 8});
    CHECK(of(Op::softmax) == StepFacts{60, 48, 48});
    CHECK(of(Op::concatenate) == StepFacts{0, 96, 96});
    CHECK(of(Op::embedding) == StepFacts{0, 36 * 4 + 24, 36 * 4});
    CHECK(of(Op::argmax) == StepFacts{12, 48, 8});
    CHECK(of(Op::sort) == StepFacts{0, 48, 48});
    CHECK(of(Op::take) == StepFacts{0, 8 + 4, 8});
}

TEST_CASE("a store that repeats a value writes all of it") {
    const Planned planned([](Recorder& r) { r.store(r.state("wide", {1, 4, 3}), r.state("narrow", {1, 1, 3}), 0); });
    CHECK(planned.step(0) == StepFacts{0, 12, 48});
}
