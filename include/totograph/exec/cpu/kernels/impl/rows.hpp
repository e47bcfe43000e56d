// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/kernels/rows.hpp>

#include <algorithm>
#include <cstddef>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/gemm/gemm.hpp>
#include <totograph/exec/cpu/gemm/packed_matrix.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/used_elements.hpp>
#include <totograph/exec/cpu/kernels/used_rows.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace fused_detail {

TOTOGRAPH_INLINE Index RowPlace::offset(const Strides& strides) const {
    Index offset = 0;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank_); ++axis) {
        offset += at_[axis] * strides[axis];
    }
    return offset;
}

TOTOGRAPH_INLINE void copy_lanes(const float* from, Index stride, Index count, float* lanes) noexcept {
    store_aligned(lanes, zero_packet());
    for (Index lane = 0; lane < count; ++lane) {
        lanes[lane] = from[lane * stride];
    }
}

TOTOGRAPH_INLINE void store_lanes(float* to, Index stride, Packet value, Index count) noexcept {
    alignas(sizeof(Packet)) float lanes[packet_size];
    store_aligned(lanes, value);
    for (Index lane = 0; lane < count; ++lane) {
        to[lane * stride] = lanes[lane];
    }
}

/// Runs `work(rows, used)`: how many rows of a kernel are in use, and which, if some are left out.
template <class Work>
void with_used_rows(const Kernel& kernel, const KernelCall& call, const Work& work) {
    if (!kernel.bounds.any()) {
        work(kernel.rows(), nullptr);
        return;
    }
    const UsedRows used(kernel.bounds, kernel.bounds.row_rank, call.bounds);
    work(used.count(), used.is_all() ? nullptr : &used);
}

TOTOGRAPH_INLINE void run_rows(const Kernel& kernel, const KernelCall& call, TileFunction run) noexcept {
    with_used_rows(kernel, call, [&](Index rows, const UsedRows* used) {
        const Index columns = kernel.columns();
        const Index rows_per_chunk = std::max<Index>(1, elements_per_chunk / std::max<Index>(1, columns));
        parallel_for(*call.pool, divide_rounding_up(rows, rows_per_chunk), [&](Index chunk, int) {
            const Index first = chunk * rows_per_chunk;
            run(kernel, call,
                {.first_row = first,
                 .row_count = std::min(rows_per_chunk, rows - first),
                 .column_count = columns,
                 .used = used});
        });
    });
}

TOTOGRAPH_INLINE void run_tiles(const Kernel& kernel, const KernelCall& call, TileFunction run) noexcept {
    if (kernel.bounds.any()) {
        parallel_used_elements(call, kernel, [&](Index row, Index first, Index end) {
            run(kernel, call, {.first_row = row, .row_count = 1, .first_column = first, .column_count = end - first});
        });
        return;
    }
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
    with_used_rows(kernel, call, [&](Index rows, const UsedRows* used) {
        const auto epilogue = [&](const float* accumulators, Index stride, Index first_row, Index row_count,
                                  Index first_column, Index column_count, int) noexcept {
            finish(kernel, call, {first_row, row_count, first_column, column_count, accumulators, stride, used});
        };
        const GemmInput x{
            .x = static_cast<const float*>(call.input), .rows = rows, .stride = kernel.input_stride, .used = used};
        gemm(*call.pool, x, *static_cast<const PackedMatrix<Storage>*>(call.packed), epilogue);
    });
}

}  // namespace fused_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
