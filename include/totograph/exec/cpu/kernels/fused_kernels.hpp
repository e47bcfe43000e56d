// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/interpreter.hpp>
#include <totograph/exec/cpu/kernels/chain.hpp>
#include <totograph/exec/cpu/kernels/chain_code.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/rows.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/vector.hpp>
#include <totograph/graph/kernel.hpp>

// Pointwise, reduction and GEMM kernels of a program. Instructions are constants of the type; extents and strides are
// read from the kernel, once a row or a stretch, so that kernels which differ in those alone are compiled once.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// A kernel of a program as a type.
template <class ProgramType, std::size_t index>
struct KernelOf {
    using Operations = typename ProgramType::Operations;
    static constexpr const Kernel& kernel = ProgramType::kernels[index];
};

namespace fused_detail {

/// `count` lanes from memory, the others 0.
template <ColumnStep step>
Vector load_lanes(const float* from, Index stride, Index count) {
    if constexpr (step == ColumnStep::none) {
        return Vector(*from);
    } else {
        if (step == ColumnStep::one && count == packet_size) {
            return load(from);
        }
        alignas(sizeof(Packet)) float lanes[packet_size] = {};
        for (Index lane = 0; lane < count; ++lane) {
            lanes[lane] = from[step == ColumnStep::one ? lane : lane * stride];
        }
        return load_aligned(lanes);
    }
}

template <ColumnStep step>
void store_lanes(float* to, Index stride, Vector value, Index count) {
    if (step == ColumnStep::one && count == packet_size) {
        cpu::store(to, value.lanes);
        return;
    }
    alignas(sizeof(Packet)) float lanes[packet_size];
    store_aligned(lanes, value.lanes);
    for (Index lane = 0; lane < count; ++lane) {
        to[step == ColumnStep::one ? lane : lane * stride] = lanes[lane];
    }
}

/// Where neighbouring columns of a row begin that do not cross the innermost axis.
struct Stretch {
    Index column = 0;
    Index outer = 0;  ///< The places along two column axes; along one, `inner` is the column.
    Index inner = 0;
};

/// A row of a tensor.
struct RowOfTensor {
    float* data = nullptr;
    Index outer_stride = 0;
    Index inner_stride = 0;

    RowOfTensor() = default;
    /// @param columns  how many column axes there are
    RowOfTensor(const void* tensor, const Kernel& kernel, const Strides& strides, const RowPlace& row, int columns)
        : data(static_cast<float*>(const_cast<void*>(tensor)) + row.offset(strides)),
          outer_stride(columns == 2 ? strides[static_cast<std::size_t>(kernel.row_rank)] : 0),
          inner_stride(columns == 0 ? 0 : strides[static_cast<std::size_t>(kernel.row_rank + columns - 1)]) {}

    template <int columns, ColumnStep step>
    [[nodiscard]] float* at(const Stretch& stretch) const {
        float* const outer = columns == 2 ? data + stretch.outer * outer_stride : data;
        switch (step) {
            case ColumnStep::none: return outer;
            case ColumnStep::one: return outer + stretch.inner;
            case ColumnStep::other: break;
        }
        return outer + stretch.inner * inner_stride;
    }
};

/// The operands of a chain, advanced to a row.
template <class Source>
using OperandRows = std::array<RowOfTensor, Source::operand_count>;

/// @param first  the place of the chain's first operand among those of the kernel
template <class Source>
OperandRows<Source> operands_of_row(const Kernel& kernel, const KernelCall& call, int first, const RowPlace& row) {
    OperandRows<Source> rows;
    for (std::size_t i = 0; i < Source::operand_count; ++i) {
        const std::size_t which = static_cast<std::size_t>(first) + i;
        rows[i] = RowOfTensor(call.operands[which], kernel, kernel.operands[which].strides, row, Source::layout.rank);
    }
    return rows;
}

/// Where the operands of a chain lie for a stretch.
template <class Source>
std::array<const float*, Source::operand_count> operands_at(const OperandRows<Source>& rows, const Stretch& stretch) {
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
        return std::array<const float*, Source::operand_count>{
            rows[i].template at<Source::layout.rank, Source::layout.operands[i]>(stretch)...};
    }
    (std::make_index_sequence<Source::operand_count>());
}

/// Runs a chain for `count` columns. `given` are the accumulators.
template <class Source>
Vector run_packet(const OperandRows<Source>& rows, const std::array<const float*, Source::operand_count>& operands,
                  const std::array<Vector, 2>& given, Index count) {
    std::array<Vector, Source::value_count> values;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Source::accumulators); ++i) {
        values[i] = given[i];
    }
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((values[static_cast<std::size_t>(Source::accumulators) + i] =
              load_lanes<Source::layout.operands[i]>(operands[i], rows[i].inner_stride, count)),
         ...);
    }
    (std::make_index_sequence<Source::operand_count>());
    if constexpr (chain_calls<Source>) {
        return run_chain_here<Source>(values);
    } else {
        return run_chain<Source>(values);
    }
}

/// Calls `visit(stretch, count)` for the stretches of columns from `column` to `end`, each of a packet at most.
template <class Source, class Visit>
void for_each_stretch(const Kernel& kernel, Index column, Index end, Visit&& visit) {
    constexpr ColumnLayout layout = Source::layout;
    const Index extent = layout.rank == 0 ? 1 : kernel.iteration[-1];
    Stretch stretch;
    stretch.column = column;
    stretch.outer = layout.rank == 2 ? column / extent : 0;
    stretch.inner = layout.rank == 2 ? column % extent : column;
    const auto advance = [&](Index count) {
        stretch.column += count;
        stretch.inner += count;
        if (layout.rank == 2 && stretch.inner >= extent) {
            stretch.inner = 0;
            ++stretch.outer;
        }
    };
    if constexpr (layout.is_even) {
        for (; stretch.column + packet_size <= end; advance(packet_size)) {
            visit(stretch, packet_size);
        }
    }
    while (stretch.column < end) {
        const Index count = std::min({packet_size, end - stretch.column, extent - stretch.inner});
        if (count < 1) {
            __builtin_unreachable();  // so that no loop over lanes asks whether there are any
        }
        visit(stretch, count);
        advance(count);
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
    TileRows rows(kernel, tile);
    const RowPlace& row = rows.place();
    const float* accumulators = tile.accumulators;
    for (; !rows.is_done(); rows.advance(), accumulators += tile.stride) {
        const OperandRows<Source> operands = operands_of_row<Source>(kernel, call, kernel.prologue_operands, row);
        const RowOfTensor out(call.output, kernel, kernel.output_strides, row, layout.rank);
        for_each_stretch<Source>(
            kernel, tile.first_column, tile.first_column + tile.column_count, [&](const Stretch& stretch, Index count) {
                // Addresses come first, so that nothing but loads stands between the questions how many lanes there
                // are.
                const auto addresses = operands_at<Source>(operands, stretch);
                float* const to = out.template at<layout.rank, layout.output>(stretch);
                std::array<Vector, 2> given{};
                if constexpr (Source::accumulators > 0) {
                    const float* const from = accumulators + (stretch.column - tile.first_column);
                    given[0] = load_lanes<ColumnStep::one>(from, 1, count);
                    if constexpr (Source::accumulators == 2) {
                        given[1] = load_lanes<ColumnStep::one>(from + packet_size, 1, count);
                    }
                }
                store_lanes<layout.output>(to, out.inner_stride, run_packet<Source>(operands, addresses, given, count),
                                           count);
            });
    }
}

/// The prologue and the reduction of one row, on floats: lanes add up on their own, then together.
template <class Before>
float reduce_row(const Kernel& kernel, const KernelCall& call, const RowPlace& row) {
    const Index columns = kernel.columns();
    const OperandRows<Before> operands = operands_of_row<Before>(kernel, call, 0, row);
    Vector total;
    for_each_stretch<Before>(kernel, 0, columns, [&](const Stretch& stretch, Index count) {
        Vector value = run_packet<Before>(operands, operands_at<Before>(operands, stretch), {}, count);
        if (count < packet_size) {  // lanes beyond the row hold the chain of zeros, which need not be zero
            alignas(sizeof(Packet)) float lanes[packet_size];
            store_aligned(lanes, value.lanes);
            for (Index lane = count; lane < packet_size; ++lane) {
                lanes[lane] = 0;
            }
            value = load_aligned(lanes);
        }
        total = total + Vector(rounded(value.lanes));
    });
    const float sum = sum_of_lanes(total.lanes);
    return kernel.op == Op::mean ? sum / static_cast<float>(columns) : sum;
}

template <class Before, class After>
void reduce_rows(const Kernel& kernel, const KernelCall& call, const Tile& tile) noexcept {
    TileRows rows(kernel, tile);
    const RowPlace& row = rows.place();
    for (; !rows.is_done(); rows.advance()) {
        const std::array<Vector, 2> given{Vector(reduce_row<Before>(kernel, call, row)), Vector()};
        const OperandRows<After> operands = operands_of_row<After>(kernel, call, kernel.prologue_operands, row);
        store_lanes<ColumnStep::one>(static_cast<float*>(call.output) + row.offset(kernel.output_strides), 1,
                                     run_packet<After>(operands, operands_at<After>(operands, Stretch()), given, 1), 1);
    }
}

template <class Source>
void run_pointwise(const Kernel& kernel, const KernelCall& call) noexcept {
    run_tiles(kernel, call, &finish_tile<Source>);
}

template <class Before, class After>
void run_reduction(const Kernel& kernel, const KernelCall& call) noexcept {
    run_rows(kernel, call, &reduce_rows<Before, After>);
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
        return &run_reduction<Prologue<K>, Epilogue<K>>;
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
