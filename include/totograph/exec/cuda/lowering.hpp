// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/elementwise.hpp>
#include <totograph/exec/cuda/streaming_product.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// From the steps of a plan to launches: what can run in one kernel does.

namespace totograph::cuda {

enum class LaunchKind : std::uint8_t {
    step,      ///< One step, on the whole device.
    segment,   ///< Consecutive small steps in one kernel, with a barrier between them.
    streamed,  ///< Products of few rows with one input, and the norm before them.
    library,   ///< A product by cuBLASLt, then its chain.
};

/// Consecutive steps that are launched together.
struct Launch {
    LaunchKind kind = LaunchKind::step;
    int first = 0;
    int count = 1;
    bool has_reduction = false;  ///< Of `streamed`: the first step is the norm.
};

/// Elements of a step that is small enough for a segment: a few for each thread of a cluster.
inline constexpr Index segment_elements = 32768;
/// Steps of one segment: their operands travel as kernel parameters, of which there are 32,764 bytes.
inline constexpr int segment_steps = 48;

namespace lowering_detail {

template <class Program>
constexpr const Kernel& kernel_of(int step) {
    return Program::kernels[static_cast<std::size_t>(Program::steps[static_cast<std::size_t>(step)].kernel)];
}

template <class Program>
constexpr const Step& step_of(int step) {
    return Program::steps[static_cast<std::size_t>(step)];
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
    const Buffer& left = Program::buffers[static_cast<std::size_t>(a.index)];
    const Buffer& right = Program::buffers[static_cast<std::size_t>(b.index)];
    return left.offset < right.offset + right.bytes && right.offset < left.offset + left.bytes;
}

/// Whether a step reads what a reference names.
template <class Program>
constexpr bool reads(int step, const Reference& reference) {
    const Step& s = step_of<Program>(step);
    const Kernel& kernel = kernel_of<Program>(step);
    bool result = kernel.kind == KernelKind::product && may_overlap<Program>(s.input, reference);
    for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.operand_count); ++i) {
        result = result || may_overlap<Program>(s.operands[i], reference);
    }
    return result;
}

/// Whether a step can run at the same time as another.
template <class Program>
constexpr bool are_independent(int a, int b) {
    const Reference& left = step_of<Program>(a).output;
    const Reference& right = step_of<Program>(b).output;
    return !reads<Program>(a, right) && !reads<Program>(b, left) &&
           (!may_overlap<Program>(left, right) || left.space == Space::state);
}

constexpr bool is_same(const Reference& a, const Reference& b) {
    return a.space == b.space && a.index == b.index && a.offset == b.offset && a.position == b.position &&
           a.position_stride == b.position_stride;
}

template <class Program>
constexpr bool is_small(int step) {
    const Kernel& kernel = kernel_of<Program>(step);
    if (kernel.kind == KernelKind::product || kernel.iteration.size() > segment_elements) {
        return false;
    }
    switch (kernel.kind == KernelKind::structural ? kernel.op : Op::add) {
        case Op::causal_attention:
        case Op::cached_attention:
        case Op::variate_attention:
        case Op::sample_student_t_mixture:
        case Op::opaque: return false;
        default: return true;
    }
}

/// Whether a step sums the squares of the rows that a product reads.
template <class Program>
constexpr bool is_norm_of(int step, int product) {
    const Kernel& kernel = kernel_of<Program>(step);
    const Kernel& after = kernel_of<Program>(product);
    if (kernel.kind != KernelKind::reduction || kernel.dtype != DType::f32 || kernel.prologue_operands != 1 ||
        kernel.operand_count != 1 || kernel.prologue.count != 1 || kernel.operands[0].dtype != DType::f32 ||
        kernel.rows() != after.rows() || kernel.columns() != after.depth || kernel.row_rank == 0 ||
        !is_same(step_of<Program>(step).operands[0], step_of<Program>(product).input)) {
        return false;
    }
    const Instruction& square = kernel.prologue.instructions[0];
    // Rows of the norm and of the product must be the same: one even stride from each to the next.
    Index stride = kernel.operands[0].strides[static_cast<std::size_t>(kernel.row_rank) - 1];
    Index expected = 0;
    for (int axis = kernel.row_rank - 1; axis >= 0; --axis) {
        const Index own = kernel.operands[0].strides[static_cast<std::size_t>(axis)];
        if (kernel.iteration[axis] != 1 && expected != 0 && own != expected) {
            return false;
        }
        if (kernel.iteration[axis] != 1) {
            stride = expected == 0 ? own : stride;
            expected = own * kernel.iteration[axis];
        }
    }
    return square.op == Op::multiply && square.arguments[0] == 0 && square.arguments[1] == 0 &&
           (kernel.rows() == 1 || stride == after.input_stride) && kernel.iteration.rank == kernel.row_rank + 1 &&
           kernel.operands[0].strides[static_cast<std::size_t>(kernel.row_rank)] == 1;
}

/// Which operand of a product's chain is what a norm made; -1 when none is, -2 when it is used in another way.
template <class Program>
constexpr int scale_operand(int product, const Reference& norm) {
    const Step& step = step_of<Program>(product);
    const Kernel& kernel = kernel_of<Program>(product);
    int found = -1;
    for (int i = 0; i < kernel.operand_count; ++i) {
        const auto place = static_cast<std::size_t>(i);
        if (!may_overlap<Program>(step.operands[place], norm)) {
            continue;
        }
        bool columns_repeat = true;
        for (int axis = kernel.row_rank; axis < kernel.iteration.rank; ++axis) {
            columns_repeat = columns_repeat && kernel.operands[place].strides[static_cast<std::size_t>(axis)] == 0;
        }
        if (found != -1 || !is_same(step.operands[place], norm) || !columns_repeat) {
            return -2;
        }
        found = i;
    }
    return found;
}

/// Products from `step` on that read one input and can run together.
template <class Program>
constexpr int products_together(int step, int steps) {
    int end = step;
    while (end < steps && end - step < 8 && can_stream(kernel_of<Program>(end)) &&
           is_same(step_of<Program>(end).input, step_of<Program>(step).input)) {
        for (int other = step; other < end; ++other) {
            if (!are_independent<Program>(other, end)) {
                return end - step;
            }
        }
        ++end;
    }
    return end - step;
}

/// Whether nothing after the group reads what the norm made.
template <class Program>
constexpr bool norm_ends_with(int norm, int end, int steps) {
    const Step& made = step_of<Program>(norm);
    for (int step = end; step < steps; ++step) {
        const Step& other = step_of<Program>(step);
        const Kernel& kernel = kernel_of<Program>(step);
        for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.operand_count); ++i) {
            if (is_same(other.operands[i], made.output)) {
                return false;
            }
        }
    }
    return true;
}

template <class Program>
constexpr Launch next_launch(int step, int steps, bool streams) {
    if (streams && step + 1 < steps && can_stream(kernel_of<Program>(step + 1)) &&
        is_norm_of<Program>(step, step + 1)) {
        const int products = products_together<Program>(step + 1, steps);
        bool absorbs = step_of<Program>(step).output.space == Space::arena &&
                       norm_ends_with<Program>(step, step + 1 + products, steps);
        for (int i = 0; i < products; ++i) {
            absorbs = absorbs && scale_operand<Program>(step + 1 + i, step_of<Program>(step).output) >= 0;
        }
        if (absorbs) {
            return {LaunchKind::streamed, step, products + 1, true};
        }
    }
    if (kernel_of<Program>(step).kind == KernelKind::product) {
        if (streams && can_stream(kernel_of<Program>(step))) {
            return {LaunchKind::streamed, step, products_together<Program>(step, steps), false};
        }
        return {LaunchKind::library, step, 1, false};
    }
    int end = step;
    while (end < steps && end - step < segment_steps && is_small<Program>(end) &&
           !(end > step && streams && end + 1 < steps && can_stream(kernel_of<Program>(end + 1)) &&
             is_norm_of<Program>(end, end + 1))) {
        ++end;
    }
    return end - step > 1 ? Launch{LaunchKind::segment, step, end - step, false}
                          : Launch{LaunchKind::step, step, 1, false};
}

}  // namespace lowering_detail

/// The launches of a program. `streams` says whether products of few rows may be streamed (their weights are bf16).
template <class Program, bool streams>
struct Lowering {
    struct Table {
        std::array<Launch, Program::steps.size()> launches{};
        std::size_t count = 0;
    };

    static constexpr Table table = [] {
        Table result{};
        const int steps = static_cast<int>(Program::steps.size());
        for (int step = 0; step < steps;) {
            const Launch launch = lowering_detail::next_launch<Program>(step, steps, streams);
            result.launches[result.count++] = launch;
            step += launch.count;
        }
        return result;
    }();

    static constexpr std::size_t count = table.count;
    static constexpr Launch at(std::size_t index) { return table.launches[index]; }
};

}  // namespace totograph::cuda
