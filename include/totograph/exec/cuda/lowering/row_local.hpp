// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include <totograph/core/array.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/kernel_facts.hpp>
#include <totograph/exec/cuda/lowering/launch.hpp>
#include <totograph/exec/cuda/lowering/step_relations.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>
#include <totograph/graph/passes/location.hpp>

// Which steps can run one after the other without waiting for the whole device: those that compute a row of what they
// make from the same row of what the others make. Each block then has rows of its own and waits for itself alone. Small
// steps between them that have nothing to do with those rows join them, on a block of their own.

namespace totograph::cuda {

/// Rows that are enough for a block on half of the multiprocessors. Fewer would leave much of the device idle, for all
/// steps of a run, and cost more than the launches that they spare. 64 rows of 864 numbers, sorted and marked, take 1.9
/// us in one launch for 2.1 in two (`bench_cuda_toto2`, `batch_4m`, H200).
inline constexpr Index fewest_rows = 64;
/// Blocks of a run below which none has more than one row: one on nearly every multiprocessor.
inline constexpr Index fewest_row_blocks = 128;
/// Columns of a row up to which a block a row is no slower than all threads of the device on all rows.
inline constexpr Index widest_row = 1024;
/// Rows that are enough for small steps, of any width: their alternative is one cluster, whose blocks wait for each
/// other and read what others wrote from the L2 cache. With blocks, and memory, of their own 7 rows of 4,096 took 40 us
/// where the cluster had taken 56, and 8 rows of 2,048 took 24 us for 38. Fewer rows than this were not tried.
inline constexpr Index fewest_small_rows = cluster_blocks / 2;
/// Rows, columns of a row, and steps with which a run beats their launches though the device is not full: on a block of
/// its own a step of 2,048 columns takes little over a microsecond (8 such rows above), and a launch two (27 for the
/// scaler of 64 series of 2,048 steps took 53 us, H100). With rows of up to 8,192 the same runs took 24.4 us in one
/// launch for 21 in three (`bench_cuda_toto2`, `batch_4m`, H200).
inline constexpr Index fewest_wide_rows = 32;
inline constexpr Index widest_of_few_rows = 4096;
inline constexpr int fewest_wide_steps = 4;

namespace lowering_detail {

/// The axes of a step, from the first, that can be cut into rows: an element of the result then needs its own row of
/// each operand. 0 for ops that this is not known of.
constexpr int row_axes(const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::pointwise: return kernel.iteration.rank;
        case KernelKind::reduction: return kernel.row_rank;
        case KernelKind::gemm: return 0;
        case KernelKind::structural: break;
    }
    switch (op_row(kernel.op).rows) {
        case OpRows::unknown: return 0;
        case OpRows::all: return kernel.iteration.rank;
        case OpRows::all_but_last: return kernel.iteration.rank - 1;
        case OpRows::before_its_axis: return static_cast<int>(kernel.attributes[0]);
    }
    return 0;
}

/// The shape of a step's first axes alone.
constexpr Shape leading(Shape shape, int axes) {
    shape.rank = axes;
    return shape;
}

/// The rows that a step suggests: all axes but the last, or before its sums.
constexpr Index rows_of(const Kernel& kernel) {
    return kernel.kind == KernelKind::structural && kernel.op == Op::running_moments
               ? leading(kernel.iteration, row_axes(kernel)).size()
               : kernel.iteration.rows();
}

/// The extents of a shape's axes within one row, where the first axes multiply to so many rows; one of them may belong
/// to both. Rank -1 where they do not.
constexpr Shape extents_in_row(Shape shape, Index rows) {
    for (int axis = 0; axis < shape.rank; ++axis) {
        const Index outside = std::min(rows, shape[axis]);
        if (rows % outside != 0 || shape[axis] % outside != 0) {
            break;
        }
        rows /= outside;
        shape[axis] /= outside;
    }
    shape.rank = rows == 1 ? shape.rank : -1;
    return shape;
}

/// Elements from each row of a tensor to the next, where row r lies between r and r + 1 times that number, counted from
/// where its memory begins, `offset` before its first element; 0 where rows lie in another way.
constexpr Index row_stride(const Shape& shape, const Strides& strides, Index offset, Index rows) {
    const Shape inside = extents_in_row(shape, rows);
    if (inside.rank < 0 || offset < 0) {
        return 0;
    }
    Index stride = 0;
    Index expected = 0;  // of the axis outside the last one that was looked at
    Index last = offset;
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
        const Index step = strides[static_cast<std::size_t>(axis)];
        const Index outside = shape[axis] / inside[axis];
        const Index own = step * inside[axis];
        last += step * (inside[axis] - 1);
        if (step < 0 || (outside > 1 && (own == 0 || (expected != 0 && own != expected)))) {
            return 0;
        }
        if (outside > 1) {
            stride = stride == 0 ? own : stride;
            expected = own * outside;
        }
    }
    return last < stride ? stride : 0;
}

/// How a step's memory divides among rows: bytes from each row to the next; 0 for what one row may share with others.
struct RowBytes {
    bool is_possible = false;  ///< Whether the step itself divides into that many rows.
    Index output = 0;
    Array<Index, max_operands> operands{};
};

/// How the memory of a step divides among so many rows, of at most `widest` columns each.
constexpr RowBytes row_bytes(const Step& step, const Kernel& kernel, Index rows, Index widest) {
    RowBytes result;
    const Shape row_shape = leading(kernel.iteration, row_axes(kernel));
    const bool in_pairs = rotates_pairs(kernel.chain) || rotates_pairs(kernel.prologue);
    if (extents_in_row(row_shape, rows).rank < 0 || elements_of(kernel) > rows * widest ||
        (in_pairs && kernel.iteration.size() / rows % 2 != 0)) {
        return result;
    }
    result.is_possible = true;
    const auto bytes = [&](const Reference& reference, DType dtype, const Shape& shape, const Strides& strides,
                           Index more) {
        const Index offset = reference.offset + more;
        return reference.position >= 0
                   ? 0
                   : row_stride(shape, strides, offset, rows) * static_cast<Index>(size_in_bytes(dtype));
    };
    const bool is_reduction = kernel.kind == KernelKind::reduction;
    const bool is_store = kernel.kind == KernelKind::structural && kernel.op == Op::store;
    const bool has_own_shapes = kernel.kind == KernelKind::structural && !is_store;
    const bool reads_table = has_own_shapes && kernel.op == Op::embedding;
    // A store at a position may write anywhere in a state.
    if (!is_store || kernel.operand_count == 1) {
        const Index begin =
            is_store ? kernel.attributes[1] * kernel.output_strides[static_cast<std::size_t>(kernel.attributes[0])] : 0;
        result.output =
            bytes(step.output, kernel.dtype, is_reduction ? row_shape : kernel.iteration, kernel.output_strides, begin);
    }
    for (int i = 0; i < (is_store ? 1 : kernel.operand_count); ++i) {  // its position, which a store has, all may read
        const auto place = static_cast<std::size_t>(i);
        const Operand& operand = kernel.operands.items[place];
        if (reads_table && i == 0) {
            continue;  // each row may read all of it
        }
        const bool is_of_rows = is_reduction && i >= kernel.prologue_operands;  // read after the sum
        const Strides strides =
            is_store ? totograph::detail::broadcast_strides(operand.shape, operand.strides, kernel.iteration)
                     : operand.strides;
        result.operands.items[place] = bytes(step.operands.items[place], operand.dtype,
                                             is_of_rows       ? row_shape
                                             : has_own_shapes ? operand.shape
                                                              : kernel.iteration,
                                             strides, 0);
    }
    return result;
}

/// Whether one row of what a reference names can be in another row of what another one names.
template <class Program>
constexpr bool mix_rows(const Reference& a, Index a_bytes, const Reference& b, Index b_bytes) {
    if (!may_overlap<Program>(a, b)) {
        return false;
    }
    const bool begin_together =
        a.space == Space::state || buffers_of<Program>[a.index].offset == buffers_of<Program>[b.index].offset;
    return !begin_together || a_bytes == 0 || a_bytes != b_bytes;
}

/// Whether no row of one step writes what another row of another step reads or writes, nor the other way round.
template <class Program>
constexpr bool keep_to_rows(int a, const RowBytes& a_bytes, int b, const RowBytes& b_bytes) {
    const Reference& left = step_of<Program>(a).output;
    const Reference& right = step_of<Program>(b).output;
    bool result = (share_buffer(left, right) || !mix_rows<Program>(left, a_bytes.output, right, b_bytes.output)) &&
                  !reads_position<Program>(a, right) && !reads_position<Program>(b, left);
    const auto look = [&](const Reference& written, Index written_bytes, int reader, const RowBytes& bytes) {
        for (int i = 0; i < kernel_of<Program>(reader).operand_count; ++i) {
            const auto place = static_cast<std::size_t>(i);
            result =
                result && !mix_rows<Program>(written, written_bytes, step_of<Program>(reader).operands.items[place],
                                             bytes.operands.items[place]);
        }
    };
    look(left, a_bytes.output, b, b_bytes);
    look(right, b_bytes.output, a, a_bytes);
    return result;
}

/// Consecutive steps that keep to their rows, and others between and after them that have nothing to do with those.
struct RowRun {
    Index rows = 0;
    int count = 0;                            ///< Of all.
    int kept = 0;                             ///< Of those that keep to rows.
    std::array<bool, segment_steps> aside{};  ///< Which are the others.
};

/// The steps from `first` to before `end`, as many as keep to so many rows or have nothing to do with those that do.
template <class Program>
constexpr RowRun run_of_rows(int first, int end, Index rows, Index widest) {
    std::array<RowBytes, segment_steps> bytes{};
    RowRun run{rows};
    for (int step = first; step < end && run.count < segment_steps; ++step) {
        RowBytes& own = bytes[static_cast<std::size_t>(run.count)];
        own = row_bytes(step_of<Program>(step), kernel_of<Program>(step), rows, widest);
        bool keeps = own.is_possible;
        bool aside = elements_of(kernel_of<Program>(step)) <= block_elements;
        for (int before = 0; (keeps || aside) && before < run.count; ++before) {
            const bool apart = are_apart<Program>(first + before, step, &may_overlap<Program>);
            const bool is_aside = run.aside[static_cast<std::size_t>(before)];
            aside = aside && (is_aside || apart);
            keeps = keeps && (is_aside ? apart
                                       : keep_to_rows<Program>(first + before, bytes[static_cast<std::size_t>(before)],
                                                               step, own));
        }
        if (!keeps && !aside) {
            break;
        }
        run.aside[static_cast<std::size_t>(run.count)] = !keeps;
        run.kept += keeps ? 1 : 0;
        ++run.count;
    }
    return run;
}

/// The run from `first` to before `end` on the rows of one of its first steps, or on those of its first axis, of which
/// there are `fewest` or more, that has the most steps on rows; an empty one where there is none.
template <class Program>
constexpr RowRun longest_run_of_rows(int first, int end, Index fewest, Index widest) {
    constexpr int looks_ahead = 8;
    RowRun longest;
    for (int step = first; step < std::min(end, first + looks_ahead); ++step) {
        const Kernel& kernel = kernel_of<Program>(step);
        const Index of_first_axis = kernel.iteration.rank > 0 ? kernel.iteration[0] : 0;
        for (const Index rows : {rows_of(kernel), of_first_axis}) {
            if (rows >= fewest && rows != longest.rows) {
                const RowRun run = run_of_rows<Program>(first, end, rows, widest);
                longest = run.kept > longest.kept ? run : longest;
            }
        }
    }
    return longest;
}

}  // namespace lowering_detail

}  // namespace totograph::cuda
