// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/graph/kernel.hpp>

// Chains that are not all f32 (statistics in f64, positions in i32) are small work. They are interpreted, an
// instruction at a time on a block of columns, which keeps the code of a program small and quick to compile.

namespace totograph::cpu {
namespace interpreter_detail {

inline constexpr Index block = 64;
using Values = std::array<std::array<double, static_cast<std::size_t>(block)>,
                          static_cast<std::size_t>(max_operands + max_instructions + 2)>;

/// The offset of element (row, column): both numbers split into the axes of the loop.
Index offset_of(const Kernel& kernel, const Strides& strides, Index row, Index column);

/// Values as their dtype holds them.
void round_to(DType dtype, double* values, Index count);

/// Runs the instructions of a chain on `count` values each; gives the result.
const double* run(const Chain& chain, Values& values, Index count);

/// Loads the operands `first` to `end` of a block into values from `place` on.
void load_operands(const Kernel& kernel, const KernelCall& call, int first, int end, int place, Index row, Index column,
                   Index count, Values& values);

/// Columns that lie evenly.
inline Index inner_extent(const Kernel& kernel) {
    return kernel.iteration.rank == kernel.row_rank ? 1 : kernel.iteration[-1];
}

template <class Work>
void parallel_rows(const KernelCall& call, Index rows, Index columns, Work&& work) {
    const Index rows_per_chunk = std::max<Index>(1, elements_per_chunk / std::max<Index>(1, columns));
    parallel_for(*call.pool, divide_rounding_up(rows, rows_per_chunk), [&](Index chunk, int) {
        Values values;
        for (Index row = chunk * rows_per_chunk; row < std::min(rows, (chunk + 1) * rows_per_chunk); ++row) {
            work(row, values);
        }
    });
}

}  // namespace interpreter_detail

/// A pointwise kernel of any dtypes.
void interpret_pointwise(const Kernel& kernel, const KernelCall& call) noexcept;

/// A reduction of any dtypes. Sums run in order of the columns, so that what follows the last observed step, which is
/// zero, never changes them.
void interpret_reduction(const Kernel& kernel, const KernelCall& call) noexcept;

}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/evaluate/impl/interpreter.hpp>
#endif
