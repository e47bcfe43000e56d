// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/evaluate/evaluate.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <totograph/core/categorical.hpp>
#include <totograph/core/dtype.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/random.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/evaluate_attention.hpp>
#include <totograph/exec/cpu/evaluate/evaluate_movement.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/exec/cpu/moments_of_row.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/op_table.hpp>
#include <totograph/graph/passes/location.hpp>
#include <totograph/graph/record/custom.hpp>

namespace totograph::cpu {

namespace evaluate_detail {

/// An op of up to three arguments, `most` elements at a time: every number is computed as it would be alone.
inline void elementwise_in_blocks(Op op, std::span<const TensorData> inputs, std::span<const Strides> strides,
                                  const TensorData& out) {
    constexpr Index most = 256;
    std::array<std::array<double, static_cast<std::size_t>(most)>, 3> arguments{};
    std::array<double, static_cast<std::size_t>(most)> results{};
    // The last axes that each input walks through in even steps are one run; the others are looped over.
    Shape outer = out.shape;
    Index run = 1;
    std::array<Index, max_inputs> steps{};
    for (; outer.rank > 0; --outer.rank) {
        const Index extent = outer[-1];
        const auto axis = static_cast<std::size_t>(outer.rank) - 1;
        bool is_even = true;
        for (std::size_t i = 0; i < strides.size() && extent > 1; ++i) {
            steps[i] = run == 1 ? strides[i][axis] : steps[i];
            is_even = is_even && strides[i][axis] == steps[i] * run;
        }
        if (!is_even) {
            break;
        }
        run *= extent;
    }
    for_each_element(outer, strides, [&](Index at, const auto& in) {
        for (Index done = 0; done < run; done += most) {
            const Index count = std::min(most, run - done);
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                load_each(inputs[i].data, inputs[i].dtype, in[i] + done * steps[i], steps[i], count,
                          arguments[i].data());
            }
            apply_elementwise(op, arguments[0].data(), arguments[1].data(), arguments[2].data(), count, results.data());
            out.set_each(at * run + done, count, results.data());
        }
    });
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
            std::array<double, 3> arguments{};
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                arguments[i] = inputs[i].get(in[i]);
            }
            out.set(at, apply_custom(*node.custom, node.dtype, arguments[0], arguments[1], arguments[2]));
        });
    } else {
        elementwise_in_blocks(node.op, inputs, used, out);
    }
}

inline void reduce(const Node& node, const TensorData& x, const TensorData& out) {
    const Index columns = x.shape[-1];
    for (Index row = 0; row < x.shape.rows(); ++row) {
        double total = start_of_reduction(node.op);
        for (Index column = 0; column < columns; ++column) {
            total = reduced(node.op, total, x.get(row * columns + column));
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

/// The inputs are those of `running_moments`.
inline void moments_of_rows(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    const auto [axis, group, least] = std::array{node.attributes[0], node.attributes[1], node.attributes[2]};
    const Index kinds = out.shape[static_cast<int>(axis)];
    const Index groups = out.shape[-1];
    const bool has_marks = inputs.size() % 3 == 2;
    const std::size_t first_sum = has_marks ? 2 : 1;
    for (Index row = 0; row < inputs[0].shape.rows(); ++row) {
        MomentsOfRow before{};
        for (std::size_t kind = 0; first_sum < inputs.size() && kind < before.size(); ++kind) {
            before[kind] = inputs[first_sum + kind].get(row);
        }
        const Index first = row * groups * group;
        moments_of_row(
            groups, group, least, before, [&](Index step) { return inputs[0].get(first + step); },
            [&](Index step) { return !has_marks || inputs[1].get(first + step) != 0; },
            [&](Index kind, Index g, double sum) { out.set((row * kinds + kind) * groups + g, sum); });
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

inline void argmax_rows(const TensorData& x, const TensorData& out) {
    const Index columns = x.shape[-1];
    for (Index row = 0; row < x.shape.rows(); ++row) {
        const float* values = x.floats() + row * columns;
        Index best = 0;
        for (Index column = 1; column < columns && !std::isnan(values[best]); ++column) {
            best = values[column] > values[best] || std::isnan(values[column]) ? column : best;
        }
        out.set(row, static_cast<double>(best));
    }
}

inline void sort_rows(const TensorData& x, const TensorData& out) {
    const Index columns = x.shape[-1];
    for (Index row = 0; row < x.shape.rows(); ++row) {
        float* const to = out.floats() + row * columns;
        std::copy_n(x.floats() + row * columns, columns, to);
        std::stable_sort(to, to + columns, [](float a, float b) { return a < b || (std::isnan(b) && !std::isnan(a)); });
    }
}

/// x W^T, accumulated in double.
inline void linear(const TensorData& x, const TensorData& weight, const TensorData& out) {
    const Index k = weight.shape[1];
    const Index columns = weight.shape[0];
    const Index rows = x.shape.size() / k;
    for (Index row = 0; row < rows; ++row) {
        for (Index column = 0; column < columns; ++column) {
            double total = 0;
            for (Index i = 0; i < k; ++i) {
                total +=
                    static_cast<double>(x.floats()[row * k + i]) * static_cast<double>(weight.floats()[column * k + i]);
            }
            out.set(row * columns + column, total);
        }
    }
}

/// A B for each B of a batch, accumulated in double: weights are composed once, and exactly.
inline void matmul(const TensorData& a, const TensorData& b, const TensorData& out) {
    const Index outer = a.shape[0];
    const Index inner = a.shape[1];
    const Index columns = b.shape[-1];
    std::vector<double> row(static_cast<std::size_t>(columns));
    for (Index part = 0; part < b.shape[0]; ++part) {
        for (Index i = 0; i < outer; ++i) {
            std::fill(row.begin(), row.end(), 0.0);
            for (Index k = 0; k < inner; ++k) {
                const auto factor = static_cast<double>(a.floats()[i * inner + k]);
                const float* values = b.floats() + (part * inner + k) * columns;
                for (Index column = 0; column < columns; ++column) {
                    row[static_cast<std::size_t>(column)] += factor * static_cast<double>(values[column]);
                }
            }
            std::transform(row.begin(), row.end(), out.floats() + (part * outer + i) * columns,
                           [](double value) { return static_cast<float>(value); });
        }
    }
}

inline void sample_mixture(std::span<const TensorData> inputs, const TensorData& out) {
    const Shape& parameters = inputs[1].shape;  // [batch, 1 or samples, variates, patches, steps, components]
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
        key.sample = static_cast<std::uint32_t>(sample + inputs[5].integers()[1]);
        key.time = static_cast<std::uint32_t>((inputs[6].integers()[0] + patch) * shape[4] + step);
        out.floats()[at] =
            sample_student_t_mixture(static_cast<int>(components), inputs[0].floats() + from, inputs[1].floats() + from,
                                     inputs[2].floats() + from, inputs[3].floats() + from, key);
    }
}

/// Logits are `[series, 1 or samples, variates, positions, vocabulary]`.
inline void sample_ids(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    const Shape& logits = inputs[0].shape;
    const Shape& shape = out.shape;
    const CategoricalOptions options{inputs[1].integers()[0], inputs[2].floats()[0], node.attributes[1] != 0,
                                     node.attributes[2] != 0 ? inputs[6].floats()[0] : 1.0F};
    SampleKey key;
    key.seed = static_cast<std::uint32_t>(inputs[3].integers()[0]) |
               static_cast<std::uint64_t>(static_cast<std::uint32_t>(inputs[3].integers()[1])) << 32U;
    for (Index at = 0; at < shape.size(); ++at) {
        const Index position = at % shape[3];
        const Index variate = at / shape[3] % shape[2];
        const Index sample = at / shape[3] / shape[2] % shape[1];
        const Index series = at / shape[3] / shape[2] / shape[1];
        const Index shared = logits[1] == 1 ? 0 : sample;
        const Index from = (((series * logits[1] + shared) * shape[2] + variate) * shape[3] + position) * logits[4];
        key.series = static_cast<std::uint32_t>(series + inputs[4].integers()[0]);
        key.variate = static_cast<std::uint32_t>(variate);
        key.sample = static_cast<std::uint32_t>(sample + inputs[4].integers()[1]);
        key.time = static_cast<std::uint32_t>(inputs[5].integers()[0] + position);
        static_cast<std::int32_t*>(out.data)[at] = sample_categorical(
            logits[4], [&](Index id) { return inputs[0].floats()[from + id]; }, options,
            random_words(key).word[node.attributes[0]]);
    }
}

inline void iota(const TensorData& out) {
    for (Index i = 0; i < out.shape.size(); ++i) {
        out.set(i, static_cast<double>(i));
    }
}

inline void copy(const TensorData& x, const TensorData& out) {
    std::memcpy(out.data, x.data, static_cast<std::size_t>(out.shape.size()) * size_in_bytes(out.dtype));
}

inline void slice(const Node& node, const TensorData& x, const TensorData& out) {
    Strides strides = contiguous_strides(x.shape);
    auto& stride = strides[static_cast<std::size_t>(node.attributes[0])];
    const Index offset = node.attributes[1] * stride;
    stride *= node.attributes[2];
    copy_strided(x, strides, offset, out);
}

inline void permute(const Node& node, const TensorData& x, const TensorData& out) {
    const Strides from = contiguous_strides(x.shape);
    Strides strides{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(out.shape.rank); ++axis) {
        strides[axis] = from[static_cast<std::size_t>(node.attributes[axis])];
    }
    copy_strided(x, strides, 0, out);
}

inline void expand(const TensorData& x, const TensorData& out) {
    copy_strided(x, totograph::detail::broadcast_strides(x.shape, contiguous_strides(x.shape), out.shape), 0, out);
}

/// A node of an op. The inputs of a `store` begin with the value.
template <Op op>
void compute(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    if constexpr (is_elementwise(op)) {
        elementwise(node, inputs, out);
    } else if constexpr (op == Op::constant) {
        out.set(0, node.immediate);
    } else if constexpr (op == Op::iota) {
        iota(out);
    } else if constexpr (op == Op::reshape) {
        copy(inputs[0], out);
    } else if constexpr (op == Op::slice) {
        slice(node, inputs[0], out);
    } else if constexpr (op == Op::permute) {
        permute(node, inputs[0], out);
    } else if constexpr (op == Op::expand) {
        expand(inputs[0], out);
    } else if constexpr (op == Op::concatenate) {
        concatenate(node, inputs, out);
    } else if constexpr (op == Op::take) {
        take(node, inputs, out);
    } else if constexpr (op == Op::embedding) {
        embedding(inputs, out);
    } else if constexpr (op_row(op).kind == OpClass::reduction) {
        reduce(node, inputs[0], out);
    } else if constexpr (op == Op::cumsum) {
        scan(inputs[0], out);
    } else if constexpr (op == Op::running_moments) {
        moments_of_rows(node, inputs, out);
    } else if constexpr (op == Op::softmax) {
        softmax_rows(inputs[0], out);
    } else if constexpr (op == Op::argmax) {
        argmax_rows(inputs[0], out);
    } else if constexpr (op == Op::sort) {
        sort_rows(inputs[0], out);
    } else if constexpr (op == Op::linear) {
        linear(inputs[0], inputs[1], out);
    } else if constexpr (op == Op::matmul) {
        matmul(inputs[0], inputs[1], out);
    } else if constexpr (op == Op::attention) {
        attention(node, inputs, out);
    } else if constexpr (op == Op::sample_student_t_mixture) {
        sample_mixture(inputs, out);
    } else if constexpr (op == Op::sample_categorical) {
        sample_ids(node, inputs, out);
    } else if constexpr (op == Op::store) {
        store(node, inputs, out);
    } else {
        static_assert(op == Op::weight || op == Op::state || op == Op::opaque,
                      "totograph: an op has no reference implementation; add it to `evaluate/impl/evaluate.hpp`.");
    }
}

/// The code of an op, of those whose bits are set; null for others, which are not compiled for it.
template <std::uint64_t ops, std::size_t op>
constexpr Evaluate compute_if_wanted() {
    if constexpr ((ops >> op & 1U) != 0) {
        return &compute<static_cast<Op>(op)>;
    } else {
        return nullptr;
    }
}

template <std::uint64_t ops>
inline constexpr auto compute_of_ops = []<std::size_t... op>(std::index_sequence<op...>) {
    static_assert(op_count <= 64, "totograph: sets of ops are numbers of 64 bits.");
    return std::array<Evaluate, op_count>{compute_if_wanted<ops, op>()...};
}
(std::make_index_sequence<op_count>());

}  // namespace evaluate_detail

/// `evaluate` for nodes of the ops whose bits are set, which alone are compiled for it.
template <std::uint64_t ops>
void evaluate_some(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    evaluate_detail::compute_of_ops<ops>[static_cast<std::size_t>(node.op)](node, inputs, out);
}

TOTOGRAPH_INLINE void evaluate(const Node& node, std::span<const TensorData> inputs, const TensorData& out) {
    evaluate_some<~std::uint64_t{0}>(node, inputs, out);
}

}  // namespace totograph::cpu
