// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/state_layout.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/needs_f32.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::cuda {

/// Whether an operand of an attention is a key or a value, of the prefix or of a suffix.
constexpr bool is_key_or_value(const Kernel& kernel, int operand) {
    return kernel.kind == KernelKind::structural && kernel.op == Op::attention &&
           (kernel.attention.is_key(operand) || kernel.attention.is_value(operand));
}

/// Which states of programs that run together are stored as bf16: keys and values that GEMMs make and attention
/// alone reads, as PyTorch stores them in that precision. That halves the memory and the traffic of the caches. States
/// of programs that need f32 are not among them.
///
/// @tparam rounds  whether any is
template <bool rounds, class... Programs>
struct Bf16States {
    using Layout = StateLayout<Programs...>;
    static constexpr std::size_t size = Layout::count == 0 ? 1 : Layout::count;

private:
    using Flags = std::array<bool, size>;

    /// Marks what a program's attentions read as keys and values, and what it uses in another way than those that may
    /// be rounded.
    template <class Program>
    static constexpr void mark_uses(Flags& wanted, Flags& refused) {
        Program::loops.for_each_step(Program::steps.size(), [&](int number, LoopTurn turn) {
            const auto entry_of = [&](const Reference& reference) {
                return Layout::template place_of<Program>(reference.index, turn);
            };
            const Step& step = Program::steps[static_cast<std::size_t>(number)];
            const Kernel& kernel = Program::kernels[static_cast<std::size_t>(step.kernel)];
            if (step.output.space == Space::state) {
                const std::size_t entry = entry_of(step.output);
                refused[entry] = refused[entry] || kernel.kind != KernelKind::gemm || needs_f32<Program>;
            }
            if (kernel.kind == KernelKind::gemm && step.input.space == Space::state) {
                refused[entry_of(step.input)] = true;
            }
            // Keys and values of one attention are all stored alike.
            bool refuses = false;
            for (int i = 0; i < kernel.operand_count; ++i) {
                const Reference& reference = step.operands.items[i];
                const bool counts = is_key_or_value(kernel, i) && !needs_f32<Program>;
                refuses = refuses || (counts && (reference.space != Space::state || refused[entry_of(reference)]));
                if (reference.space == Space::state) {
                    (counts ? wanted : refused)[entry_of(reference)] = true;
                }
            }
            for (int i = 0; refuses && i < kernel.operand_count; ++i) {
                const Reference& reference = step.operands.items[i];
                if (is_key_or_value(kernel, i) && reference.space == Space::state) {
                    refused[entry_of(reference)] = true;
                }
            }
        });
    }

    static constexpr Flags flags = [] {
        Flags result{};
        if (!rounds) {
            return result;
        }
        Flags wanted{};
        Flags refused{};
        for (std::size_t i = 0; i < Layout::count; ++i) {
            refused[i] = !Layout::written[i] || Layout::entries[i].slot.dtype != DType::f32;
        }
        Flags before{};
        do {  // what one step refuses, an earlier one may share
            before = refused;
            (mark_uses<Programs>(wanted, refused), ...);
        } while (before != refused);
        for (std::size_t i = 0; i < Layout::count; ++i) {
            result[i] = wanted[i] && !refused[i];
        }
        return result;
    }();

public:
    /// Whether an entry of the layout is stored as bf16.
    static constexpr bool at(std::size_t entry) { return flags[entry]; }
    /// Bytes of an entry of the layout.
    static constexpr std::size_t bytes(std::size_t entry) {
        const std::size_t bytes = Layout::entries[entry].bytes();
        return flags[entry] ? aligned_size(bytes / 2) : bytes;
    }

    /// For each state of a program's tables, whether it is stored as bf16; of a loop, in the first iteration.
    template <class Program>
    static constexpr std::array<bool, Program::states.size() == 0 ? 1 : Program::states.size()> of = [] {
        std::array<bool, Program::states.size() == 0 ? 1 : Program::states.size()> result{};
        for (int i = 0; i < static_cast<int>(Program::states.size()); ++i) {
            const LoopTurn turn = Program::loops.first_turn_of(&Loop::states, i);
            result[static_cast<std::size_t>(i)] = flags[Layout::template place_of<Program>(i, turn)];
        }
        return result;
    }();

    /// For each loop of a program, whether each of its states is stored alike in all iterations, from the one before
    /// the written one to the last.
    template <class Program>
    static constexpr std::array<bool, Loops::most> repeat = [] {
        std::array<bool, Loops::most> result{};
        for (int number = 0; number < Program::loops.count; ++number) {
            const Loop& loop = Program::loops[number];
            bool same = true;
            for (int i = loop.states.first; i < loop.states.first + loop.states.count; ++i) {
                const bool first = flags[Layout::template place_of<Program>(i, {number, 0})];
                for (int iteration = -1; iteration < loop.times; ++iteration) {
                    same = same && flags[Layout::template place_of<Program>(i, {number, iteration})] == first;
                }
            }
            result[static_cast<std::size_t>(number)] = same;
        }
        return result;
    }();
};

/// A program that runs together with others, which decide with it how states are stored.
template <class ProgramType, class StateStorage>
struct RunningTogether : ProgramType {
    static constexpr auto bf16_states = StateStorage::template of<ProgramType>;
    static constexpr auto bf16_states_repeat = StateStorage::template repeat<ProgramType>;
};

namespace own_program_detail {

template <class ProgramType>
struct OwnProgram {
    using type = ProgramType;
};
template <class ProgramType, class StateStorage>
struct OwnProgram<RunningTogether<ProgramType, StateStorage>> {
    using type = ProgramType;
};

}  // namespace own_program_detail

/// A program without those that it runs together with. Its kernels are the same, and the names of their code a third
/// as long: nvcc spends a good part of its time on names.
template <class ProgramType>
using OwnProgram = typename own_program_detail::OwnProgram<ProgramType>::type;

}  // namespace totograph::cuda
