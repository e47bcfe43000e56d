// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/kernels/rows.hpp>

#include <algorithm>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/gemm/gemm.hpp>
#include <totograph/exec/cpu/gemm/packed_matrix.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace fused_detail {

TOTOGRAPH_INLINE void run_rows(const Kernel& kernel, const KernelCall& call, TileFunction run) noexcept {
    const Index rows = kernel.rows();
    const Index columns = kernel.columns();
    const Index rows_per_chunk = std::max<Index>(1, elements_per_chunk / std::max<Index>(1, columns));
    parallel_for(*call.pool, divide_rounding_up(rows, rows_per_chunk), [&](Index chunk, int) {
        const Index first = chunk * rows_per_chunk;
        run(kernel, call,
            {.first_row = first, .row_count = std::min(rows_per_chunk, rows - first), .column_count = columns});
    });
}

TOTOGRAPH_INLINE void run_tiles(const Kernel& kernel, const KernelCall& call, TileFunction run) noexcept {
    const Index columns = kernel.columns();
    if (kernel.rows() != 1 || columns <= elements_per_chunk) {
        run_rows(kernel, call, run);
        return;
    }
    constexpr Index per_chunk = round_up(elements_per_chunk, packet_size);
    parallel_for(*call.pool, divide_rounding_up(columns, per_chunk), [&](Index chunk, int) {
        const Index first = chunk * per_chunk;
        run(kernel, call,
            {.row_count = 1, .first_column = first, .column_count = std::min(per_chunk, columns - first)});
    });
}

template <class Storage>
void run_gemm_tiles(const Kernel& kernel, const KernelCall& call, TileFunction finish) noexcept {
    const auto epilogue = [&](const float* accumulators, Index stride, Index first_row, Index row_count,
                              Index first_column, Index column_count, int) noexcept {
        finish(kernel, call, {first_row, row_count, first_column, column_count, accumulators, stride});
    };
    gemm(*call.pool, static_cast<const float*>(call.input), kernel.rows(), kernel.input_stride,
         *static_cast<const PackedMatrix<Storage>*>(call.packed), epilogue);
}

}  // namespace fused_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
