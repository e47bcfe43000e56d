// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include <totograph/core/dtype.hpp>
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

/// A contiguous tensor somewhere in memory.
struct TensorData {
    void* data = nullptr;
    DType dtype = DType::f32;
    Shape shape;

    [[nodiscard]] double get(Index at) const {
        switch (dtype) {
            case DType::f32: return static_cast<const float*>(data)[at];
            case DType::f64: return static_cast<const double*>(data)[at];
            default: return static_cast<const std::int32_t*>(data)[at];
        }
    }
    void set(Index at, double value) const {
        switch (dtype) {
            case DType::f32: static_cast<float*>(data)[at] = static_cast<float>(value); break;
            case DType::f64: static_cast<double*>(data)[at] = value; break;
            default: static_cast<std::int32_t*>(data)[at] = to_i32(value); break;
        }
    }
    [[nodiscard]] float* floats() const { return static_cast<float*>(data); }
    [[nodiscard]] const std::int32_t* integers() const { return static_cast<const std::int32_t*>(data); }
};

namespace evaluate_detail {

/// The arithmetic of an op, found at run time.
using Arithmetic = double (*)(const double& a, const double& b, const double& c);

template <Op op>
constexpr Arithmetic arithmetic_of() {
    if constexpr (is_arithmetic(op)) {
        return &totograph::elementwise<op, double>;
    } else {
        return [](const double& a, const double&, const double&) { return a; };  // a cast is rounded where it is stored
    }
}

inline constexpr auto arithmetic_of_ops = []<std::size_t... op>(std::index_sequence<op...>) {
    return std::array<Arithmetic, op_count>{arithmetic_of<static_cast<Op>(op)>()...};
}
(std::make_index_sequence<op_count>());

}  // namespace evaluate_detail

/// One elementwise op on numbers.
inline double apply_elementwise(Op op, double a, double b, double c) {
    return evaluate_detail::arithmetic_of_ops[static_cast<std::size_t>(op)](a, b, c);
}

/// An elementwise operation of the user on numbers of a dtype.
inline double apply_custom(const CustomOperation& operation, DType dtype, double a, double b, double c) {
    const auto call = [&](auto function) {
        using T = typename decltype(function)::type;
        const T arguments[] = {static_cast<T>(a), static_cast<T>(b), static_cast<T>(c)};
        if constexpr (std::is_same_v<T, float>) {
            return static_cast<double>(operation.scalar(arguments));
        } else if constexpr (std::is_same_v<T, double>) {
            return operation.scalar_f64(arguments);
        } else {
            return static_cast<double>(operation.scalar_i32(arguments));
        }
    };
    switch (dtype) {
        case DType::f32: return call(std::type_identity<float>());
        case DType::f64: return call(std::type_identity<double>());
        default: return call(std::type_identity<std::int32_t>());
    }
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
