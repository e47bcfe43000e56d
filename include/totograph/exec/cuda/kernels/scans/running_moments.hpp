// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/scans/cumsum.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// What the stretches of a block add up to, in shared memory.
struct MomentsOfStretches {
    double total[most_block_stretches];
    double spread[most_block_stretches];
    int count[most_block_stretches];
    double enough[wide_block_threads / warp_size]
                 [3];  ///< Of the first values of a row, of each warp's or of the block's.
};

/// Running moments of rows. All sums are added in the order of `Cumsum`, so they depend on what is before them alone.
/// Values, means and deviations stay in registers.
/// @tparam threads  of a block
template <class K, int threads>
class MomentsOfRows {
    static constexpr auto columns = static_cast<Offset<K>>(K::kernel.operands[0].shape[-1]);
    static constexpr auto group = static_cast<Offset<K>>(K::kernel.attributes[1]);
    static constexpr auto groups = static_cast<Offset<K>>(K::kernel.iteration[-1]);
    static constexpr auto least = static_cast<double>(K::kernel.attributes[2]);
    static constexpr bool has_least = K::kernel.attributes[2] > 0;
    static constexpr bool has_marks = K::kernel.operand_count % 3 == 2;
    static constexpr bool goes_on = K::kernel.operand_count > 2;
    static constexpr int first_sum = has_marks ? 2 : 1;
    static constexpr int kinds = 3;

    static constexpr auto step_of(const Strides& strides, int axis) {
        return static_cast<Offset<K>>(strides[static_cast<std::size_t>(axis)]);
    }
    static constexpr int row_axes = K::kernel.iteration.rank - 2;
    static constexpr auto step = step_of(K::kernel.operands[0].strides, row_axes);
    static constexpr auto mark_step = step_of(K::kernel.operands[1].strides, row_axes);
    static constexpr auto kind_step = step_of(K::kernel.output_strides, row_axes);
    static constexpr auto group_step = step_of(K::kernel.output_strides, row_axes + 1);

    struct Rows {
        static constexpr Shape shape = [] {
            Shape result = K::kernel.iteration;
            result.rank = row_axes;
            return result;
        }();
    };

    struct Moments {
        double count;
        double total;
        double spread;

        [[nodiscard]] __device__ __forceinline__ double mean() const { return total / fmax(count, 1.0); }
    };

public:
    static constexpr int axes = row_axes;
    static constexpr auto rows = static_cast<Offset<K>>(Rows::shape.size());
    /// A row of a few stretches takes a warp, a longer one a block.
    static constexpr bool takes_warp = columns <= 4 * warp_size;

    __device__ __forceinline__ MomentsOfRows(const KernelCall& call, MomentsOfStretches& memory)
        : memory_(memory),
          x_(call.operands[0].get<float>(positions_of<K>(call))),
          out_(call.output.get<double>(positions_of<K>(call))) {
        if constexpr (has_marks) {
            marks_ = call.operands[1].get<float>(positions_of<K>(call));
        }
        if constexpr (goes_on) {
            count_ = call.operands[first_sum].get<double>(positions_of<K>(call));
            total_ = call.operands[first_sum + 1].get<double>(positions_of<K>(call));
            spread_ = call.operands[first_sum + 2].get<double>(positions_of<K>(call));
        }
    }

    /// A row, by a warp or by a block.
    __device__ __forceinline__ void run(Offset<K> row) const {
        constexpr int warps = takes_warp ? 1 : threads / warp_size;
        constexpr int width = warps * warp_size;
        constexpr int each =
            std::min(static_cast<int>(divide_rounding_up(Index{columns}, Index{width})), most_block_stretches / warps);
        const int own_warp = static_cast<int>(threadIdx.x) / warp_size;
        const int warp = takes_warp ? 0 : own_warp;
        const int lane = static_cast<int>(threadIdx.x) % warp_size;
        double(&enough)[kinds] = memory_.enough[takes_warp ? own_warp : 0];
        const auto place = place_of<K, Rows>(row);
        const Offset<K> from = offset_of<K, StridesOfOperand<K, 0>>(place);
        const Offset<K> marks_from = offset_of<K, StridesOfOperand<K, 1>>(place);
        double* const out = out_ + offset_of<K, StridesOfOutput<K>>(place);
        const Moments before = moments_before(place);

        Moments carry{0, 0, 0};  // of the columns before this turn
        bool has_short = false;
        for (Offset<K> first = 0; first < columns; first += each * width) {
            const auto column_of = [&](int i) {
                return first + static_cast<Offset<K>>((i * warps + warp) * warp_size + lane);
            };
            float values[each];
            bool seen[each];
#pragma unroll
            for (int i = 0; i < each; ++i) {  // all are read before the first is used
                const Offset<K> column = column_of(i);
                values[i] = column < columns ? x_[from + column * step] : 0.0F;
                seen[i] = column < columns;
                if constexpr (has_marks) {
                    seen[i] = seen[i] && marks_[marks_from + column * mark_step] != 0;
                }
            }
            Moments sums[each];  // of a stretch, then of all
#pragma unroll
            for (int i = 0; i < each; ++i) {
                const unsigned members = __ballot_sync(0xffffffffU, seen[i]);
                sums[i].count = __popc(members & (0xffffffffU >> (warp_size - 1 - lane)));
                sums[i].total = scan_of_warp(seen[i] ? static_cast<double>(values[i]) : 0.0);
                if (lane == warp_size - 1) {
                    memory_.count[stretch_of(own_warp, i, warps)] = __popc(members);
                    memory_.total[stretch_of(own_warp, i, warps)] = sums[i].total;
                }
            }
            wait();
            const BeforeStretches<each, warps> totals(memory_.total, own_warp, lane, carry.total);
            const BeforeStretches<each, warps> counts(memory_.count, own_warp, lane, carry.count);
            // The mean behind each stretch, by the lane of its number, and before the first one.
            double mean_behind[totals.spans];
#pragma unroll
            for (int span = 0; span < totals.spans; ++span) {
                mean_behind[span] =
                    Moments{counts.behind[span] + before.count, totals.behind[span] + before.total, 0}.mean();
            }
            const double mean_before_first = Moments{carry.count + before.count, carry.total + before.total, 0}.mean();
            double deviations[each];
#pragma unroll
            for (int i = 0; i < each; ++i) {
                sums[i].count += counts.of(i, warp);
                sums[i].total += totals.of(i, warp);
                const double mean = Moments{sums[i].count + before.count, sums[i].total + before.total, 0}.mean();
                const double left = __shfl_up_sync(0xffffffffU, mean, 1);
                const double at_left_end = totals.left_of(mean_behind, i, warp, mean_before_first);
                const double mean_before = lane == 0 ? at_left_end : left;
                const auto x = static_cast<double>(values[i]);
                deviations[i] = scan_of_warp(seen[i] ? (x - mean_before) * (x - mean) : 0.0);
                if (lane == warp_size - 1) {
                    memory_.spread[stretch_of(own_warp, i, warps)] = deviations[i];
                }
            }
            wait();
            const BeforeStretches<each, warps> spreads(memory_.spread, own_warp, lane, carry.spread);
#pragma unroll
            for (int i = 0; i < each; ++i) {
                const Offset<K> column = column_of(i);
                const Moments all{sums[i].count + before.count, sums[i].total + before.total,
                                  spreads.of(i, warp) + deviations[i] + before.spread};
                const bool is_short = all.count < least;
                if (column < columns && (column + 1) % group == 0) {
                    double* const to = out + ((column + 1) / group - 1) * group_step;
                    write(to, all);
                    if (has_least && !is_short) {
                        write(to + kinds * kind_step, all);
                    }
                    has_short = has_short || is_short;
                }
                if (has_least && ((seen[i] && all.count == least) || (column == columns - 1 && is_short))) {
                    enough[0] = all.count;
                    enough[1] = all.total;
                    enough[2] = all.spread;
                }
            }
            carry = {counts.carry, totals.carry, spreads.carry};
            wait();  // what stretches add up to may be written again
        }
        if constexpr (has_least) {
            const bool any = takes_warp ? __any_sync(0xffffffffU, has_short) != 0 : __syncthreads_or(has_short) != 0;
            for (Offset<K> g = takes_warp ? lane : static_cast<int>(threadIdx.x); any && g < groups; g += width) {
                double* const to = out + g * group_step;
                if (to[0] < least) {
                    write(to + kinds * kind_step, Moments{enough[0], enough[1], enough[2]});
                }
            }
            wait();
        }
    }

private:
    /// Where a warp's stretch lies in shared memory.
    static __device__ __forceinline__ int stretch_of(int own_warp, int i, int warps) {
        return takes_warp ? own_warp * 4 + i : i * warps + own_warp;
    }

    static __device__ __forceinline__ void wait() {
        if constexpr (takes_warp) {
            __syncwarp();
        } else {
            __syncthreads();
        }
    }

    /// Sums of what is before each stretch of a turn. Every warp adds up all of them, as in `Cumsum`: spans of 32 by a
    /// tree, a stretch a lane.
    template <int each, int warps>
    struct BeforeStretches {
        static constexpr int spans = (each * warps + warp_size - 1) / warp_size;
        static constexpr int turns = warp_size / warps;  // of a span

        double before[spans];
        double behind[spans];
        double carry;

        template <class Sum>
        __device__ __forceinline__ BeforeStretches(const Sum* stretches, int own_warp, int lane, double carried)
            : carry(carried) {
#pragma unroll
            for (int span = 0; span < spans; ++span) {
                const int stretch = span * warp_size + lane;
                const double own = stretch < each * warps
                                       ? static_cast<double>(stretches[(takes_warp ? own_warp * 4 : 0) + stretch])
                                       : 0.0;
                const double sum = scan_of_warp(own);
                const double left = __shfl_up_sync(0xffffffffU, sum, 1);
                before[span] = carry + (lane > 0 ? left : 0.0);
                behind[span] = before[span] + own;
                carry += __shfl_sync(0xffffffffU, sum, warp_size - 1);
            }
        }

        /// Of a warp's stretch number i.
        [[nodiscard]] __device__ __forceinline__ double of(int i, int warp) const {
            return __shfl_sync(0xffffffffU, before[i / turns], i % turns * warps + warp);
        }
        /// What the stretch before it has, of numbers by stretch; `first` before the first one.
        [[nodiscard]] __device__ __forceinline__ double left_of(const double (&numbers)[spans], int i, int warp,
                                                                double first) const {
            const int place = i % turns * warps + warp;
            const double in_span = __shfl_sync(0xffffffffU, numbers[i / turns], max(place - 1, 0));
            if (i % turns != 0) {
                return in_span;
            }
            const double outside =
                i / turns == 0 ? first : __shfl_sync(0xffffffffU, numbers[max(i / turns - 1, 0)], warp_size - 1);
            return place == 0 ? outside : in_span;
        }
    };

    template <class PlaceOfRow>
    [[nodiscard]] __device__ __forceinline__ Moments moments_before(const PlaceOfRow& place) const {
        if constexpr (goes_on) {
            return {count_[offset_of<K, StridesOfOperand<K, first_sum>>(place)],
                    total_[offset_of<K, StridesOfOperand<K, first_sum + 1>>(place)],
                    spread_[offset_of<K, StridesOfOperand<K, first_sum + 2>>(place)]};
        } else {
            return {0, 0, 0};
        }
    }

    static __device__ __forceinline__ void write(double* to, const Moments& moments) {
        to[0] = moments.count;
        to[kind_step] = moments.total;
        to[2 * kind_step] = moments.spread;
    }

    MomentsOfStretches& memory_;
    const float* x_;
    double* out_;
    const float* marks_ = nullptr;
    const double* count_ = nullptr;
    const double* total_ = nullptr;
    const double* spread_ = nullptr;
};

template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_moments(const KernelCall& call, const Used& used) {
    __shared__ MomentsOfStretches memory;
    using Rows = MomentsOfRows<K, Threads::threads>;
    const auto run = [&](const Rows& rows, Offset<K> row) {
        if (used.template has<Rows::axes>(row)) {
            rows.run(row);
        }
    };
    if constexpr (Rows::takes_warp) {
        if (Threads::template group_has_item<warp_size, Rows::rows>()) {
            const Rows rows(call, memory);
            Threads::template for_each_of_groups<warp_size, Rows::rows>([&](Offset<K> row) { run(rows, row); });
        }
    } else {
        const Rows rows(call, memory);
        Threads::template for_each_of_blocks<Rows::rows>([&](Offset<K> row) { run(rows, row); });
    }
}

}  // namespace totograph::cuda
