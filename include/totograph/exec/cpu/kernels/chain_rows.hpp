// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/kernels/chain.hpp>
#include <totograph/exec/cpu/kernels/chain_code.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/rows.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/vector.hpp>
#include <totograph/graph/kernel.hpp>

// How a chain runs along a row: where its operands lie, packet by packet.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {
namespace fused_detail {

/// How many elements lie from one column to the next.
template <ColumnStep step>
constexpr Index columns_apart(Index stride) {
    return step == ColumnStep::none ? 0 : step == ColumnStep::one ? 1 : stride;
}

/// A row of a tensor. All that a loop over columns needs of it is here, so that it stays in registers.
struct RowOfTensor {
    const float* data = nullptr;
    Index row_stride = 0;  ///< To the next row along the last row axis.
    Index outer_stride = 0;
    Index inner_stride = 0;

    RowOfTensor() = default;
    /// @param columns  how many column axes there are
    RowOfTensor(const void* tensor, const Kernel& kernel, const Strides& strides, const RowPlace& row, int columns)
        : row_stride(kernel.row_rank == 0 ? 0 : strides[static_cast<std::size_t>(kernel.row_rank - 1)]),
          outer_stride(columns == 2 ? strides[static_cast<std::size_t>(kernel.row_rank)] : 0),
          inner_stride(columns == 0 ? 0 : strides[static_cast<std::size_t>(kernel.row_rank + columns - 1)]) {
        move_to(tensor, strides, row);
    }

    void move_to(const void* tensor, const Strides& strides, const RowPlace& row) {
        data = static_cast<const float*>(tensor) + row.offset(strides);
    }

    /// Where a place along the column axes lies; along one, `outer` is 0.
    template <int columns, ColumnStep step>
    [[nodiscard]] const float* at(Index outer, Index inner) const {
        return (columns == 2 ? data + outer * outer_stride : data) + inner * columns_apart<step>(inner_stride);
    }
};

/// The operands of a chain, advanced to a row.
template <class Source>
struct OperandRows {
    static constexpr std::size_t count = Source::operand_count;
    std::array<RowOfTensor, count> rows;

    /// @param first  the place of the chain's first operand among those of the kernel
    OperandRows(const Kernel& kernel, const KernelCall& call, int first, const RowPlace& row) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t which = static_cast<std::size_t>(first) + i;
            rows[i] =
                RowOfTensor(call.operands[which], kernel, kernel.operands[which].strides, row, Source::layout.rank);
        }
    }

    /// On to the row so many further along the last row axis.
    void advance(Index by) {
        for (RowOfTensor& row : rows) {
            row.data += by * row.row_stride;
        }
    }

    void move_to(const Kernel& kernel, const KernelCall& call, int first, const RowPlace& row) {
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t which = static_cast<std::size_t>(first) + i;
            rows[i].move_to(call.operands[which], kernel.operands[which].strides, row);
        }
    }

    /// Where the operands lie for a place along the column axes.
    [[nodiscard]] std::array<const float*, count> at(Index outer, Index inner) const {
        return [&]<std::size_t... i>(std::index_sequence<i...>) {
            return std::array<const float*, count>{
                rows[i].template at<Source::layout.rank, Source::layout.operands[i]>(outer, inner)...};
        }
        (std::make_index_sequence<count>());
    }
};

/// A packet of an operand, or its first `lanes` elements and 0 behind them.
template <ColumnStep step>
[[gnu::always_inline]] inline Vector load_lanes(const float* from, Index stride, Index lanes) {
    if constexpr (step == ColumnStep::none) {
        return Vector(*from);
    } else {
        alignas(sizeof(Packet)) float copy[packet_size];
        if (lanes < packet_size) [[unlikely]] {
            copy_lanes(from, columns_apart<step>(stride), lanes, copy);
            return load_aligned(copy);
        }
        if constexpr (step == ColumnStep::one) {
            return load(from);
        } else {
            for (Index lane = 0; lane < packet_size; ++lane) {
                copy[lane] = from[lane * stride];
            }
            return load_aligned(copy);
        }
    }
}

/// Runs a chain on what it is given: `given` are the accumulators, `operands` those that it reads.
template <class Source>
[[gnu::always_inline]] inline Vector run_values(const std::array<Vector, 2>& given,
                                                const std::array<Vector, Source::operand_count>& operands) {
    std::array<Vector, Source::value_count> values;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Source::accumulators); ++i) {
        values[i] = is_short_chain<Source> ? pinned(given[i].lanes) : given[i].lanes;
    }
    for (std::size_t i = 0; i < Source::operand_count; ++i) {
        values[static_cast<std::size_t>(Source::accumulators) + i] =
            is_short_chain<Source> ? pinned(operands[i].lanes) : operands[i].lanes;
    }
    if constexpr (is_short_chain<Source> || chain_calls<Source>) {
        return run_chain_here<Source>(values);
    } else {
        return run_chain<Source>(values);
    }
}

/// Runs a chain for a packet of a row, of which `lanes` columns are in use.
/// @param from          where the operands of the first column lie
/// @param accumulators  those of the first column
template <class Source>
[[gnu::always_inline]] inline Vector run_packet(const OperandRows<Source>& rows,
                                                const std::array<const float*, Source::operand_count>& from,
                                                const float* accumulators, Index lanes) {
    // A row of a tile can be read whole from its beginning, and a stretch along two axes may begin within it.
    const Index readable = Source::layout.rank == 2 ? lanes : packet_size;
    std::array<Vector, 2> given{};
    if constexpr (Source::accumulators > 0) {
        given[0] = load_lanes<ColumnStep::one>(accumulators, 1, readable);
    }
    if constexpr (Source::accumulators == 2) {
        given[1] = load_lanes<ColumnStep::one>(accumulators + packet_size, 1, readable);
    }
    const auto operands = [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
        return std::array<Vector, Source::operand_count>{
            load_lanes<Source::layout.operands[i]>(from[i], rows.rows[i].inner_stride, lanes)...};
    }
    (std::make_index_sequence<Source::operand_count>());
    return run_values<Source>(given, operands);
}

/// The same of a long chain: a function of its own, so that what is around it cannot change how it is compiled.
template <class Source>
[[gnu::noinline]] Vector run_packet_apart(const OperandRows<Source>& rows,
                                          const std::array<const float*, Source::operand_count>& from,
                                          const float* accumulators, Index lanes) {
    return run_packet<Source>(rows, from, accumulators, lanes);
}

/// Runs a chain for `count` columns that do not cross the innermost axis, and calls `take(result, column, lanes)` for
/// each packet, of which `lanes` are in use.
/// @param from          where the operands of the first column lie
/// @param accumulators  those of the first column
template <class Source, class Take>
[[gnu::always_inline]] inline void run_columns(const OperandRows<Source>& rows,
                                               const std::array<const float*, Source::operand_count>& from,
                                               const float* accumulators, Index count, const Take& take) {
    for (Index column = 0; column < count; column += packet_size) {
        const Index lanes = std::min(packet_size, count - column);
        const auto places = [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
            return std::array<const float*, Source::operand_count>{
                from[i] + column * columns_apart<Source::layout.operands[i]>(rows.rows[i].inner_stride)...};
        }
        (std::make_index_sequence<Source::operand_count>());
        const float* const added_up = Source::accumulators > 0 ? accumulators + column : nullptr;
        if constexpr (is_short_chain<Source>) {
            take(run_packet<Source>(rows, places, added_up, lanes), column, lanes);
        } else {
            take(run_packet_apart<Source>(rows, places, added_up, lanes), column, lanes);
        }
    }
}

/// Calls `visit(outer, inner, column, count)` for stretches of `count` columns from `column` on that do not cross the
/// innermost axis: the first lies at `outer`, `inner` along two column axes.
/// @param extent  of the innermost axis
template <class Source, class Visit>
[[gnu::always_inline]] inline void for_each_stretch(Index extent, Index outer, Index inner, Index columns,
                                                    const Visit& visit) {
    if constexpr (Source::layout.rank == 2) {
        for (Index column = 0; column < columns;) {
            const Index count = std::min(columns - column, extent - inner);
            visit(outer, inner, column, count);
            column += count;
            ++outer;
            inner = 0;
        }
    } else {
        visit(0, inner, 0, Source::layout.rank == 0 ? 1 : columns);
    }
}

}  // namespace fused_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
