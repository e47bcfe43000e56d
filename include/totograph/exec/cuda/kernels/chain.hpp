// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/arithmetic.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/kernel_facts.hpp>
#include <totograph/exec/cuda/kernels/reciprocal.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/record/custom.hpp>

// Chains as straight-line device code: every instruction is known to the compiler, values live in registers.

namespace totograph::cuda {

/// Neighbouring elements of a row, which one thread computes.
template <class T, int lanes>
struct Pack {
    T lane[lanes];
};

namespace chain_detail {

template <std::size_t index, class T>
struct Slot {
    T value;
};

template <class Indices, class... T>
struct Slots;
template <std::size_t... index, class... T>
struct Slots<std::index_sequence<index...>, T...> : Slot<index, T>... {};

template <std::size_t index, class T>
__device__ __forceinline__ const T& at(const Slot<index, T>& slot) {
    return slot.value;
}
template <std::size_t index, class T>
__device__ __forceinline__ T& at(Slot<index, T>& slot) {
    return slot.value;
}

/// The dtype of a value of a chain: what it is given, then what its instructions make.
template <class Source, std::size_t index>
constexpr DType value_dtype() {
    constexpr auto given = static_cast<std::size_t>(Source::chain.given);
    constexpr auto accumulators = static_cast<std::size_t>(Source::accumulators);
    if constexpr (index < accumulators) {
        return Source::accumulator_dtype;
    } else if constexpr (index < given) {
        return Source::operands[static_cast<std::size_t>(Source::first_operand) + index - accumulators].dtype;
    } else {
        return Source::chain.instructions[index - given].dtype;
    }
}

template <class Source, int lanes, class Indices>
struct ValuesOf;
template <class Source, int lanes, std::size_t... index>
struct ValuesOf<Source, lanes, std::index_sequence<index...>> {
    using type = Slots<std::index_sequence<index...>, Pack<Element<value_dtype<Source, index>()>, lanes>...>;
};

/// A cast; to an integer, NaN becomes 0 and what is out of range the nearest integer, as the device has it.
template <class To, class From>
__device__ __forceinline__ To convert(From value) {
    if constexpr (std::is_same_v<To, std::int32_t> && std::is_same_v<From, float>) {
        return __float2int_rz(value);
    } else if constexpr (std::is_same_v<To, std::int32_t> && std::is_same_v<From, double>) {
        return value != value ? 0 : __double2int_rz(value);
    } else {
        return static_cast<To>(value);
    }
}

/// Whether what an instruction of a chain makes goes into the result by multiplications alone. (A sum could cancel all
/// but its error, and a function magnify it.)
template <int room>
constexpr bool is_factor(const BasicChain<room>& chain, std::size_t instruction) {
    std::array<bool, max_instructions> derives{};
    derives[instruction] = true;
    for (std::size_t i = instruction + 1; i < static_cast<std::size_t>(chain.count); ++i) {
        for (const int argument : chain.instructions[i].arguments) {
            const int maker = argument - chain.given;
            derives[i] = derives[i] || (maker >= 0 && derives[static_cast<std::size_t>(maker)]);
        }
        if (derives[i] && chain.instructions[i].op != Op::multiply) {
            return false;
        }
    }
    return true;
}

/// What becomes of the result of an elementwise op.
enum class OpUse : std::uint8_t {
    exact,
    in_bf16,         ///< The chain's result is stored as bf16, of 8 bits: a quotient and a power of e of 21 are enough.
    factor_in_bf16,  ///< And what the op makes goes into that result by multiplications alone.
};

/// a / b, rounded as IEEE 754 says, for numbers between 1 / `usual_limit` and that, and a that is 0.
template <class T>
inline constexpr T usual_limit = std::is_same_v<T, double> ? T(0x1p100) : T(0x1p60);
template <class T>
__device__ __forceinline__ bool is_usual(T number) {
    return fabs(number) >= 1 / usual_limit<T> && fabs(number) <= usual_limit<T>;
}
template <class T>
__device__ __forceinline__ T usual_quotient(T a, T b) {
    T reciprocal = reciprocal_seed(b);
    const T error = fma(-b, reciprocal, T{1});
    if constexpr (std::is_same_v<T, double>) {
        reciprocal = fma(reciprocal, fma(error, error, error), reciprocal);
        reciprocal = fma(reciprocal, fma(-b, reciprocal, T{1}), reciprocal);
    } else {
        reciprocal = fma(reciprocal, error, reciprocal);
    }
    const T product = a * reciprocal;
    T quotient = fma(reciprocal, fma(-b, product, a), product);
    if constexpr (std::is_same_v<T, float>) {
        quotient = fma(reciprocal, fma(-b, quotient, a), quotient);
    }
    return a == T{0} ? product : quotient;  // with its sign
}

/// Quotients of neighbours, rounded as IEEE 754 says. The compiler's own code branches at each: neighbours would wait
/// for each other, and 0 / b go a slow way, of which tables of sines are full.
template <int lanes, class T>
__device__ __forceinline__ void divide(Pack<T, lanes>& result, const Pack<T, lanes>& a, const Pack<T, lanes>& b) {
    bool all_usual = true;
#pragma unroll
    for (int lane = 0; lane < lanes; ++lane) {
        all_usual = all_usual && is_usual(b.lane[lane]) && (is_usual(a.lane[lane]) || a.lane[lane] == T{0});
        result.lane[lane] = usual_quotient(a.lane[lane], b.lane[lane]);
    }
    if (!all_usual) {
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            result.lane[lane] = a.lane[lane] / b.lane[lane];
        }
    }
}

/// 1 / (1 + exp(power)), within 5 / 2^24 of itself; 0 where that is below 2^-126. Without the branch of the compiler's
/// quotient, at which neighbours would wait for each other (gates in tf32, 903 rows, n of 1,368: 12 us for 21).
__device__ __forceinline__ float logistic(float power) {
    const float e = expf(power);
    constexpr float most = std::numeric_limits<float>::max();
    return reciprocal_of(1.0F + (e > most ? most : e));  // NaN stays what it is
}
/// The same as instructions: what is too small for a normal number becomes 0, which is all that bf16 needs of it; the
/// functions of the library spend code on such cases.
__device__ __forceinline__ float logistic_in_bf16(float power) {
    constexpr float log2_of_e = 1.4426950408889634F;
    float e;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(power * log2_of_e));
    return reciprocal_seed(1.0F + e);
}

/// One elementwise op on numbers of one type.
template <Op op, OpUse use, class T>
__device__ __forceinline__ T apply(T a, T b, T c) {
    if constexpr (op == Op::silu && use == OpUse::factor_in_bf16 && std::is_same_v<T, float>) {
        // a / (1 + exp(-a)) = a/2 (1 + tanh(a/2)), in one instruction of the unit for such functions in place of two.
        // It errs by up to |a| / 4096: for positive a, by at most a quarter of what rounding can lose; below about -2.4
        // it can be more than rounding loses, and from about -8 on all of the result, which is at most 0.003 there.
        const float half = 0.5F * a;
        float tangent;
        asm("tanh.approx.f32 %0, %1;" : "=f"(tangent) : "f"(half));
        return half + half * tangent;
    } else if constexpr ((op == Op::sigmoid || op == Op::silu || op == Op::gelu) && std::is_same_v<T, float>) {
        const float power = op == Op::gelu ? arithmetic_detail::gelu_power(a) : -a;
        return (op == Op::sigmoid ? 1.0F : a) * (use == OpUse::exact ? logistic(power) : logistic_in_bf16(power));
    } else if constexpr (op == Op::rsqrt && std::is_same_v<T, float>) {
        return reciprocal_root(a);
    } else {
        return elementwise<op, T>(a, b, c);
    }
}

/// An instruction without what points to the host's memory, which device code cannot name.
struct DeviceInstruction {
    Op op = Op::add;
    DType dtype = DType::f32;
    std::array<int, 3> arguments{};
    double immediate = 0;

    constexpr explicit DeviceInstruction(const Instruction& instruction)
        : op(instruction.op), dtype(instruction.dtype), immediate(instruction.immediate) {
        for (std::size_t i = 0; i < arguments.size(); ++i) {
            arguments[i] = static_cast<int>(instruction.arguments[i]);
        }
    }
};

/// The user's operation that an instruction calls.
template <class Source, std::size_t which>
using OperationAt = typename FindOperation<typename Source::Operations, Source::chain.instructions[which].custom>::type;

template <class Source, std::size_t which, int lanes, class Values>
__device__ __forceinline__ void execute(Values& values) {
    constexpr auto given = static_cast<std::size_t>(Source::chain.given);
    constexpr DeviceInstruction instruction(Source::chain.instructions[which]);
    constexpr Op op = instruction.op;
    constexpr auto first = static_cast<std::size_t>(instruction.arguments[0]);
    constexpr auto second = static_cast<std::size_t>(instruction.arguments[1]);
    constexpr auto third = static_cast<std::size_t>(instruction.arguments[2]);
    using T = Element<instruction.dtype>;
    auto& result = at<given + which>(values);
    if constexpr (op == Op::divide && std::is_floating_point_v<T>) {
        divide<lanes>(result, at<first>(values), at<second>(values));
    } else {
#pragma unroll
        for (int lane = 0; lane < lanes; ++lane) {
            if constexpr (op == Op::constant) {
                result.lane[lane] = static_cast<T>(instruction.immediate);
            } else if constexpr (op == Op::cast) {
                result.lane[lane] = convert<T>(at<first>(values).lane[lane]);
            } else if constexpr (op == Op::rotate_pairs) {
                static_assert(lanes % 2 == 0, "totograph: pairs are rotated two elements at a time.");
                result.lane[lane] =
                    lane % 2 == 0 ? -at<first>(values).lane[lane | 1] : at<first>(values).lane[lane & ~1];
            } else if constexpr (op == Op::custom_elementwise) {
                using Operation = OperationAt<Source, which>;
                const auto a = at<first>(values).lane[lane];
                const auto b = at<second>(values).lane[lane];
                const auto c = at<third>(values).lane[lane];
                if constexpr (requires { Operation::apply(a); }) {
                    result.lane[lane] = Operation::apply(a);
                } else if constexpr (requires { Operation::apply(a, b); }) {
                    result.lane[lane] = Operation::apply(a, b);
                } else {
                    result.lane[lane] = Operation::apply(a, b, c);
                }
            } else {
                static_assert(is_arithmetic(op), "totograph: the CUDA executor has no code for this elementwise op.");
                // An op does not read the arguments that it lacks, which may be of any type.
                constexpr OpUse use = !Source::stores_bf16              ? OpUse::exact
                                      : is_factor(Source::chain, which) ? OpUse::factor_in_bf16
                                                                        : OpUse::in_bf16;
                result.lane[lane] = apply<op, use, T>(static_cast<T>(at<first>(values).lane[lane]),
                                                      static_cast<T>(at<second>(values).lane[lane]),
                                                      static_cast<T>(at<third>(values).lane[lane]));
            }
        }
    }
}

}  // namespace chain_detail

/// The values of a chain, for `lanes` elements; where it rotates pairs, those of a pair are neighbours.
template <class Source, int lanes>
using ChainValues = typename chain_detail::ValuesOf<
    Source, lanes, std::make_index_sequence<static_cast<std::size_t>(Source::chain.given + Source::chain.count)>>::type;

/// Runs the chain of `Source`, whose given values are set, and gives the last value.
template <class Source, int lanes>
__device__ __forceinline__ auto run_chain(ChainValues<Source, lanes>& values) {
    constexpr auto given = static_cast<std::size_t>(Source::chain.given);
    constexpr auto count = static_cast<std::size_t>(Source::chain.count);
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (chain_detail::execute<Source, i, lanes>(values), ...);
    }
    (std::make_index_sequence<count>());
    return chain_detail::at<given + count - 1>(values);
}

}  // namespace totograph::cuda
