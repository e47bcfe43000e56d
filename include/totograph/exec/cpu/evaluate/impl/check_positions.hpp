// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cpu/evaluate/check_positions.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/exec/position_error.hpp>
#include <totograph/graph/graph.hpp>
#include <totograph/graph/op.hpp>

namespace totograph::cpu {

TOTOGRAPH_INLINE void check_positions(GraphView graph, const Node& node, std::span<const TensorData> inputs) {
    const auto check = [&](std::size_t positions, int of, Index last, Index capacity) {
        const std::int32_t* const values = inputs[positions].integers();
        for (Index i = 0; i < inputs[positions].shape.size(); ++i) {
            if (bounded_position(values[i], last) != values[i]) {
                const Node& named = graph.input(node, of);
                const auto error = [&] {
                    return position_error(named.name.empty() ? name(named.op) : named.name, named.layer, values[i],
                                          last, capacity);
                };
                totograph::detail::stop_checked_build(error().what());
                throw error();
            }
        }
    };
    if (node.op == Op::take) {
        const Index capacity = inputs[0].shape[static_cast<int>(node.attributes[0])];
        check(1, 0, capacity - 1, capacity);
    } else if (node.op == Op::store && node.input_count == 3) {
        const auto axis = static_cast<int>(node.attributes[0]);
        check(2, 0, inputs[0].shape[axis] - inputs[1].shape[axis], inputs[0].shape[axis]);
    } else if (node.op == Op::attention) {
        for (const totograph::detail::CountedKeys& counted : totograph::detail::keys_counted_by(node.attention)) {
            const Index capacity = inputs[counted.keys].shape[3];
            check(counted.length, static_cast<int>(counted.keys), capacity, capacity);
        }
    }
}

}  // namespace totograph::cpu
