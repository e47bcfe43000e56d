// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/scans/moments.hpp>
#include <totograph/exec/cuda/kernels/scans/moments_of_groups.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// Running moments of rows. Values of a group add up on their own, by some lanes of a warp, about their own mean; then
/// groups add up in spans of 32, by the tree of a warp, and spans from the left. So moments depend on what is before
/// them alone, whatever the columns behind them and the threads of a block.
/// @tparam threads  of a block
template <class K, int threads>
class MomentsOfRows : MomentsOfGroups<K, threads> {
    using Groups = MomentsOfGroups<K, threads>;
    using Groups::all_lanes;
    using Groups::group;
    using Groups::groups;
    using Groups::has_marks;
    using Groups::has_rounds;
    using Groups::lane;
    using Groups::row_axes;
    using Groups::scanned;
    using Groups::scans;
    using Groups::span;
    using Groups::spans;
    using Groups::step_of;
    using Groups::thread;
    using Groups::warp;
    using typename Groups::Values;
    static constexpr auto least = static_cast<double>(K::kernel.attributes[2]);
    static constexpr bool has_least = K::kernel.attributes[2] > 0;
    static constexpr bool goes_on = K::kernel.operand_count > 2;
    static constexpr int first_sum = has_marks ? 2 : 1;
    static constexpr int kinds = Moments::kinds;

    static constexpr auto kind_step = step_of(K::kernel.output_strides, row_axes);
    static constexpr auto group_step = step_of(K::kernel.output_strides, row_axes + 1);

    struct Rows {
        static constexpr Shape shape = [] {
            Shape result = K::kernel.iteration;
            result.rank = row_axes;
            return result;
        }();
    };

public:
    static constexpr int axes = row_axes;
    static constexpr auto rows = static_cast<Offset<K>>(Rows::shape.size());
    using Groups::takes_warp;

    __device__ __forceinline__ MomentsOfRows(const KernelCall& call, SharedMoments& memory)
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
        const auto place = place_of<K, Rows>(row);
        const Values values{x_ + offset_of<K, StridesOfOperand<K, 0>>(place),
                            has_marks ? marks_ + offset_of<K, StridesOfOperand<K, 1>>(place) : nullptr,
                            used_groups * group};
        double* const out = out_ + offset_of<K, StridesOfOutput<K>>(place);
        const Moments before = moments_before(place);
        Moments carry{0, 0, 0};  // of the groups before this round
        bool has_short = false;
#pragma unroll 1
        for (Offset<K> first = 0; first < used_groups; first += scanned) {
            const GroupMoments own = Groups::add_up_groups(memory_, values, first);
            const auto number = first + static_cast<Offset<K>>(span() * warp_size + lane());
            // Of this lane's span up to its group; and of what is before the span.
            int count = 0;
            double total = 0;
            double spread = 0;
            if (scans()) {
                count = scan_of_warp(own.count);
                total = scan_of_warp(own.total);
                give_span({static_cast<double>(count), total, 0}, false);
            }
            synchronize_spans();
            Moments base = carry;
            if (scans()) {
                add_spans(base, false);
                const Moments so_far{base.count + static_cast<double>(count - own.count) + before.count,
                                     base.total + left_of(total) + before.total, 0};
                spread =
                    scan_of_warp(own.spread + spread_between(so_far, {static_cast<double>(own.count), own.total, 0}));
                give_span({0, 0, spread}, true);
            }
            synchronize_spans();
            if (scans()) {
                add_spans(base, true);
                if (number < used_groups) {
                    const Moments all{base.count + static_cast<double>(count) + before.count,
                                      base.total + total + before.total, base.spread + spread + before.spread};
                    double* const to = out + number * group_step;
                    write(to, all);
                    if constexpr (has_least) {
                        write(to + kinds * kind_step, all);  // again below, where it is too few
                        has_short = has_short || all.count < least;
                    }
                }
            }
            if constexpr (has_rounds) {
                carry = carried_on(carry, {static_cast<double>(count), total, spread});
            }
        }
        if constexpr (has_least) {
            const bool any = takes_warp ? __any_sync(all_lanes, has_short) != 0 : __syncthreads_or(has_short) != 0;
            if (any) {
                write_enough(values, out, used_groups, before);
            }
        }
        synchronize();  // what lies in shared memory may be written again
    }

private:
    static __device__ __forceinline__ void synchronize() {
        if constexpr (takes_warp) {
            __syncwarp();
        } else {
            __syncthreads();
        }
    }

    /// What is left of a lane's own in a scan.
    static __device__ __forceinline__ double left_of(double sum) {
        const double left = __shfl_up_sync(all_lanes, sum, 1);
        return lane() == 0 ? 0.0 : left;
    }
    /// Whether what a span adds up to is read by others: those behind it, or the next round.
    static constexpr bool shares_spans = !takes_warp && (spans > 1 || has_rounds);
    static __device__ __forceinline__ void synchronize_spans() {
        if constexpr (shares_spans) {
            __syncthreads();
        }
    }
    /// Gives what a span adds up to to those who read it: count and total, or the spread.
    __device__ __forceinline__ void give_span(const Moments& sums, bool is_spread) const {
        if (shares_spans && lane() == warp_size - 1) {
            Moments& to = memory_.of_spans[span()];
            if (is_spread) {
                to.spread = sums.spread;
            } else {
                to.count = sums.count;
                to.total = sums.total;
            }
        }
    }
    /// Adds up those before a warp's span, to what was before this round.
    __device__ __forceinline__ void add_spans(Moments& base, bool is_spread) const {
        if constexpr (!takes_warp && spans > 1) {
#pragma unroll
            for (int i = 0; i < spans - 1; ++i) {
                const Moments& of_span = memory_.of_spans[i];
                if (i < span()) {
                    if (is_spread) {
                        base.spread += of_span.spread;
                    } else {
                        base.count += of_span.count;
                        base.total += of_span.total;
                    }
                }
            }
        }
    }
    /// What is before the next round.
    [[nodiscard]] __device__ __forceinline__ Moments carried_on(Moments carry, const Moments& sums) const {
        if constexpr (takes_warp) {
            constexpr int last = warp_size - 1;
            return {carry.count + __shfl_sync(all_lanes, sums.count, last),
                    carry.total + __shfl_sync(all_lanes, sums.total, last),
                    carry.spread + __shfl_sync(all_lanes, sums.spread, last)};
        } else {
#pragma unroll
            for (int i = 0; i < spans; ++i) {
                carry.count += memory_.of_spans[i].count;
                carry.total += memory_.of_spans[i].total;
                carry.spread += memory_.of_spans[i].spread;
            }
            return carry;
        }
    }

    /// Writes the moments of enough values where there are too few.
    __device__ __forceinline__ void write_enough(const Values& values, double* out, Offset<K> used_groups,
                                                 const Moments& before) const {
        synchronize();
        Moments& enough = memory_.enough[takes_warp ? warp() : 0];
        if (takes_warp || warp() == 0) {
            const Moments found = find_enough(values, out, used_groups, before);
            if (lane() == 0) {
                enough = found;
            }
        }
        synchronize();
        for (Offset<K> g = thread(); g < used_groups; g += takes_warp ? warp_size : threads) {
            double* const to = out + g * group_step;
            if (to[0] < least) {
                write(to + kinds * kind_step, enough);
            }
        }
    }
    /// By a warp: the moments of the first values of a row that are enough, or of all that it has.
    [[nodiscard]] __device__ __forceinline__ Moments find_enough(const Values& values, const double* out,
                                                                 Offset<K> used_groups, const Moments& before) const {
        int short_groups = 0;
        for (Offset<K> g = lane(); g < used_groups; g += warp_size) {
            short_groups += out[g * group_step] < least ? 1 : 0;
        }
        short_groups = warp_sum(short_groups);
        const auto up_to = [&](Offset<K> g) {
            const double* const from = out + g * group_step;
            return Moments{from[0], from[kind_step], from[2 * kind_step]};
        };
        const Moments so_far = short_groups > 0 ? up_to(short_groups - 1) : before;
        if (short_groups == used_groups) {
            return so_far;
        }
        const int wanted = static_cast<int>(ceil(least - so_far.count));
        const Offset<K> first = static_cast<Offset<K>>(short_groups) * group;
        const auto add_up = [&](const auto& term) {
            double sum = 0;
            int count = 0;
            for (Offset<K> i = 0; i < group; i += warp_size) {
                const Offset<K> inside = i + static_cast<Offset<K>>(lane());
                const bool is_seen = inside < group && values.is_seen(first + inside);
                const unsigned members = __ballot_sync(all_lanes, is_seen);
                const int rank = count + __popc(members & ((1U << lane()) - 1U));
                sum += is_seen && rank < wanted ? term(static_cast<double>(values.load(first + inside))) : 0.0;
                count += __popc(members);
            }
            return warp_sum(sum);
        };
        Moments own{static_cast<double>(wanted), add_up([](double x) { return x; }), 0};
        const double mean = mean_of(own.count, own.total);
        own.spread = add_up([mean](double x) { return (x - mean) * (x - mean); });
        return {so_far.count + own.count, so_far.total + own.total,
                so_far.spread + own.spread + spread_between(so_far, own)};
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

    SharedMoments& memory_;
    const float* x_;
    double* out_;
    const float* marks_ = nullptr;
    const double* count_ = nullptr;
    const double* total_ = nullptr;
    const double* spread_ = nullptr;
};

template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_moments(const KernelCall& call, const Used& used) {
    SharedMoments& memory = shared_moments();
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
