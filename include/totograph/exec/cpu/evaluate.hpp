// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/random.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/simd.hpp>
#include <totograph/graph/custom.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/location.hpp>
#include <totograph/graph/op.hpp>

// The reference implementation of every op: one node at a time, one number at a time, in double where that costs
// nothing. The eager executor runs models with it; the fused executor prepares weights with it and is tested against
// it.

namespace totograph::cpu {

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
            default: static_cast<std::int32_t*>(data)[at] = static_cast<std::int32_t>(value); break;
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
        case Op::maximum: return std::max(a, b);
        case Op::minimum: return std::min(a, b);
        case Op::negate: return -a;
        case Op::absolute: return std::abs(a);
        case Op::floor: return std::floor(a);
        case Op::exponential: return std::exp(a);
        case Op::logarithm: return std::log(a);
        case Op::sine: return std::sin(a);
        case Op::cosine: return std::cos(a);
        case Op::square_root: return std::sqrt(a);
        case Op::reciprocal_square_root: return 1.0 / std::sqrt(a);
        case Op::sigmoid: return 1.0 / (1.0 + std::exp(-a));
        case Op::silu: return a / (1.0 + std::exp(-a));
        case Op::softplus: return softplus_of(a);
        case Op::hyperbolic_tangent: return std::tanh(a);
        case Op::less: return a < b ? 1.0 : 0.0;
        case Op::equal: return a == b ? 1.0 : 0.0;
        case Op::select: return a != 0.0 ? b : c;
        default: return a;  // cast: the result is rounded where it is stored
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

inline void elementwise(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    std::array<Strides, max_inputs> strides{};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        strides[i] =
            totograph::detail::broadcast_strides(inputs[i].shape, contiguous_strides(inputs[i].shape), out.shape);
    }
    const std::span<const Strides> used(strides.data(), inputs.size());
    if (node.op == Op::rotate_pairs) {
        for_each_element(out.shape, used, [&](Index at, const auto& in) {
            out.set(at, at % 2 == 0 ? -inputs[0].get(in[0] + 1) : inputs[0].get(in[0] - 1));
        });
    } else if (node.op == Op::custom_elementwise) {
        for_each_element(out.shape, used, [&](Index at, const auto& in) {
            std::array<float, 3> arguments{};
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                arguments[i] = static_cast<float>(inputs[i].get(in[i]));
            }
            out.set(at, node.custom->scalar(arguments.data()));
        });
    } else {
        for_each_element(out.shape, used, [&](Index at, const auto& in) {
            const double a = inputs[0].get(in[0]);
            const double b = inputs.size() > 1 ? inputs[1].get(in[1]) : 0.0;
            const double c = inputs.size() > 2 ? inputs[2].get(in[2]) : 0.0;
            out.set(at, apply_elementwise(node.op, a, b, c));
        });
    }
}

inline void reduce(const Node& node, const TensorData& x, const TensorData& out) {
    const Index columns = x.shape[-1];
    for (Index row = 0; row < x.shape.rows(); ++row) {
        double total = 0;
        for (Index column = 0; column < columns; ++column) {
            total += x.get(row * columns + column);
        }
        out.set(row, node.op == Op::mean ? total / static_cast<double>(columns) : total);
    }
}

inline void scan(const TensorData& x, const TensorData& out) {
    const Index columns = x.shape[-1];
    for (Index row = 0; row < x.shape.rows(); ++row) {
        double total = 0;
        for (Index column = 0; column < columns; ++column) {
            total += x.get(row * columns + column);
            out.set(row * columns + column, total);
        }
    }
}

inline void softmax_rows(const TensorData& x, const TensorData& out) {
    const Index columns = x.shape[-1];
    for (Index row = 0; row < x.shape.rows(); ++row) {
        double largest = -std::numeric_limits<double>::infinity();
        for (Index column = 0; column < columns; ++column) {
            largest = std::max(largest, x.get(row * columns + column));
        }
        double total = 0;
        for (Index column = 0; column < columns; ++column) {
            total += std::exp(x.get(row * columns + column) - largest);
        }
        for (Index column = 0; column < columns; ++column) {
            out.set(row * columns + column, std::exp(x.get(row * columns + column) - largest) / total);
        }
    }
}

inline void linear(const TensorData& x, const TensorData& weight, const TensorData& out) {
    using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Index depth = weight.shape[1];
    const Index columns = weight.shape[0];
    const Index rows = x.shape.size() / depth;
    const Eigen::Map<const Matrix> left(x.floats(), rows, depth);
    const Eigen::Map<const Matrix> right(weight.floats(), columns, depth);
    Eigen::Map<Matrix> result(out.floats(), rows, columns);
    result.noalias() = left * right.transpose();
}

/// A B for each B of a batch, accumulated in double: weights are composed once, and exactly.
inline void matrix_product(const TensorData& a, const TensorData& b, const TensorData& out) {
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using Floats = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
    const Index outer = a.shape[0];
    const Index inner = a.shape[1];
    const Index depth = b.shape[-1];
    const Matrix left = Floats(a.floats(), outer, inner).cast<double>();
    for (Index part = 0; part < b.shape[0]; ++part) {
        const Matrix right = Floats(b.floats() + part * inner * depth, inner, depth).cast<double>();
        Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
            out.floats() + part * outer * depth, outer, depth) = (left * right).cast<float>();
    }
}

/// Rows of queries, keys and values of an attention.
struct Rows {
    const TensorData* tensor;

    [[nodiscard]] const float* at(Index series, Index sample, Index variate, Index position) const {
        const Shape& shape = tensor->shape;
        const Index shared = shape[1] == 1 ? 0 : sample;
        return tensor->floats() +
               (((series * shape[1] + shared) * shape[2] + variate) * shape[3] + position) * shape[4];
    }
};

/// One head of one query over some keys and values.
inline void attend(const float* query, const std::vector<const float*>& keys, const std::vector<const float*>& values,
                   Index offset, Index width, float* out) {
    std::vector<double> scores(keys.size());
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < keys.size(); ++k) {
        double dot = 0;
        for (Index d = 0; d < width; ++d) {
            dot += static_cast<double>(query[offset + d]) * static_cast<double>(keys[k][offset + d]);
        }
        scores[k] = dot / std::sqrt(static_cast<double>(width));
        largest = std::max(largest, scores[k]);
    }
    double total = 0;
    for (double& score : scores) {
        score = std::exp(score - largest);
        total += score;
    }
    for (Index d = 0; d < width; ++d) {
        double sum = 0;
        for (std::size_t k = 0; k < keys.size(); ++k) {
            sum += scores[k] * static_cast<double>(values[k][offset + d]);
        }
        out[offset + d] = keys.empty() ? 0.0F : static_cast<float>(sum / total);
    }
}

/// Any attention: `collect(series, sample, variate, position, keys, values)` lists what a query sees.
template <class Collect>
void attention(const TensorData& query, Index heads, const TensorData& out, Collect&& collect) {
    const Shape& shape = query.shape;
    const Index width = shape[4] / heads;
    std::vector<const float*> keys;
    std::vector<const float*> values;
    for (Index row = 0; row < shape.rows(); ++row) {
        const Index position = row % shape[3];
        const Index variate = row / shape[3] % shape[2];
        const Index sample = row / shape[3] / shape[2] % shape[1];
        const Index series = row / shape[3] / shape[2] / shape[1];
        keys.clear();
        values.clear();
        collect(series, sample, variate, position, keys, values);
        for (Index head = 0; head < heads; ++head) {
            attend(query.floats() + row * shape[4], keys, values, head * width, width, out.floats() + row * shape[4]);
        }
    }
}

inline void causal_attention(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    const Rows key{&inputs[1]};
    const Rows value{&inputs[2]};
    attention(inputs[0], node.attributes[0], out, [&](Index b, Index s, Index v, Index p, auto& keys, auto& values) {
        const Index valid = inputs[3].integers()[inputs[3].shape.size() == 1 ? 0 : b];
        for (Index other = 0; other <= p && other < valid && p < valid; ++other) {
            keys.push_back(key.at(b, s, v, other));
            values.push_back(value.at(b, s, v, other));
        }
    });
}

inline void cached_attention(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    const Rows prefix_key{&inputs[1]};
    const Rows prefix_value{&inputs[2]};
    const Rows suffix_key{&inputs[4]};
    const Rows suffix_value{&inputs[5]};
    attention(inputs[0], node.attributes[0], out, [&](Index b, Index s, Index v, Index, auto& keys, auto& values) {
        for (Index p = 0; p < inputs[3].integers()[inputs[3].shape.size() == 1 ? 0 : b]; ++p) {
            keys.push_back(prefix_key.at(b, s, v, p));
            values.push_back(prefix_value.at(b, s, v, p));
        }
        for (Index p = 0; p < inputs[6].integers()[0]; ++p) {
            keys.push_back(suffix_key.at(b, s, v, p));
            values.push_back(suffix_value.at(b, s, v, p));
        }
    });
}

inline void variate_attention(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    const Rows key{&inputs[1]};
    const Rows value{&inputs[2]};
    const Shape& groups = inputs[3].shape;
    const auto group = [&](Index b, Index v, Index p) {
        return inputs[3].integers()[(b * groups[1] + v) * groups[2] + p];
    };
    attention(inputs[0], node.attributes[0], out, [&](Index b, Index s, Index v, Index p, auto& keys, auto& values) {
        for (Index other = 0; other < groups[1]; ++other) {
            if (group(b, other, p) == group(b, v, p)) {
                keys.push_back(key.at(b, s, other, p));
                values.push_back(value.at(b, s, other, p));
            }
        }
    });
}

inline void sample_mixture(std::span<const TensorData> inputs, const TensorData& out) {
    const Shape& parameters = inputs[1].shape;  // [series, 1 or samples, variates, patches, steps, components]
    const Shape& shape = out.shape;
    const Index components = parameters[5];
    const std::uint64_t seed = static_cast<std::uint32_t>(inputs[4].integers()[0]) |
                               static_cast<std::uint64_t>(static_cast<std::uint32_t>(inputs[4].integers()[1])) << 32U;
    for (Index at = 0; at < shape.size(); ++at) {
        const Index step = at % shape[4];
        const Index patch = at / shape[4] % shape[3];
        const Index variate = at / shape[4] / shape[3] % shape[2];
        const Index sample = at / shape[4] / shape[3] / shape[2] % shape[1];
        const Index series = at / shape[4] / shape[3] / shape[2] / shape[1];
        const Index shared = parameters[1] == 1 ? 0 : sample;
        const Index from =
            ((((series * parameters[1] + shared) * shape[2] + variate) * shape[3] + patch) * shape[4] + step) *
            components;
        SampleKey key;
        key.seed = seed;
        key.series = static_cast<std::uint32_t>(series + inputs[5].integers()[0]);
        key.variate = static_cast<std::uint32_t>(variate);
        key.sample = static_cast<std::uint32_t>(sample);
        key.time = static_cast<std::uint32_t>((inputs[6].integers()[0] + patch) * shape[4] + step);
        out.floats()[at] =
            sample_student_t_mixture(static_cast<int>(components), inputs[0].floats() + from, inputs[1].floats() + from,
                                     inputs[2].floats() + from, inputs[3].floats() + from, key);
    }
}

inline void take(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    Strides strides = contiguous_strides(inputs[0].shape);
    const auto axis = static_cast<std::size_t>(node.attributes[0]);
    const Index step = strides[axis];
    strides[axis] = 0;
    const bool shared = inputs[1].shape.size() == 1;
    const Index in_series = out.shape.size() / out.shape[0];
    evaluate_detail::for_each_element(out.shape, std::span(&strides, 1), [&](Index at, const auto& from) {
        out.set(at, inputs[0].get(from[0] + step * inputs[1].integers()[shared ? 0 : at / in_series]));
    });
}

inline void concatenate(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    const auto axis = static_cast<int>(node.attributes[0]);
    Index begin = 0;
    for (const TensorData& input : inputs) {
        const Strides strides = contiguous_strides(out.shape);
        const Index offset = begin * strides[static_cast<std::size_t>(axis)];
        for_each_element(input.shape, std::span(&strides, 1),
                         [&](Index at, const auto& to) { out.set(offset + to[0], input.get(at)); });
        begin += input.shape[axis];
    }
}

/// `out` is the state; `inputs` are the value and, for `store_at`, the position.
inline void store(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    Shape loop = node.shape;
    for (int axis = 0; axis < out.shape.rank; ++axis) {
        if (axis != node.attributes[0]) {
            loop[axis] = out.shape[axis];
        }
    }
    const std::array<Strides, 2> strides{
        totograph::detail::broadcast_strides(inputs[0].shape, contiguous_strides(inputs[0].shape), loop),
        contiguous_strides(out.shape)};
    const Index step = out.shape.rank == 0 ? 0 : strides[1][static_cast<std::size_t>(node.attributes[0])];
    const bool per_series = inputs.size() == 2 && inputs[1].shape.size() != 1;
    const Index in_series = loop.rank == 0 ? 1 : loop.size() / loop[0];
    for_each_element(loop, strides, [&](Index at, const auto& offsets) {
        Index position = node.attributes[1];
        if (inputs.size() == 2) {
            position = inputs[1].integers()[per_series ? at / in_series : 0];
        }
        out.set(offsets[1] + position * step, inputs[0].get(offsets[0]));
    });
}

}  // namespace evaluate_detail

/// Computes one node. For a `store`, `out` is the state and `inputs` begin with the value.
inline void evaluate(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    using namespace evaluate_detail;
    switch (node.op) {
        case Op::constant: out.set(0, node.immediate); return;
        case Op::iota:
            for (Index i = 0; i < out.shape.size(); ++i) {
                out.set(i, static_cast<double>(i));
            }
            return;
        case Op::reshape:
            std::memcpy(out.data, inputs[0].data,
                        static_cast<std::size_t>(out.shape.size()) * size_in_bytes(out.dtype));
            return;
        case Op::slice: {
            Strides strides = contiguous_strides(inputs[0].shape);
            auto& stride = strides[static_cast<std::size_t>(node.attributes[0])];
            const Index offset = node.attributes[1] * stride;
            stride *= node.attributes[2];
            return copy_strided(inputs[0], strides, offset, out);
        }
        case Op::permute: {
            const Strides from = contiguous_strides(inputs[0].shape);
            Strides strides{};
            for (std::size_t axis = 0; axis < static_cast<std::size_t>(out.shape.rank); ++axis) {
                strides[axis] = from[static_cast<std::size_t>(node.attributes[axis])];
            }
            return copy_strided(inputs[0], strides, 0, out);
        }
        case Op::expand:
            return copy_strided(
                inputs[0],
                totograph::detail::broadcast_strides(inputs[0].shape, contiguous_strides(inputs[0].shape), out.shape),
                0, out);
        case Op::concatenate: return concatenate(node, inputs, out);
        case Op::take: return take(node, inputs, out);
        case Op::sum:
        case Op::mean: return reduce(node, inputs[0], out);
        case Op::cumulative_sum: return scan(inputs[0], out);
        case Op::softmax: return softmax_rows(inputs[0], out);
        case Op::linear: return linear(inputs[0], inputs[1], out);
        case Op::matrix_product: return matrix_product(inputs[0], inputs[1], out);
        case Op::causal_attention: return causal_attention(node, inputs, out);
        case Op::cached_attention: return cached_attention(node, inputs, out);
        case Op::variate_attention: return variate_attention(node, inputs, out);
        case Op::sample_student_t_mixture: return sample_mixture(inputs, out);
        case Op::store: return store(node, inputs, out);
        default: return elementwise(node, inputs, out);
    }
}

}  // namespace totograph::cpu
