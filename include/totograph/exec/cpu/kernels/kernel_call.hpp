// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/exec/position_error.hpp>
#include <totograph/graph/bounds.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cpu {

/// What a kernel of the fused executor is called with: addresses, resolved for this run.
struct KernelCall {
    std::array<const void*, max_operands> operands{};
    const void* input = nullptr;   ///< Of a GEMM.
    const void* packed = nullptr;  ///< Of a GEMM: its `PackedMatrix`.
    void* output = nullptr;
    ThreadPool* pool = nullptr;
    float* scratch = nullptr;  ///< `scratch_floats` for each thread.
    std::size_t scratch_floats = 0;
    PositionFault* fault = nullptr;
    int step = 0;                          ///< The number of the step that calls.
    const std::int32_t* bounds = nullptr;  ///< The state of bounds, if the program has one.

    /// How much of an axis of a kernel's loop is in use.
    [[nodiscard]] Index used(const Kernel& kernel, int axis) const noexcept {
        return used_extent(kernel.iteration[axis], kernel.bounds.bound[static_cast<std::size_t>(axis)], bounds);
    }

    /// A position that the kernel has read, from 0 to `last`; reports another one. On the caller's thread.
    [[nodiscard]] Index bounded(Index position, Index last) const noexcept {
        const Index inside = bounded_position(position, last);
        if (inside != position) [[unlikely]] {
            fault->note(step, position, last);
        }
        return inside;
    }
};

/// The code of a kernel. Most know their kernel at compile time; those that need not be fast read it.
using KernelFunction = void (*)(const Kernel&, const KernelCall&) noexcept;

/// Elements that one thread should have to work on before others are asked to help.
inline constexpr Index elements_per_chunk = 16384;

}  // namespace totograph::cpu
