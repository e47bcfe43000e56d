// SPDX-License-Identifier: Apache-2.0
#include <totograph/graph/explain.hpp>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/graph/record/custom.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/feed_forward.hpp>
#include <totograph/nn/rotary.hpp>

#include "graph/explain_models.hpp"

using namespace totograph;
using totograph::tests::Planned;
using totograph::tests::SmallModel;

namespace {

/// The first line that contains a text; empty when none does.
std::string line_with(const std::string& text, std::string_view part) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.find(part) != std::string::npos) {
            return line;
        }
    }
    return {};
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

struct Blend {
    static constexpr std::string_view name = "blend";
    template <class T>
    static T apply(T a, T b) {
        return a + b;
    }
};

/// What a step is called whose nodes `record` records before they are stored.
template <class Record>
std::string words_of(Record record) {
    const Planned planned([&record](Recorder& r) {
        const Tensor result = record(r);
        r.store(r.state("out", result.shape(), result.dtype()), result);
    });
    return detail::ProgramWords(planned.tables()).step(0).line();
}

// clang-format off
constexpr std::string_view small_model_text =
    "small model\n"
    "===========\n"
    "nodes     44 after rewriting\n"
    "steps     7, with 4 distinct kernels (3 GEMMs, 1 reduction)\n"
    "one run   4.89 kFLOP, 3.66 KiB read, 832 B written\n"
    "arena     576 B for 6 intermediates, 896 B without reuse\n"
    "weights   2.26 KiB in 10 prepared tensors, 5 of them packed as f32 (padding not counted)\n"
    "states    192 B in 2 states\n"
    "\n"
    "step  kernel  computes                                 nodes  shape  from      to             read  written        work  weights\n"
    "------------------------------------------------------------------------------------------------------------------------------------------------\n"
    "layers 0-1: the same 3 steps for each layer, here layer 0 with 2.38 kFLOP, 1.73 KiB read, 400 B written\n"
    "   0       0  square -> mean of 8 -> add 1e-06, rsqrt      4  4x1    input     arena +0 B    128 B     16 B     72 FLOP\n"
    "   1       1  GEMM 8->16 + row scale, bias, silu           4  4x16   input, 0  arena +64 B   720 B    256 B  1.22 kFLOP  up.{weight, bias}, norm\n"
    "   2       2  GEMM 16->8 + bias, residual                  3  4x8    1, input  arena +320 B  928 B    128 B  1.09 kFLOP  down.{weight, bias}\n"
    "\n"
    "after the layers: 136 FLOP, 200 B read, 32 B written\n"
    "   6       3  GEMM 8->2 + bias                             3  4x2    5         output        200 B     32 B    136 FLOP  head.{weight, bias}\n"
    "\n"
    "kernels\n"
    "-------\n"
    "kernel 0: mean of 8 over 4x8, 2 steps\n"
    "    %0 = operand 0, f32, strides 8 1\n"
    "    %1 = multiply %0 %0\n"
    "    mean of %1\n"
    "    %0 = mean\n"
    "    %1 = constant 1e-06\n"
    "    %2 = add %0 %1\n"
    "    %3 = rsqrt %2\n"
    "kernel 1: GEMM 8->16 over 4x16, 2 steps\n"
    "    %0 = GEMM\n"
    "    %1 = operand 0, f32, strides 1 0\n"
    "    %2 = operand 1, f32, strides 0 1\n"
    "    %3 = multiply %0 %1\n"
    "    %4 = add %3 %2\n"
    "    %5 = silu %4\n"
    "kernel 2: GEMM 16->8 over 4x8, 2 steps\n"
    "    %0 = GEMM\n"
    "    %1 = operand 0, f32, strides 0 1\n"
    "    %2 = operand 1, f32, strides 8 1\n"
    "    %3 = add %0 %1\n"
    "    %4 = add %2 %3\n"
    "kernel 3: GEMM 8->2 over 4x2, 1 step\n"
    "    %0 = GEMM\n"
    "    %1 = operand 0, f32, strides 0 1\n"
    "    %2 = add %0 %1\n";
// clang-format on

}  // namespace

TEST_CASE("the whole text of a small model") {
    const Planned planned(&SmallModel::record);
    CHECK(explain(planned.tables(), "small model") == small_model_text);
}

TEST_CASE("a program tells how many nodes were recorded") {
    const std::string text = explain<Program<SmallModel>>("small model");
    CHECK(line_with(text, "nodes  ") == "nodes     43 recorded, 44 after rewriting");
}

TEST_CASE("layers can be told one by one") {
    const Planned planned(&SmallModel::record);
    const std::string text = explain(planned.tables(), "small model", {.fold_layers = false, .list_kernels = false});
    CHECK_FALSE(contains(text, "the same"));
    CHECK_FALSE(contains(text, "kernel 0:"));
    CHECK(line_with(text, "layer 0") == "layer 0: 2.38 kFLOP, 1.73 KiB read, 400 B written");
    CHECK(line_with(text, "layer 1") == "layer 1: 2.38 kFLOP, 1.73 KiB read, 400 B written");
    CHECK(contains(line_with(text, "   5       2  "), "4, 2"));
    CHECK(contains(line_with(text, "   5       2  "), "arena +448 B"));
}

TEST_CASE("the bytes follow the type in which weights are stored") {
    const Planned planned(&SmallModel::record);
    const std::string text = explain(planned.tables(), "small model", {.storage = DType::bf16});
    CHECK(contains(text, "weights   1.23 KiB in 10 prepared tensors, 5 of them packed as bf16"));
    CHECK(contains(line_with(text, "GEMM 8->16"), "464 B"));
}

TEST_CASE("layers that differ are not folded") {
    const auto record = [](Recorder& r, std::string_view last_name) {
        Tensor x = r.state("input", {4, 8});
        for (int layer = 0; layer < 3; ++layer) {
            const std::string_view weight = layer == 2 ? last_name : "layers.{}.weight";
            x = silu(linear(x, r.weight(weight, {8, 8}, layer), r.weight("layers.{}.bias", {8}, layer)));
        }
        r.store(r.state("out", {4, 2}), linear(x, r.weight("head", {2, 8}), r.weight("bias", {2})));
    };
    const Planned equal([&record](Recorder& r) { record(r, "layers.{}.weight"); });
    const Planned different([&record](Recorder& r) { record(r, "layers.{}.other"); });
    CHECK(contains(explain(equal.tables(), "equal"), "\nlayers 0-2: the same 1 step for each layer"));
    const std::string text = explain(different.tables(), "different");
    CHECK(contains(text, "\nlayers 0-1: the same"));
    CHECK(contains(text, "\nlayer 2: "));
}

TEST_CASE("states are named with their layer, and with the position that a step writes to") {
    const Planned planned([](Recorder& r) {
        const Tensor x = r.state("input", {1, 8});
        const Tensor position = r.state("position", {1}, DType::i32);
        r.store_at(r.state("cache", {5, 8}, DType::f32, 3), x * 2.0, 0, position);
        r.store(r.state("step", {1}, DType::i32), expand(r.constant(7, DType::i32), Shape{1}));
    });
    const std::string text = explain(planned.tables(), "states");
    CHECK(contains(line_with(text, "multiply 2"), "cache at position"));
    CHECK(contains(text, "layer 3: "));
    CHECK(contains(line_with(text, "store 7"), "  step  "));
    CHECK(detail::name_with_layer("cache", 3) == "cache 3");
    CHECK(detail::name_with_layer("layers.{}.norm", 3) == "layers.3.norm");
    CHECK(detail::name_with_layer("head", -1) == "head");
}

TEST_CASE("what all names of weights begin with is told once") {
    const Planned planned([](Recorder& r) {
        const Tensor x = r.state("input", {4, 8});
        r.store(r.state("out", {4, 2}),
                linear(x, r.weight("model.head.weight", {2, 8}), r.weight("model.head.bias", {2})));
    });
    const std::string text = explain(planned.tables(), "prefix");
    CHECK(contains(text, "Names of weights are below \"model.\".\n"));
    CHECK(contains(line_with(text, "GEMM 8->2"), "  head.{weight, bias}"));
}

TEST_CASE("steps are told in the words of a model") {
    CHECK(words_of([](Recorder& r) { return 1.0 - r.state("x", {4}); }) == "1 minus");
    CHECK(words_of([](Recorder& r) { return 1.0 / r.state("x", {4}) - 0.5; }) == "1 over, subtract 0.5");
    CHECK(words_of([](Recorder& r) {
              const Tensor x = r.state("x", {4});
              const Tensor is_small = less(x, 3);
              return where(is_small, x * x, x);
          }) == "less 3, square, where");
    CHECK(words_of([](Recorder& r) { return cast(r.state("x", {4}), DType::f64); }) == "cast to f64");
    CHECK(words_of([](Recorder& r) { return apply<Blend>(r.state("x", {4}), r.state("y", {4})); }) == "blend");
    CHECK(words_of([](Recorder& r) { return r.state("x", {4, 2}) * r.weight("scale", {2}); }) == "scale");
    CHECK(words_of([](Recorder& r) { return r.state("x", {4, 2}) + r.state("y", {4, 2}); }) == "add");
    CHECK(words_of([](Recorder& r) { return sum(r.state("x", {4, 2})); }) == "sum of 2");
    CHECK(words_of([](Recorder& r) { return reshape(permute(r.state("x", {4, 2}), {1, 0}), {8}); }) == "copy");
    CHECK(words_of([](Recorder& r) {
              const Tensor x = r.state("x", {4, 2, 8});
              const Tensor table = r.state("table", {4, 1, 8});
              return x * table + rotate_pairs(x) * table;
          }) == "rotary");
    CHECK(words_of([](Recorder& r) {
              using FeedForward = nn::SwiGlu<nn::SwiGluSize{.width = 8, .hidden = 3}>;
              const FeedForward layer{.gate = {.projection = {r, "gate_and_up"_name}}, .down = {r, "down"_name}};
              return layer.record(r.state("x", {4, 8}));
          }) == "GEMM 8->3 x2 + bias x2, silu, multiply");
}

TEST_CASE("instructions of the user's operations show all their arguments") {
    const Planned planned([](Recorder& r) {
        const Tensor x = r.state("x", {4});
        const Tensor y = r.state("y", {4});
        r.store(r.state("out", {4}), apply<Blend>(apply<Blend>(x, y), x));
    });
    const std::string text = explain(planned.tables(), "blend");
    CHECK(contains(text, "    %2 = blend %0 %1\n    %3 = blend %2 %0\n"));
}

TEST_CASE("each node tells what it became") {
    const Planned planned(&SmallModel::record);
    const std::string text = explain_graph(planned.tables(), "nodes");
    const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    CHECK(lines == 2 + 2 + planned.graph().size());
    CHECK(contains(line_with(text, "  input  "), "  state"));
    CHECK(contains(line_with(text, "layers.1.up.weight"), "  prepared"));
    CHECK(contains(line_with(text, "silu"), "  step 1, kernel 1"));
    CHECK(contains(line_with(text, "mean"), "  step 0, kernel 0"));
    CHECK(contains(line_with(text, "store"), "  step 6, kernel 3"));
    CHECK(contains(line_with(text, "1e-06"), "  constant "));

    const std::string views = explain_graph(Planned([](Recorder& r) {
                                                const Tensor x = r.state("x", {4, 2});
                                                r.store(r.state("out", {2, 4}), permute(x, {1, 0}) + 1.0);
                                            }).tables(),
                                            "views");
    CHECK(contains(line_with(views, "permute"), "  view"));
}

TEST_CASE("a split of the last axis inside a step belongs to the step") {
    const Planned planned([](Recorder& r) {
        const Tensor x = linear(r.state("x", {4, 8}), r.weight("weight", {6, 8}), r.weight("bias", {6}));
        r.store(r.state("out", {4, 3, 2}), reshape(x, {4, 3, 2}) * r.state("table", {4, 1, 2}));
    });
    CHECK(planned.tables().steps.size() == 1);
    const std::string text = explain_graph(planned.tables(), "split");
    CHECK(contains(line_with(text, "reshape"), "  step 0, kernel 0"));
    CHECK(contains(line_with(text, "linear"), "  step 0, kernel 0"));
}

TEST_CASE("a recorded graph can be printed before it is planned") {
    const std::string text = explain_graph(record<SmallModel>(), "recorded");
    CHECK(text.starts_with("recorded\n========\nnode  operation "));
    CHECK_FALSE(contains(text, "became"));
    CHECK(contains(line_with(text, "layers.0.norm"), "weight"));
}

TEST_CASE("numbers have three digits and a unit") {
    CHECK(detail::bytes_text(0) == "0 B");
    CHECK(detail::bytes_text(999) == "999 B");
    CHECK(detail::bytes_text(1000) == "0.98 KiB");
    CHECK(detail::bytes_text(1536) == "1.50 KiB");
    CHECK(detail::bytes_text(10 * 1024) == "10.0 KiB");
    CHECK(detail::bytes_text(1023 * 1024) == "1.00 MiB");
    CHECK(detail::flops_text(999) == "999 FLOP");
    CHECK(detail::flops_text(9994) == "9.99 kFLOP");
    CHECK(detail::flops_text(9996) == "10.0 kFLOP");
    CHECK(detail::flops_text(123456789) == "123 MFLOP");
    CHECK(detail::flops_text(7'000'000'000'000'000) == "7000 TFLOP");
    CHECK(detail::shape_text(Shape{}) == "scalar");
}

TEST_CASE("a table leaves out columns without content") {
    detail::TextTable table({{"a", true}, {"empty"}, {"b"}});
    table.add_row({"1", "", "x"});
    table.add_heading("a heading that is wider than the table");
    table.add_row({"12", "", ""});
    CHECK(table.text() == " a  b\n-----\n 1  x\na heading that is wider than the table\n12\n");
}
