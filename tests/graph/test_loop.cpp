// SPDX-License-Identifier: Apache-2.0
// Loops of models: what is written once must be what is written out.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/exec/cpu/eager_executor.hpp>
#include <totograph/exec/cpu/fused_executor.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/graph/explain.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/record/loop_choices.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/graph/unroll.hpp>

#include "graph/looped_models.hpp"
#include "support/loop_plan.hpp"
#include "support/tensor_sources.hpp"

using namespace totograph;
using namespace looped_models;

namespace {

/// Whether two programs have the same tables, but for how often their loops run.
bool have_equal_tables(const ProgramTables& a, const ProgramTables& b) {
    return a.steps.size() == b.steps.size() && a.weights.size() == b.weights.size() &&
           a.states.size() == b.states.size() && a.buffers.size() == b.buffers.size() &&
           a.nodes.size() == b.nodes.size() && a.arena_bytes == b.arena_bytes &&
           std::equal(a.kernels.begin(), a.kernels.end(), b.kernels.begin(), b.kernels.end());
}

// What a compiler finds. All others of these models are planned while the test runs.
using Of12 = Program<Stack<12>>;
using Of48 = Program<Stack<48>>;
static_assert(Of12::loops.count == 1 && Of12::loops[0].times == 9 && Of48::loops[0].times == 45);
static_assert(Program<TwoStacks<false>>::loops.count == 2 && Program<TwoStacks<false>>::loops[0].times == 6 &&
              Program<TwoStacks<false>>::loops[1].times == 4);
static_assert(Program<ReadsOneLayer>::loops[0].times == 1);

bool is_same(const Reference& a, const Reference& b) {
    return a.space == b.space && a.index == b.index && a.offset == b.offset && a.position == b.position &&
           a.position_stride == b.position_stride && a.last_position == b.last_position && a.capacity == b.capacity;
}

bool is_same(const Step& a, const Step& b) {
    return a.kernel == b.kernel && a.node == b.node && is_same(a.output, b.output) && is_same(a.input, b.input) &&
           is_same(a.weight, b.weight) &&
           std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(),
                      [](const Reference& x, const Reference& y) { return is_same(x, y); });
}

bool is_same(const PreparedWeight& a, const PreparedWeight& b) {
    return a.node == b.node && a.second_node == b.second_node && a.packed == b.packed && a.identity == b.identity;
}

bool is_same(const StateSlot& a, const StateSlot& b) {
    return a.name == b.name && a.layer == b.layer && a.dtype == b.dtype && a.shape == b.shape && a.node == b.node &&
           a.layer_step == b.layer_step;
}

bool is_same(const Buffer& a, const Buffer& b) {
    return a.node == b.node && a.bytes == b.bytes && a.offset == b.offset && a.first_step == b.first_step &&
           a.last_step == b.last_step;
}

template <class Entry>
void check_same(std::span<const Entry> found, std::span<const Entry> expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        CAPTURE(i);
        CHECK(is_same(found[i], expected[i]));
    }
}

void check_same(const ProgramTables& found, const ProgramTables& expected) {
    REQUIRE(found.nodes.size() == expected.nodes.size());
    CHECK(std::equal(found.nodes.begin(), found.nodes.end(), expected.nodes.begin()));
    REQUIRE(found.kernels.size() == expected.kernels.size());
    CHECK(std::equal(found.kernels.begin(), found.kernels.end(), expected.kernels.begin()));
    check_same(found.steps, expected.steps);
    check_same(found.weights, expected.weights);
    check_same(found.states, expected.states);
    check_same(found.buffers, expected.buffers);
    CHECK(found.arena_bytes == expected.arena_bytes);
}

/// A plan with its loops written out is the plan of the model recorded with all layers.
template <class Model>
void check_unrolled(Passes passes = Passes{}) {
    const test::LoopPlan loops = test::LoopPlan::of<Model>(0, passes);
    const test::LoopPlan all = test::LoopPlan::of<Model>(all_iterations, passes);
    CHECK(all.loops().count == 0);
    const ProgramTables expected = all.tables();
    if (loops.loops().count == 0) {
        check_same(loops.tables(), expected);
    } else {
        const Unrolled unrolled(loops.tables());
        check_same(unrolled.tables(), expected);
    }
    // What is counted of one iteration for several is what is counted of all.
    CHECK(facts_of(loops.tables()) == facts_of(expected));
    CHECK(weight_bytes(loops.tables()) == weight_bytes(expected));
    CHECK(bytes_of_states(loops.tables()) == bytes_of_states(expected));
}

/// The same of what a compiler plans, and of what `Facts` tells of it. (In which order the arguments of one call are is
/// the compiler's choice, and g++ takes another one while compiling.)
template <class Program>
void check_compiled() {
    using AllLayers = typename WrittenOut<Program>::type;
    const ProgramTables expected = short_tables_of<AllLayers>();
    const ProgramTables found = tables_of<Program>();
    check_same(found, expected);
    CHECK(found.recorded_nodes == expected.recorded_nodes);
    using Counted = Facts<Program>;
    CHECK(Counted::nodes == static_cast<int>(expected.nodes.size()));
    CHECK(Counted::steps == static_cast<int>(expected.steps.size()));
    CHECK(Counted::run() == facts_of(expected));
    CHECK(Counted::step(Counted::steps - 1) ==
          facts_of(expected.kernels[static_cast<std::size_t>(expected.steps.back().kernel)]));
    CHECK(Counted::weight_bytes() == weight_bytes(expected));
    CHECK(Counted::state_bytes == bytes_of_states(expected));
}

/// How often the loops of a model run that a plan keeps once.
template <class Model>
std::vector<int> times_of() {
    const Loops loops = test::LoopPlan::of<Model>().loops();
    std::vector<int> times;
    for (int number = 0; number < loops.count; ++number) {
        times.push_back(loops[number].times);
    }
    return times;
}

/// The output of a run with one thread.
template <class Program>
void run(const Weights& weights, std::span<float> result) {
    cpu::FusedExecutor<float, Program> executor(weights, std::make_shared<cpu::ThreadPool>(1));
    auto* const x = static_cast<float*>(executor.state("x"));
    for (std::size_t i = 0; i < result.size(); ++i) {
        x[i] = 0.25F * static_cast<float>(i % 7) - 0.5F;
    }
    executor.template run<0>();
    std::memcpy(result.data(), executor.state("y"), result.size_bytes());
}

}  // namespace

TEST_CASE("behind an iteration follows the next one, behind the last one what follows the loop") {
    Loops loops;
    loops.count = 1;
    loops.all[0].steps = {.first = 2, .count = 3};
    loops.all[0].times = 3;
    const auto behind = [&](int step, LoopTurn turn) {
        const Loops::Place place = loops.step_behind(step, turn);
        return std::array{place.entry, place.turn.loop, place.turn.iteration};
    };
    CHECK(behind(4, {0, 0}) == std::array{4, 0, 0});
    CHECK(behind(5, {0, 0}) == std::array{2, 0, 1});
    CHECK(behind(5, {0, 1}) == std::array{2, 0, 2});
    CHECK(behind(5, {0, 2}) == std::array{5, 0, 2});
    CHECK(behind(5, {1, 0}) == std::array{5, 1, 0});
    CHECK(loops.unrolled(&Loop::steps, 6) == 12);
}

TEST_CASE("which layers are repeated") {
    const auto none = std::vector<int>{};
    CHECK(times_of<Stack<12>>() == std::vector{9});
    CHECK(times_of<Stack<48>>() == std::vector{45});
    CHECK(times_of<Stack<4>>() == none);
    CHECK(times_of<Stack<5>>() == std::vector{2});
    CHECK(times_of<Alternating<12>>() == std::vector{3});
    CHECK(test::LoopPlan::of<Alternating<12>>().loops()[0].period == 2);
    CHECK(times_of<Alternating<13>>() == std::vector{3});
    CHECK(times_of<Alternating<9>>() == none);
    REQUIRE(times_of<Groups>().size() == 1);
    CHECK(times_of<Groups>()[0] > 1);
    REQUIRE(times_of<Prefill>().size() == 1);
    CHECK(times_of<Prefill>()[0] > 1);
    CHECK(times_of<Decode>() == std::vector{9});
    CHECK(times_of<Growing>() == std::vector{5});
    // Of 12 layers, the last two are no part of the loop.
    CHECK(times_of<FirstPass<12>>() == std::vector{7});
    CHECK(times_of<TwoStacks<false>>() == std::vector{6, 4});
    CHECK(times_of<TwoStacks<true>>() == none);
    CHECK(times_of<TiedStacks>().size() == 2);
    CHECK(times_of<DecodeOfGroups>().size() == 2);
    CHECK(times_of<ReadsOneLayer>() == none);
    // Of two loops, the one whose iterations differ is written out alone.
    CHECK(times_of<OneDiffers>() == std::vector{9});
    CHECK(times_of<WithoutBuffers>() == std::vector{9});
    CHECK(test::LoopPlan::of<WithoutBuffers>().loops()[0].buffers.count == 0);
    CHECK(times_of<StoresLate>() == none);
    CHECK(times_of<CountsDown<false>>() == std::vector{9});
    CHECK(times_of<CountsDown<true>>() == none);
}

TEST_CASE("48 equal layers have the tables of 12, but for the count") {
    CHECK(have_equal_tables(short_tables_of<Of12>(), short_tables_of<Of48>()));
    CHECK(
        have_equal_tables(test::LoopPlan::of<FirstPass<12>>().tables(), test::LoopPlan::of<FirstPass<48>>().tables()));
}

TEST_CASE("a loop written out is the model recorded with all layers") {
    SUBCASE("a stack of equal layers") {
        check_compiled<Of12>();
        check_unrolled<Stack<12>>();
    }
    SUBCASE("of 48") {
        check_unrolled<Stack<48>>();
    }
    SUBCASE("just deep enough") {
        check_unrolled<Stack<5>>();
    }
    SUBCASE("of one residual a layer") {
        check_unrolled<Alternating<13>>();
    }
    SUBCASE("groups of layers") {
        check_unrolled<Groups>();
    }
    SUBCASE("without fusion") {
        check_unrolled<Stack<12>>(Passes::none());
    }
    SUBCASE("a prefill") {
        check_unrolled<Prefill>();
    }
    SUBCASE("a step of decoding") {
        check_unrolled<Decode>();
    }
    SUBCASE("with a factor that layers hand on") {
        check_unrolled<Growing>();
    }
    SUBCASE("the first pass of a forecast in blocks") {
        check_unrolled<FirstPass<12>>();
    }
    SUBCASE("several loops") {
        check_compiled<Program<TwoStacks<false>>>();
        check_unrolled<TwoStacks<false>>();
        check_unrolled<TwoStacks<true>>();
        check_unrolled<DecodeOfGroups>();
    }
    SUBCASE("with concatenations") {
        check_unrolled<Concatenates>();
    }
    SUBCASE("whose layers make nothing but what they store") {
        check_unrolled<WithoutBuffers>();
    }
    SUBCASE("not to be repeated") {
        check_unrolled<OneDiffers>();
        check_unrolled<ReadsOneLayer>();
        check_unrolled<StoresLate>();
    }
    SUBCASE("from the last to the first") {
        check_unrolled<CountsDown<false>>();
    }
}

TEST_CASE("the iteration before the written one is one of its loop") {
    constexpr const Loops& loops = Program<TwoStacks<false>>::loops;
    for (const int number : {0, 1}) {
        const LoopPart& steps = loops[number].steps;
        for (int step = steps.first; step < steps.first + steps.count; ++step) {
            CHECK(loops.at(&Loop::steps, step, {number, -1}) ==
                  loops.at(&Loop::steps, step - steps.count, {number, 0}));
        }
    }
}

TEST_CASE("a loop computes what its layers do, to the bit") {
    const Weights weights(std::make_shared<test::MadeUpTensors>());
    const auto check = [&]<class Model>(std::type_identity<Model>) {
        std::array<float, 3 * width> found{};
        std::array<float, 3 * width> expected{};
        run<Program<Model>>(weights, found);
        run<typename WrittenOut<Program<Model>>::type>(weights, expected);
        CHECK(found == expected);
        CHECK(found[0] != 0);
    };
    check(std::type_identity<Stack<12>>());
    check(std::type_identity<Growing>());
    check(std::type_identity<TwoStacks<false>>());
    check(std::type_identity<TiedStacks>());
}

TEST_CASE("the eager executor runs all iterations of a planned program, with code of a user's own") {
    const Weights weights(std::make_shared<test::MadeUpTensors>());
    const auto check = [&]<class Model>(std::type_identity<Model>) {
        static_assert(Program<Model>::loops.count >= 1);
        const auto result_of = [&]<class Executor>(std::type_identity<Executor>) {
            Executor executor(weights, std::make_shared<cpu::ThreadPool>(1));
            auto* const x = static_cast<float*>(executor.state("x"));
            for (int i = 0; i < 3 * width; ++i) {
                x[i] = 0.25F * static_cast<float>(i) - 2;
            }
            executor.template run<0>();
            const auto* const y = static_cast<const float*>(executor.state("y"));
            return std::vector<float>(y, y + 3 * width);
        };
        using WithLoop = cpu::EagerExecutor<Program<Model>>;
        using AllLayers = cpu::EagerExecutor<typename WrittenOut<Program<Model>>::type>;
        CHECK(result_of(std::type_identity<WithLoop>()) == result_of(std::type_identity<AllLayers>()));
    };
    check(std::type_identity<Stack<12>>());
    check(std::type_identity<WithOpaque>());
    check(std::type_identity<TwoStacks<false>>());  // with caches of each layer
    check(std::type_identity<TiedStacks>());
}

TEST_CASE("a loop checks what its body does") {
    const auto error_of = [](auto body) {
        Recorder r;
        const Tensor x = r.state("x", {3, width});
        Tensor kept;
        const Tensor y = repeat(2, x, [&](Tensor input, LayerIndex layer) { return body(r, input, layer, kept); });
        r.store(r.state("y", {3, width}), kept.id() < 0 ? y : y + kept);
        return r.take_graph().error;
    };
    SUBCASE("a sound one") {
        const ModelError error = error_of([](Recorder&, Tensor x, LayerIndex, Tensor&) { return x + 1.0; });
        CHECK(error.kind == ModelErrorKind::none);
    }
    SUBCASE("a tensor of an iteration is used after it") {
        const ModelError error = error_of([](Recorder&, Tensor x, LayerIndex, Tensor& kept) {
            kept = exp(x);
            return x + 1.0;
        });
        CHECK(error.kind == ModelErrorKind::tensor_left_its_loop);
        CHECK(error.message() ==
              "add: input 1 is `exp` of shape [3, 8], which the body of `repeat` has recorded for itself");
    }
    SUBCASE("a layer is named after its iteration") {
        const auto error_with = [](auto layer_of, LoopChoices choices) {
            Recorder r(choices);
            const Tensor x = r.state("x", {3, width});
            LayerIndex kept;
            const auto keep = [&](Tensor input, LayerIndex layer) {
                kept = layer;
                return input * r.weight("layers.{}.scale", {width}, layer);
            };
            const Tensor between = repeat(5, x, keep);
            const Tensor y = repeat(6, between, [&](Tensor input, LayerIndex layer) {
                return input + r.weight("layers.{}.bias", {width}, layer_of(layer, kept));
            });
            r.store(r.state("y", {3, width}), y);
            return r.take_graph().error;
        };
        for (const LoopChoices choices : {LoopChoices{0}, all_iterations}) {
            const ModelError error = error_with([](LayerIndex, LayerIndex kept) { return kept; }, choices);
            CHECK(error.kind == ModelErrorKind::layer_left_its_loop);
            CHECK(error.message() ==
                  "weight 'layers.{}.bias': its layer is that of an iteration of `repeat` that has ended");
            CHECK(error_with([](LayerIndex layer, LayerIndex kept) { return layer * 2 + kept; }, choices).kind ==
                  ModelErrorKind::layer_left_its_loop);
            CHECK(error_with([](LayerIndex layer, LayerIndex) { return layer * 2 + 7; }, choices).kind ==
                  ModelErrorKind::none);
        }
    }
    SUBCASE("another shape") {
        const ModelError error = error_of([](Recorder&, Tensor x, LayerIndex, Tensor&) {
            return reshape(x, {width, 3});
        });
        CHECK(error.kind == ModelErrorKind::loop_changes_its_tensor);
        CHECK(error.message() == "repeat: the body is given f32 [3, 8] and returns f32 [8, 3]");
    }
}

TEST_CASE("an explanation tells a loop's body once, and how often it runs") {
    // Layers at the ends may differ in where they read, so the loop is shorter than the stack.
    const std::string text = explain<Program<Stack<12>>>("stack", {.list_kernels = false});
    CHECK(text.find("\nsteps     " + std::to_string(tables_of<Program<Stack<12>>>().steps.size()) + ", ") !=
          std::string::npos);
    const auto heading = text.find(" for each layer, here layer ");
    REQUIRE(heading != std::string::npos);
    CHECK(text.find(" for each layer, here layer ", heading + 1) == std::string::npos);
    const std::string longer = explain<Program<Stack<48>>>("stack", {.list_kernels = false});
    CHECK(std::count(text.begin(), text.end(), '\n') == std::count(longer.begin(), longer.end(), '\n'));
    CHECK(longer.find("-47: the same ") != std::string::npos);
    CHECK(text.find("-11: the same ") != std::string::npos);
}
