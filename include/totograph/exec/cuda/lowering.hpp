// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/elementwise.hpp>
#include <totograph/exec/cuda/state_rounding.hpp>
#include <totograph/exec/cuda/step_kernels.hpp>
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

/// How a library can compute the whole chain of a product: sums plus a bias, plus a residual of the result's shape.
struct DirectProduct {
    bool is_possible = false;
    int bias = -1;  ///< Operands of the chain; -1 for none.
    int residual = -1;
    Index residual_stride = 0;
};

/// Steps of one segment: their operands travel as kernel parameters, of which there are 32,764 bytes.
inline constexpr int segment_steps = 48;
/// Products of one group.
inline constexpr int group_products = 8;

/// Consecutive steps that are launched together.
struct Launch {
    LaunchKind kind = LaunchKind::step;
    int first = 0;
    int count = 1;
    bool has_reduction = false;  ///< Of products: the first step is their norm.

    std::array<int, segment_steps> kernels{};   ///< The kernel of each step.
    std::array<bool, segment_steps> rounds{};   ///< Whether each stores bf16.
    std::array<bool, segment_steps> aligned{};  ///< Whether all that each touches is aligned to 16 bytes, in any type.
    /// Of a segment: whether a barrier comes before each step; not where it touches nothing that those since the last
    /// barrier write, and writes nothing that they read.
    std::array<bool, segment_steps> barriers{};
    std::array<int, group_products> scales{};        ///< Of streamed products: the operand that is the norm.
    std::array<unsigned, group_products> weights{};  ///< Of streamed products: a bit for each operand that is a weight.
    bool query_is_rounded = false;                   ///< Of a lone attention: its queries are stored as bf16.
    bool keys_are_rounded = false;                   ///< Its keys and values are.
    bool input_is_rounded = false;                   ///< Of products: the input is stored as bf16 already.
    bool input_moves = false;                        ///< Of products: the input lies at a position.
    DirectProduct direct;                            ///< Of a lone product of the library.

    /// Steps before the first product.
    [[nodiscard]] constexpr int norms() const { return has_reduction ? 1 : 0; }
    [[nodiscard]] constexpr int first_product() const { return first + norms(); }
    [[nodiscard]] constexpr int products() const { return count - norms(); }
};

/// Elements of a step that is small enough for a segment: a few for each thread of a cluster.
inline constexpr Index segment_elements = 32768;
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

/// The same for steps whose results may lie anywhere in a state, and for positions that they read.
template <class Program>
constexpr bool are_apart(int a, int b) {
    const auto reads_position = [](int step, const Reference& written) {
        const Step& s = step_of<Program>(step);
        bool result = false;
        const auto look = [&](const Reference& reference) {
            result = result || (written.space == Space::state && reference.position == written.index);
        };
        look(s.output);
        for (int i = 0; i < kernel_of<Program>(step).operand_count; ++i) {
            look(s.operands[static_cast<std::size_t>(i)]);
        }
        return result;
    };
    const Reference& left = step_of<Program>(a).output;
    const Reference& right = step_of<Program>(b).output;
    return !reads<Program>(a, right) && !reads<Program>(b, left) && !may_overlap<Program>(left, right) &&
           !reads_position(a, right) && !reads_position(b, left);
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
        kernel.rows() != after.rows() || kernel.columns() != after.depth ||
        !is_same(step_of<Program>(step).operands[0], step_of<Program>(product).input)) {
        return false;
    }
    const Instruction& square = kernel.prologue.instructions[0];
    // Rows of the norm and of the product must be the same: one even stride from each to the next.
    Index stride = 0;
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

/// A bit for each operand of a step that is a weight.
template <class Program>
constexpr unsigned weight_operands(int step) {
    unsigned bits = 0;
    for (int i = 0; i < kernel_of<Program>(step).operand_count; ++i) {
        const Reference& reference = step_of<Program>(step).operands[static_cast<std::size_t>(i)];
        bits |= reference.space == Space::weight && reference.position < 0 ? 1U << i : 0U;
    }
    return bits;
}

/// Products from `step` on that read one input and can run together, all streamed or all by the library.
template <class Program>
constexpr int products_together(int step, int steps, bool streams) {
    const bool streamed = streams && can_stream(kernel_of<Program>(step));
    int end = step;
    while (end < steps && end - step < group_products && kernel_of<Program>(end).kind == KernelKind::product &&
           (streams && can_stream(kernel_of<Program>(end))) == streamed &&
           kernel_of<Program>(end).input_stride == kernel_of<Program>(step).input_stride &&
           kernel_of<Program>(end).rows() == kernel_of<Program>(step).rows() &&
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

/// Whether a norm and the product after it begin a group: a streamed product computes the norm itself, for the library
/// the kernel that rounds its input does.
template <class Program>
constexpr bool begins_with_norm(int step, int steps, bool streams) {
    if (!streams || step + 1 >= steps || kernel_of<Program>(step + 1).kind != KernelKind::product ||
        !is_norm_of<Program>(step, step + 1)) {
        return false;
    }
    if (!can_stream(kernel_of<Program>(step + 1))) {
        return true;
    }
    const int products = products_together<Program>(step + 1, steps, streams);
    bool absorbs = step_of<Program>(step).output.space == Space::arena &&
                   norm_ends_with<Program>(step, step + 1 + products, steps);
    for (int i = 0; i < products; ++i) {
        absorbs = absorbs && scale_operand<Program>(step + 1 + i, step_of<Program>(step).output) >= 0;
    }
    return absorbs;
}

template <class Program>
constexpr Launch next_launch(int step, int steps, bool streams) {
    const int norm = begins_with_norm<Program>(step, steps, streams) ? 1 : 0;
    if (norm == 1 || kernel_of<Program>(step).kind == KernelKind::product) {
        const bool streamed = streams && can_stream(kernel_of<Program>(step + norm));
        Launch launch;
        launch.kind = streamed ? LaunchKind::streamed : LaunchKind::library;
        launch.first = step;
        launch.count = norm + products_together<Program>(step + norm, steps, streams);
        launch.has_reduction = norm == 1;
        return launch;
    }
    int end = step;
    while (end < steps && end - step < segment_steps && is_small<Program>(end) &&
           !begins_with_norm<Program>(end, steps, streams)) {
        ++end;
    }
    Launch launch;
    launch.kind = end - step > 1 ? LaunchKind::segment : LaunchKind::step;
    launch.first = step;
    launch.count = end - step > 1 ? end - step : 1;
    return launch;
}

/// Whether rows of all that a step reads and writes begin at multiples of 16 bytes, in f32 and in bf16; the sums that a
/// library leaves for it count in `make_table`.
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
    bool result = begins_aligned(step.output) && goes_on_aligned(kernel.iteration, kernel.output_strides);
    for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.operand_count); ++i) {
        const Shape& own = kernel.operands[i].shape;
        const Shape& shape = kernel.kind == KernelKind::structural && own.rank != 0 ? own : kernel.iteration;
        result = result && begins_aligned(step.operands[i]) && goes_on_aligned(shape, kernel.operands[i].strides);
    }
    if (kernel.kind == KernelKind::product) {
        result = result && begins_aligned(step.input) && kernel.input_stride % unit == 0 &&
                 kernel.columns() % unit == 0 && kernel.depth % unit == 0;
    }
    switch (kernel.kind == KernelKind::structural ? kernel.op : Op::add) {
        case Op::causal_attention:
        case Op::cached_attention:
        case Op::variate_attention: return result && kernel.iteration[-1] / kernel.attributes[0] % unit == 0;
        default: return result;
    }
}

template <class Program>
constexpr DirectProduct direct_product(int index) {
    const Step& step = step_of<Program>(index);
    const Kernel& kernel = kernel_of<Program>(index);
    if (kernel.accumulators != 1 || kernel.row_rank > 1 || kernel.iteration.rank != kernel.row_rank + 1 ||
        step.output.position >= 0 || kernel.columns() % 4 != 0 || kernel.chain.count > 2 || kernel.chain.count < 1) {
        return {};
    }
    const auto column = static_cast<std::size_t>(kernel.row_rank);
    const Index out_stride = kernel.row_rank == 0 ? kernel.columns() : kernel.output_strides[0];
    if (kernel.output_strides[column] != 1 || out_stride != kernel.columns()) {
        return {};
    }
    DirectProduct result;
    int sum = 0;
    for (int i = 0; i < kernel.chain.count; ++i) {
        const Instruction& instruction = kernel.chain.instructions[static_cast<std::size_t>(i)];
        const int other = instruction.arguments[0] == sum ? instruction.arguments[1] : instruction.arguments[0];
        const bool adds = instruction.op == Op::add && instruction.dtype == DType::f32 &&
                          (instruction.arguments[0] == sum || instruction.arguments[1] == sum) && other != sum &&
                          other >= 1 && other <= kernel.operand_count;
        if (!adds) {
            return {};
        }
        const Operand& operand = kernel.operands[static_cast<std::size_t>(other) - 1];
        const Reference& reference = step.operands[static_cast<std::size_t>(other) - 1];
        const Index rows = kernel.row_rank == 0 ? 0 : operand.strides[0];
        if (operand.dtype != DType::f32 || operand.strides[column] != 1 || reference.position >= 0) {
            return {};
        }
        if (rows == 0 && reference.space == Space::weight && result.bias < 0) {
            result.bias = other - 1;
        } else if (rows >= kernel.columns() && rows % 4 == 0 && reference.offset % 4 == 0 && result.residual < 0) {
            result.residual = other - 1;
            result.residual_stride = rows;
        } else {
            return {};
        }
        sum = kernel.chain.given + i;
    }
    result.is_possible = true;
    return result;
}

}  // namespace lowering_detail

/// The launches of a program. `streams` says whether products of few rows may be streamed (their weights are bf16).
///
/// All that templates need to know of a launch is in one small table: a constant expression that reads the program's
/// own tables costs nvcc megabytes each time.
template <class Program, bool streams>
struct Lowering {
private:
    static constexpr std::size_t steps = Program::steps.size();
    static constexpr std::size_t buffers = Program::buffers.size() == 0 ? 1 : Program::buffers.size();

    struct Table {
        std::array<Launch, steps> launches{};
        std::size_t count = 0;
        std::array<bool, buffers> rounded{};
    };

    using Flags = std::array<bool, buffers>;

    /// Looks at how one step uses intermediates: `wanted` are those that something reads that would round them anyway,
    /// `refused` those that something else reads, or that are made by what cannot round.
    static constexpr void look(const Launch& launch, int index, Flags& wanted, Flags& refused) {
        using namespace lowering_detail;
        const Step& step = step_of<Program>(index);
        const Kernel& kernel = kernel_of<Program>(index);
        const bool is_attention = launch.kind == LaunchKind::step && is_key_or_value(kernel, 1);
        const auto arena = [](const Reference& reference) {
            return reference.space == Space::arena ? static_cast<std::size_t>(reference.index) : buffers;
        };
        // Keys and values of one attention are all stored alike.
        bool refuses_keys = false;
        for (int i = 0; i < kernel.operand_count; ++i) {
            const std::size_t buffer = arena(step.operands[static_cast<std::size_t>(i)]);
            refuses_keys = refuses_keys || (is_key_or_value(kernel, i) && (buffer == buffers || refused[buffer]));
        }
        for (int i = 0; i < kernel.operand_count; ++i) {
            const std::size_t buffer = arena(step.operands[static_cast<std::size_t>(i)]);
            if (buffer == buffers) {
                continue;
            }
            const bool fits = is_attention && (i == 0 || (is_key_or_value(kernel, i) && !refuses_keys));
            wanted[buffer] = wanted[buffer] || fits;
            refused[buffer] = refused[buffer] || !fits;
        }
        if (kernel.kind == KernelKind::product && arena(step.input) != buffers) {
            const std::size_t buffer = arena(step.input);
            const auto bytes = static_cast<std::size_t>(kernel.rows() * kernel.depth) * sizeof(float);
            const bool whole = step.input.offset == 0 && step.input.position < 0 &&
                               kernel.input_stride == kernel.depth && kernel.depth % 8 == 0 &&
                               Program::buffers[buffer].bytes == bytes;
            wanted[buffer] = true;
            refused[buffer] = refused[buffer] || launch.has_reduction || !whole;
        }
        if (arena(step.output) != buffers) {
            const std::size_t buffer = arena(step.output);
            const bool is_epilogue = kernel.kind == KernelKind::product && !launch.direct.is_possible;
            refused[buffer] = refused[buffer] || !(is_attention || is_epilogue) || step.output.offset != 0 ||
                              step.output.position >= 0;
        }
    }

    /// For each buffer, whether it is stored as bf16.
    static constexpr Flags find_rounded(const Table& table) {
        Flags wanted{};
        Flags refused{};
        Flags before{};
        bool goes_on = streams;
        while (goes_on) {  // what one step refuses, an earlier one may share
            before = refused;
            for (std::size_t l = 0; l < table.count; ++l) {
                const Launch& launch = table.launches[l];
                for (int i = launch.first; i < launch.first + launch.count; ++i) {
                    look(launch, i, wanted, refused);
                }
            }
            goes_on = before != refused;
        }
        Flags result{};
        for (std::size_t i = 0; i < buffers; ++i) {
            result[i] = wanted[i] && !refused[i];
        }
        return result;
    }

    /// For each state, whether it is stored as bf16: what the programs that run together agreed on.
    static constexpr bool state_is_rounded(int state) {
        if constexpr (requires { Program::rounded_states; }) {
            return Program::rounded_states[static_cast<std::size_t>(state)];
        } else {
            return StateRounding<streams, Program>::template of<Program>[static_cast<std::size_t>(state)];
        }
    }

    static constexpr bool is_rounded(const Table& table, const Reference& reference) {
        return reference.space == Space::arena   ? table.rounded[static_cast<std::size_t>(reference.index)]
               : reference.space == Space::state ? state_is_rounded(reference.index)
                                                 : false;
    }

    static constexpr Table make_table() {
        using namespace lowering_detail;
        Table table{};
        for (int step = 0; step < static_cast<int>(steps);) {
            Launch launch = next_launch<Program>(step, static_cast<int>(steps), streams);
            if (launch.kind == LaunchKind::library && launch.products() == 1) {
                const Reference& output = step_of<Program>(launch.first_product()).output;
                if (output.space != Space::state || !state_is_rounded(output.index)) {
                    launch.direct = direct_product<Program>(launch.first_product());
                }
            }
            table.launches[table.count++] = launch;
            step += launch.count;
        }
        table.rounded = find_rounded(table);
        const auto rounds = [&](const Reference& reference) { return is_rounded(table, reference); };
        for (std::size_t l = 0; l < table.count; ++l) {
            Launch& launch = table.launches[l];
            for (int i = 0; i < launch.count; ++i) {
                const Step& step = step_of<Program>(launch.first + i);
                launch.kernels[static_cast<std::size_t>(i)] = step.kernel;
                launch.rounds[static_cast<std::size_t>(i)] = rounds(step.output);
                launch.aligned[static_cast<std::size_t>(i)] = is_aligned<Program>(launch.first + i);
            }
            if (launch.kind == LaunchKind::library) {
                // Sums of several products lie side by side: one that is not aligned moves the others.
                bool all = true;
                for (int i = launch.norms(); i < launch.count; ++i) {
                    all = all && launch.aligned[static_cast<std::size_t>(i)];
                }
                for (int i = launch.norms(); i < launch.count; ++i) {
                    launch.aligned[static_cast<std::size_t>(i)] = all;
                }
            }
            if (launch.kind == LaunchKind::step && is_key_or_value(kernel_of<Program>(launch.first), 1)) {
                launch.query_is_rounded = rounds(step_of<Program>(launch.first).operands[0]);
                launch.keys_are_rounded = rounds(step_of<Program>(launch.first).operands[1]);
            }
            if (launch.kind == LaunchKind::segment) {
                int since = launch.first;
                for (int step = launch.first + 1; step < launch.first + launch.count; ++step) {
                    bool is_free = true;
                    for (int other = since; other < step; ++other) {
                        is_free = is_free && are_apart<Program>(other, step);
                    }
                    if (!is_free) {
                        launch.barriers[static_cast<std::size_t>(step - launch.first)] = true;
                        since = step;
                    }
                }
            }
            if (launch.kind != LaunchKind::streamed && launch.kind != LaunchKind::library) {
                continue;
            }
            const Reference& input = step_of<Program>(launch.first_product()).input;
            launch.input_is_rounded = rounds(input);
            launch.input_moves = input.position >= 0;
            for (int i = 0; i < launch.products(); ++i) {
                const auto place = static_cast<std::size_t>(i);
                const int step = launch.first_product() + i;
                launch.weights[place] = weight_operands<Program>(step);
                launch.scales[place] =
                    launch.has_reduction ? scale_operand<Program>(step, step_of<Program>(launch.first).output) : -1;
            }
        }
        return table;
    }

    static constexpr Table table = make_table();

public:
    static constexpr std::size_t count = table.count;
    static constexpr const Launch& at(std::size_t index) { return table.launches[index]; }

    /// Whether an intermediate or a state is stored as bf16.
    static constexpr bool is_rounded(const Reference& reference) { return is_rounded(table, reference); }
};

/// A launch of a program as a type: templates read this small constant and nothing else of the program.
template <class Program, bool streams, std::size_t index>
struct LaunchAt {
    static constexpr Launch launch = Lowering<Program, streams>::at(index);

    /// The kernel of one of its steps.
    template <int step>
    using KernelAt =
        KernelOf<Program, static_cast<std::size_t>(launch.kernels[static_cast<std::size_t>(step)]),
                 launch.rounds[static_cast<std::size_t>(step)], launch.aligned[static_cast<std::size_t>(step)],
                 launch.query_is_rounded, launch.keys_are_rounded>;
};

/// The norm of a group of products as a type.
template <class At, bool has_reduction = At::launch.has_reduction>
struct ReductionAt {
    using type = NoReduction;
};
template <class At>
struct ReductionAt<At, true> {
    using type = typename At::template KernelAt<0>;
};

}  // namespace totograph::cuda
