// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/interpreter.hpp>
#include <totograph/exec/cpu/gemm/gemm.hpp>
#include <totograph/exec/cpu/gemm/packed_matrix.hpp>
#include <totograph/exec/cpu/kernels/chain.hpp>
#include <totograph/exec/cpu/kernels/kernel_call.hpp>
#include <totograph/exec/cpu/kernels/used_elements.hpp>
#include <totograph/exec/cpu/kernels/used_rows.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/vector.hpp>
#include <totograph/graph/kernel.hpp>

// Pointwise, reduction and GEMM kernels of a program. Shapes, strides and instructions are constants of the type.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// A kernel of a program as a type.
template <class ProgramType, std::size_t index>
struct KernelOf {
    using Operations = typename ProgramType::Operations;
    static constexpr const Kernel& kernel = ProgramType::kernels[index];
};

namespace fused_detail {

/// The chain that runs per element of the result.
template <class K>
struct Epilogue {
    using Operations = typename K::Operations;
    static constexpr const Kernel& kernel = K::kernel;
    static constexpr const Chain& chain = K::kernel.chain;
    static constexpr int accumulators = K::kernel.accumulators;
    static constexpr int first_operand = K::kernel.prologue_operands;
};

/// The chain that runs before a reduction.
template <class K>
struct Prologue {
    using Operations = typename K::Operations;
    static constexpr const Kernel& kernel = K::kernel;
    static constexpr const Chain& chain = K::kernel.prologue;
    static constexpr int accumulators = 0;
    static constexpr int first_operand = 0;
};

/// How many operands a chain reads itself.
template <class Source>
inline constexpr std::size_t operand_count = static_cast<std::size_t>(Source::chain.given - Source::accumulators);

template <class Source>
inline constexpr std::size_t value_count = static_cast<std::size_t>(Source::chain.given + Source::chain.count);

template <class Source>
constexpr const Operand& operand_of(std::size_t which) {
    return Source::kernel.operands[static_cast<std::size_t>(Source::first_operand) + which];
}

template <class Source>
constexpr bool reads_floats() {
    for (std::size_t i = 0; i < operand_count<Source>; ++i) {
        if (operand_of<Source>(i).dtype != DType::f32) {
            return false;
        }
    }
    return is_vectorizable(Source::chain);
}

/// The offset of a row: its number split into the row axes.
template <class Source>
Index row_offset(const Strides& strides, Index row) {
    Index offset = 0;
    for (int axis = Source::kernel.row_rank - 1; axis > 0; --axis) {
        offset += row % Source::kernel.iteration[axis] * strides[static_cast<std::size_t>(axis)];
        row /= Source::kernel.iteration[axis];
    }
    return Source::kernel.row_rank > 0 ? offset + row * strides[0] : 0;
}

/// Column axes: none, one, or two.
template <class Source>
inline constexpr int column_rank = Source::kernel.iteration.rank - Source::kernel.row_rank;

/// The innermost extent: columns that lie evenly.
template <class Source>
inline constexpr Index inner_extent = column_rank<Source> == 0 ? 1 : Source::kernel.iteration[-1];

template <class Source>
Index column_offset(const Strides& strides, Index column) {
    static_assert(column_rank<Source> <= 2, "totograph: a kernel's columns have at most two axes.");
    if constexpr (column_rank<Source> == 0) {
        return 0;
    } else if constexpr (column_rank<Source> == 1) {
        return column * strides[static_cast<std::size_t>(Source::kernel.row_rank)];
    } else {
        return column / inner_extent<Source> * strides[static_cast<std::size_t>(Source::kernel.row_rank)] +
               column % inner_extent<Source> * strides[static_cast<std::size_t>(Source::kernel.row_rank + 1)];
    }
}

/// The stride from one column to the next inside a stretch.
template <class Source>
constexpr Index inner_stride(const Strides& strides) {
    return column_rank<Source> == 0 ? 0 : strides[static_cast<std::size_t>(Source::kernel.iteration.rank - 1)];
}

/// `count` lanes from memory, the others 0.
template <Index stride>
Vector load_lanes(const float* from, Index count) {
    if constexpr (stride == 0) {
        return Vector(*from);
    } else {
        if (stride == 1 && count == packet_size) {
            return load(from);
        }
        alignas(sizeof(Packet)) float lanes[packet_size] = {};
        for (Index lane = 0; lane < count; ++lane) {
            lanes[lane] = from[lane * stride];
        }
        return load_aligned(lanes);
    }
}

template <Index stride>
void store_lanes(float* to, Vector value, Index count) {
    if (stride == 1 && count == packet_size) {
        cpu::store(to, value.lanes);
        return;
    }
    alignas(sizeof(Packet)) float lanes[packet_size];
    store_aligned(lanes, value.lanes);
    for (Index lane = 0; lane < count; ++lane) {
        to[lane * stride] = lanes[lane];
    }
}

/// Addresses of a chain's operands, advanced to a row.
template <class Source>
std::array<const float*, operand_count<Source>> operands_of_row(const KernelCall& call, Index row) {
    std::array<const float*, operand_count<Source>> pointers{};
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((pointers[i] = static_cast<const float*>(call.operands[static_cast<std::size_t>(Source::first_operand) + i]) +
                        row_offset<Source>(operand_of<Source>(i).strides, row)),
         ...);
    }
    (std::make_index_sequence<operand_count<Source>>());
    return pointers;
}

/// Runs a chain for `count` (at most a packet) neighbouring columns of a row. `given` are the accumulators.
template <class Source, class Pointers>
Vector run_packet(const Pointers& pointers, const std::array<Vector, 2>& given, Index column, Index count) {
    std::array<Vector, value_count<Source>> values;
    for (std::size_t i = 0; i < static_cast<std::size_t>(Source::accumulators); ++i) {
        values[i] = given[i];
    }
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((values[static_cast<std::size_t>(Source::accumulators) + i] =
              load_lanes<inner_stride<Source>(operand_of<Source>(i).strides)>(
                  pointers[i] + column_offset<Source>(operand_of<Source>(i).strides, column), count)),
         ...);
    }
    (std::make_index_sequence<operand_count<Source>>());
    return run_chain<Source>(values);
}

/// Calls `visit(column, count)` for stretches of at most a packet that do not cross the innermost axis.
template <class Source, class Visit>
void for_each_stretch(Index column, Index end, Visit&& visit) {
    if constexpr (inner_extent<Source> % packet_size == 0) {
        for (; column + packet_size <= end; column += packet_size) {
            visit(column, packet_size);
        }
    }
    while (column < end) {
        const Index left = inner_extent<Source> - column % inner_extent<Source>;
        const Index count = std::min({packet_size, end - column, left});
        visit(column, count);
        column += count;
    }
}

/// The rows of a kernel that are in use.
template <bool bounded>
class KernelRows {
public:
    KernelRows(const Kernel& kernel, const KernelCall& call) noexcept
        : rows_(kernel.bounds, kernel.bounds.row_rank, call.bounds) {}

    [[nodiscard]] Index count() const noexcept { return rows_.count(); }
    [[nodiscard]] Index place(Index number) const noexcept { return rows_.place(number); }
    /// The rows, if some are left out.
    [[nodiscard]] const UsedRows* skipping() const noexcept { return rows_.is_all() ? nullptr : &rows_; }

private:
    UsedRows rows_;
};

/// All of them: of a kernel without bounds.
template <>
class KernelRows<false> {
public:
    constexpr KernelRows(const Kernel& kernel, const KernelCall& /*call*/) noexcept : count_(kernel.rows()) {}

    [[nodiscard]] constexpr Index count() const noexcept { return count_; }
    [[nodiscard]] static constexpr Index place(Index number) noexcept { return number; }
    [[nodiscard]] static constexpr const UsedRows* skipping() noexcept { return nullptr; }

private:
    Index count_;
};

/// Splits `rows` into chunks of about `elements_per_chunk` elements and runs `work(first_row, end_row)` on the pool.
template <class Work>
void parallel_rows(const KernelCall& call, Index rows, Index columns, Work&& work) {
    const Index rows_per_chunk = std::max<Index>(1, elements_per_chunk / std::max<Index>(1, columns));
    const Index chunks = divide_rounding_up(rows, rows_per_chunk);
    parallel_for(*call.pool, chunks,
                 [&](Index chunk, int) { work(chunk * rows_per_chunk, std::min(rows, (chunk + 1) * rows_per_chunk)); });
}

/// Sentences for what the interpreter has no code for.
template <class Source>
consteval bool check_interpretable() {
    constexpr bool has_code = [] {
        for (std::size_t i = 0; i < static_cast<std::size_t>(Source::chain.count); ++i) {
            if (Source::chain.instructions[i].op == Op::rotate_pairs) {
                return false;
            }
        }
        return true;
    }();
    static_assert(has_code, "totograph: pair rotations run on f32 alone; cast before and after.");
    return true;
}

template <class K>
void run_pointwise(const Kernel&, const KernelCall& call) noexcept {
    using Source = Epilogue<K>;
    constexpr const Kernel& kernel = K::kernel;
    constexpr Index columns = kernel.columns();
    const auto part_of_row = [&call](Index row, Index first, Index end) {
        const auto pointers = operands_of_row<Source>(call, row);
        float* out = static_cast<float*>(call.output) + row_offset<Source>(kernel.output_strides, row);
        for_each_stretch<Source>(first, end, [&](Index column, Index count) {
            const Vector result = run_packet<Source>(pointers, {}, column, count);
            store_lanes<inner_stride<Source>(kernel.output_strides)>(
                out + column_offset<Source>(kernel.output_strides, column), result, count);
        });
    };
    if constexpr (kernel.bounds.any()) {
        parallel_used_elements(call, kernel, part_of_row);
    } else if constexpr (kernel.rows() == 1 && columns > elements_per_chunk) {
        // One long row: split its columns instead.
        constexpr Index per_chunk = round_up(elements_per_chunk, packet_size);
        parallel_for(*call.pool, divide_rounding_up(columns, per_chunk), [&](Index chunk, int) {
            part_of_row(0, chunk * per_chunk, std::min(columns, (chunk + 1) * per_chunk));
        });
    } else {
        parallel_rows(call, kernel.rows(), columns, [&](Index first, Index end) {
            for (Index row = first; row < end; ++row) {
                part_of_row(row, 0, columns);
            }
        });
    }
}

/// The prologue and the reduction of one row, on floats: lanes add up on their own, then together.
template <class K>
float reduce_row(const KernelCall& call, Index row) {
    using Source = Prologue<K>;
    constexpr Index columns = K::kernel.columns();
    const auto pointers = operands_of_row<Source>(call, row);
    Vector total;
    for_each_stretch<Source>(0, columns, [&](Index column, Index count) {
        Vector value = run_packet<Source>(pointers, {}, column, count);
        if (count < packet_size) {  // lanes beyond the row hold the chain of zeros, which need not be zero
            alignas(sizeof(Packet)) float lanes[packet_size];
            store_aligned(lanes, value.lanes);
            for (Index lane = count; lane < packet_size; ++lane) {
                lanes[lane] = 0;
            }
            value = load_aligned(lanes);
        }
        total = total + value;
    });
    const float sum = sum_of_lanes(total.lanes);
    return K::kernel.op == Op::mean ? sum / static_cast<float>(columns) : sum;
}

template <class K>
void run_reduction(const Kernel&, const KernelCall& call) noexcept {
    using After = Epilogue<K>;
    constexpr const Kernel& kernel = K::kernel;
    const KernelRows<kernel.bounds.any()> rows(kernel, call);
    parallel_rows(call, rows.count(), kernel.columns(), [&](Index first, Index end) {
        for (Index number = first; number < end; ++number) {
            const Index row = rows.place(number);
            const std::array<Vector, 2> given{Vector(reduce_row<K>(call, row)), Vector()};
            const Vector result = run_packet<After>(operands_of_row<After>(call, row), given, 0, 1);
            store_lanes<1>(static_cast<float*>(call.output) + row_offset<After>(kernel.output_strides, row), result, 1);
        }
    });
}

/// The code of a pointwise kernel: compiled for f32, interpreted for other dtypes.
template <class K>
constexpr KernelFunction pointwise_function() {
    if constexpr (reads_floats<Epilogue<K>>() && K::kernel.dtype == DType::f32) {
        return &run_pointwise<K>;
    } else {
        static_assert(check_interpretable<Epilogue<K>>());
        return &interpret_pointwise;
    }
}

template <class K>
constexpr KernelFunction reduction_function() {
    if constexpr (reads_floats<Prologue<K>>() && reads_floats<Epilogue<K>>() && K::kernel.dtype == DType::f32) {
        return &run_reduction<K>;
    } else {
        static_assert(check_interpretable<Prologue<K>>());
        static_assert(check_interpretable<Epilogue<K>>());
        return &interpret_reduction;
    }
}

/// Finishes tiles of a GEMM: the chain, then the store.
template <class K>
struct TileEpilogue {
    using Source = Epilogue<K>;
    const KernelCall& call;
    KernelRows<K::kernel.bounds.any()> rows{K::kernel, call};

    void operator()(const float* tile, Index tile_stride, Index first_row, Index row_count, Index first_column,
                    Index column_count, int) const noexcept {
        constexpr const Kernel& kernel = K::kernel;
        for (Index i = 0; i < row_count; ++i) {
            const Index row = rows.place(first_row + i);
            const auto pointers = operands_of_row<Source>(call, row);
            const float* accumulators = tile + i * tile_stride;
            float* out = static_cast<float*>(call.output) + row_offset<Source>(kernel.output_strides, row);
            for_each_stretch<Source>(first_column, first_column + column_count, [&](Index column, Index count) {
                const Index at = column - first_column;
                std::array<Vector, 2> given{};
                given[0] = load_lanes<1>(accumulators + at, count);
                if constexpr (Source::accumulators == 2) {
                    given[1] = load_lanes<1>(accumulators + packet_size + at, count);
                }
                const Vector result = run_packet<Source>(pointers, given, column, count);
                store_lanes<inner_stride<Source>(kernel.output_strides)>(
                    out + column_offset<Source>(kernel.output_strides, column), result, count);
            });
        }
    }
};

template <class K, class Storage>
void run_gemm(const Kernel&, const KernelCall& call) noexcept {
    static_assert(reads_floats<Epilogue<K>>() && K::kernel.dtype == DType::f32,
                  "totograph: what is fused after a GEMM must be f32.");
    TileEpilogue<K> epilogue{call};
    const GemmInput x{.x = static_cast<const float*>(call.input),
                      .rows = epilogue.rows.count(),
                      .stride = K::kernel.input_stride,
                      .used = epilogue.rows.skipping()};
    gemm(*call.pool, x, *static_cast<const PackedMatrix<Storage>*>(call.packed), epilogue);
}

}  // namespace fused_detail
}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
