// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/passes/location.hpp>

// The reference implementation of what moves elements to places that are data.

namespace totograph::cpu::evaluate_detail {

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

/// `inputs` are the table and the ids.
inline void embedding(std::span<const TensorData> inputs, const TensorData& out) {
    const Index width = out.shape[-1];
    for (Index row = 0; row < inputs[1].shape.size(); ++row) {
        const Index id = inputs[1].integers()[row];
        const bool is_row = id >= 0 && id < inputs[0].shape[0];
        for (Index column = 0; column < width; ++column) {
            out.set(row * width + column,
                    is_row ? inputs[0].get(id * width + column) : std::numeric_limits<double>::quiet_NaN());
        }
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

}  // namespace totograph::cpu::evaluate_detail
