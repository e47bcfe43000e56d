// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/lowering/bf16_states.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/launch_table.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>

// Whether the launches of a program repeat as its steps do. What a launch is depends on the steps of its own iteration
// and of its neighbours: of the one before, what a kernel may read early, and what it finds as bf16; of the one after,
// the rest. Whether a GEMM leaves bf16 depends on whether any launch of its kernel has a reader, which is alike in both
// tables. The tables have two iterations in a row, the second with the right one before it, the first with the right
// one after it. Where the launches of both are the same, so are those of every iteration between.

namespace totograph::cuda {

/// Finds the launches of a program's loops.
template <class Program, bool streams>
class LaunchLoopFinder {
public:
    using Table = LaunchTable<Program, streams>;

    constexpr explicit LaunchLoopFinder(const Table& table) : table_(table) {}

    /// The loops, with the launches of the iteration that is written once as `steps`; none of those where launches of
    /// two iterations differ, or reach from one into the other.
    [[nodiscard]] constexpr Loops run() const {
        Loops loops = Program::loops;
        for (int number = 0; number < loops.count; ++number) {
            loops.all[static_cast<std::size_t>(number)].steps = find(number);
        }
        return loops;
    }

private:
    [[nodiscard]] constexpr LoopPart find(int number) const {
        const Loop& loop = Program::loops[number];
        const LoopPart& steps = loop.steps;
        const int before = launch_at(steps.first - steps.count);
        const int first = launch_at(steps.first);
        const int end = launch_at(steps.first + steps.count);
        const LoopPart part{first, end - first};
        const bool found = before >= 0 && first >= 0 && end >= 0 && first - before == part.count && has_gemm(part) &&
                           launches_agree(loop, part) && buffers_agree(loop.buffers) && states_agree(number) &&
                           next_agrees(part);
        return found ? part : LoopPart{};
    }

    [[nodiscard]] constexpr const Launch& launch(int place) const {
        return table_.launches[static_cast<std::size_t>(place)];
    }

    /// The launch that begins with a step; -1 where none does.
    [[nodiscard]] constexpr int launch_at(int step) const {
        const int count = static_cast<int>(table_.count);
        for (int i = 0; i < count; ++i) {
            if (launch(i).first == step) {
                return i;
            }
        }
        return step == static_cast<int>(Program::steps.size()) ? count : -1;
    }

    /// Whether there is a GEMM, which ends a row of small steps: no launch looks beyond the next iteration then.
    [[nodiscard]] constexpr bool has_gemm(const LoopPart& part) const {
        bool found = false;
        for (int i = part.first; i < part.first + part.count; ++i) {
            found = found || launch(i).gemm.count > 0;
        }
        return found;
    }

    [[nodiscard]] constexpr bool launches_agree(const Loop& loop, const LoopPart& part) const {
        bool same = true;
        for (int i = part.first; same && i < part.first + part.count; ++i) {
            Launch expected = launch(i - part.count);
            expected.first += loop.steps.count;
            expected.layer += loop.period * expected.layer_step;
            same = expected == launch(i);
        }
        return same;
    }

    [[nodiscard]] constexpr bool buffers_agree(const LoopPart& part) const {
        bool same = true;
        for (int i = part.first; i < part.first + part.count; ++i) {
            const auto own = static_cast<std::size_t>(i);
            const auto before = static_cast<std::size_t>(i - part.count);
            same = same && table_.stored_as_bf16[own] == table_.stored_as_bf16[before] &&
                   table_.local[own] == table_.local[before];
        }
        return same;
    }

    /// Whether a state of the loop is stored alike in all iterations: programs that run together agree on it by layer.
    [[nodiscard]] static constexpr bool states_agree(int loop) {
        if constexpr (requires { Program::bf16_states_repeat; }) {
            return Program::bf16_states_repeat[static_cast<std::size_t>(loop)];
        } else {
            return Bf16States<streams, Program>::template repeat<Program>[static_cast<std::size_t>(loop)];
        }
    }

    /// A norm that runs with the last GEMM of an iteration is that of the next one, or that of what follows the loop:
    /// whether both are one kernel. Small tiles and waves leave it to the launch behind them, whichever it is.
    [[nodiscard]] constexpr bool next_agrees(const LoopPart& part) const {
        const int last = part.first + part.count - 1;
        const GemmGroup& gemm = launch(last).gemm;
        if (gemm.tail != TailFusion::norm || !is_compiled(GemmKernel::sm90_cluster, gemm)) {
            return true;
        }
        const Launch& in_loop = launch(part.first);
        const Launch& behind = launch(last + 1);
        return in_loop.kernels[0] == behind.kernels[0] && in_loop.stores_bf16[0] == behind.stores_bf16[0] &&
               in_loop.aligned[0] == behind.aligned[0];
    }

    const Table& table_;
};

}  // namespace totograph::cuda
