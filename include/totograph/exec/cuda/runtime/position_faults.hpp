// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/position_error.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::cuda {

/// What kernels of planned programs report of positions out of bounds: one word in page-locked memory, which they write
/// to in that case alone, and which the host reads at no cost worth telling.
template <class... Programs>
class PositionFaults {
public:
    static constexpr std::size_t pinned_bytes = sizeof(std::uint64_t);

    PositionFaults() : memory_(pinned_bytes) { forget(); }

    /// What the kernel of a step is launched with. Steps are counted with all iterations of loops written out.
    template <std::size_t which>
    [[nodiscard]] PositionReport report_of(int step) const noexcept {
        return {word(), static_cast<std::uint32_t>(first_step<which> + step)};
    }

    /// Throws `Error` (`position_out_of_bounds`) for a fault since the last call, and forgets it.
    void check() const {
        const std::uint64_t found = *word();
        if (found == 0) [[likely]] {
            return;
        }
        forget();
        const auto step = static_cast<int>((found >> 32U & 0x7fffffffU) - 1U);
        const bool is_second = found >> 63U != 0;
        const auto position = static_cast<std::int32_t>(static_cast<std::uint32_t>(found));
        [&]<std::size_t... which>(std::index_sequence<which...>) {
            (throw_if_of<which>(step, position, is_second), ...);
        }
        (std::index_sequence_for<Programs...>());
    }

    void forget() const noexcept { *word() = 0; }

private:
    /// Steps of a run.
    template <class Program>
    static constexpr int steps_of = Program::loops.unrolled(&Loop::steps, Program::steps.size());

    /// Steps are numbered through all programs, so that a kernel tells by one number which one it is.
    template <std::size_t which>
    static constexpr int first_step = [] {
        constexpr std::array counts{steps_of<Programs>...};
        int first = 0;
        for (int i = 0; i < static_cast<int>(which); ++i) {
            first += counts[static_cast<std::size_t>(i)];
        }
        return first;
    }();

    template <std::size_t which>
    static void throw_if_of(int step, Index position, bool is_second) {
        using Program = std::tuple_element_t<which, std::tuple<Programs...>>;
        const int of_program = step - first_step<which>;
        if (of_program >= 0 && of_program < steps_of<Program>) {
            const int entry = Program::loops.place(&Loop::steps, of_program).entry;
            const int kernel = Program::steps[static_cast<std::size_t>(entry)].kernel;
            const Kernel& used = Program::kernels[static_cast<std::size_t>(kernel)];
            const Shape& keys = used.operands[is_second ? AttentionDescription::suffix_key_input : 1].shape;
            const bool counts_keys = used.op == Op::attention && used.attention.checks_lengths();
            throw totograph::detail::position_error<Program>({of_program, position, counts_keys ? keys[3] : Index{-1}});
        }
    }

    /// Kernels hold a position's stride and bound in 32 bits.
    template <class Program>
    static constexpr bool has_small_positions = [] {
        const auto fits = [](const Reference& reference) {
            constexpr Index most = std::numeric_limits<std::int32_t>::max();
            return reference.position_stride <= most && reference.last_position <= most;
        };
        bool result = true;
        for (const Step& step : Program::steps) {
            result = result && fits(step.output) && fits(step.input);
            for (const Reference& operand : step.operands) {
                result = result && fits(operand);
            }
        }
        return result;
    }();
    static_assert((has_small_positions<Programs> && ...),
                  "totograph: the CUDA executor takes positions along axes whose strides are below 2^31 elements.");

    [[nodiscard]] volatile std::uint64_t* word() const noexcept {
        return reinterpret_cast<volatile std::uint64_t*>(memory_.data());
    }

    PinnedMemory memory_;
};

}  // namespace totograph::cuda
