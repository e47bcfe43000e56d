// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>

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
        default: return tensor_detail::load_as<std::int32_t>(data, at, stride, count, to);
    }
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

/// log(1 + exp(x)) without overflow.
inline double softplus_of(double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

/// One elementwise op on numbers.
inline double apply_elementwise(Op op, double a, double b, double c) {
    switch (op) {
        case Op::add: return a + b;
        case Op::subtract: return a - b;
        case Op::multiply: return a * b;
        case Op::divide: return a / b;
        case Op::maximum: return a > b || std::isnan(a) ? a : b;
        case Op::minimum: return a < b || std::isnan(a) ? a : b;
        case Op::negative: return -a;
        case Op::abs: return std::abs(a);
        case Op::floor: return std::floor(a);
        case Op::exp: return std::exp(a);
        case Op::log: return std::log(a);
        case Op::sin: return std::sin(a);
        case Op::cos: return std::cos(a);
        case Op::sqrt: return std::sqrt(a);
        case Op::rsqrt: return 1.0 / std::sqrt(a);
        case Op::sigmoid: return 1.0 / (1.0 + std::exp(-a));
        case Op::silu: return a / (1.0 + std::exp(-a));
        case Op::softplus: return softplus_of(a);
        case Op::tanh: return std::tanh(a);
        case Op::less: return a < b ? 1.0 : 0.0;
        case Op::equal: return a == b ? 1.0 : 0.0;
        case Op::where: return a != 0.0 ? b : c;
        default: return a;  // cast: the result is rounded where it is stored
    }
}

/// The same on `count` numbers each.
inline void apply_elementwise(Op op, const double* a, const double* b, const double* c, Index count, double* to) {
    const auto each = [&](auto&& function) {
        for (Index i = 0; i < count; ++i) {
            to[i] = function(i);
        }
    };
    switch (op) {  // the frequent ones as loops of their own
        case Op::add: return each([&](Index i) { return a[i] + b[i]; });
        case Op::subtract: return each([&](Index i) { return a[i] - b[i]; });
        case Op::multiply: return each([&](Index i) { return a[i] * b[i]; });
        case Op::divide: return each([&](Index i) { return a[i] / b[i]; });
        case Op::cast: return each([&](Index i) { return a[i]; });
        default: return each([&](Index i) { return apply_elementwise(op, a[i], b[i], c[i]); });
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
