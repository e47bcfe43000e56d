// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/used_rows.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/graph/kernel.hpp>

// How the work of a fused kernel is walked through and spread over threads.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace fused_detail {

/// A row of a kernel's iteration, by its places along the row axes.
class RowPlace {
public:
    RowPlace(const Kernel& kernel, Index row) : extents_(kernel.iteration.extents.data()), rank_(kernel.row_rank) {
        for (int axis = rank_ - 1; axis > 0; --axis) {
            at_[static_cast<std::size_t>(axis)] = row % extents_[axis];
            row /= extents_[axis];
        }
        at_[0] = row;
    }

    /// On to the next row. Whether that is one further along the last row axis.
    bool advance() {
        int axis = rank_ - 1;
        for (; axis > 0; --axis) {
            Index& place = at_[static_cast<std::size_t>(axis)];
            if (++place < extents_[axis]) {
                return axis == rank_ - 1;
            }
            place = 0;
        }
        ++at_[0];
        return rank_ == 1;
    }

    /// From the first row of a tensor with these strides, in elements.
    [[nodiscard]] Index offset(const Strides& strides) const;

private:
    std::array<Index, max_rank> at_{};
    const Index* extents_;
    int rank_;
};

/// Some rows and columns of a kernel's iteration, with what a GEMM has added up for them.
struct Tile {
    Index first_row = 0;  ///< Of those in use.
    Index row_count = 0;
    Index first_column = 0;
    Index column_count = 0;
    const float* accumulators = nullptr;
    Index stride = 0;                ///< From one row of `accumulators` to the next.
    const UsedRows* used = nullptr;  ///< The rows, if some are left out.
};

/// Walks along the rows of a tile.
class TileRows {
public:
    TileRows(const Kernel& kernel, const Tile& tile)
        : kernel_(kernel),
          used_(tile.used),
          number_(tile.first_row),
          end_(tile.first_row + tile.row_count),
          place_(kernel, used_ != nullptr ? used_->place(number_) : number_) {}

    [[nodiscard]] bool is_done() const { return number_ == end_; }
    [[nodiscard]] const RowPlace& place() const { return place_; }
    /// On to the next row. Whether that is one further along the last row axis, for whoever counts along.
    bool advance() {
        ++number_;
        if (used_ == nullptr) {
            return place_.advance();
        }
        place_ = RowPlace(kernel_, used_->place(number_));
        return false;
    }

private:
    const Kernel& kernel_;
    const UsedRows* used_;
    Index number_;
    Index end_;
    RowPlace place_;
};

/// Copies `count` lanes, fewer than a packet, and writes 0 to the others.
/// @param lanes  aligned to the size of a packet
void copy_lanes(const float* from, Index stride, Index count, float* lanes) noexcept;

/// Stores the first `count` lanes, a packet at most.
void store_lanes(float* to, Index stride, Packet value, Index count) noexcept;

/// Code that runs a tile.
using TileFunction = void (*)(const Kernel&, const KernelCall&, const Tile&) noexcept;

/// Splits the rows of a kernel, those that are in use, into tiles of about `elements_per_chunk` elements, and runs
/// these on the pool.
void run_rows(const Kernel& kernel, const KernelCall& call, TileFunction run) noexcept;

/// The same; the columns of one long row are split instead.
void run_tiles(const Kernel& kernel, const KernelCall& call, TileFunction run) noexcept;

/// Computes the GEMM of a kernel, and finishes each tile of its result.
/// @tparam Storage  of its weights: `float` or `BFloat16`
template <class Storage>
void run_gemm_tiles(const Kernel& kernel, const KernelCall& call, TileFunction finish) noexcept;

}  // namespace fused_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cpu/kernels/impl/rows.hpp>
#endif
