// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/lowering/bf16_states.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// What steps of a plan are to each other, and what each touches.

namespace totograph::cuda {

/// Elements of a step that is small enough for a segment: a few for each thread of a cluster.
inline constexpr Index segment_elements = 32768;
/// The same of a step that copies, of which a thread has more on their way at a time: with two copies of 57,344 and
/// 35,840 elements in its first segment `readme_22m` of `bench_cuda_toto2` takes 0.244 ms for 0.248 (H200).
inline constexpr Index copied_segment_elements = 65536;

namespace lowering_detail {

/// The tables of a program. A subscript of a span is a chain of calls, of which each costs the compiler a microsecond.
template <class Program>
inline constexpr const Step* steps_of = Program::steps.data();
template <class Program>
inline constexpr const Kernel* kernels_of = Program::kernels.data();
template <class Program>
inline constexpr const Buffer* buffers_of = Program::buffers.data();

template <class Program>
constexpr const Kernel& kernel_of(int step) {
    return kernels_of<Program>[steps_of<Program>[step].kernel];
}

template <class Program>
constexpr const Step& step_of(int step) {
    return steps_of<Program>[step];
}

/// Whether two references can name the same memory.
template <class Program>
constexpr bool may_overlap(const Reference& a, const Reference& b) {
    if (a.space != b.space || a.space == Space::none || a.space == Space::weight) {
        return false;
    }
    if (a.space == Space::state) {
        return a.index == b.index;
    }
    const Buffer& left = buffers_of<Program>[a.index];
    const Buffer& right = buffers_of<Program>[b.index];
    return left.offset < right.offset + right.bytes && right.offset < left.offset + left.bytes;
}

/// Whether a step reads what a reference names; `overlaps(a, b)` tells whether two can name the same memory.
template <class Program, class Overlaps>
constexpr bool reads(int step, const Reference& reference, const Overlaps& overlaps) {
    const Step& s = step_of<Program>(step);
    const Kernel& kernel = kernel_of<Program>(step);
    bool result = kernel.kind == KernelKind::gemm && overlaps(s.input, reference);
    for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.operand_count); ++i) {
        result = result || overlaps(s.operands.items[i], reference);
    }
    return result;
}
template <class Program>
constexpr bool reads(int step, const Reference& reference) {
    return reads<Program>(step, reference, &may_overlap<Program>);
}

/// Whether a step can run at the same time as another.
template <class Program>
constexpr bool are_independent(int a, int b) {
    const Reference& left = step_of<Program>(a).output;
    const Reference& right = step_of<Program>(b).output;
    return !reads<Program>(a, right) && !reads<Program>(b, left) &&
           (!may_overlap<Program>(left, right) || left.space == Space::state);
}

/// Whether the place of something that a step touches depends on what a reference names.
template <class Program>
constexpr bool reads_position(int step, const Reference& written) {
    const Step& s = step_of<Program>(step);
    bool result = false;
    const auto look = [&](const Reference& reference) {
        result = result || (written.space == Space::state && reference.position == written.index);
    };
    look(s.output);
    for (int i = 0; i < kernel_of<Program>(step).operand_count; ++i) {
        look(s.operands.items[i]);
    }
    return result;
}

/// Whether two references name one intermediate, or parts of it. Two steps that write such references write parts of
/// one concatenation, for each element of an intermediate is written once.
constexpr bool share_buffer(const Reference& left, const Reference& right) {
    return left.space == Space::arena && right.space == Space::arena && left.index == right.index;
}

/// Whether a step can run at the same time as another, wherever their results lie in a state, and whatever positions
/// they read.
template <class Program, class Overlaps>
constexpr bool are_apart(int a, int b, const Overlaps& overlaps) {
    const Reference& left = step_of<Program>(a).output;
    const Reference& right = step_of<Program>(b).output;
    return !reads<Program>(a, right, overlaps) && !reads<Program>(b, left, overlaps) &&
           (share_buffer(left, right) || !overlaps(left, right)) && !reads_position<Program>(a, right) &&
           !reads_position<Program>(b, left);
}

constexpr bool is_same(const Reference& a, const Reference& b) {
    return a.space == b.space && a.index == b.index && a.offset == b.offset && a.position == b.position &&
           a.position_stride == b.position_stride;
}

/// Elements that a step goes through: of its result, or of the rows of which it tells a few numbers.
constexpr Index elements_of(const Kernel& kernel) {
    const bool reads_rows =
        kernel.kind == KernelKind::structural && (kernel.op == Op::argmax || kernel.op == Op::running_moments);
    return reads_rows ? kernel.operands[0].shape.size() : kernel.iteration.size();
}

/// Whether a step only moves elements, which may change their type.
constexpr bool only_moves(const Kernel& kernel) {
    return kernel.kind == KernelKind::pointwise && kernel.chain.count == 0;
}

template <class Program>
constexpr bool is_small(int step) {
    const Kernel& kernel = kernel_of<Program>(step);
    return !stands_alone(kernel) &&
           elements_of(kernel) <= (only_moves(kernel) ? copied_segment_elements : segment_elements);
}

/// Elements from each row of a kernel to the next in what has such strides: 0 where all rows are the same one, -1 where
/// rows lie in another way.
constexpr Index even_row_stride(const Kernel& kernel, const Strides& strides) {
    Index stride = 0;
    Index expected = 0;  // of the next axis outside
    bool has_rows = false;
    for (int axis = kernel.row_rank - 1; axis >= 0; --axis) {
        const Index own = strides[static_cast<std::size_t>(axis)];
        if (kernel.iteration[axis] == 1) {
            continue;
        }
        if (has_rows && own != expected) {
            return -1;
        }
        stride = has_rows ? stride : own;
        has_rows = true;
        expected = own * kernel.iteration[axis];
    }
    return stride;
}

/// Whether all that a norm reads beside its rows are weights, such as an epsilon that was folded.
template <class Program>
constexpr bool reads_weights_alone_behind_rows(int step) {
    bool result = true;
    for (int i = 1; i < kernel_of<Program>(step).operand_count; ++i) {
        const Reference& reference = step_of<Program>(step).operands.items[i];
        result = result && reference.space == Space::weight && reference.position < 0;
    }
    return result;
}

/// Whether a step sums the squares of the rows that a GEMM reads.
template <class Program>
constexpr bool is_norm_of(int step, int gemm) {
    const Kernel& kernel = kernel_of<Program>(step);
    const Kernel& after = kernel_of<Program>(gemm);
    if (kernel.kind != KernelKind::reduction || kernel.op == Op::amax || kernel.dtype != DType::f32 ||
        kernel.prologue_operands != 1 || !reads_weights_alone_behind_rows<Program>(step) ||
        kernel.prologue.count != 1 || kernel.operands[0].dtype != DType::f32 || kernel.rows() != after.rows() ||
        kernel.columns() != after.k || !is_same(step_of<Program>(step).operands[0], step_of<Program>(gemm).input)) {
        return false;
    }
    const Instruction& square = kernel.prologue.instructions[0];
    return square.op == Op::multiply && square.arguments[0] == 0 && square.arguments[1] == 0 &&
           (kernel.rows() == 1 || even_row_stride(kernel, kernel.operands[0].strides) == after.input_stride) &&
           kernel.iteration.rank == kernel.row_rank + 1 &&
           kernel.operands[0].strides[static_cast<std::size_t>(kernel.row_rank)] == 1;
}

/// Whether an operand of a GEMM's chain is what a norm made of the GEMM's rows, and each row takes its own number
/// alone.
template <class Program>
constexpr bool is_norm_by_row(int gemm, std::size_t operand, int norm) {
    const Kernel& kernel = kernel_of<Program>(gemm);
    const Strides& strides = kernel.operands.items[operand].strides;
    bool columns_repeat = true;
    for (int axis = kernel.row_rank; axis < kernel.iteration.rank; ++axis) {
        columns_repeat = columns_repeat && strides[static_cast<std::size_t>(axis)] == 0;
    }
    const Kernel& maker = kernel_of<Program>(norm);
    const Index from_row_to_row = even_row_stride(maker, maker.output_strides);
    return columns_repeat && from_row_to_row >= 0 && even_row_stride(kernel, strides) == from_row_to_row &&
           is_same(step_of<Program>(gemm).operands.items[operand], step_of<Program>(norm).output);
}

/// Which operand of a GEMM's chain is what a norm made of the GEMM's rows; -1 when none is, -2 when it is used in
/// another way, or a row takes the number of another one.
template <class Program>
constexpr int scale_operand(int gemm, int norm) {
    int found = -1;
    for (int i = 0; i < kernel_of<Program>(gemm).operand_count; ++i) {
        const auto place = static_cast<std::size_t>(i);
        if (!may_overlap<Program>(step_of<Program>(gemm).operands.items[place], step_of<Program>(norm).output)) {
            continue;
        }
        if (found != -1 || !is_norm_by_row<Program>(gemm, place, norm)) {
            return -2;
        }
        found = i;
    }
    return found;
}

/// A bit for each operand of a step that is a weight.
template <class Program>
constexpr unsigned weight_operands(int step) {
    unsigned bits = 0;
    for (int i = 0; i < kernel_of<Program>(step).operand_count; ++i) {
        const Reference& reference = step_of<Program>(step).operands.items[i];
        bits |= reference.space == Space::weight && reference.position < 0 ? 1U << i : 0U;
    }
    return bits;
}

/// Whether several neighbours of what a step reads are loaded at once: an attention's queries, keys and values, and
/// operands of a chain whose innermost axis is the tensor's own.
constexpr bool is_read_wide(const Kernel& kernel, int operand) {
    if (kernel.kind == KernelKind::structural) {
        return operand == 0 || is_key_or_value(kernel, operand);
    }
    const int inner = kernel.iteration.rank - 1;
    return inner >= 0 && kernel.operands.items[operand].strides[static_cast<std::size_t>(inner)] == 1;
}

/// Whether all wide accesses of a step are at multiples of 16 bytes, in f32 and in bf16; the accumulators that cuBLASLt
/// leaves for it count in `LaunchTable::describe_gemms`.
template <class Program>
constexpr bool is_aligned(int index) {
    constexpr Index unit = 8;
    const Step& step = step_of<Program>(index);
    const Kernel& kernel = kernel_of<Program>(index);
    const auto begins_aligned = [](const Reference& reference) {
        return reference.offset % unit == 0 && reference.position_stride % unit == 0;
    };
    const auto goes_on_aligned = [](const Shape& shape, const Strides& strides) {
        bool result = true;
        for (int axis = 0; axis + 1 < shape.rank; ++axis) {
            result = result && (shape[axis] == 1 || strides[static_cast<std::size_t>(axis)] % unit == 0);
        }
        return result;
    };
    const int inner = kernel.iteration.rank - 1;
    const bool is_written_wide = kernel.kind != KernelKind::reduction &&  // that writes one number a row
                                 inner >= 0 && kernel.output_strides[static_cast<std::size_t>(inner)] == 1;
    bool result =
        !is_written_wide || (begins_aligned(step.output) && goes_on_aligned(kernel.iteration, kernel.output_strides));
    for (int i = 0; i < kernel.operand_count; ++i) {
        const auto place = static_cast<std::size_t>(i);
        const Shape& own = kernel.operands.items[place].shape;
        const Shape& shape = kernel.kind == KernelKind::structural && own.rank != 0 ? own : kernel.iteration;
        result = result && (!is_read_wide(kernel, i) || (begins_aligned(step.operands.items[place]) &&
                                                         goes_on_aligned(shape, kernel.operands.items[place].strides)));
    }
    if (kernel.kind == KernelKind::gemm) {
        result = result && begins_aligned(step.input) && kernel.input_stride % unit == 0 &&
                 kernel.columns() % unit == 0 && kernel.k % unit == 0;
    }
    if (kernel.kind == KernelKind::structural && kernel.op == Op::attention) {
        result = result && kernel.attention.head_dim % unit == 0 && kernel.attention.value_dim % unit == 0;
    }
    return result;
}

}  // namespace lowering_detail

}  // namespace totograph::cuda
