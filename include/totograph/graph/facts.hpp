// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <totograph/core/arena.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/list.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/loop.hpp>
#include <totograph/graph/loops.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>
#include <totograph/graph/plan/plan.hpp>

namespace totograph {

/// What a kernel does in one call, counted from shapes alone.
///
/// Operations: a GEMM counts `2 m n k` for each of its matrices; attention `4 queries keys width` over
/// the whole capacity of its keys, half of that when it is causal; a chain one for each element and instruction
/// (constants none); a reduction or running sum one for each element, `softmax` five. What only moves elements, draws
/// random numbers, or runs code of the library's user counts none.
///
/// Bytes: each operand once, in its own extents (an axis that only repeats counts once), and packed weights without
/// the padding of their last panel. Caches may hold the same bytes closer, so this is what has to be read, not what a
/// memory controller sees.
struct StepFacts {
    Index flops = 0;
    Index bytes_read = 0;
    Index bytes_written = 0;

    constexpr StepFacts& operator+=(const StepFacts& other) {
        flops += other.flops;
        bytes_read += other.bytes_read;
        bytes_written += other.bytes_written;
        return *this;
    }
    friend constexpr StepFacts operator*(const StepFacts& facts, Index times) {
        return {facts.flops * times, facts.bytes_read * times, facts.bytes_written * times};
    }
    friend constexpr bool operator==(const StepFacts&, const StepFacts&) = default;
};

/// The tables of a planned program, wherever they are: constants of a `Program`, or a `Plan` made at run time.
struct ProgramTables {
    /// Of the rewritten graph.
    std::span<const Node> nodes;
    std::span<const Kernel> kernels;
    std::span<const Step> steps;
    std::span<const PreparedWeight> weights;
    std::span<const StateSlot> states;
    std::span<const Buffer> buffers;
    std::size_t arena_bytes = 0;
    int recorded_nodes = 0;  ///< Before rewriting; 0 when that is not known.
    Loops loops{};           ///< Of which the tables have one iteration for several; none when all are written out.
};

/// The tables of a `Program` as they were compiled, with one iteration of its loops for several.
template <class Program>
constexpr ProgramTables short_tables_of() {
    return {Program::graph.nodes, Program::kernels,     Program::steps,          Program::weights, Program::states,
            Program::buffers,     Program::arena_bytes, Program::recorded_nodes, Program::loops};
}

/// The tables of a plan made at run time from a rewritten graph. Both must outlive the result.
ProgramTables tables_of(const Graph& rewritten, const Plan& plan);

namespace detail {

/// Elements of a tensor that is walked with these strides over these extents, what repeats counted once.
constexpr Index distinct_elements(const Shape& extents, const Strides& strides) {
    Index count = 1;
    for (int axis = 0; axis < extents.rank; ++axis) {
        count *= strides.items[axis] == 0 ? 1 : extents[axis];
    }
    return count;
}

/// Instructions that compute something.
constexpr Index working_instructions(const Chain& chain) {
    Index count = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(chain.count); ++i) {
        count += chain.instructions[i].op == Op::constant ? 0 : 1;
    }
    return count;
}

/// Operations of an attention: a multiplication and an addition for each query, key and element of a head, twice; half
/// of that where the average query sees half of the keys. `input(i)` is the shape of an input.
template <class InputShape>
constexpr Index attention_flops(const AttentionDescription& attention, const InputShape& input) {
    Index keys = input(1)[attention.axis == AttentionAxis::variates ? 2 : 3];
    keys += attention.has_suffix ? input(AttentionDescription::suffix_key_input)[3] : 0;
    const Index width = attention.heads * (attention.head_dim + attention.value_dim);
    const Index all = 2 * input(0).rows() * keys * width;
    return attention.is_prefill() ? all / 2 : all;
}

/// Operations of an op: `result` is its shape, `input(i)` that of an input.
template <class InputShape>
constexpr Index flops_of(Op op, const AttentionDescription& attention, const Shape& result, const InputShape& input) {
    const OpRow& row = op_row(op);
    switch (row.work) {
        case OpWork::nothing: return 0;
        case OpWork::each_element:
            return row.flops * (row.kind == OpClass::elementwise ? result.size() : input(0).size());
        case OpWork::each_multiply_add: return 2 * result.size() * input(0)[-1];
        case OpWork::each_key: return attention_flops(attention, input);
    }
    return 0;
}

}  // namespace detail

/// What one call of a kernel does; packed weights are stored as `storage`.
constexpr StepFacts facts_of(const Kernel& kernel, DType storage = DType::f32) {
    StepFacts facts;
    const Index elements = kernel.iteration.size();
    const Index results = kernel.kind == KernelKind::reduction ? kernel.rows() : elements;
    const bool is_structural = kernel.kind == KernelKind::structural;
    facts.bytes_written = results * static_cast<Index>(size_in_bytes(kernel.dtype));
    for (int i = 0; i < kernel.operand_count; ++i) {
        const Operand& operand = kernel.operands.items[i];
        if (is_structural && op_row(kernel.op).picks && i == 0 && operand.shape.rank != kernel.iteration.rank) {
            facts.bytes_read += elements * static_cast<Index>(size_in_bytes(operand.dtype));  // rows of a table
            continue;
        }
        const bool takes_one = is_structural && op_row(kernel.op).picks && i == 0;
        const Shape& extents = is_structural && !takes_one ? operand.shape : kernel.iteration;
        facts.bytes_read +=
            detail::distinct_elements(extents, operand.strides) * static_cast<Index>(size_in_bytes(operand.dtype));
    }
    facts.flops = results * detail::working_instructions(kernel.chain);
    if (kernel.kind == KernelKind::gemm) {
        const Index input = kernel.rows() * kernel.k;
        const Index weight = kernel.columns() * kernel.k * kernel.accumulators;
        facts.flops += 2 * kernel.rows() * weight;
        facts.bytes_read +=
            input * static_cast<Index>(size_in_bytes(DType::f32)) + weight * static_cast<Index>(size_in_bytes(storage));
    } else if (kernel.kind == KernelKind::reduction) {
        facts.flops += elements * (1 + detail::working_instructions(kernel.prologue));
    } else if (is_structural) {
        facts.flops +=
            detail::flops_of(kernel.op, kernel.attention, kernel.iteration,
                             [&](std::size_t which) -> const Shape& { return kernel.operands[which].shape; });
    }
    return facts;
}

/// What one run of all steps does.
constexpr StepFacts facts_of(const ProgramTables& tables, DType storage = DType::f32) {
    // Steps share kernels: each kernel is looked at once, for compilers take their time to count.
    List<StepFacts> of_kernels;
    of_kernels.reserve(tables.kernels.size());
    for (const Kernel& kernel : tables.kernels) {
        of_kernels.push_back(facts_of(kernel, storage));
    }
    StepFacts total;
    for (std::size_t i = 0; i < tables.steps.size(); ++i) {
        const int times = tables.loops.times_of(&Loop::steps, static_cast<int>(i));
        total += of_kernels[static_cast<std::size_t>(tables.steps[i].kernel)] * times;
    }
    return total;
}

/// Bytes of a prepared weight: packed as `storage`, without the padding of its last panel, or as it is.
constexpr std::size_t weight_bytes(const ProgramTables& tables, const PreparedWeight& weight, DType storage) {
    const Node& node = tables.nodes[static_cast<std::size_t>(weight.node)];
    const std::size_t matrices = weight.second_node < 0 ? 1 : 2;
    return matrices * static_cast<std::size_t>(node.shape.size()) * size_in_bytes(weight.packed ? storage : node.dtype);
}

/// Bytes of all prepared weights.
constexpr std::size_t weight_bytes(const ProgramTables& tables, DType storage = DType::f32) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < tables.weights.size(); ++i) {
        const int times = tables.loops.times_of(&Loop::weights, static_cast<int>(i));
        bytes += static_cast<std::size_t>(times) * weight_bytes(tables, tables.weights[i], storage);
    }
    return bytes;
}

/// Bytes that the states take whose names begin with `prefix` (all of them by default), each aligned as in memory.
constexpr std::size_t bytes_of_states(const ProgramTables& tables, std::string_view prefix = {}) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < tables.states.size(); ++i) {
        const StateSlot& state = tables.states[i];
        if (state.name.starts_with(prefix)) {
            const int times = tables.loops.times_of(&Loop::states, static_cast<int>(i));
            bytes += static_cast<std::size_t>(times) *
                     aligned_size(static_cast<std::size_t>(state.shape.size()) * size_in_bytes(state.dtype));
        }
    }
    return bytes;
}

/// Distinct kernels of a kind.
constexpr int count_kernels(const ProgramTables& tables, KernelKind kind) {
    int count = 0;
    for (const Kernel& kernel : tables.kernels) {
        count += kernel.kind == kind ? 1 : 0;
    }
    return count;
}

/// Facts about a `Program`, all of them constants: `static_assert(Facts<Prefill>::arena_bytes < 16 << 20);`.
template <class Program>
struct Facts {
    /// The tables of the program, with one iteration of its loops for several.
    static constexpr ProgramTables tables = short_tables_of<Program>();

    /// Nodes before rewriting.
    static constexpr int recorded_nodes = tables.recorded_nodes;
    /// After rewriting.
    static constexpr int nodes = tables.loops.unrolled(&Loop::nodes, tables.nodes.size());
    /// Kernel calls in one run.
    static constexpr int steps = tables.loops.unrolled(&Loop::steps, tables.steps.size());
    /// Distinct kernels.
    static constexpr int kernels = static_cast<int>(tables.kernels.size());
    /// Distinct elementwise kernels.
    static constexpr int pointwise_kernels = count_kernels(tables, KernelKind::pointwise);
    /// Bytes of the intermediates of one run.
    static constexpr std::size_t arena_bytes = tables.arena_bytes;
    /// Bytes of all states.
    static constexpr std::size_t state_bytes = totograph::bytes_of_states(tables);

    /// See `totograph::weight_bytes`.
    static constexpr std::size_t weight_bytes(DType storage = DType::f32) {
        return totograph::weight_bytes(tables, storage);
    }
    /// See `totograph::bytes_of_states`; `bytes_of_states("prefix.")` are those of one KV cache.
    static constexpr std::size_t bytes_of_states(std::string_view prefix) {
        return totograph::bytes_of_states(tables, prefix);
    }
    /// Of the step at `place`, which must be below `steps`.
    static constexpr StepFacts step(int place, DType storage = DType::f32) {
        const Loops::Place chosen_place = tables.loops.place(&Loop::steps, place);
        const Step& chosen = tables.steps[static_cast<std::size_t>(chosen_place.entry)];
        return facts_of(tables.kernels[static_cast<std::size_t>(chosen.kernel)], storage);
    }
    /// Of one run.
    static constexpr StepFacts run(DType storage = DType::f32) { return facts_of(tables, storage); }
};

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/graph/impl/facts.hpp>
#endif
