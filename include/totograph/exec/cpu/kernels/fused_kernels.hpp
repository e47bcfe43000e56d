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
#include <totograph/exec/cpu/kernels/chain_rows.hpp>
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
        constexpr bool has_code = is_interpretable(kernel.prologue) && is_interpretable(kernel.chain);
        static_assert(check_interpretable<has_code>());
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
