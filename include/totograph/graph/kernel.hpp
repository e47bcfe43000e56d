// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <totograph/core/array.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/bounds.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>
#include <totograph/graph/record/custom.hpp>

namespace totograph {

inline constexpr int max_operands = 12;
inline constexpr int max_instructions = 32;

/// A tensor that a kernel reads: how to walk through it, but not where it lies, so that equal kernels of different
/// layers are one kernel.
struct Operand {
    DType dtype = DType::f32;
    Shape shape;        ///< Of the tensor as the kernel sees it. Left empty for the operands of chains.
    Strides strides{};  ///< In elements, for the axes of `Kernel::iteration` (chains) or of `shape` (others).

    friend constexpr bool operator==(const Operand&, const Operand&) = default;
};

/// One elementwise operation on values of a chain.
struct Instruction {
    Op op = Op::constant;
    DType dtype = DType::f32;
    Array<int, 3> arguments{};  ///< Value numbers.
    double immediate = 0;       ///< Of a constant.
    const CustomOperation* custom = nullptr;

    friend constexpr bool operator==(const Instruction& a, const Instruction& b) {
        return a.op == b.op && a.dtype == b.dtype && a.arguments == b.arguments &&
               is_same_number(a.immediate, b.immediate) && same_operation(a.op, a.custom, b.custom);
    }
};

/// A straight-line elementwise program. Its values are numbered: first what it is given (accumulators, then operands),
/// then the result of each instruction. The last value is the result.
/// @tparam room  for instructions
template <int room>
struct BasicChain {
    int given = 0;
    int count = 0;
    Array<Instruction, room> instructions{};

    /// The same with other room, which is enough.
    template <int to_room>
    [[nodiscard]] constexpr BasicChain<to_room> with_room() const {
        BasicChain<to_room> to{given, count, {}};
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            to.instructions[i] = instructions[i];
        }
        return to;
    }

    friend constexpr bool operator==(const BasicChain& a, const BasicChain& b) {
        if (a.given != b.given || a.count != b.count) {
            return false;
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(a.count); ++i) {
            if (!(a.instructions[i] == b.instructions[i])) {
                return false;
            }
        }
        return true;
    }
};

using Chain = BasicChain<max_instructions>;

enum class KernelKind : std::uint8_t {
    pointwise,   ///< A chain over the iteration shape.
    reduction,   ///< A chain, reduced over the last axis, then a chain over what is left.
    gemm,        ///< One GEMM, or two of the same input, then a chain over the result.
    structural,  ///< Any other op, with a kernel of its own.
};

/// What a step computes, without the places of its operands.
/// @tparam operand_room   for operands; `prologue_room` and `chain_room` for instructions
template <int operand_room, int prologue_room, int chain_room>
struct BasicKernel {
    KernelKind kind = KernelKind::structural;
    Op op = Op::add;  ///< `sum` or `mean` of a reduction, the op of a structural kernel.
    DType dtype = DType::f32;
    Shape iteration;  ///< Loop axes; the first `row_rank` are rows, the others columns.
    int row_rank = 0;
    Strides output_strides{};
    int operand_count = 0;
    int prologue_operands = 0;  ///< The first so many operands belong to the prologue.
    Array<Operand, operand_room> operands{};
    BasicChain<prologue_room> prologue;  ///< Of a reduction: per element, before reducing.
    BasicChain<chain_room> chain;        ///< Per element of the result.
    int accumulators = 0;                ///< How many values of `chain` come from GEMMs or from the reduction.
    Index k = 0;                         ///< Of a GEMM: that each of its accumulators adds up.
    Index input_stride = 0;              ///< Of a GEMM: elements from one row of its input to the next.
    /// Those of the node; of a `store` at a position, also at place 2: the largest position that it fits at.
    Array<Index, max_rank> attributes{};
    AttentionDescription attention;  ///< That of the node.
    const CustomOperation* custom = nullptr;
    /// What of the loop is in use. An executor need not skip the rest.
    LoopBounds bounds;

    [[nodiscard]] constexpr Index rows() const {
        Index product = 1;
        for (int axis = 0; axis < row_rank; ++axis) {
            product *= iteration[axis];
        }
        return product;
    }
    [[nodiscard]] constexpr Index columns() const { return iteration.size() / rows(); }

    /// The same with other room, which is enough.
    template <int operands_to, int prologue_to, int chain_to>
    [[nodiscard]] constexpr BasicKernel<operands_to, prologue_to, chain_to> with_room() const {
        BasicKernel<operands_to, prologue_to, chain_to> to;
        to.kind = kind;
        to.op = op;
        to.dtype = dtype;
        to.iteration = iteration;
        to.row_rank = row_rank;
        to.output_strides = output_strides;
        to.operand_count = operand_count;
        to.prologue_operands = prologue_operands;
        for (std::size_t i = 0; i < static_cast<std::size_t>(operand_count); ++i) {
            to.operands.items[i] = operands[i];
        }
        to.prologue = prologue.template with_room<prologue_to>();
        to.chain = chain.template with_room<chain_to>();
        to.accumulators = accumulators;
        to.k = k;
        to.input_stride = input_stride;
        to.attributes = attributes;
        to.attention = attention;
        to.custom = custom;
        return to;
    }

    friend constexpr bool operator==(const BasicKernel& a, const BasicKernel& b) {
        if (a.kind != b.kind || a.op != b.op || a.dtype != b.dtype || !(a.iteration == b.iteration) ||
            a.row_rank != b.row_rank || a.output_strides != b.output_strides || a.operand_count != b.operand_count ||
            a.prologue_operands != b.prologue_operands || a.accumulators != b.accumulators || a.k != b.k ||
            a.input_stride != b.input_stride || a.attributes != b.attributes ||
            !same_operation(a.op, a.custom, b.custom) || !(a.bounds == b.bounds) || !(a.attention == b.attention) ||
            !(a.prologue == b.prologue) || !(a.chain == b.chain)) {
            return false;
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(a.operand_count); ++i) {
            if (!(a.operands.items[i] == b.operands.items[i])) {
                return false;
            }
        }
        return true;
    }
};

/// A kernel of a plan, with room for any.
using Kernel = BasicKernel<max_operands, max_instructions, max_instructions>;

/// Whether a step is work enough to be launched alone: it does not join the steps before it and after it.
constexpr bool stands_alone(const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::pointwise:
        case KernelKind::reduction: return false;
        case KernelKind::gemm: return true;
        case KernelKind::structural: break;
    }
    return op_row(kernel.op).stands_alone;
}

enum class Space : std::uint8_t {
    none,
    weight,  ///< A prepared weight, by its index in `Plan::weights`.
    state,   ///< A state, by its index in `Plan::states`.
    arena,   ///< An intermediate, by its index in `Plan::buffers`.
};

/// Where an operand of a step lies.
struct Reference {
    Space space = Space::none;
    int index = 0;
    Index offset = 0;           ///< In elements.
    int position = -1;          ///< A state that holds one i32, or -1.
    Index position_stride = 0;  ///< Elements to add for each unit of that position.
    Index last_position = 0;    ///< The largest position at which all that is read or written lies inside.
    Index capacity = 0;         ///< The extent of the axis along which positions count.
};

/// One kernel with its operands: one line of the program.
struct Step {
    int kernel = 0;
    int node = 0;  ///< The node of the rewritten graph whose value it makes.
    Reference output;
    Reference input;   ///< Of a GEMM: its left operand.
    Reference weight;  ///< Of a GEMM: its packed weights.
    Array<Reference, max_operands> operands{};
};

/// A tensor computed from the checkpoint before the first run.
struct PreparedWeight {
    int node = 0;
    int second_node = -1;        ///< Of a pair of GEMMs with one input: the other weight, packed with the first.
    bool packed = false;         ///< Laid out for the GEMM kernels rather than row-major.
    std::uint64_t identity = 0;  ///< Equal for equal expressions of equal tensors, whatever the program.
};

/// An intermediate of a program.
struct Buffer {
    int node = 0;
    std::size_t bytes = 0;
    std::size_t offset = 0;  ///< In the arena, in bytes.
    int first_step = 0;
    int last_step = 0;
};

}  // namespace totograph
