// SPDX-License-Identifier: Apache-2.0
#pragma once

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
#include <totograph/graph/program.hpp>

// From the steps of a plan to launches.

namespace totograph::cuda {

/// The launches of a program. `streams` says whether weights are bf16, and what GEMMs read may be. As the program's own
/// tables, that of launches has one iteration of its loop for several.
///
/// All that templates need to know of a launch is in one small table: a constant expression that reads the program's
/// own tables costs nvcc megabytes each time.
template <class Program, bool streams>
struct Lowering {
private:
    using Table = LaunchTable<Program, streams>;
    static constexpr Table lowered = Table::make();

public:
    /// The launches of the loop that are written once.
    static constexpr LoopPart loop = LaunchLoopFinder<Program, streams>(lowered).run();
    /// Whether the table stands for all launches: not where those of a loop's iterations differ.
    static constexpr bool is_whole = Program::loop.times == 1 || loop.count > 0;

    /// Entries of the table.
    static constexpr std::size_t count = lowered.count;
    static constexpr const Launch& at(std::size_t entry) { return lowered.launches[entry]; }

    /// Launches of one run.
    static constexpr auto launches = static_cast<std::size_t>(Program::loop.unrolled(loop, count));

    /// Which entry of the table a launch of a run is, and in which iteration of the loop. The iteration before the
    /// written one is -1 of that: its own entries are never told.
    static constexpr Loop::Place place(std::size_t launch) {
        const Loop::Place found = Program::loop.place(loop, static_cast<int>(launch));
        return stands_behind(static_cast<std::size_t>(found.entry)) ? Loop::Place{found.entry + loop.count, -1} : found;
    }
    /// Whether an entry is the same as one of the written iteration, which runs in its place.
    static constexpr bool stands_behind(std::size_t entry) { return loop.has(static_cast<int>(entry) + loop.count); }

    /// A launch of a run: its steps are counted with all iterations written out.
    static constexpr Launch written_out(std::size_t launch) {
        const Loop::Place found = place(launch);
        Launch result = at(static_cast<std::size_t>(found.entry));
        result.first = Program::loop.steps.at(result.first, found.iteration);
        result.layer += found.iteration * result.layer_step;
        result.layer_step = 0;
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
            bits |= local_offset(step.operands[i]) >= 0 ? 2U << i : 0U;
        }
        return bits;
    }
};

namespace lowering_detail {

template <class Program, bool is_whole>
struct Lowered {
    using type = Program;
};
template <class Program>
struct Lowered<Program, false> {
    using type = typename WrittenOut<Program>::type;
};
template <class Program, class StateStorage>
struct Lowered<RunningTogether<Program, StateStorage>, false> {
    using type = RunningTogether<typename WrittenOut<Program>::type, StateStorage>;
};

}  // namespace lowering_detail

/// The program whose launches run: itself, or, where the launches of its loop do not repeat, with all iterations
/// written out.
template <class Program, bool streams>
using LoweredProgram = typename lowering_detail::Lowered<Program, Lowering<Program, streams>::is_whole>::type;

}  // namespace totograph::cuda
