// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/arithmetic.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>
#include <totograph/graph/record/custom.hpp>

// Tensors and single numbers, as the reference implementation of every op (`evaluate.hpp`) sees them.

namespace totograph::cpu {

/// A number as an i32: towards zero, the nearest one where it has no such value, 0 for NaN.
inline std::int32_t to_i32(double value) noexcept {
    using Limits = std::numeric_limits<std::int32_t>;
    if (std::isnan(value)) {
        return 0;
    }
    return static_cast<std::int32_t>(std::clamp(value, double{Limits::min()}, double{Limits::max()}));
}

namespace tensor_detail {

/// Throws `Error` (`invalid_argument`): a dtype that only stores, which the recorder refuses, has come here.
[[noreturn]] inline void reject_dtype(DType dtype) {
    throw Error(ErrorCode::invalid_argument, "The reference computes in f32, f64 and i32, and was given a tensor of " +
                                                 std::string(name(dtype)) + "; convert it to one of these.");
}

template <class Element>
void load_as(const void* data, Index at, Index stride, Index count, double* to) {
    const Element* from = static_cast<const Element*>(data) + at;
    for (Index i = 0; i < count; ++i) {
        to[i] = static_cast<double>(from[i * stride]);
    }
}

}  // namespace tensor_detail

/// `count` elements from number `at` on that lie `stride` apart.
inline void load_each(const void* data, DType dtype, Index at, Index stride, Index count, double* to) {
    switch (dtype) {
        case DType::f32: return tensor_detail::load_as<float>(data, at, stride, count, to);
        case DType::f64: return tensor_detail::load_as<double>(data, at, stride, count, to);
        case DType::i32: return tensor_detail::load_as<std::int32_t>(data, at, stride, count, to);
        case DType::bf16:
        case DType::f16: break;
    }
    tensor_detail::reject_dtype(dtype);
}

/// A contiguous tensor somewhere in memory.
struct TensorData {
    void* data = nullptr;
    DType dtype = DType::f32;
    Shape shape;

    [[nodiscard]] double get(Index at) const {
        switch (dtype) {
            case DType::f32: return static_cast<const float*>(data)[at];
            case DType::f64: return static_cast<const double*>(data)[at];
            case DType::i32: return static_cast<const std::int32_t*>(data)[at];
            case DType::bf16:
            case DType::f16: break;
        }
        tensor_detail::reject_dtype(dtype);
    }
    void set(Index at, double value) const {
        switch (dtype) {
            case DType::f32: static_cast<float*>(data)[at] = static_cast<float>(value); break;
            case DType::f64: static_cast<double*>(data)[at] = value; break;
            case DType::i32: static_cast<std::int32_t*>(data)[at] = to_i32(value); break;
            case DType::bf16:
            case DType::f16: tensor_detail::reject_dtype(dtype);
        }
    }
    /// The same for `count` elements side by side.
    void set_each(Index at, Index count, const double* values) const {
        if (dtype == DType::f32) {
            std::transform(values, values + count, static_cast<float*>(data) + at,
                           [](double value) { return static_cast<float>(value); });
            return;
        }
        for (Index i = 0; i < count; ++i) {
            set(at + i, values[i]);
        }
    }
    [[nodiscard]] float* floats() const { return static_cast<float*>(data); }
    [[nodiscard]] const std::int32_t* integers() const { return static_cast<const std::int32_t*>(data); }
};

namespace evaluate_detail {

/// The arithmetic of an op on `count` numbers each, found at run time.
using Arithmetic = void (*)(const double* a, const double* b, const double* c, Index count, double* to);

template <Op op>
void apply_each(const double* a, const double* b, const double* c, Index count, double* to) {
    for (Index i = 0; i < count; ++i) {
        if constexpr (is_arithmetic(op)) {
            to[i] = totograph::elementwise<op, double>(a[i], b[i], c[i]);
        } else {
            to[i] = a[i];  // a cast is rounded where it is stored
        }
    }
}

inline constexpr auto arithmetic_of_ops = []<std::size_t... op>(std::index_sequence<op...>) {
    return std::array<Arithmetic, op_count>{&apply_each<static_cast<Op>(op)>...};
}
(std::make_index_sequence<op_count>());

}  // namespace evaluate_detail

/// One elementwise op on `count` numbers each, side by side.
inline void apply_elementwise(Op op, const double* a, const double* b, const double* c, Index count, double* to) {
    evaluate_detail::arithmetic_of_ops[static_cast<std::size_t>(op)](a, b, c, count, to);
}

/// One elementwise op on numbers.
inline double apply_elementwise(Op op, double a, double b, double c) {
    double result = 0;
    apply_elementwise(op, &a, &b, &c, 1, &result);
    return result;
}

/// What a reduction begins with, and what it makes of that and one number after the other; a mean is divided at the
/// end.
inline double start_of_reduction(Op op) {
    return op == Op::amax ? -std::numeric_limits<double>::infinity() : 0.0;
}
inline double reduced(Op op, double before, double value) {
    return op == Op::amax ? elementwise<Op::maximum>(before, value, 0.0) : before + value;
}

/// An elementwise operation of the user on numbers of a dtype.
inline double apply_custom(const CustomOperation& operation, DType dtype, double a, double b, double c) {
    const auto call = [&](auto function) {
        using T = typename decltype(function)::type;
        if constexpr (std::is_same_v<T, std::int32_t>) {
            const T arguments[] = {to_i32(a), to_i32(b), to_i32(c)};
            return static_cast<double>(operation.scalar_i32(arguments));
        } else {
            const T arguments[] = {static_cast<T>(a), static_cast<T>(b), static_cast<T>(c)};
            if constexpr (std::is_same_v<T, float>) {
                return static_cast<double>(operation.scalar(arguments));
            } else {
                return operation.scalar_f64(arguments);
            }
        }
    };
    switch (dtype) {
        case DType::f32: return call(std::type_identity<float>());
        case DType::f64: return call(std::type_identity<double>());
        case DType::i32: return call(std::type_identity<std::int32_t>());
        case DType::bf16:
        case DType::f16: break;
    }
    tensor_detail::reject_dtype(dtype);
}

namespace evaluate_detail {

/// Calls `visit(output offset, input offsets)` for each element of `shape`.
template <class Visit>
void for_each_element(const Shape& shape, std::span<const Strides> strides, Visit&& visit) {
    std::array<Index, max_inputs> at{};
    std::array<Index, max_rank> index{};
    const Index size = shape.size();
    for (Index out = 0; out < size; ++out) {
        visit(out, at);
        for (int axis = shape.rank - 1; axis >= 0; --axis) {
            const auto place = static_cast<std::size_t>(axis);
            ++index[place];
            for (std::size_t i = 0; i < strides.size(); ++i) {
                at[i] += strides[i][place];
            }
            if (index[place] < shape[axis]) {
                break;
            }
            for (std::size_t i = 0; i < strides.size(); ++i) {
                at[i] -= strides[i][place] * shape[axis];
            }
            index[place] = 0;
        }
    }
}

inline void copy_strided(const TensorData& from, const Strides& strides, Index offset, const TensorData& to) {
    for_each_element(to.shape, std::span(&strides, 1),
                     [&](Index out, const auto& at) { to.set(out, from.get(offset + at[0])); });
}

}  // namespace evaluate_detail

}  // namespace totograph::cpu
