// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <totograph/exec/cuda/lowering/bf16_states.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/launch_loop.hpp>
#include <totograph/exec/cuda/lowering/launch_table.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/record/loop_choices.hpp>

// From the steps of a plan to launches.

namespace totograph::cuda {

/// The launches of a program. `streams` says whether weights are bf16, and what GEMMs read may be. As the program's own
/// tables, that of launches has one iteration of a loop for several.
///
/// All that templates need to know of a launch is in one small table: a constant expression that reads the program's
/// own tables costs nvcc megabytes each time.
template <class Program, bool streams>
struct Lowering {
private:
    using Table = LaunchTable<Program, streams>;
    static constexpr Table lowered = Table::make();

public:
    /// The program's loops, whose `steps` are here the launches that are written once; none where those of a loop's
    /// iterations differ.
    static constexpr Loops loops = LaunchLoopFinder<Program, streams>(lowered).run();
    /// What is to be recorded of the program's loops, so that the table stands for all launches: more than was, where
    /// the launches of a loop's iterations differ.
    static constexpr LoopChoices to_record = [] {
        LoopChoices result = 0;
        for (int i = 0; i < loops.count; ++i) {
            result = loops[i].steps.count > 0 ? result : totograph::detail::with_all_of(result, loops[i].number);
        }
        return result;
    }();

    /// Entries of the table.
    static constexpr std::size_t count = lowered.count;
    static constexpr const Launch& at(std::size_t entry) { return lowered.launches[entry]; }

    /// Entries that lie in one small table, for what reads one as a constant: nvcc reads all of a table each time.
    static constexpr std::size_t chunk = 8;
    /// The entries from number `begin` on.
    template <std::size_t begin>
    static constexpr auto entries_from = [] {
        std::array<Launch, std::min(chunk, count - begin)> result{};
        for (std::size_t i = 0; i < result.size(); ++i) {
            result[i] = lowered.launches[begin + i];
        }
        return result;
    }();

    /// Launches of one run.
    static constexpr auto launches = static_cast<std::size_t>(loops.unrolled(&Loop::steps, count));

    /// Which entry of the table a launch of a run is, and at which turn of the loops. The iteration before a written
    /// one is -1 of that: its own entries are never told.
    static constexpr Loops::Place place(std::size_t launch) {
        Loops::Place found = loops.place(&Loop::steps, static_cast<int>(launch));
        if (stands_behind(static_cast<std::size_t>(found.entry))) {
            found.entry += loops[found.turn.loop].steps.count;
            --found.turn.iteration;
        }
        return found;
    }
    /// Whether an entry is the same as one of a written iteration, which runs in its place.
    static constexpr bool stands_behind(std::size_t entry) {
        bool result = false;
        for (const Loop& loop : loops.loops()) {
            result = result || loop.steps.has(static_cast<int>(entry) + loop.steps.count);
        }
        return result;
    }

    /// A launch of a run: its steps are counted with all iterations written out.
    static constexpr Launch written_out(std::size_t launch) {
        const Loops::Place found = place(launch);
        Launch result = at(static_cast<std::size_t>(found.entry));
        result.first = Program::loops.at(&Loop::steps, result.first, found.turn);
        result.layer += Program::loops.layers_since(result.loop, result.layer_step, found.turn);
        result.layer_step = 0;
        result.loop = 0;
        return result;
    }

    /// Where regions begin, as numbers of launches of a run: what comes before the first layer, each layer, and what
    /// comes after the last one. The first is 0.
    static std::vector<std::size_t> regions() {
        std::vector<std::size_t> begins{0};
        int layer = -1;
        std::size_t last_of_layers = 0;
        for (std::size_t i = 0; i < launches; ++i) {
            const int own = written_out(i).layer;
            if (own > layer) {
                layer = own;
                if (i > 0) {
                    begins.push_back(i);
                }
            }
            last_of_layers = own >= 0 ? i : last_of_layers;
        }
        if (layer >= 0 && last_of_layers + 1 < launches) {
            begins.push_back(last_of_layers + 1);
        }
        return begins;
    }

    /// Whether an intermediate or a state is stored as bf16.
    static constexpr bool stores_bf16(const Reference& reference) { return lowered.stores_bf16(reference); }

    /// Where in the shared memory of its segment's block an intermediate begins; -1 for what lies elsewhere.
    static constexpr int local_offset(const Reference& reference) {
        return reference.space == Space::arena ? lowered.local[static_cast<std::size_t>(reference.index)] : -1;
    }
    /// A bit for the output of a step, then one for each of its operands: it lies in shared memory.
    static constexpr std::uint32_t local_bits(int index) {
        const Step& step = lowering_detail::step_of<Program>(index);
        std::uint32_t bits = local_offset(step.output) >= 0 ? 1U : 0U;
        for (std::size_t i = 0; i < max_operands; ++i) {
            bits |= local_offset(step.operands.items[i]) >= 0 ? 2U << i : 0U;
        }
        return bits;
    }
};

namespace lowering_detail {

/// A program with more of its loops written out.
template <class Program, LoopChoices choices>
struct WithMore {
    using type = typename WrittenOut<Program, choices>::type;
};
template <class Program, class StateStorage, LoopChoices choices>
struct WithMore<RunningTogether<Program, StateStorage>, choices> {
    using type = RunningTogether<typename WrittenOut<Program, choices>::type, StateStorage>;
};

template <class Program, bool streams, LoopChoices choices = Lowering<Program, streams>::to_record>
struct Lowered {
    using type = typename Lowered<typename WithMore<Program, choices>::type, streams>::type;
};
template <class Program, bool streams>
struct Lowered<Program, streams, 0> {
    using type = Program;
};

}  // namespace lowering_detail

/// The program whose launches run: itself, or, where the launches of a loop do not repeat, with all iterations of that
/// one written out.
template <class Program, bool streams>
using LoweredProgram = typename lowering_detail::Lowered<Program, streams>::type;

}  // namespace totograph::cuda
