// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/arithmetic.hpp>
#include <totograph/exec/cpu/evaluate/interpreter.hpp>
#include <totograph/exec/cpu/kernels/chain.hpp>
#include <totograph/exec/cpu/kernels/chain_code.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/rows.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/vector.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// Pointwise, reduction and GEMM kernels of a program. Instructions are constants of the type; extents and strides are
// read from the kernel, once a tile, so that kernels which differ in those alone are compiled once. A tile of a GEMM
// has one or two packets a row: what is done for each row must be little.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// A kernel of a program as a type.
template <class ProgramType, std::size_t index>
struct KernelOf {
    using Operations = typename ProgramType::Operations;
    static constexpr const Kernel& kernel = ProgramType::kernels[index];
};

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

/// Whether all that a chain reads and computes is f32.
constexpr bool computes_floats(const Kernel& kernel, const Chain& chain, int first_operand, int operands) {
    for (int i = 0; i < operands; ++i) {
        if (kernel.operands[static_cast<std::size_t>(first_operand + i)].dtype != DType::f32) {
            return false;
        }
    }
    return is_vectorizable(chain);
}
constexpr bool epilogue_computes_floats(const Kernel& kernel) {
    return computes_floats(kernel, kernel.chain, kernel.prologue_operands, kernel.chain.given - kernel.accumulators);
}

/// Whether the interpreter has code for a chain.
constexpr bool is_interpretable(const Chain& chain) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(chain.count); ++i) {
        if (chain.instructions[i].op == Op::rotate_pairs) {
            return false;
        }
    }
    return true;
}

/// A sentence for what the interpreter has no code for.
template <bool has_code>
consteval bool check_interpretable() {
    static_assert(has_code, "totograph: pair rotations run on f32 alone; cast before and after.");
    return true;
}

/// The chain and the store of a tile of a kernel's result.
template <class Source>
void finish_tile(const Kernel& kernel, const KernelCall& call, const Tile& tile) noexcept {
    constexpr ColumnLayout layout = Source::layout;
    const Index extent = layout.rank == 0 ? 1 : kernel.iteration[-1];
    const Index outer = layout.rank == 2 ? tile.first_column / extent : 0;
    const Index inner = tile.first_column - outer * extent;
    TileRows rows(kernel, tile);
    OperandRows<Source> operands(kernel, call, kernel.prologue_operands, rows.place());
    RowOfTensor out(call.output, kernel, kernel.output_strides, rows.place(), layout.rank);
    for (const float* accumulators = tile.accumulators;;) {
        for_each_stretch<Source>(
            extent, outer, inner, tile.column_count,
            [&](Index outer_at, Index inner_at, Index first, Index count) __attribute__((always_inline)) {
                auto* const to = const_cast<float*>(out.at<layout.rank, layout.output>(outer_at, inner_at));
                run_columns<Source>(
                    operands, operands.at(outer_at, inner_at),
                    Source::accumulators > 0 ? accumulators + first : nullptr,
                    count, [&](Vector result, Index column, Index lanes) __attribute__((always_inline)) {
                        if (layout.output == ColumnStep::one && lanes == packet_size) {
                            cpu::store(to + column, result.lanes);
                        } else {
                            store_lanes(to + column * out.inner_stride, out.inner_stride, result.lanes, lanes);
                        }
                    });
            });
        const Index beside = rows.advance();
        if (rows.is_done()) {
            break;
        }
        accumulators += Source::accumulators > 0 ? tile.stride : 0;
        if (beside > 0) {
            operands.advance(beside);
            out.data += beside * out.row_stride;
        } else {
            operands.move_to(kernel, call, kernel.prologue_operands, rows.place());
            out.move_to(call.output, kernel.output_strides, rows.place());
        }
    }
}

/// What a reduction makes of two values, each alone or of several lanes.
template <Op op, class T>
T reduced(T before, T value) {
    if constexpr (op == Op::amax) {
        return elementwise<Op::maximum>(before, value, value);
    } else {
        return before + value;
    }
}

/// The reduction of all lanes.
template <Op op>
float reduced_lanes(Packet value) {
    if constexpr (op == Op::amax) {
        float lanes[packet_size];
        store_lanes(lanes, 1, value, packet_size);
        float largest = lanes[0];
        for (const float lane : lanes) {
            largest = reduced<op>(largest, lane);
        }
        return largest;
    } else {
        return sum_of_lanes(value);
    }
}

/// The prologue and the reduction of one row, on floats: lanes are reduced on their own, then together.
template <Op op, class Before>
float reduce_row(const Kernel& kernel, const OperandRows<Before>& operands, Index columns) {
    constexpr float start = op == Op::amax ? -std::numeric_limits<float>::infinity() : 0.0F;
    Vector total(start);
    for_each_stretch<Before>(
        Before::layout.rank == 0 ? 1 : kernel.iteration[-1], 0, 0,
        columns, [&](Index outer, Index inner, Index, Index stretch) __attribute__((always_inline)) {
            run_columns<Before>(
                operands, operands.at(outer, inner), nullptr,
                stretch, [&](Vector value, Index, Index lanes) __attribute__((always_inline)) {
                    if (lanes < packet_size) [[unlikely]] {
                        // Lanes beyond the row hold the chain of zeros, which need not be zero.
                        alignas(sizeof(Packet)) float kept[packet_size];
                        std::fill(std::begin(kept), std::end(kept), start);
                        store_lanes(kept, 1, value.lanes, lanes);
                        value = load_aligned(kept);
                    }
                    total = reduced<op>(total, Vector(rounded(value.lanes)));
                });
        });
    const float result = reduced_lanes<op>(total.lanes);
    return op == Op::mean ? result / static_cast<float>(columns) : result;
}

template <Op op, class Before, class After>
void reduce_rows(const Kernel& kernel, const KernelCall& call, const Tile& tile) noexcept {
    const Index columns = kernel.columns();
    TileRows rows(kernel, tile);
    const RowPlace& row = rows.place();
    OperandRows<Before> operands(kernel, call, 0, row);
    OperandRows<After> others(kernel, call, kernel.prologue_operands, row);
    while (true) {
        const std::array<Vector, 2> given{Vector(reduce_row<op, Before>(kernel, operands, columns)), Vector()};
        std::array<Vector, After::operand_count> of_row;
        for (std::size_t i = 0; i < After::operand_count; ++i) {
            of_row[i] = Vector(*others.rows[i].data);
        }
        const Vector result = run_values<After>(given, of_row);
        store_lanes(static_cast<float*>(call.output) + row.offset(kernel.output_strides), 1, result.lanes, 1);
        const Index beside = rows.advance();
        if (rows.is_done()) {
            break;
        }
        if (beside > 0) {
            operands.advance(beside);
            others.advance(beside);
        } else {
            operands.move_to(kernel, call, 0, row);
            others.move_to(kernel, call, kernel.prologue_operands, row);
        }
    }
}

template <class Source>
void run_pointwise(const Kernel& kernel, const KernelCall& call) noexcept {
    run_tiles(kernel, call, &finish_tile<Source>);
}

template <Op op, class Before, class After>
void run_reduction(const Kernel& kernel, const KernelCall& call) noexcept {
    run_rows(kernel, call, &reduce_rows<op, Before, After>);
}

template <class Source, class Storage>
void run_gemm(const Kernel& kernel, const KernelCall& call) noexcept {
    run_gemm_tiles<Storage>(kernel, call, &finish_tile<Source>);
}

/// The code of a pointwise kernel: compiled for f32, interpreted for other dtypes.
template <class K>
constexpr KernelFunction pointwise_function() {
    if constexpr (epilogue_computes_floats(K::kernel) && K::kernel.dtype == DType::f32) {
        return &run_pointwise<Epilogue<K>>;
    } else {
        static_assert(check_interpretable<is_interpretable(K::kernel.chain)>());
        return &interpret_pointwise;
    }
}

template <class K>
constexpr KernelFunction reduction_function() {
    constexpr const Kernel& kernel = K::kernel;
    if constexpr (computes_floats(kernel, kernel.prologue, 0, kernel.prologue_operands) &&
                  epilogue_computes_floats(kernel) && kernel.dtype == DType::f32) {
        return &run_reduction<kernel.op, Prologue<K>, Epilogue<K>>;
    } else {
        static_assert(check_interpretable < is_interpretable(kernel.prologue) && is_interpretable(kernel.chain) > ());
        return &interpret_reduction;
    }
}

template <class K, class Storage>
constexpr KernelFunction gemm_function() {
    static_assert(epilogue_computes_floats(K::kernel) && K::kernel.dtype == DType::f32,
                  "totograph: what is fused after a GEMM must be f32.");
    return &run_gemm<Epilogue<K>, Storage>;
}

}  // namespace fused_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
