// SPDX-License-Identifier: Apache-2.0
// When launches let the next one begin, and what may be read then. No device is needed, and no CUDA.
#include <cstddef>
#include <string_view>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/lowering.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/exec/cuda/runtime/next_begins.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

using namespace totograph;
using namespace totograph::cuda;

namespace {

constexpr Index width = 64;
constexpr Index capacity = 40;
constexpr Shape row{1, 1, 1, 1, width};

struct Caches {
    Tensor key, value, length, own_key, own_value, own_length;

    constexpr explicit Caches(Recorder& r, LayerIndex layer = 0)
        : key(cache(r, "layers.{}.key", capacity, layer)),
          value(cache(r, "layers.{}.value", capacity, layer)),
          length(r.state("length", {1}, DType::i32)),
          own_key(cache(r, "layers.{}.own_key", 8, layer)),
          own_value(cache(r, "layers.{}.own_value", 8, layer)),
          own_length(r.state("own_length", {1}, DType::i32)) {}

    constexpr Tensor attend(Tensor query) const {
        return nn::cached_attention(query, {key, value, length}, {own_key, own_value, own_length}, {.heads = 4});
    }

private:
    static constexpr Tensor cache(Recorder& r, std::string_view name, Index positions, LayerIndex layer) {
        return r.state(name, {1, 1, 1, positions, width}, DType::f32, layer);
    }
};

constexpr Tensor project(Tensor x, std::string_view name, LayerIndex layer = -1) {
    return linear(x, x.recorder().weight(name, {width, width}, layer));
}

/// What writes the prefix of the attention behind two GEMMs of few rows.
enum class Writer { none, before_last_step, last_step, first_gemm, second_gemm };

/// @tparam has_steps  whether steps with launches of their own run before the GEMMs
template <bool has_steps, Writer writer>
struct RowOfGemms {
    static constexpr void record(Recorder& r) {
        const Caches caches(r);
        const auto copy = [&] { r.store(r.state("copy", large), r.state("large", large)); };
        if (has_steps && writer == Writer::last_step) {
            copy();
        }
        if (writer == Writer::before_last_step || writer == Writer::last_step) {
            r.store(caches.key, r.state("new_key", caches.key.shape()));
        }
        if (has_steps && writer != Writer::last_step) {
            copy();
        }
        const Tensor x = r.state("x", row);
        const Tensor hidden = tanh(project(x, "first"));
        if (writer == Writer::first_gemm) {
            keep(caches, x);
        }
        const Tensor query = project(hidden, "second");
        if (writer == Writer::second_gemm) {
            keep(caches, hidden);
        }
        r.store(r.state("out", row), caches.attend(query));
    }

private:
    static constexpr Shape large{100, 40, 64};

    /// Part of the launch of the other GEMM of this input.
    static constexpr void keep(const Caches& caches, Tensor input) {
        Recorder& r = input.recorder();
        r.store_at(caches.value, project(input, "value"), 3, r.state("at", {1}, DType::i32));
    }
};

/// Layers of decoding one row, of an attention and three GEMMs.
struct Layers {
    static constexpr void record(Recorder& r) {
        r.store(r.state("own_length", {1}, DType::i32), r.state("own_length", {1}, DType::i32) + 1.0);
        const Tensor y = repeat(9, r.state("x", row), [&](Tensor x, LayerIndex layer) {
            const Caches caches(r, layer);
            const Tensor query = project(x, "layers.{}.query", layer);
            const Tensor hidden = x + project(caches.attend(query), "layers.{}.out", layer);
            return hidden + project(tanh(project(hidden, "layers.{}.up", layer)), "layers.{}.down", layer);
        });
        r.store(r.state("y", row), y);
    }
};

/// A GEMM of so many rows, and one behind it that has so many columns.
template <Index rows, Index columns>
struct TwoGemms {
    static constexpr void record(Recorder& r) {
        const Tensor hidden = tanh(project(r.state("x", {rows, width}), "first"));
        r.store(r.state("y", {rows, columns}), linear(hidden, r.weight("second", {columns, width})));
    }
};

template <class Program>
using Lowered = Lowering<Program, true>;

/// What is told of the attention and of the two GEMMs before it.
struct Told {
    bool found = false;
    NextBegins first{}, second{};
    bool prefix_is_early = false;

    friend constexpr bool operator==(const Told&, const Told&) = default;
};

template <bool has_steps, Writer writer>
constexpr Told told() {
    using Recorded = Program<RowOfGemms<has_steps, writer>>;
    using Launches = Lowered<Recorded>;
    std::size_t attention = 0;
    for (std::size_t i = 2; i < Launches::count; ++i) {
        const Kernel& kernel = lowering_detail::kernel_of<Recorded>(Launches::at(i).first);
        attention = kernel.op == Op::attention ? i : attention;
    }
    if (attention == 0) {
        return {};
    }
    const Launch& first = Launches::at(attention - 2);
    const Launch& second = Launches::at(attention - 1);
    if (first.kind != LaunchKind::skinny || second.kind != LaunchKind::skinny) {
        return {};
    }
    return {true, first.next_begins, second.next_begins, Launches::at(attention).prefix_is_early};
}

constexpr auto at_once = NextBegins::at_once;
constexpr auto after_wait = NextBegins::after_wait;

/// What a launch of a program with all layers written out reads early, no launch writes that may still run when it
/// begins: from the one before it back to one that let the next begin after its own wait.
template <class Program>
void check_early_reads() {
    using Launches = Lowered<Program>;
    int attentions = 0;
    int at_once_before = 0;
    for (std::size_t i = 0; i < Launches::count; ++i) {
        if (!Launches::at(i).prefix_is_early) {
            continue;
        }
        CAPTURE(i);
        ++attentions;
        REQUIRE(i > 0);
        const Step& step = lowering_detail::step_of<Program>(Launches::at(i).first);
        at_once_before += Launches::at(i - 1).next_begins == at_once ? 1 : 0;
        std::size_t other = i;
        do {
            REQUIRE(other > 0);
            const Launch& running = Launches::at(--other);
            for (int writer = running.first; writer < running.first + running.count; ++writer) {
                const Reference& written = lowering_detail::step_of<Program>(writer).output;
                for (const std::size_t operand :
                     {std::size_t{1}, std::size_t{2}, std::size_t{AttentionDescription::length_input},
                      std::size_t{AttentionDescription::suffix_length_input}}) {
                    CHECK_FALSE(lowering_detail::may_overlap<Program>(written, step.operands[operand]));
                }
            }
        } while (Launches::at(other).next_begins == at_once);
    }
    CHECK(attentions == 9);
    CHECK(at_once_before == 8);  // not in the first layer: the step before it writes how many keys there are
}

}  // namespace

TEST_CASE("GEMMs of few rows let what streams begin at once, where nothing that may still run writes what it reads") {
    CHECK(told<true, Writer::none>() == Told{true, at_once, at_once, true});
    CHECK(told<true, Writer::before_last_step>() == Told{true, at_once, at_once, true});
    // The last step and all GEMMs may still run.
    CHECK(told<true, Writer::last_step>() == Told{true, at_once, after_wait, true});
    CHECK(told<true, Writer::first_gemm>() == Told{true, at_once, after_wait, true});
    CHECK(told<true, Writer::second_gemm>() == Told{true, at_once, after_wait, false});
    // So may what ran before the program.
    CHECK(told<false, Writer::none>() == Told{true, at_once, after_wait, true});
}

TEST_CASE("what layers read early, no launch writes that may still run") {
    check_early_reads<WrittenOut<Program<Layers>>::type>();
    // The loop is found though the first layer differs.
    CHECK(Lowered<LoweredProgram<Program<Layers>, true>>::loops.count == 1);
}

TEST_CASE("a GEMM of more than 16 rows, and one before a library's, let the next launch begin after their own wait") {
    const auto first = []<Index rows, Index columns>() { return Lowered<Program<TwoGemms<rows, columns>>>::at(0); };
    const auto second = []<Index rows, Index columns>() { return Lowered<Program<TwoGemms<rows, columns>>>::at(1); };
    const Launch of_16 = first.operator()<16, 64>();
    CHECK(of_16.kind == LaunchKind::skinny);
    CHECK(of_16.next_begins == at_once);
    const Launch of_17 = first.operator()<17, 64>();
    CHECK(of_17.kind == LaunchKind::skinny);
    CHECK(of_17.next_begins == after_wait);
    const Launch before_library = first.operator()<1, 60>();
    CHECK(before_library.kind == LaunchKind::skinny);
    CHECK(second.operator()<1, 60>().kind == LaunchKind::gemm);
    CHECK(before_library.next_begins == after_wait);
}

TEST_CASE("steps and attention let the next launch begin after their own wait") {
    using Launches = Lowered<WrittenOut<Program<Layers>>::type>;
    int others = 0;
    for (std::size_t i = 0; i < Launches::count; ++i) {
        if (Launches::at(i).kind != LaunchKind::skinny) {
            ++others;
            CHECK(Launches::at(i).next_begins == after_wait);
        }
    }
    CHECK(others > 9);
}
