// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/position_error.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <totograph/core/error.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/facts.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/plan/tables.hpp>

namespace totograph {

TOTOGRAPH_INLINE Error position_error(std::string_view name, int layer, Index position, Index last, Index capacity) {
    return {ErrorCode::position_out_of_bounds,
            "Position " + std::to_string(position) + " of '" + std::string(name) + "'" +
                (layer < 0 ? "" : " of layer " + std::to_string(layer)) + " is out of bounds: with its capacity of " +
                std::to_string(capacity) + ", positions 0 to " + std::to_string(last) +
                " can be used here. What this run left in the states is of no use. If it is a cache, it is full: reset "
                "it, or give it a larger capacity; else correct the state that holds the position."};
}

namespace detail {

inline constexpr CountedKeys counted_keys[] = {
    {AttentionDescription::length_input, 1},
    {AttentionDescription::suffix_length_input, AttentionDescription::suffix_key_input}};

TOTOGRAPH_INLINE std::span<const CountedKeys> keys_counted_by(const AttentionDescription& attention) {
    return std::span(counted_keys).first(!attention.checks_lengths() ? 0 : attention.has_suffix ? 2 : 1);
}

TOTOGRAPH_INLINE Error position_error(const ProgramTables& tables, const PositionFault& fault) {
    const Index position = fault.position;
    const Step& step = tables.steps[static_cast<std::size_t>(fault.step)];
    const Kernel& kernel = tables.kernels[static_cast<std::size_t>(step.kernel)];
    const auto is_outside = [&](Index last) {
        return bounded_position(position, last) != position && (fault.last < 0 || fault.last == last);
    };
    const auto error_of = [&](const Reference& reference, Index last, Index capacity) {
        if (reference.space != Space::state) {
            return totograph::position_error("an intermediate", -1, position, last, capacity);
        }
        const StateSlot& slot = tables.states[static_cast<std::size_t>(reference.index)];
        return totograph::position_error(slot.name, slot.layer, position, last, capacity);
    };
    const auto is_wrong = [&](const Reference& reference) {
        return reference.position >= 0 && is_outside(reference.last_position);
    };
    if (kernel.kind == KernelKind::structural) {
        const auto axis = static_cast<int>(kernel.attributes[0]);
        if (kernel.op == Op::take && is_outside(kernel.operands[0].shape[axis] - 1)) {
            const Index capacity = kernel.operands[0].shape[axis];
            return error_of(step.operands[0], capacity - 1, capacity);
        }
        if (kernel.op == Op::store && kernel.operand_count == 2 && is_outside(kernel.attributes[2])) {
            const Shape& state = tables.states[static_cast<std::size_t>(step.output.index)].shape;
            return error_of(step.output, kernel.attributes[2], state[axis]);
        }
        if (kernel.op == Op::attention) {
            for (const CountedKeys& counted : keys_counted_by(kernel.attention)) {
                const Index capacity = kernel.operands[counted.keys].shape[3];
                if (is_outside(capacity)) {
                    return error_of(step.operands[counted.keys], capacity, capacity);
                }
            }
        }
    }
    for (const Reference* reference : {&step.output, &step.input}) {
        if (is_wrong(*reference)) {
            return error_of(*reference, reference->last_position, reference->capacity);
        }
    }
    for (const Reference& reference : step.operands) {
        if (is_wrong(reference)) {
            return error_of(reference, reference.last_position, reference.capacity);
        }
    }
    if (fault.last >= 0) {  // of something else that the step uses
        return position_error(tables, {fault.step, position, -1});
    }
    return totograph::position_error("an intermediate", -1, position, 0, 1);
}

}  // namespace detail
}  // namespace totograph
