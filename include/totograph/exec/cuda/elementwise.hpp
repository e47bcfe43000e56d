// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/chain.hpp>
#include <totograph/exec/cuda/kernel_call.hpp>
#include <totograph/graph/kernel.hpp>

// Pointwise kernels and what reductions and products share with them: loading a chain's operands, storing its result.

namespace totograph::cuda {

/// Threads of every block. One number for all kernels, so that sums have one order wherever a kernel runs.
inline constexpr int block_threads = 256;

/// The chain that runs per element of the result.
template <class K>
struct Epilogue {
    using Operations = typename K::Operations;
    static constexpr Kernel kernel = K::kernel;
    static constexpr Chain chain = K::kernel.chain;
    static constexpr int accumulators = K::kernel.accumulators;
    static constexpr int first_operand = K::kernel.prologue_operands;
    static constexpr bool rounds = K::is_rounded;
    /// What a reduction or product hands to the chain.
    static constexpr DType accumulator_dtype =
        K::kernel.kind != KernelKind::reduction ? DType::f32
        : K::kernel.prologue.count > 0
            ? K::kernel.prologue.instructions[static_cast<std::size_t>(K::kernel.prologue.count) - 1].dtype
            : K::kernel.operands[0].dtype;
};

/// The chain that runs before a reduction.
template <class K>
struct Prologue {
    using Operations = typename K::Operations;
    static constexpr Kernel kernel = K::kernel;
    static constexpr Chain chain = K::kernel.prologue;
    static constexpr int accumulators = 0;
    static constexpr int first_operand = 0;
    static constexpr bool rounds = false;
    static constexpr DType accumulator_dtype = DType::f32;
};

/// The threads that share the items of a step: those of a grid of any size, or of `count` blocks, of which
/// `first_thread` of each takes the first items.
///
/// A segment is code that runs once, so most of its time is fetching it: with the number of blocks known, few items
/// need no loop, and no loop is unrolled.
template <int count = 0, int first_thread = 0>
struct Blocks {
    static constexpr bool is_known = count > 0;
    static constexpr int threads = count * block_threads;  ///< Of all blocks, where their number is known.

    /// Calls `visit(item)` for the items of a thread.
    template <auto items, class Visit>
    static __device__ __forceinline__ void for_each(Visit&& visit) {
        using Item = std::remove_const_t<decltype(items)>;
        const unsigned thread = (threadIdx.x + (block_threads - first_thread)) % block_threads;
        const Item first = static_cast<Item>(blockIdx.x * block_threads + thread);
        share<items, Item{count} * block_threads>(first, static_cast<Item>(gridDim.x * block_threads), visit);
    }

    /// For groups of `size` neighbouring threads, each of which takes whole items: the first group of a block the first
    /// of them, whatever `first_thread` is.
    template <int size, auto items, class Visit>
    static __device__ __forceinline__ void for_each_of_groups(Visit&& visit) {
        using Item = std::remove_const_t<decltype(items)>;
        constexpr int groups = block_threads / size;
        const Item first = static_cast<Item>(blockIdx.x * groups + threadIdx.x / size);
        share<items, Item{count} * groups>(first, static_cast<Item>(gridDim.x * groups), visit);
    }

private:
    template <auto items, auto known, class Item, class Visit>
    static __device__ __forceinline__ void share(Item first, Item step, Visit&& visit) {
        if constexpr (is_known && items <= known) {
            if (first < items) {
                visit(first);
            }
        } else if constexpr (is_known) {
#pragma unroll 1
            for (Item item = first; item < items; item += known) {
                visit(item);
            }
        } else {
            for (Item item = first; item < items; item += step) {
                visit(item);
            }
        }
    }
};

/// How many operands a chain reads itself.
template <class Source>
inline constexpr std::size_t operand_count = static_cast<std::size_t>(Source::chain.given - Source::accumulators);

template <class Source>
constexpr Operand operand_of(std::size_t which) {
    return Source::kernel.operands[static_cast<std::size_t>(Source::first_operand) + which];
}

/// 32-bit offsets where everything that a kernel touches is near enough: 64-bit arithmetic is several instructions.
template <class K>
constexpr bool fits_in_32_bits() {
    const auto reach = [](const Shape& shape, const Strides& strides) {
        Index total = 1;
        for (int axis = 0; axis < shape.rank; ++axis) {
            total += (shape[axis] - 1) * strides[static_cast<std::size_t>(axis)];
        }
        return total;
    };
    Index largest = std::max(K::kernel.iteration.size(), reach(K::kernel.iteration, K::kernel.output_strides));
    for (std::size_t i = 0; i < static_cast<std::size_t>(K::kernel.operand_count); ++i) {
        const Shape& shape = K::kernel.operands[i].shape;
        largest =
            std::max(largest, reach(shape.rank == 0 ? K::kernel.iteration : shape, K::kernel.operands[i].strides));
    }
    return largest < std::numeric_limits<std::int32_t>::max() / 2;
}
template <class K>
using Offset = std::conditional_t<fits_in_32_bits<K>(), std::int32_t, std::int64_t>;

/// The place of an element: its index along each axis of a shape.
template <class K, int rank>
struct Place {
    Offset<K> at[rank == 0 ? 1 : rank];
};

/// Splits the number of an element into indices of `Extents::shape`.
template <class K, class Of>
__device__ __forceinline__ Place<K, Of::shape.rank> place_of(Offset<K> element) {
    Place<K, Of::shape.rank> place{};
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((place.at[Of::shape.rank - 1 - static_cast<int>(i)] =
              element % static_cast<Offset<K>>(Of::shape.extents[static_cast<std::size_t>(Of::shape.rank) - 1 - i]),
          element /= static_cast<Offset<K>>(Of::shape.extents[static_cast<std::size_t>(Of::shape.rank) - 1 - i])),
         ...);
    }
    (std::make_index_sequence<static_cast<std::size_t>(Of::shape.rank)>());
    return place;
}

template <class K>
struct IterationOf {
    static constexpr Shape shape = K::kernel.iteration;
};
/// The rows of a kernel alone.
template <class K>
struct RowsOf {
    static constexpr Shape shape = [] {
        Shape rows = K::kernel.iteration;
        rows.rank = K::kernel.row_rank;
        return rows;
    }();
};
/// The columns of a kernel alone.
template <class K>
struct ColumnsOf {
    static constexpr Shape shape = [] {
        Shape columns;
        columns.rank = K::kernel.iteration.rank - K::kernel.row_rank;
        for (int axis = 0; axis < columns.rank; ++axis) {
            columns.extents[static_cast<std::size_t>(axis)] = K::kernel.iteration[K::kernel.row_rank + axis];
        }
        return columns;
    }();
};

/// The strides of a tensor as a type.
template <class K, int which>
struct StridesOfOperand {
    static constexpr Strides strides = K::kernel.operands[static_cast<std::size_t>(which)].strides;
};
template <class K>
struct StridesOfOutput {
    static constexpr Strides strides = K::kernel.output_strides;
};

/// The offset of a place, for strides that start at `first_axis`.
template <class K, class With, int first_axis = 0, int rank>
__device__ __forceinline__ Offset<K> offset_of(const Place<K, rank>& place) {
    const auto along = [&]<std::size_t axis>(std::integral_constant<std::size_t, axis>) -> Offset<K> {
        constexpr auto stride = static_cast<Offset<K>>(With::strides[static_cast<std::size_t>(first_axis) + axis]);
        return stride == 0 ? 0 : place.at[axis] * stride;
    };
    return [&]<std::size_t... axis>(std::index_sequence<axis...>)->Offset<K> {
        return (along(std::integral_constant<std::size_t, axis>{}) + ... + 0);
    }
    (std::make_index_sequence<static_cast<std::size_t>(rank)>());
}

/// The words in which a pack travels.
template <std::size_t bytes>
struct WordsOf;
template <>
struct WordsOf<4> {
    using type = std::uint32_t;
};
template <>
struct WordsOf<8> {
    using type = uint2;
};
template <>
struct WordsOf<16> {
    using type = uint4;
};

/// `lanes` elements from memory, `stride` apart; in one access where they are neighbours and aligned. What is known to
/// be `aligned` is not tested: behind a branch, loads do not overlap.
template <Index stride, int lanes, bool aligned, class T>
__device__ __forceinline__ Pack<T, lanes> load_pack(const T* from) {
    constexpr std::size_t bytes = sizeof(T) * static_cast<std::size_t>(lanes);
    if constexpr (stride == 1 && (bytes == 4 || bytes == 8 || bytes == 16) && lanes > 1) {
        if (aligned || reinterpret_cast<std::uintptr_t>(from) % bytes == 0) {
            const auto words = *reinterpret_cast<const typename WordsOf<bytes>::type*>(from);
            Pack<T, lanes> pack;
            memcpy(&pack, &words, bytes);
            return pack;
        }
    }
    Pack<T, lanes> pack;
    if constexpr (stride == 1 && bytes > 16 && bytes % 16 == 0) {
        constexpr int part = 16 / static_cast<int>(sizeof(T));
#pragma unroll
        for (int first = 0; first < lanes; first += part) {
            const auto some = load_pack<1, part, aligned>(from + first);
#pragma unroll
            for (int lane = 0; lane < part; ++lane) {
                pack.lane[first + lane] = some.lane[lane];
            }
        }
    } else {
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            pack.lane[lane] = from[lane * static_cast<int>(stride)];
        }
    }
    return pack;
}

template <Index stride, bool aligned, int lanes, class T>
__device__ __forceinline__ void store_pack(T* to, const Pack<T, lanes>& pack) {
    constexpr std::size_t bytes = sizeof(T) * static_cast<std::size_t>(lanes);
    if constexpr (stride == 1 && (bytes == 4 || bytes == 8 || bytes == 16) && lanes > 1) {
        if (aligned || reinterpret_cast<std::uintptr_t>(to) % bytes == 0) {
            typename WordsOf<bytes>::type words;
            memcpy(&words, &pack, bytes);
            *reinterpret_cast<typename WordsOf<bytes>::type*>(to) = words;
            return;
        }
    }
    if constexpr (stride == 1 && bytes > 16 && bytes % 16 == 0) {
        constexpr int part = 16 / static_cast<int>(sizeof(T));
#pragma unroll
        for (int first = 0; first < lanes; first += part) {
            Pack<T, part> some;
#pragma unroll
            for (int lane = 0; lane < part; ++lane) {
                some.lane[lane] = pack.lane[first + lane];
            }
            store_pack<1, aligned>(to + first, some);
        }
    } else {
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            to[lane * static_cast<int>(stride)] = pack.lane[lane];
        }
    }
}

/// A pack as it lies in memory, for loads that are long on their way: a bf16 in a register of its own would waste half.
template <class T, int lanes>
struct StoredPack {
    Pack<T, lanes> pack;

    __device__ __forceinline__ Pack<float, lanes> floats() const { return pack; }
};
template <int lanes>
struct StoredPack<BFloat16, lanes> {
    std::uint32_t pair[lanes / 2];

    __device__ __forceinline__ Pack<float, lanes> floats() const {
        Pack<float, lanes> result;
#pragma unroll
        for (int i = 0; i < lanes / 2; ++i) {
            result.lane[i * 2] = __uint_as_float(pair[i] << 16U);
            result.lane[i * 2 + 1] = __uint_as_float(pair[i] & 0xffff0000U);
        }
        return result;
    }
};

template <int lanes, bool aligned, class T>
__device__ __forceinline__ StoredPack<T, lanes> load_stored(const T* from) {
    StoredPack<T, lanes> result;
    if constexpr (std::is_same_v<T, BFloat16> && aligned) {
        using Words = typename WordsOf<sizeof(T) * static_cast<std::size_t>(lanes)>::type;
        const auto words = *reinterpret_cast<const Words*>(from);
        memcpy(&result, &words, sizeof words);
    } else {
        const auto pack = load_pack<1, lanes, aligned>(from);
        memcpy(&result, &pack, sizeof pack);
    }
    return result;
}

/// The stride from one element of the innermost axis to the next.
template <class K>
constexpr Index inner_stride(const Strides& strides) {
    return K::kernel.iteration.rank == 0 ? 0 : strides[static_cast<std::size_t>(K::kernel.iteration.rank) - 1];
}

/// Elements that one thread computes: neighbours of the innermost axis.
template <class K>
constexpr int lanes_of(bool is_small, int most = 4) {
    const Index inner = K::kernel.iteration.rank == 0 ? 1 : K::kernel.iteration[-1];
    bool has_wide_types = K::kernel.dtype == DType::f64;
    for (std::size_t i = 0; i < static_cast<std::size_t>(K::kernel.operand_count); ++i) {
        has_wide_types = has_wide_types || K::kernel.operands[i].dtype == DType::f64;
    }
    const bool in_pairs = rotates_pairs(K::kernel.chain) || rotates_pairs(K::kernel.prologue);
    if (inner % most == 0 && !has_wide_types && !is_small) {
        return most;
    }
    return in_pairs || (inner % 2 == 0 && !is_small) ? 2 : 1;
}

/// Where a chain's operands lie, with positions applied: those whose bit is set in `which`.
template <class Source, unsigned which = ~0U>
struct OperandPointers {
    const void* base[operand_count<Source> == 0 ? 1 : operand_count<Source>];

    __device__ __forceinline__ explicit OperandPointers(const KernelCall& call) {
        [&]<std::size_t... i>(std::index_sequence<i...>) {
            ((base[i] = (which >> i & 1U) == 0 ? nullptr
                                               : call.operands[static_cast<std::size_t>(Source::first_operand) + i]
                                                     .template get<Element<operand_of<Source>(i).dtype>>()),
             ...);
        }
        (std::make_index_sequence<operand_count<Source>>());
    }
};

/// Loads the operands of a chain at a place of its iteration: those whose bit is set in `which`.
template <class K, class Source, int lanes, unsigned which = ~0U, int rank, class Values>
__device__ __forceinline__ void load_operands(const OperandPointers<Source, which>& pointers,
                                              const Place<K, rank>& place, Values& values) {
    const auto load = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
        if constexpr ((which >> i & 1U) != 0) {
            chain_detail::at<static_cast<std::size_t>(Source::accumulators) + i>(values) =
                load_pack<inner_stride<K>(operand_of<Source>(i).strides), lanes, K::is_aligned>(
                    static_cast<const Element<operand_of<Source>(i).dtype>*>(pointers.base[i]) +
                    offset_of<K, StridesOfOperand<K, Source::first_operand + static_cast<int>(i)>>(place));
        }
    };
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (load(std::integral_constant<std::size_t, i>{}), ...);
    }
    (std::make_index_sequence<operand_count<Source>>());
}

/// Copies the operands whose bit is set in `which`.
template <class Source, unsigned which, class Values>
__device__ __forceinline__ void copy_operands(Values& from, Values& to) {
    const auto copy = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
        if constexpr ((which >> i & 1U) != 0) {
            constexpr std::size_t slot = static_cast<std::size_t>(Source::accumulators) + i;
            chain_detail::at<slot>(to) = chain_detail::at<slot>(from);
        }
    };
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (copy(std::integral_constant<std::size_t, i>{}), ...);
    }
    (std::make_index_sequence<operand_count<Source>>());
}

/// A pointwise kernel, on all threads of the grid.
template <class K, class Threads = Blocks<>>
__device__ void run_pointwise(const KernelCall& call) {
    using Source = Epilogue<K>;
    constexpr Index size = K::kernel.iteration.size();
    constexpr bool is_small = Threads::is_known ? size <= Threads::threads : size < 65536;
    constexpr int lanes = lanes_of<K>(is_small);
    const OperandPointers<Source> pointers(call);
    auto* out = call.output.get<Element<K::kernel.dtype>>();
    Threads::template for_each<static_cast<Offset<K>>(size / lanes)>([&](Offset<K> item) {
        const auto place = place_of<K, IterationOf<K>>(item * lanes);
        ChainValues<Source, lanes> values;
        load_operands<K, Source, lanes>(pointers, place, values);
        store_pack<inner_stride<K>(K::kernel.output_strides), K::is_aligned>(
            out + offset_of<K, StridesOfOutput<K>>(place), run_chain<Source, lanes>(values));
    });
}

/// A pack in another type.
template <class To, int lanes, class From>
__device__ __forceinline__ Pack<To, lanes> stored_as(const Pack<From, lanes>& pack) {
    Pack<To, lanes> result;
#pragma unroll
    for (int lane = 0; lane < lanes; ++lane) {
        result.lane[lane] = stored_as<To>(pack.lane[lane]);
    }
    return result;
}

/// A pack as numbers to compute with.
template <int lanes, class From>
__device__ __forceinline__ Pack<float, lanes> as_floats(const Pack<From, lanes>& pack) {
    Pack<float, lanes> result;
#pragma unroll
    for (int lane = 0; lane < lanes; ++lane) {
        result.lane[lane] = static_cast<float>(pack.lane[lane]);
    }
    return result;
}

/// Elements that one thread of an epilogue computes: so many that it loads 16 bytes of sums.
template <class K, class Sum>
constexpr int epilogue_lanes() {
    constexpr int most = 16 / static_cast<int>(sizeof(Sum));
    constexpr bool is_small = K::kernel.iteration.size() < 65536;
    return K::kernel.iteration[-1] % most == 0 ? lanes_of<K>(is_small, most) : lanes_of<K>(is_small);
}

/// Rows of which one thread of an epilogue computes the same columns: what belongs to columns alone is read once.
template <class K>
constexpr int epilogue_rows() {
    return K::kernel.rows() >= 512 ? 4 : 1;
}

/// Threads that an epilogue keeps busy.
template <class K, class Sum>
constexpr Index epilogue_items() {
    return divide_rounding_up(K::kernel.rows(), Index{epilogue_rows<K>()}) *
           (K::kernel.columns() / epilogue_lanes<K, Sum>());
}

/// A bit for each operand of a product's chain that is the same in all rows.
template <class K>
constexpr unsigned operands_of_columns() {
    unsigned bits = 0;
    for (int i = 0; i < K::kernel.operand_count; ++i) {
        bool is_same = true;
        for (int axis = 0; axis < K::kernel.row_rank; ++axis) {
            const bool moves =
                K::kernel.operands[static_cast<std::size_t>(i)].strides[static_cast<std::size_t>(axis)] != 0;
            is_same = is_same && (!moves || K::kernel.iteration[axis] == 1);
        }
        bits |= is_same ? 1U << i : 0U;
    }
    return bits;
}

/// The chain of a product whose sums a library left in memory, `row_stride` apart; those of a pair follow each other.
/// Done by `blocks` blocks, of which this is number `block`.
template <class K, class Sum>
__device__ void run_epilogue(const KernelCall& call, const Sum* sums, int row_stride, int block, int blocks) {
    using Source = Epilogue<K>;
    constexpr auto columns = static_cast<Offset<K>>(K::kernel.columns());
    constexpr auto rows = static_cast<Offset<K>>(K::kernel.rows());
    constexpr int lanes = epilogue_lanes<K, Sum>();
    constexpr int each = epilogue_rows<K>();
    constexpr auto items = static_cast<Offset<K>>(epilogue_items<K, Sum>());
    constexpr unsigned shared = operands_of_columns<K>();
    const OperandPointers<Source, shared> of_columns(call);
    const OperandPointers<Source, ~shared> of_rows(call);
    auto* out = call.output.get<Output<K>>();
    for (Offset<K> item = static_cast<Offset<K>>(block) * block_threads + static_cast<Offset<K>>(threadIdx.x);
         item < items; item += static_cast<Offset<K>>(blocks) * block_threads) {
        const Offset<K> column = item % (columns / lanes) * lanes;
        const Offset<K> first = item / (columns / lanes) * each;
        // Rows beyond the last one read what that one reads, and store nothing.
        const auto row_at = [&](int i) { return rows % each == 0 ? first + i : min(first + i, rows - 1); };
        const auto place_at = [&](int i) { return place_of<K, IterationOf<K>>(row_at(i) * columns + column); };
        ChainValues<Source, lanes> values[each];
        load_operands<K, Source, lanes, shared>(of_columns, place_at(0), values[0]);
#pragma unroll
        for (int i = 0; i < each; ++i) {
            const Sum* from = sums + static_cast<Index>(row_at(i)) * row_stride + column;
            chain_detail::at<0>(values[i]) = as_floats(load_pack<1, lanes, K::is_aligned>(from));
            if constexpr (Source::accumulators == 2) {
                chain_detail::at<1>(values[i]) = as_floats(load_pack<1, lanes, K::is_aligned>(from + columns));
            }
            load_operands<K, Source, lanes, ~shared>(of_rows, place_at(i), values[i]);
            if (i > 0) {
                copy_operands<Source, shared>(values[0], values[i]);
            }
        }
#pragma unroll
        for (int i = 0; i < each; ++i) {
            if (rows % each == 0 || first + i < rows) {
                store_pack<inner_stride<K>(K::kernel.output_strides), K::is_aligned>(
                    out + offset_of<K, StridesOfOutput<K>>(place_at(i)),
                    stored_as<Output<K>>(run_chain<Source, lanes>(values[i])));
            }
        }
    }
}

}  // namespace totograph::cuda
