// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/arithmetic.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// Sums over the last axis, and what is largest there. The order of a sum depends on the columns alone, and zeros at the
// end of a row change nothing: padding a series never changes its statistics.

namespace totograph::cuda {

inline constexpr int warp_size = 32;

/// The threads of a warp that are in the same group of neighbours, a power of two, as this one.
template <int threads>
__device__ __forceinline__ unsigned members_of_group() {
    if constexpr (threads == warp_size) {
        return 0xffffffffU;
    } else {
        return ((1U << threads) - 1U) << (threadIdx.x % warp_size / threads * threads);
    }
}

/// The larger of two numbers; NaN where one of them is.
template <class T>
__device__ __forceinline__ T larger_or_nan(T a, T b) {
    if constexpr (std::is_same_v<T, float>) {
        float result;
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
        return result;
    } else {
        return elementwise<Op::maximum>(a, b, b);
    }
}

/// What a reduction makes of two numbers.
template <Op op, class T>
__device__ __forceinline__ T reduced(T a, T b) {
    if constexpr (op == Op::amax) {
        return larger_or_nan(a, b);
    } else {
        return a + b;
    }
}

/// What a reduction begins with, and what changes nothing.
template <Op op, class T>
constexpr T start_of_reduction() {
    if constexpr (op != Op::amax) {
        return T{0};
    } else if constexpr (std::numeric_limits<T>::has_infinity) {
        return -std::numeric_limits<T>::infinity();
    } else {
        return std::numeric_limits<T>::min();
    }
}

/// The reduction over a group of neighbouring threads, a power of two, in each of them. All of the group call it.
template <Op op, int threads, class T>
__device__ __forceinline__ T reduced_group(T value) {
    const unsigned members = members_of_group<threads>();
#pragma unroll
    for (int distance = threads / 2; distance > 0; distance /= 2) {
        value = reduced<op>(value, static_cast<T>(__shfl_xor_sync(members, value, distance)));
    }
    return value;
}

/// The sum over such a group.
template <int threads, class T>
__device__ __forceinline__ T sum_of_group(T value) {
    return reduced_group<Op::sum, threads>(value);
}

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
    return sum_of_group<warp_size>(value);
}

/// The sum of the lanes of a warp up to this one.
template <class T>
__device__ __forceinline__ T scan_of_warp(T value) {
#pragma unroll
    for (unsigned distance = 1; distance < warp_size; distance *= 2) {
        const T left = __shfl_up_sync(0xffffffffU, value, distance);
        value = threadIdx.x % warp_size >= distance ? value + left : value;
    }
    return value;
}

/// The largest that is a number, in every thread: NaN only where all are.
template <int threads>
__device__ __forceinline__ float maximum_of_group(float value) {
    const unsigned members = members_of_group<threads>();
#pragma unroll
    for (int distance = threads / 2; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(members, value, distance));
    }
    return value;
}

/// The reduction over the first `block_threads` of a block, in each of them.
/// @tparam threads  of the block
template <Op op, int threads, class T>
__device__ T reduced_block(T value) {
    __shared__ T partial[block_threads / warp_size];
    value = reduced_group<op, warp_size>(value);
    synchronize_summing<threads>();  // those before these may still be read
    if (threadIdx.x % warp_size == 0) {
        partial[threadIdx.x / warp_size] = value;
    }
    synchronize_summing<threads>();
    T total = start_of_reduction<op, T>();
#pragma unroll
    for (int warp = 0; warp < block_threads / warp_size; ++warp) {
        total = reduced<op>(total, partial[warp]);
    }
    return total;
}

/// Whether a row is worth a whole block. Rows of other types than f32 are statistics of series, whose length differs
/// between buckets: they always take a block, so that their sums have one order.
template <class K>
constexpr bool takes_block() {
    return K::kernel.columns() > 2048 || Epilogue<K>::accumulator_dtype != DType::f32;
}

/// The reduction of the prologue over one row, by the `threads` threads that call it together; each gives its own part.
template <class K, int threads>
__device__ __forceinline__ auto part_of_row(const OperandPointers<Prologue<K>>& pointers,
                                            const Place<K, RowsOf<K>::shape.rank>& row, int thread) {
    using Source = Prologue<K>;
    using T = Element<Epilogue<K>::accumulator_dtype>;
    constexpr int lanes = lanes_of<K>(false);
    constexpr Index columns = K::kernel.columns();
    constexpr int row_rank = K::kernel.row_rank;
    using Values = ChainValues<Source, lanes>;
    const auto read = [&](Offset<K> column) {
        const auto inner = place_of<K, ColumnsOf<K>>(column);
        Place<K, K::kernel.iteration.rank> place;
#pragma unroll
        for (int axis = 0; axis < K::kernel.iteration.rank; ++axis) {
            place.at[axis] = axis < row_rank ? row.at[axis] : inner.at[axis - row_rank];
        }
        Values values;
        load_operands<K, Source, lanes>(pointers, place, values);
        return values;
    };
    T total = start_of_reduction<K::kernel.op, T>();
    const auto add = [&](Offset<K>, Values& values) {
        const auto result = [&] {
            if constexpr (Source::chain.count > 0) {
                return run_chain<Source, lanes>(values);
            } else {
                return chain_detail::at<0>(values);
            }
        }();
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            total = reduced<K::kernel.op>(total, static_cast<T>(result.lane[lane]));
        }
    };
    constexpr auto step = static_cast<Offset<K>>(threads * lanes);
    constexpr auto turns = static_cast<int>(divide_rounding_up(columns, Index{step}));
    for_each_overlapped<turns>(static_cast<Offset<K>>(thread * lanes), step, static_cast<Offset<K>>(columns), read,
                               add);
    return total;
}

/// A sum by the number of its terms. In f32 by a product: within one unit of the last place of the quotient, which
/// takes ten instructions and a branch.
template <Index count, class T>
__device__ __forceinline__ T mean_of(T total) {
    if constexpr (std::is_same_v<T, float>) {
        constexpr float share = 1.0F / static_cast<float>(count);
        return total * share;
    } else {
        return total / static_cast<T>(count);
    }
}

/// The chain after a reduction, on one row.
template <class K, class T>
__device__ __forceinline__ auto finish_row(const OperandPointers<Epilogue<K>>& pointers,
                                           const Place<K, RowsOf<K>::shape.rank>& row, T total) {
    using Source = Epilogue<K>;
    ChainValues<Source, 1> values;
    chain_detail::at<0>(values).lane[0] = K::kernel.op == Op::mean ? mean_of<K::kernel.columns()>(total) : total;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((chain_detail::at<1 + i>(values) = load_pack<0, 1, false>(
              static_cast<const Element<operand_of<Source>(i).dtype>*>(pointers.base[i]) +
              offset_of<K, StridesOfOperand<K, Source::first_operand + static_cast<int>(i)>>(row))),
         ...);
    }
    (std::make_index_sequence<operand_count<Source>>());
    if constexpr (Source::chain.count > 0) {
        return run_chain<Source, 1>(values).lane[0];
    } else {
        return chain_detail::at<0>(values).lane[0];
    }
}

/// Threads that reduce a short row together. The threads that a warp would leave idle add zeros to a sum, in the same
/// order: it does not depend on their number.
template <class K>
constexpr int row_threads() {
    const Index wanted = divide_rounding_up(K::kernel.columns(), Index{lanes_of<K>(false)});
    int threads = 4;
    while (threads < warp_size && threads < wanted) {
        threads *= 2;
    }
    return threads;
}

template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_reduction(const KernelCall& call, const Used& used) {
    constexpr auto rows = static_cast<Offset<K>>(K::kernel.rows());
    if constexpr (!takes_block<K>()) {
        if (!Threads::template group_has_item<row_threads<K>(), rows>()) {
            return;
        }
    }
    const OperandPointers<Prologue<K>> before(call);
    const OperandPointers<Epilogue<K>> after(call);
    auto* out = call.output.get<Element<K::kernel.dtype>>(positions_of<K>(call));
    if constexpr (takes_block<K>()) {
        if (Threads::threads > block_threads && threadIdx.x >= block_threads) {
            return;
        }
        Threads::template for_each_of_blocks<rows>([&](Offset<K> row) {
            if (!used.template has<UsedExtents<K>::rows>(row)) {
                return;  // all of the block
            }
            const auto place = place_of<K, RowsOf<K>>(row);
            const auto total = reduced_block<K::kernel.op, Threads::threads>(
                part_of_row<K, block_threads>(before, place, static_cast<int>(threadIdx.x)));
            if (threadIdx.x == 0) {
                out[offset_of<K, StridesOfOutput<K>>(place)] = finish_row<K>(after, place, total);
            }
        });
    } else {
        constexpr int threads = row_threads<K>();
        const int lane = static_cast<int>(threadIdx.x) % threads;
        Threads::template for_each_of_groups<threads, rows>([&](Offset<K> row) {
            if (!used.template has<UsedExtents<K>::rows>(row)) {
                return;  // all of the group
            }
            const auto place = place_of<K, RowsOf<K>>(row);
            const auto total = reduced_group<K::kernel.op, threads>(part_of_row<K, threads>(before, place, lane));
            if (lane == 0) {
                out[offset_of<K, StridesOfOutput<K>>(place)] = finish_row<K>(after, place, total);
            }
        });
    }
}

/// All axes but the last of a structural kernel.
template <class K>
struct LeadingOf {
    static constexpr Shape shape = [] {
        Shape rows = K::kernel.iteration;
        rows.rank = rows.rank - 1;
        return rows;
    }();
};

}  // namespace totograph::cuda
