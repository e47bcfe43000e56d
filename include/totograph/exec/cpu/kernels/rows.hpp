// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>

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

    /// On to the row that is so many further, at least 1. How many of them along the last row axis, if that is all, or
    /// 0.
    Index advance(Index step) {
        for (int axis = rank_ - 1; axis > 0; --axis) {
            Index& place = at_[static_cast<std::size_t>(axis)];
            const Index extent = extents_[axis];
            place += step;
            if (place < extent) {
                return axis == rank_ - 1 ? step : 0;
            }
            step = place < 2 * extent ? 1 : place / extent;  // a division takes longer than all of the rest
            place -= step * extent;
        }
        at_[0] += step;
        return rank_ == 1 ? step : 0;
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
        : number_(tile.first_row),
          end_(tile.first_row + tile.row_count),
          place_(kernel, tile.used != nullptr ? tile.used->place(number_) : number_) {
        if (tile.used != nullptr) {
            walk_.emplace(*tile.used, number_);
        }
    }

    [[nodiscard]] bool is_done() const { return number_ == end_; }
    [[nodiscard]] const RowPlace& place() const { return place_; }
    /// On to the next row. How far that is along the last row axis, for whoever counts along; 0 where it is not along
    /// that axis alone.
    Index advance() {
        if (++number_ == end_) {
            return 0;
        }
        return place_.advance(walk_ ? walk_->advance() : 1);
    }

private:
    Index number_;
    Index end_;
    RowPlace place_;
    std::optional<UsedRows::Walk> walk_;
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
