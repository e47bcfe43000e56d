// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/kernels/scans/moments.hpp>
#include <totograph/graph/kernel.hpp>

namespace totograph::cuda {

/// How a row of running moments is shared among threads, and what each group of its steps adds up to: some lanes of a
/// warp add it up, about its own mean.
/// @tparam threads  of a block
template <class K, int threads>
class MomentsOfGroups {
protected:
    static constexpr auto columns = static_cast<Offset<K>>(K::kernel.operands[0].shape[-1]);
    static constexpr auto group = static_cast<Offset<K>>(K::kernel.attributes[1]);
    static constexpr auto groups = static_cast<Offset<K>>(K::kernel.iteration[-1]);
    static constexpr bool has_marks = K::kernel.operand_count % 3 == 2;
    static constexpr auto step_of(const Strides& strides, int axis) {
        return static_cast<Offset<K>>(strides[static_cast<std::size_t>(axis)]);
    }
    static constexpr int row_axes = K::kernel.iteration.rank - 2;
    static constexpr auto step = step_of(K::kernel.operands[0].strides, row_axes);
    static constexpr auto mark_step = step_of(K::kernel.operands[1].strides, row_axes);

    /// A short row takes a warp, a longer one a block.
    static constexpr bool takes_warp = columns <= 4 * warp_size;
    /// Lanes that share a group, each of which has some four values of it.
    static constexpr int lanes =
        static_cast<int>(std::bit_floor(static_cast<unsigned>(std::clamp<Index>((group + 3) / 4, 1, warp_size))));
    static constexpr int each = static_cast<int>((group + lanes - 1) / lanes);
    /// Groups that are added up at once, and how often before they are scanned: whole spans, or all that there are.
    static constexpr int most_groups = takes_warp ? warp_size : SharedMoments::groups;
    static constexpr int together = std::min((takes_warp ? warp_size : threads) / lanes, most_groups);
    static constexpr int most_values = 16;  ///< Of a thread, in registers.
    static constexpr int turns = [] {
        constexpr int of_span = std::max(1, static_cast<int>(warp_size) / together);
        const int spans = std::clamp(most_values / (each * of_span), 1, most_groups / (together * of_span));
        return std::min(spans * of_span, static_cast<int>((groups + together - 1) / together));
    }();
    static constexpr bool are_held = turns * each <= most_values;
    static constexpr int scanned = turns * together;
    static constexpr int spans = (scanned + warp_size - 1) / warp_size;
    static constexpr bool has_rounds = scanned < groups;
    static_assert(takes_warp ? spans == 1 : spans <= SharedMoments::spans && spans <= threads / warp_size);

    static constexpr unsigned all_lanes = 0xffffffffU;

    static __device__ __forceinline__ int warp() { return static_cast<int>(threadIdx.x) / warp_size; }
    static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
    /// Of those that share the row.
    static __device__ __forceinline__ int thread() { return takes_warp ? lane() : static_cast<int>(threadIdx.x); }
    /// The span that a warp scans, if there is one.
    static __device__ __forceinline__ int span() { return takes_warp ? 0 : warp(); }
    static __device__ __forceinline__ bool scans() { return span() < spans; }

    /// The values of a row.
    struct Values {
        const float* x;
        const float* marks;
        Offset<K> used_columns;

        [[nodiscard]] __device__ __forceinline__ float load(Offset<K> column) const {
            return column < used_columns ? x[column * step] : 0.0F;
        }
        [[nodiscard]] __device__ __forceinline__ bool is_seen(Offset<K> column) const {
            bool result = column < used_columns;
            if constexpr (has_marks) {
                result = result && marks[column * mark_step] != 0;
            }
            return result;
        }
    };

    /// The moments of groups from number `first` on: of the one that this lane scans, of which its warp has a span.
    [[nodiscard]] static __device__ __forceinline__ GroupMoments add_up_groups(SharedMoments& memory,
                                                                               const Values& values, Offset<K> first) {
        const int place = thread() / lanes;
        const bool has_group = place < together;
        const auto column_of = [&](int turn, int i) {
            const auto inside = static_cast<Offset<K>>(i * lanes + thread() % lanes);
            const Offset<K> number = first + static_cast<Offset<K>>(turn * together + place);
            return has_group && (group % lanes == 0 || inside < group) ? number * group + inside : values.used_columns;
        };
        float held[are_held ? turns * each : 1];
        std::uint32_t seen = 0;
        if constexpr (are_held) {
#pragma unroll
            for (int i = 0; i < turns * each; ++i) {  // all are read before the first is used
                const Offset<K> column = column_of(i / each, i % each);
                held[i] = values.load(column);
                seen |= values.is_seen(column) ? 1U << i : 0U;
            }
        }
        const auto for_each_seen = [&](int turn, const auto& visit) {
#pragma unroll(are_held ? each : 4)
            for (int i = 0; i < each; ++i) {
                if constexpr (are_held) {
                    visit((seen >> (turn * each + i) & 1U) != 0, static_cast<double>(held[turn * each + i]));
                } else {
                    const Offset<K> column = column_of(turn, i);
                    visit(values.is_seen(column), static_cast<double>(values.load(column)));
                }
            }
        };
        GroupMoments found{0, 0, 0};
#pragma unroll
        for (int turn = 0; turn < turns; ++turn) {
            GroupMoments own{0, 0, 0};
            for_each_seen(turn, [&](bool is_seen, double x) {
                own.count += is_seen ? 1 : 0;
                own.total += is_seen ? x : 0.0;
            });
            own.count = sum_of_group<lanes>(own.count);
            own.total = sum_of_group<lanes>(own.total);
            const double mean = mean_of(static_cast<double>(max(own.count, 1)), own.total);
            for_each_seen(turn, [&](bool is_seen, double x) { own.spread += is_seen ? (x - mean) * (x - mean) : 0.0; });
            own.spread = sum_of_group<lanes>(own.spread);
            give_group(memory, turn, place, own, found);
        }
        if constexpr (!takes_warp) {
            __syncthreads();
            if (const int own = span() * warp_size + lane(); own < scanned) {
                found = {memory.counts[own], memory.totals[own], memory.spreads[own]};
            }
        }
        return found;
    }

    /// Gives the moments of a group to the lane that scans it.
    static __device__ __forceinline__ void give_group(SharedMoments& memory, int turn, int place,
                                                      const GroupMoments& own, GroupMoments& found) {
        if constexpr (takes_warp) {
            const int from = lane() % together * lanes;
            const GroupMoments given{__shfl_sync(all_lanes, own.count, from), __shfl_sync(all_lanes, own.total, from),
                                     __shfl_sync(all_lanes, own.spread, from)};
            found = lane() / together == turn ? given : found;
        } else if (place < together && thread() % lanes == 0) {
            const int to = turn * together + place;
            memory.counts[to] = own.count;
            memory.totals[to] = own.total;
            memory.spreads[to] = own.spread;
        }
    }
};

}  // namespace totograph::cuda
