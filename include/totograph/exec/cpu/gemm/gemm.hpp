// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/gemm/packed_matrix.hpp>
#include <totograph/exec/cpu/kernels/used_rows.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/thread_pool.hpp>

// The GEMM of a few or many rows with a packed matrix.
//
// Each output is one chain of multiply-adds over k in increasing order, whatever the number of rows, threads and
// panels: results are the same to the bit. Independence to hide the latency of an addition comes from computing several
// outputs at once. The kernels know nothing of what happens to their results, so that each is compiled once for each
// storage type.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// The most rows that one call of an epilogue receives.
inline constexpr Index gemm_block_rows = 48;

/// Where a GEMM's results go: a function and what it is called with. See `gemm` for the arguments.
struct GemmSink {
    using Function = void (*)(void* context, const float* tile, Index tile_stride, Index first_row, Index row_count,
                              Index first_column, Index column_count, int thread) noexcept;
    Function function = nullptr;
    void* context = nullptr;
};

/// The rows that a GEMM multiplies.
struct GemmInput {
    const float* x = nullptr;
    Index rows = 0;
    Index stride = 0;  ///< Floats from one row to the next.
    /// Where row i lies, if not at place i; `rows` is its `count()`.
    const UsedRows* used = nullptr;

    [[nodiscard]] const float* row(Index number) const noexcept {
        return x + (used == nullptr ? number : used->place(number)) * stride;
    }
};

/// `gemm` with its epilogue's type erased; everything costly to compile depends on the storage type only.
template <class Storage>
void gemm_into(ThreadPool& pool, const GemmInput& x, const PackedMatrix<Storage>& weights, GemmSink sink) noexcept;

/// Computes `y = x W^T` and hands it out in tiles; nothing is stored but by the epilogue.
///
/// `x` is `[rows, weights.k()]`. The epilogue is called as
///
///     epilogue(tile, tile_stride, first_row, row_count, first_column, column_count, thread)
///
/// once for each tile, from any thread of the pool (`thread` says which), at the same time as for other tiles. Output
/// `(first_row + i, first_column + j)` is `tile[i * tile_stride + j]`; for a paired matrix that is the first of the
/// pair and the second is `tile[i * tile_stride + packet_size + j]`. Rows of a tile are aligned to the size of a
/// packet, and all `panel_width` floats of a row can be read. `row_count` is at most `gemm_block_rows`,
/// `column_count` at most `weights.columns_per_panel()`.
///
/// Each output is the same to the bit whatever the number of rows and threads. Allocates nothing; throws nothing, and
/// the epilogue must not throw. Uses about 160 kB of each thread's stack.
template <class Storage, class Epilogue>
void gemm(ThreadPool& pool, const GemmInput& x, const PackedMatrix<Storage>& weights, Epilogue& epilogue) noexcept {
    GemmSink sink;
    sink.context = const_cast<void*>(static_cast<const void*>(std::addressof(epilogue)));
    sink.function = [](void* context, const float* tile, Index tile_stride, Index first_row, Index row_count,
                       Index first_column, Index column_count, int thread) noexcept {
        (*static_cast<Epilogue*>(context))(tile, tile_stride, first_row, row_count, first_column, column_count, thread);
    };
    gemm_into(pool, x, weights, sink);
}

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/gemm/impl/gemm.hpp>
#endif
