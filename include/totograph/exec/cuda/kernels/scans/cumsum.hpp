// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// Stretches of a row's running sum that a block has on their way at a time, at most.
inline constexpr int most_block_stretches = 128;

/// What the stretches of a block add up to: one array for all running sums of a kernel.
__device__ __forceinline__ double* totals_of_stretches() {
    __shared__ double sums[most_block_stretches];
    return sums;
}

/// Running sums along the last axis, in double. Stretches of a warp's width are summed on their own; the totals of 32
/// stretches, a span, add up by the same tree, and those of spans from the left. So a sum depends on what is before it
/// alone, whatever the columns behind it.
/// @tparam threads  of a block
template <class K, int threads>
class Cumsum {
    using T = Element<K::kernel.dtype>;
    static constexpr int warps = threads / warp_size;
    static constexpr int most_stretches = most_block_stretches / warps;
    static constexpr auto columns = static_cast<Offset<K>>(K::kernel.iteration[-1]);
    static constexpr auto step = static_cast<Offset<K>>(inner_stride<K>(K::kernel.operands[0].strides));
    static constexpr auto out_step = static_cast<Offset<K>>(inner_stride<K>(K::kernel.output_strides));

public:
    static constexpr auto rows = static_cast<Offset<K>>(K::kernel.iteration.size() / K::kernel.iteration[-1]);
    /// A row of a few stretches takes a warp, a longer one a block.
    static constexpr bool takes_warp = columns <= 4 * warp_size;

    __device__ __forceinline__ explicit Cumsum(const KernelCall& call)
        : in_(call.operands[0].get<T>(positions_of<K>(call))), out_(call.output.get<T>(positions_of<K>(call))) {}

    /// A row by a warp.
    __device__ __forceinline__ void run_warp(Offset<K> row) const {
        const auto place = place_of<K, LeadingOf<K>>(row);
        const Offset<K> from = offset_of<K, StridesOfOperand<K, 0>>(place);
        const Offset<K> to = offset_of<K, StridesOfOutput<K>>(place);
        // All stretches are scanned before the first total is carried on: their steps overlap.
        constexpr int stretches = static_cast<int>((columns + warp_size - 1) / warp_size);
        double values[stretches];
#pragma unroll
        for (int i = 0; i < stretches; ++i) {
            values[i] = scan_of_warp(value_at(i * warp_size + lane_, from));
        }
        double totals[stretches];
#pragma unroll
        for (int i = 0; i < stretches; ++i) {
            totals[i] = __shfl_sync(0xffffffffU, values[i], warp_size - 1);
        }
#pragma unroll
        for (int i = 0; i < stretches; ++i) {
            const Offset<K> column = i * warp_size + lane_;
            // As the tree adds up to three.
            const double before = i == 0   ? 0.0
                                  : i == 1 ? totals[0]
                                  : i == 2 ? totals[1] + totals[0]
                                           : totals[2] + totals[1] + totals[0];
            if (column < columns) {
                out_[to + column * out_step] = static_cast<T>(before + values[i]);
            }
        }
    }

    /// A row by a block.
    /// @param totals  of stretches, in shared memory
    __device__ __forceinline__ void run_block(Offset<K> row, double* totals) const {
        constexpr int each =
            std::min(static_cast<int>(divide_rounding_up(Index{columns}, Index{threads})), most_stretches);
        constexpr int spans = (each * warps + warp_size - 1) / warp_size;
        const auto place = place_of<K, LeadingOf<K>>(row);
        const Offset<K> from = offset_of<K, StridesOfOperand<K, 0>>(place);
        const Offset<K> to = offset_of<K, StridesOfOutput<K>>(place);
        double carry = 0;
        for (Offset<K> first = 0; first < columns; first += each * threads) {
            const auto column_of = [&](int i) {
                return first + static_cast<Offset<K>>((i * warps + warp_) * warp_size + lane_);
            };
            // All are read before the first is used.
            double values[each];
#pragma unroll
            for (int i = 0; i < each; ++i) {
                values[i] = value_at(column_of(i), from);
            }
#pragma unroll
            for (int i = 0; i < each; ++i) {
                values[i] = scan_of_warp(values[i]);
                if (lane_ == warp_size - 1) {
                    totals[i * warps + warp_] = values[i];
                }
            }
            __syncthreads();
            // Every warp adds up all totals, which is sooner than to wait for one that does.
            double before[spans];
#pragma unroll
            for (int span = 0; span < spans; ++span) {
                const int stretch = span * warp_size + lane_;
                const double sum = scan_of_warp(stretch < each * warps ? totals[stretch] : 0.0);
                const double left = __shfl_up_sync(0xffffffffU, sum, 1);
                before[span] = carry + (lane_ > 0 ? left : 0.0);
                carry += __shfl_sync(0xffffffffU, sum, warp_size - 1);
            }
#pragma unroll
            for (int i = 0; i < each; ++i) {
                constexpr int turns = warp_size / warps;  // of a span
                static_assert(turns > 0, "totograph: a span is no shorter than a turn of the block's warps.");
                const double own = __shfl_sync(0xffffffffU, before[i / turns], i % turns * warps + warp_);
                if (column_of(i) < columns) {
                    out_[to + column_of(i) * out_step] = static_cast<T>(own + values[i]);
                }
            }
            __syncthreads();  // the totals may be written again
        }
    }

private:
    [[nodiscard]] __device__ __forceinline__ double value_at(Offset<K> column, Offset<K> from) const {
        return column < columns ? static_cast<double>(in_[from + column * step]) : 0.0;
    }

    const T* in_;
    T* out_;
    int warp_ = static_cast<int>(threadIdx.x) / warp_size;
    int lane_ = static_cast<int>(threadIdx.x) % warp_size;
};

template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_cumsum(const KernelCall& call, const Used& used) {
    using Sums = Cumsum<K, Threads::threads>;
    const auto is_used = [&](Offset<K> row) { return used.template has<UsedExtents<K>::rows>(row); };
    if constexpr (Sums::takes_warp) {
        if (Threads::template group_has_item<warp_size, Sums::rows>()) {
            const Sums sums(call);
            Threads::template for_each_of_groups<warp_size, Sums::rows>([&](Offset<K> row) {
                if (is_used(row)) {
                    sums.run_warp(row);
                }
            });
        }
    } else {
        const Sums sums(call);
        double* const totals = totals_of_stretches();
        Threads::template for_each_of_blocks<Sums::rows>([&](Offset<K> row) {
            if (is_used(row)) {
                sums.run_block(row, totals);
            }
        });
    }
}

}  // namespace totograph::cuda
