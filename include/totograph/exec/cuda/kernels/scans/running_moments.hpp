// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/scans/cumsum.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// What the stretches of a block's rows add up to, in shared memory: count, total and spread.
struct MomentsOfStretches {
    static constexpr int kinds = 3;
    static constexpr int most_spans = most_block_stretches / warp_size;

    double own[kinds][most_block_stretches];
    double before[kinds][most_block_stretches];  ///< Of the stretches before each in its span, of 32.
    double spans[kinds][most_spans];
    double enough[wide_block_threads / warp_size]
                 [kinds];  ///< Of the first values of a row: of each warp's, or in 0 of the block's.
};

/// One for all running moments of a kernel.
__device__ __forceinline__ MomentsOfStretches& moments_of_stretches() {
    __shared__ MomentsOfStretches memory;
    return memory;
}

/// Sums of what is before each stretch of a row, in the order of `Cumsum`, where a warp has them all.
template <int each>
class StretchesOfWarp {
    static_assert(each <= 4, "totograph: a longer row takes a block.");

public:
    /// @param sums  within each stretch
    __device__ __forceinline__ StretchesOfWarp(const MomentsOfStretches&, int, const double (&sums)[each], double) {
#pragma unroll
        for (int i = 0; i < each; ++i) {
            own_[i] = __shfl_sync(0xffffffffU, sums[i], warp_size - 1);
        }
    }
    [[nodiscard]] __device__ __forceinline__ double before(int i, int) const {
        // As a tree adds up to three.
        return i == 0 ? 0.0 : i == 1 ? own_[0] : i == 2 ? own_[1] + own_[0] : own_[2] + own_[1] + own_[0];
    }
    /// Up to the end of the stretch before one.
    [[nodiscard]] __device__ __forceinline__ double behind_last(int i, int warp) const {
        return i == 0 ? 0.0 : before(i - 1, warp) + own_[i - 1];
    }
    /// Of all: such a row has no more.
    [[nodiscard]] __device__ __forceinline__ double carry() const {
        return 0;
    }

private:
    double own_[each];
};

/// The same where the warps of a block have `each` of them: read from shared memory, where `add_up` left them.
template <int each, int warps>
class StretchesOfBlock {
    static constexpr int stretches = each * warps;
    static constexpr int spans = (stretches + warp_size - 1) / warp_size;
    static constexpr int turns = warp_size / warps;  // of a span
    static_assert(2 * spans <= warps, "totograph: a warp adds up a span of one kind.");

public:
    /// Adds up spans of kinds from `first` on, a span of a kind a warp. All have waited for what lies there.
    static __device__ __forceinline__ void add_up(MomentsOfStretches& memory, int first, int count, int warp,
                                                  int lane) {
        if (warp < count * spans) {
            const int kind = first + warp / spans;
            const int span = warp % spans;
            const int stretch = span * warp_size + lane;
            const double sum = scan_of_warp(stretch < stretches ? memory.own[kind][stretch] : 0.0);
            const double left = __shfl_up_sync(0xffffffffU, sum, 1);
            memory.before[kind][stretch] = lane > 0 ? left : 0.0;
            if (lane == warp_size - 1) {
                memory.spans[kind][span] = sum;
            }
        }
    }

    __device__ __forceinline__ StretchesOfBlock(const MomentsOfStretches& memory, int kind, const double (&)[each],
                                                double carry)
        : own_(memory.own[kind]), before_(memory.before[kind]) {
        carries_[0] = carry;
#pragma unroll
        for (int span = 0; span < spans; ++span) {
            carries_[span + 1] = carries_[span] + memory.spans[kind][span];
        }
    }
    [[nodiscard]] __device__ __forceinline__ double before(int i, int warp) const {
        return carries_[i / turns] + before_[i * warps + warp];
    }
    [[nodiscard]] __device__ __forceinline__ double behind_last(int i, int warp) const {
        if (i == 0 && warp == 0) {
            return carries_[0];
        }
        const int last = i * warps + warp - 1;
        const bool is_in_span = i % turns != 0 || warp > 0;
        return carries_[is_in_span ? i / turns : max(i / turns - 1, 0)] + before_[last] + own_[last];
    }
    [[nodiscard]] __device__ __forceinline__ double carry() const {
        return carries_[spans];
    }

private:
    const double* own_;
    const double* before_;
    double carries_[spans + 1];
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
    static constexpr int kinds = MomentsOfStretches::kinds;

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

        [[nodiscard]] __device__ __forceinline__ double mean() const { return total / (count > 1.0 ? count : 1.0); }
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

    /// Groups in use.
    template <class Used>
    [[nodiscard]] static __device__ __forceinline__ Offset<K> used_groups(const Used& used) {
        if constexpr (requires { used.template along<row_axes + 1>(); }) {
            return static_cast<Offset<K>>(used.template along<row_axes + 1>());
        } else {
            return groups;
        }
    }

    /// A row, by a warp or by a block.
    /// @param used_groups  those that anybody reads
    __device__ __forceinline__ void run(Offset<K> row, Offset<K> used_groups) const {
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

        const Offset<K> used_columns = used_groups * group;
        Moments carry{0, 0, 0};  // of the columns before this turn
        bool has_short = false;
        for (Offset<K> first = 0; first < used_columns; first += each * width) {
            const auto column_of = [&](int i) {
                return first + static_cast<Offset<K>>((i * warps + warp) * warp_size + lane);
            };
            float values[each];
            bool seen[each];
#pragma unroll
            for (int i = 0; i < each; ++i) {  // all are read before the first is used
                const Offset<K> column = column_of(i);
                values[i] = column < used_columns ? x_[from + column * step] : 0.0F;
                seen[i] = column < used_columns;
                if constexpr (has_marks) {
                    seen[i] = seen[i] && marks_[marks_from + column * mark_step] != 0;
                }
            }
            using Stretches = std::conditional_t<takes_warp, StretchesOfWarp<each>, StretchesOfBlock<each, warps>>;
            const auto add_up = [&](int first_kind, int count) {
                if constexpr (!takes_warp) {
                    __syncthreads();
                    Stretches::add_up(memory_, first_kind, count, own_warp, lane);
                    __syncthreads();
                }
            };
            const auto leave = [&](int kind, int i, double sum) {
                if (!takes_warp && lane == warp_size - 1) {
                    memory_.own[kind][i * warps + warp] = sum;
                }
            };
            // Within a stretch, then of all.
            double count[each];
            double total[each];
            double spread[each];
#pragma unroll
            for (int i = 0; i < each; ++i) {
                const unsigned members = __ballot_sync(0xffffffffU, seen[i]);
                count[i] = __popc(members & (0xffffffffU >> (warp_size - 1 - lane)));
                total[i] = scan_of_warp(seen[i] ? static_cast<double>(values[i]) : 0.0);
                leave(0, i, count[i]);
                leave(1, i, total[i]);
            }
            add_up(0, 2);
            const Stretches counts(memory_, 0, count, carry.count);
            const Stretches totals(memory_, 1, total, carry.total);
#pragma unroll
            for (int i = 0; i < each; ++i) {
                const auto mean_of = [&](double number, double sum) {
                    return Moments{number + before.count, sum + before.total, 0}.mean();
                };
                count[i] += counts.before(i, warp);
                total[i] += totals.before(i, warp);
                const double mean = mean_of(count[i], total[i]);
                const double left = __shfl_up_sync(0xffffffffU, mean, 1);
                const double at_left = mean_of(counts.behind_last(i, warp), totals.behind_last(i, warp));
                const double mean_before = lane == 0 ? at_left : left;
                const auto x = static_cast<double>(values[i]);
                spread[i] = scan_of_warp(seen[i] ? (x - mean_before) * (x - mean) : 0.0);
                leave(2, i, spread[i]);
            }
            add_up(2, 1);
            const Stretches spreads(memory_, 2, spread, carry.spread);
#pragma unroll
            for (int i = 0; i < each; ++i) {
                const Offset<K> column = column_of(i);
                const Moments all{count[i] + before.count, total[i] + before.total,
                                  spreads.before(i, warp) + spread[i] + before.spread};
                const bool is_short = all.count < least;
                if (column < used_columns && (column + 1) % group == 0) {
                    double* const to = out + ((column + 1) / group - 1) * group_step;
                    write(to, all);
                    if (has_least && !is_short) {
                        write(to + kinds * kind_step, all);
                    }
                    has_short = has_short || is_short;
                }
                const bool completes = seen[i] && !is_short && all.count - 1.0 < least;
                if (has_least && (completes || (column == used_columns - 1 && is_short))) {
                    enough[0] = all.count;
                    enough[1] = all.total;
                    enough[2] = all.spread;
                }
            }
            carry = {counts.carry(), totals.carry(), spreads.carry()};
            wait();  // what stretches add up to may be written again
        }
        if constexpr (has_least) {
            const bool any = takes_warp ? __any_sync(0xffffffffU, has_short) != 0 : __syncthreads_or(has_short) != 0;
            for (Offset<K> g = takes_warp ? lane : static_cast<int>(threadIdx.x); any && g < used_groups; g += width) {
                double* const to = out + g * group_step;
                if (to[0] < least) {
                    write(to + kinds * kind_step, Moments{enough[0], enough[1], enough[2]});
                }
            }
            wait();
        }
    }

private:
    static __device__ __forceinline__ void wait() {
        if constexpr (takes_warp) {
            __syncwarp();
        } else {
            __syncthreads();
        }
    }

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
    MomentsOfStretches& memory = moments_of_stretches();
    using Rows = MomentsOfRows<K, Threads::threads>;
    const auto run = [&](const Rows& rows, Offset<K> row) {
        if (used.template has<Rows::axes>(row)) {
            rows.run(row, Rows::used_groups(used));
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
