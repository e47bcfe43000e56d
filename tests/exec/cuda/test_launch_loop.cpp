// SPDX-License-Identifier: Apache-2.0
// Launches of loops: what is written once must launch what is written out. No device is needed, and no CUDA.
#include <cstddef>
#include <string>
#include <type_traits>

#include <doctest/doctest.h>

#include <totograph/exec/cuda/explain/explain.hpp>
#include <totograph/exec/cuda/lowering/bf16_states.hpp>
#include <totograph/exec/cuda/lowering/gemm_choices.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/exec/state_layout.hpp>
#include <totograph/forecast/bucket.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/models/toto1/config.hpp>
#include <totograph/models/toto1/programs.hpp>
#include <totograph/models/toto1/rewrites.hpp>

#include "exec/cuda/loop_models.hpp"

using namespace totograph;
using namespace totograph::cuda;
using loop_models::Alternating;
using loop_models::SmallSteps;
using loop_models::Stack;
using loop_models::TwoStacks;

namespace {

/// Reads the cache of one layer in another way than attention does.
template <class Cached, int layer>
struct ReadsCache {
    static constexpr StateSlot slot = [] {
        std::size_t found = 0;
        while (Cached::states[found].use != StateUse::kv_cache) {
            ++found;
        }
        return Cached::states[found];
    }();
    static constexpr void record(Recorder& r) {
        r.store(r.state("sums", {1}),
                reshape(sum(reshape(r.state(slot.name, slot.shape, DType::f32, layer, StateUse::kv_cache),
                                    {slot.shape.size()})),
                        {1}));
    }
};

constexpr Bucket readme{.variates = 7, .context = 4096, .horizon = 336, .samples = 256};
/// As many layers as it takes to repeat one.
struct Model {
    static constexpr toto1::Toto1Config config{.num_layers = 7, .spacewise_every_n_layers = 7};
};
using Prefill = Program<toto1::Prefill<Model, readme, toto1::Rewrites{}>>;
using Decode = Program<toto1::Decode<Model, readme, toto1::Rewrites{}>>;

template <class Program, bool streams>
using Chosen = LoweredProgram<Program, streams>;
template <class Program, bool streams>
constexpr bool is_looped = Chosen<Program, streams>::loops.count > 0;

// The tables of 48 layers are those of 12, but for how often the loop runs.
template <Index rows, bool streams>
constexpr bool depth_is_free() {
    using Of12 = Lowering<Program<Stack<12, rows>>, streams>;
    using Of48 = Lowering<Program<Stack<48, rows>>, streams>;
    const LoopPart& part = Of12::loops[0].steps;
    bool same = Of12::to_record == 0 && Of48::to_record == 0 && Of12::count == Of48::count &&
                part.first == Of48::loops[0].steps.first && part.count == Of48::loops[0].steps.count;
    for (std::size_t i = 0; same && i < Of12::count; ++i) {
        same = Of12::at(i) == Of48::at(i);
    }
    return same && Of48::launches == Of12::launches + static_cast<std::size_t>(36 * part.count);
}
static_assert(depth_is_free<1792, true>() && depth_is_free<1792, false>() && depth_is_free<8, true>());

// What is compared with all layers written out below: few, for these take the compiler long.
static_assert(is_looped<Program<Stack<9, 1792>>, true> && is_looped<Program<Stack<9, 1792>>, false> &&
              is_looped<Program<Stack<9, 8>>, true>);

// Where layers cannot be told apart from launches, all are written out.
static_assert(is_looped<Program<Alternating>, true>);
// Of two loops, the one that does not end as it goes on is written out alone.
static_assert(Program<TwoStacks<true>>::loops.count == 2 && Chosen<Program<TwoStacks<true>>, true>::loops.count == 1);
static_assert(Chosen<Program<TwoStacks<false>>, true>::loops.count == 2);
static_assert(Program<SmallSteps>::loops.count == 1 && !is_looped<Program<SmallSteps>, true>);
// A cache that one layer stores in another way.
static_assert(is_looped<RunningTogether<Prefill, Bf16States<true, Prefill, Decode>>, true> &&
              is_looped<RunningTogether<Decode, Bf16States<true, Prefill, Decode>>, true>);
static_assert(Lowering<RunningTogether<Prefill, Bf16States<true, Prefill, Decode, Program<ReadsCache<Prefill, 3>>>>,
                       true>::to_record != 0);

bool is_same(const Reference& a, const Reference& b) {
    return a.space == b.space && a.index == b.index && a.offset == b.offset && a.position == b.position;
}

/// Where a reference of a program's tables leads at a turn.
template <class Program>
Reference written_out(Reference reference, LoopTurn turn) {
    const Loops& loops = Program::loops;
    switch (reference.space) {
        case Space::none: break;
        case Space::weight: reference.index = loops.at(&Loop::weights, reference.index, turn); break;
        case Space::state: reference.index = loops.at(&Loop::states, reference.index, turn); break;
        case Space::arena: reference.index = loops.at(&Loop::buffers, reference.index, turn); break;
    }
    reference.position = reference.position < 0 ? -1 : loops.at(&Loop::states, reference.position, turn);
    return reference;
}

/// A step at a turn touches what it does with all iterations written out, stored alike.
template <class Program, class AllLayers, bool streams>
void check_step(int step, LoopTurn turn, int expected_step) {
    const Step& found = lowering_detail::step_of<Program>(step);
    const Step& expected = lowering_detail::step_of<AllLayers>(expected_step);
    CHECK(Program::loops.at(&Loop::steps, step, turn) == expected_step);
    REQUIRE(found.kernel == expected.kernel);
    const auto check = [&](const Reference& a, const Reference& b) {
        CHECK(is_same(written_out<Program>(a, turn), b));
        CHECK(Lowering<Program, streams>::stores_bf16(a) == Lowering<AllLayers, streams>::stores_bf16(b));
        CHECK(Lowering<Program, streams>::local_offset(a) == Lowering<AllLayers, streams>::local_offset(b));
        if (a.space == Space::state) {
            CHECK(StateLayout<Program>::template place_of<Program>(a.index, turn) ==
                  StateLayout<AllLayers>::template place_of<AllLayers>(b.index, {}));
        }
        if (a.space == Space::arena) {
            CHECK(Program::buffers[static_cast<std::size_t>(a.index)].offset ==
                  AllLayers::buffers[static_cast<std::size_t>(b.index)].offset);
        }
    };
    check(found.output, expected.output);
    check(found.input, expected.input);
    check(found.weight, expected.weight);
    for (std::size_t i = 0; i < max_operands; ++i) {
        check(found.operands[i], expected.operands[i]);
    }
}

/// The launches of a run are those of the program with all layers, one by one, and each touches the same.
/// @param AllLayers  the same program without a loop
template <class Program, class AllLayers, bool streams>
void check_launches() {
    using Looped = Chosen<Program, streams>;
    using Lowered = Lowering<Looped, streams>;
    using Expected = Lowering<AllLayers, streams>;
    REQUIRE(Lowered::launches == Expected::launches);
    CHECK(Lowered::regions() == Expected::regions());
    constexpr Precision precision = streams ? Precision::bf16 : Precision::f32;
    CHECK(gemm_choices<Looped, precision>(compiled_for, {}) == gemm_choices<AllLayers, precision>(compiled_for, {}));
    if constexpr (!streams) {
        constexpr Precision tf32 = Precision::tf32;
        CHECK(gemm_choices<Looped, tf32>(compiled_for, {}) == gemm_choices<AllLayers, tf32>(compiled_for, {}));
    }
    for (std::size_t i = 0; i < Lowered::launches; ++i) {
        CAPTURE(i);
        const Launch expected = Expected::written_out(i);
        CHECK(Lowered::written_out(i) == expected);
        const Loops::Place place = Lowered::place(i);
        CHECK_FALSE(Lowered::stands_behind(static_cast<std::size_t>(place.entry)));
        const Launch& launch = Lowered::at(static_cast<std::size_t>(place.entry));
        for (int step = 0; step < launch.count; ++step) {
            check_step<Looped, AllLayers, streams>(launch.first + step, place.turn, expected.first + step);
        }
        const int behind = expected.first + expected.count;
        if (behind < static_cast<int>(AllLayers::steps.size())) {
            const Loops::Place next = Looped::loops.step_behind(launch.first + launch.count, place.turn);
            check_step<Looped, AllLayers, streams>(next.entry, next.turn, behind);
        }
    }
}

template <class Program, bool streams>
void check_launches() {
    check_launches<Program, typename WrittenOut<Program>::type, streams>();
}

}  // namespace

TEST_CASE("a loop launches what its layers do, written out") {
    SUBCASE("by tensor cores") {
        check_launches<Program<Stack<9, 1792>>, true>();
    }
    SUBCASE("in f32 and tf32") {
        check_launches<Program<Stack<9, 1792>>, false>();
    }
    SUBCASE("skinny") {
        check_launches<Program<Stack<9, 8>>, true>();
    }
    SUBCASE("of two layers") {
        check_launches<Program<Alternating>, true>();
    }
    SUBCASE("of several") {
        check_launches<Program<TwoStacks<false>>, true>();
        check_launches<Program<TwoStacks<true>>, true>();
    }
    SUBCASE("that is launched as if it were none") {
        check_launches<Program<SmallSteps>, true>();
    }
}

TEST_CASE("programs that run together launch what their layers do") {
    using AllPrefill = WrittenOut<Prefill>::type;
    using AllDecode = WrittenOut<Decode>::type;
    using States = Bf16States<true, Prefill, Decode>;
    using AllStates = Bf16States<true, AllPrefill, AllDecode>;
    check_launches<RunningTogether<Prefill, States>, RunningTogether<AllPrefill, AllStates>, true>();
    check_launches<RunningTogether<Decode, States>, RunningTogether<AllDecode, AllStates>, true>();
    const auto told = []<class Program>(std::type_identity<Program>) {
        return explain_launches<Program, Precision::bf16>("decode");
    };
    CHECK(told(std::type_identity<RunningTogether<Decode, States>>()) ==
          told(std::type_identity<RunningTogether<AllDecode, AllStates>>()));
}
