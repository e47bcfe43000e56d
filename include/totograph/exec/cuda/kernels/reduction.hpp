// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <totograph/core/categorical.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/chain.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// Sums, running sums and softmax over the last axis. The order of a sum depends on the columns alone, and zeros at the
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

/// The sum over a group of neighbouring threads, a power of two, in each of them. All of the group call it.
template <int threads, class T>
__device__ __forceinline__ T sum_of_group(T value) {
    const unsigned members = members_of_group<threads>();
#pragma unroll
    for (int distance = threads / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(members, value, distance);
    }
    return value;
}

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
    return sum_of_group<warp_size>(value);
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

/// The sum over all threads of a block, in every thread.
template <class T>
__device__ T block_sum(T value) {
    __shared__ T partial[block_threads / warp_size];
    value = warp_sum(value);
    __syncthreads();  // a sum before this one may still be read
    if (threadIdx.x % warp_size == 0) {
        partial[threadIdx.x / warp_size] = value;
    }
    __syncthreads();
    T total = 0;
#pragma unroll
    for (int warp = 0; warp < block_threads / warp_size; ++warp) {
        total += partial[warp];
    }
    return total;
}

/// Whether a row is worth a whole block. Rows of other types than f32 are statistics of series, whose length differs
/// between buckets: they always take a block, so that their sums have one order.
template <class K>
constexpr bool takes_block() {
    return K::kernel.columns() > 2048 || Epilogue<K>::accumulator_dtype != DType::f32;
}

/// The sum of the prologue over one row, by the `threads` threads that call it together; each gives its own part.
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
    T total = 0;
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
            total += result.lane[lane];
        }
    };
    constexpr auto step = static_cast<Offset<K>>(threads * lanes);
    constexpr auto turns = static_cast<int>(divide_rounding_up(columns, Index{step}));
    for_each_overlapped<turns>(static_cast<Offset<K>>(thread * lanes), step, static_cast<Offset<K>>(columns), read,
                               add);
    return total;
}

/// The chain after a reduction, on one row.
template <class K, class T>
__device__ __forceinline__ auto finish_row(const OperandPointers<Epilogue<K>>& pointers,
                                           const Place<K, RowsOf<K>::shape.rank>& row, T total) {
    using Source = Epilogue<K>;
    ChainValues<Source, 1> values;
    chain_detail::at<0>(values).lane[0] =
        K::kernel.op == Op::mean ? total / static_cast<T>(K::kernel.columns()) : total;
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

/// Threads that sum a short row together. The threads that a warp would leave idle add zeros to the sum, in the same
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

template <class K, class Threads = Blocks<>>
__device__ void run_reduction(const KernelCall& call) {
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
        Threads::template for_each_of_blocks<rows>([&](Offset<K> row) {
            const auto place = place_of<K, RowsOf<K>>(row);
            const auto total = block_sum(part_of_row<K, block_threads>(before, place, static_cast<int>(threadIdx.x)));
            if (threadIdx.x == 0) {
                out[offset_of<K, StridesOfOutput<K>>(place)] = finish_row<K>(after, place, total);
            }
        });
    } else {
        constexpr int threads = row_threads<K>();
        const int lane = static_cast<int>(threadIdx.x) % threads;
        Threads::template for_each_of_groups<threads, rows>([&](Offset<K> row) {
            const auto place = place_of<K, RowsOf<K>>(row);
            const auto total = sum_of_group<threads>(part_of_row<K, threads>(before, place, lane));
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

/// Stretches of a row's running sum that a warp has on their way at a time, at most.
inline constexpr int most_stretches = 16;

/// What the stretches of a block add up to: one array for all running sums of a kernel.
__device__ __forceinline__ double* sums_of_stretches() {
    __shared__ double sums[most_stretches * (block_threads / warp_size)];
    return sums;
}

/// Running sums along the last axis, in double. Stretches of a warp's width are summed on their own; their totals add
/// up from the left.
template <class K, class Threads = Blocks<>>
__device__ void run_cumsum(const KernelCall& call) {
    using T = Element<K::kernel.dtype>;
    constexpr int warps = block_threads / warp_size;
    constexpr auto columns = static_cast<Offset<K>>(K::kernel.iteration[-1]);
    constexpr auto rows = static_cast<Offset<K>>(K::kernel.iteration.size() / K::kernel.iteration[-1]);
    constexpr auto step = static_cast<Offset<K>>(inner_stride<K>(K::kernel.operands[0].strides));
    constexpr auto out_step = static_cast<Offset<K>>(inner_stride<K>(K::kernel.output_strides));
    // A row of a few stretches takes a warp, a longer one a block.
    constexpr int together = columns <= 4 * warp_size ? 1 : warps;
    if constexpr (together == 1) {
        if (!Threads::template group_has_item<warp_size, rows>()) {
            return;
        }
    }
    const auto* in = call.operands[0].get<T>(positions_of<K>(call));
    auto* out = call.output.get<T>(positions_of<K>(call));
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const auto value_at = [&](Offset<K> column, Offset<K> from) {
        return column < columns ? static_cast<double>(in[from + column * step]) : 0.0;
    };
    const auto scan = [&](double value) {
#pragma unroll
        for (int distance = 1; distance < warp_size; distance *= 2) {
            const double left = __shfl_up_sync(0xffffffffU, value, static_cast<unsigned>(distance));
            value = lane >= distance ? value + left : value;
        }
        return value;
    };
    if constexpr (together == 1) {
        Threads::template for_each_of_groups<warp_size, rows>([&](Offset<K> row) {
            const auto place = place_of<K, LeadingOf<K>>(row);
            const Offset<K> from = offset_of<K, StridesOfOperand<K, 0>>(place);
            const Offset<K> to = offset_of<K, StridesOfOutput<K>>(place);
            // All stretches are scanned before the first total is carried on: their steps overlap.
            constexpr int stretches = static_cast<int>((columns + warp_size - 1) / warp_size);
            double values[stretches];
#pragma unroll
            for (int i = 0; i < stretches; ++i) {
                values[i] = scan(value_at(i * warp_size + lane, from));
            }
            double carry = 0;
#pragma unroll
            for (int i = 0; i < stretches; ++i) {
                const Offset<K> column = i * warp_size + lane;
                const double value = values[i];
                if (column < columns) {
                    out[to + column * out_step] = static_cast<T>(carry + value);
                }
                carry += __shfl_sync(0xffffffffU, value, warp_size - 1);
            }
        });
    } else {
        constexpr int each =
            std::min(static_cast<int>(divide_rounding_up(Index{columns}, Index{block_threads})), most_stretches);
        double* const before = sums_of_stretches();  // the sum of all stretches before each
        Threads::template for_each_of_blocks<rows>([&](Offset<K> row) {
            const auto place = place_of<K, LeadingOf<K>>(row);
            const Offset<K> from = offset_of<K, StridesOfOperand<K, 0>>(place);
            const Offset<K> to = offset_of<K, StridesOfOutput<K>>(place);
            double carry = 0;
            for (Offset<K> first = 0; first < columns; first += each * block_threads) {
                const auto column_of = [&](int i) {
                    return first + static_cast<Offset<K>>((i * warps + warp) * warp_size + lane);
                };
                // All are read before the first is used.
                double values[each];
#pragma unroll
                for (int i = 0; i < each; ++i) {
                    values[i] = value_at(column_of(i), from);
                }
#pragma unroll
                for (int i = 0; i < each; ++i) {
                    values[i] = scan(values[i]);
                    if (lane == warp_size - 1) {
                        before[i * warps + warp] = values[i];
                    }
                }
                __syncthreads();
                if (threadIdx.x == 0) {
#pragma unroll 8
                    for (int i = 0; i < each * warps; ++i) {
                        const double total = before[i];
                        before[i] = carry;
                        carry += total;
                    }
                }
                __syncthreads();
#pragma unroll
                for (int i = 0; i < each; ++i) {
                    if (column_of(i) < columns) {
                        out[to + column_of(i) * out_step] = static_cast<T>(before[i * warps + warp] + values[i]);
                    }
                }
                __syncthreads();
            }
        });
    }
}

/// The place of the largest number of each row. A key holds the number, in the order of floats with NaN above all, and
/// below it the place counted from the end: the largest key is the first of the largest numbers, in any order.
template <class K, class Threads = Blocks<>>
__device__ void run_argmax(const KernelCall& call) {
    constexpr Operand x = K::kernel.operands[0];
    constexpr auto columns = static_cast<Offset<K>>(x.shape[-1]);
    constexpr auto rows = static_cast<Offset<K>>(K::kernel.iteration.size());
    constexpr auto step = static_cast<Offset<K>>(inner_stride<K>(x.strides));
    // Up to so many columns a row takes a warp, a longer one a block.
    constexpr bool takes_warp = columns <= 1024;
    if constexpr (takes_warp) {
        if (!Threads::template group_has_item<warp_size, rows>()) {
            return;
        }
    }
    const auto* in = call.operands[0].get<float>(positions_of<K>(call));
    auto* out = call.output.get<std::int32_t>(positions_of<K>(call));
    const auto key_of_part = [&](Offset<K> from, int thread, int threads) {
        std::uint64_t best = 0;
        for (Offset<K> column = thread; column < columns; column += threads) {
            const float value = in[from + column * step];
            const std::uint32_t key = value != value ? 0xffffffffU : categorical::key_of(value);
            best = std::max(best, std::uint64_t{key} << 32U | (0xffffffffU - static_cast<std::uint32_t>(column)));
        }
#pragma unroll
        for (int distance = warp_size / 2; distance > 0; distance /= 2) {
            const std::uint64_t other = __shfl_xor_sync(0xffffffffU, static_cast<unsigned long long>(best), distance);
            best = std::max(best, other);
        }
        return best;
    };
    const auto write = [&](const auto& place, std::uint64_t key) {
        out[offset_of<K, StridesOfOutput<K>>(place)] =
            static_cast<std::int32_t>(0xffffffffU - static_cast<std::uint32_t>(key));
    };
    if constexpr (takes_warp) {
        const int lane = static_cast<int>(threadIdx.x) % warp_size;
        Threads::template for_each_of_groups<warp_size, rows>([&](Offset<K> row) {
            const auto place = place_of<K, LeadingOf<K>>(row);
            const std::uint64_t key = key_of_part(offset_of<K, StridesOfOperand<K, 0>>(place), lane, warp_size);
            if (lane == 0) {
                write(place, key);
            }
        });
    } else {
        __shared__ std::uint64_t best[block_threads / warp_size];
        Threads::template for_each_of_blocks<rows>([&](Offset<K> row) {
            const auto place = place_of<K, LeadingOf<K>>(row);
            const std::uint64_t key =
                key_of_part(offset_of<K, StridesOfOperand<K, 0>>(place), static_cast<int>(threadIdx.x), block_threads);
            __syncthreads();  // those of a row before this one may still be read
            if (threadIdx.x % warp_size == 0) {
                best[threadIdx.x / warp_size] = key;
            }
            __syncthreads();
            if (threadIdx.x == 0) {
                std::uint64_t largest = 0;
                for (const std::uint64_t of_warp : best) {
                    largest = std::max(largest, of_warp);
                }
                write(place, largest);
            }
        });
    }
}

/// Threads that share a row of a softmax: a few elements each, where that is enough.
constexpr int softmax_threads(Index columns) {
    int threads = 1;
    while (threads < warp_size && threads * 4 < columns) {
        threads *= 2;
    }
    return threads;
}

/// Softmax over the last axis.
template <class K, class Threads = Blocks<>>
__device__ void run_softmax(const KernelCall& call) {
    constexpr auto columns = static_cast<Offset<K>>(K::kernel.iteration[-1]);
    constexpr auto rows = static_cast<Offset<K>>(K::kernel.iteration.size() / K::kernel.iteration[-1]);
    constexpr auto step = static_cast<Offset<K>>(inner_stride<K>(K::kernel.operands[0].strides));
    constexpr auto out_step = static_cast<Offset<K>>(inner_stride<K>(K::kernel.output_strides));
    constexpr int threads = softmax_threads(K::kernel.iteration[-1]);
    constexpr auto each = static_cast<int>(divide_rounding_up(K::kernel.iteration[-1], Index{threads}));
    constexpr int kept = 16;  // elements of a thread that stay in registers
    if (!Threads::template group_has_item<threads, rows>()) {
        return;
    }
    const auto* in = call.operands[0].get<float>(positions_of<K>(call));
    auto* out = call.output.get<float>(positions_of<K>(call));
    const int lane = static_cast<int>(threadIdx.x) % threads;
    Threads::template for_each_of_groups<threads, rows>([&](Offset<K> row) {
        const auto place = place_of<K, LeadingOf<K>>(row);
        const float* const from = in + offset_of<K, StridesOfOperand<K, 0>>(place);
        float* const to = out + offset_of<K, StridesOfOutput<K>>(place);
        float largest = -std::numeric_limits<float>::infinity();
        float total = 0;
        if constexpr (each <= kept) {
            float values[each];
#pragma unroll
            for (int i = 0; i < each; ++i) {
                const Offset<K> column = i * threads + lane;
                values[i] = column < columns ? from[column * step] : -std::numeric_limits<float>::infinity();
                largest = fmaxf(largest, values[i]);
            }
            largest = maximum_of_group<threads>(largest);
#pragma unroll
            for (int i = 0; i < each; ++i) {
                values[i] = i * threads + lane < columns ? expf(values[i] - largest) : 0.0F;
                total += values[i];
            }
            const float scale = 1.0F / sum_of_group<threads>(total);
#pragma unroll
            for (int i = 0; i < each; ++i) {
                const Offset<K> column = i * threads + lane;
                if (column < columns) {
                    to[column * out_step] = values[i] * scale;
                }
            }
        } else {
            for (Offset<K> column = lane; column < columns; column += threads) {
                largest = fmaxf(largest, from[column * step]);
            }
            largest = maximum_of_group<threads>(largest);
            for (Offset<K> column = lane; column < columns; column += threads) {
                total += expf(from[column * step] - largest);
            }
            const float scale = 1.0F / sum_of_group<threads>(total);
            for (Offset<K> column = lane; column < columns; column += threads) {
                to[column * out_step] = expf(from[column * step] - largest) * scale;
            }
        }
    });
}

}  // namespace totograph::cuda
