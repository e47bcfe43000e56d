// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/blocks.hpp>
#include <totograph/exec/cuda/chain.hpp>
#include <totograph/exec/cuda/elementwise.hpp>
#include <totograph/exec/cuda/kernel_call.hpp>
#include <totograph/exec/cuda/packs.hpp>
#include <totograph/exec/cuda/places.hpp>
#include <totograph/graph/kernel.hpp>

// What follows a product whose sums a library left in memory.

namespace totograph::cuda {

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
