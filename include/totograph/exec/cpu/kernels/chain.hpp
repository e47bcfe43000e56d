// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/arithmetic.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/exec/cpu/vector.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/record/custom.hpp>

// Chains as straight-line code: every instruction is known to the compiler, values live in registers.

namespace totograph::cpu {
inline namespace TOTOGRAPH_SIMD_NAMESPACE {

/// Whether a chain can run on packets of floats: nothing in it is of another type.
constexpr bool is_vectorizable(const Chain& chain) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(chain.count); ++i) {
        if (chain.instructions[i].dtype != DType::f32 || chain.instructions[i].op == Op::cast) {
            return false;
        }
    }
    return true;
}

namespace chain_detail {

/// One instruction on vectors.
template <class Source, std::size_t which, class Values>
Vector execute(const Values& values) {
    constexpr Instruction instruction = Source::chain.instructions[which];
    constexpr Op op = instruction.op;
    const auto& a = values[static_cast<std::size_t>(instruction.arguments[0])];
    const auto& b = values[static_cast<std::size_t>(instruction.arguments[1])];
    const auto& c = values[static_cast<std::size_t>(instruction.arguments[2])];
    if constexpr (op == Op::constant) {
        return Vector(static_cast<float>(instruction.immediate));
    } else if constexpr (is_arithmetic(op)) {
        return elementwise<op, Vector>(a, b, c);
    } else if constexpr (op == Op::rotate_pairs) {
        return rotate_pairs(a);
    } else {
        static_assert(op == Op::custom_elementwise, "totograph: the CPU executor has no code for this elementwise op.");
        using Operation = typename FindOperation<typename Source::Operations, instruction.custom>::type;
        if constexpr (requires { Operation::apply(a); }) {
            return Operation::apply(a);
        } else if constexpr (requires { Operation::apply(a, b); }) {
            return Operation::apply(a, b);
        } else if constexpr (requires { Operation::apply(a, b, c); }) {
            return Operation::apply(a, b, c);
        } else {
            static_assert(
                std::is_void_v<Operation>,
                "totograph: an elementwise operation has `template <class T> static T apply(T x, ...)`, which "
                "is written once for numbers and for vectors of them; this one takes numbers alone.");
            return a;
        }
    }
}

}  // namespace chain_detail

/// Runs the chain of `Source` on packets. `values` holds what the chain is given, and room for its results; the last
/// one is returned. Always a part of its caller, so that values stay in registers.
template <class Source, std::size_t size>
[[gnu::always_inline]] inline Vector run_chain_here(std::array<Vector, size>& values) {
    constexpr auto given = static_cast<std::size_t>(Source::chain.given);
    constexpr auto count = static_cast<std::size_t>(Source::chain.count);
    static_assert(size == given + count);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        ((values[given + i] = chain_detail::execute<Source, i>(values)), ...);
    }
    (std::make_index_sequence<count>());
    return values[size - 1];
}

/// The same; whether it is a part of its caller is up to the compiler.
template <class Source, std::size_t size>
Vector run_chain(std::array<Vector, size>& values) {
    return run_chain_here<Source>(values);
}

/// Whether an instruction is some machine instructions, and not a polynomial or what a user wrote.
constexpr bool is_short(Op op) {
    switch (op) {
        case Op::constant:
        case Op::add:
        case Op::subtract:
        case Op::multiply:
        case Op::divide:
        case Op::maximum:
        case Op::minimum:
        case Op::negative:
        case Op::abs:
        case Op::floor:
        case Op::sqrt:
        case Op::rsqrt:
        case Op::less:
        case Op::equal:
        case Op::where:
        case Op::rotate_pairs: return true;
        default: return false;
    }
}

/// Whether all of a chain's instructions are short: then a call of the chain would cost more than the chain.
template <class Source>
inline constexpr bool is_short_chain = [] {
    bool all = true;
    for (const Instruction& instruction : Source::chain.instructions) {
        all = all && is_short(instruction.op);
    }
    return all;
}();

/// Whether an instruction is a call: `sinh` of `Vector`. The rest of the chain is short.
template <class Source>
inline constexpr bool chain_calls = [] {
    bool calls = false;
    for (const Instruction& instruction : Source::chain.instructions) {
        calls = calls || instruction.op == Op::sinh;
    }
    return calls;
}();

}  // namespace TOTOGRAPH_SIMD_NAMESPACE
}  // namespace totograph::cpu
