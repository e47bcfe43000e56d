// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/passes/location.hpp>

// Copies, element by element.

namespace totograph::cuda {

/// An i32 operand with one element, or one a series.
template <class K, int which>
__device__ __forceinline__ std::int32_t integer_of(const std::int32_t* values, Offset<K> series) {
    constexpr Operand operand = K::kernel.operands[static_cast<std::size_t>(which)];
    if constexpr (operand.shape.size() == 1) {
        return *values;
    } else {
        return values[series * static_cast<Offset<K>>(operand.strides[0])];
    }
}

/// Calls `write(place, read(place))` for the elements of a shape that are in use, shared among threads.
template <class K, class Of, class Threads, class Used, class Read, class Write>
__device__ __forceinline__ void for_each_place(const Used& used, Read&& read, Write&& write) {
    Threads::template for_each<static_cast<Offset<K>>(Of::shape.size())>(
        [&](Offset<K> item) { return read(place_of<K, Of>(item)); },
        [&](Offset<K> item, const auto& value) { write(place_of<K, Of>(item), value); },
        [&](Offset<K> item) { return used.template has_place<Of>(place_of<K, Of>(item)); });
}

/// Whether a thread may have an element of a shape.
template <class K, class Of, class Threads>
__device__ __forceinline__ bool has_place() {
    return Threads::template has_item<static_cast<Offset<K>>(Of::shape.size())>();
}

/// The strides of what is taken from, all axes but the taken one.
template <class K>
struct StridesOfTaken {
    static constexpr Strides strides = [] {
        Strides result = K::kernel.operands[0].strides;
        result[static_cast<std::size_t>(K::kernel.attributes[0])] = 0;
        return result;
    }();
};

template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_take(const KernelCall& call, const Used& used) {
    if (!has_place<K, IterationOf<K>, Threads>()) {
        return;
    }
    constexpr auto step =
        static_cast<Offset<K>>(K::kernel.operands[0].strides[static_cast<std::size_t>(K::kernel.attributes[0])]);
    constexpr auto last = static_cast<std::int32_t>(
        K::kernel.operands[0].shape.extents[static_cast<std::size_t>(K::kernel.attributes[0])] - 1);
    using T = Element<K::kernel.dtype>;
    const auto* in = call.operands[0].get<T>(positions_of<K>(call));
    const auto* positions = call.operands[1].get<std::int32_t>(positions_of<K>(call));
    auto* out = call.output.get<T>(positions_of<K>(call));
    for_each_place<K, IterationOf<K>, Threads>(
        used,
        [&](const auto& place) {
            const std::int32_t position = call.report.bounded(integer_of<K, 1>(positions, place.at[0]), last);
            return in[offset_of<K, StridesOfTaken<K>>(place) + step * position];
        },
        [&](const auto& place, const T& value) { out[offset_of<K, StridesOfOutput<K>>(place)] = value; });
}

/// The strides of ids over the iteration, which has one axis more, and those of a table's columns.
template <class K>
struct StridesOfIds {
    static constexpr Strides strides = [] {
        Strides result = K::kernel.operands[1].strides;
        result[static_cast<std::size_t>(K::kernel.iteration.rank - 1)] = 0;
        return result;
    }();
};
template <class K>
struct StridesOfColumns {
    static constexpr Strides strides = [] {
        Strides result{};
        result[static_cast<std::size_t>(K::kernel.iteration.rank - 1)] = K::kernel.operands[0].strides[1];
        return result;
    }();
};

/// Rows of a table by ids; NaN for an id that names none.
template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_embedding(const KernelCall& call, const Used& used) {
    if (!has_place<K, IterationOf<K>, Threads>()) {
        return;
    }
    constexpr auto rows = static_cast<std::int32_t>(K::kernel.operands[0].shape.extents[0]);
    constexpr auto step = static_cast<Offset<K>>(K::kernel.operands[0].strides[0]);
    const auto* table = call.operands[0].get<float>(positions_of<K>(call));
    const auto* ids = call.operands[1].get<std::int32_t>(positions_of<K>(call));
    auto* out = call.output.get<float>(positions_of<K>(call));
    for_each_place<K, IterationOf<K>, Threads>(
        used,
        [&](const auto& place) {
            const std::int32_t id = ids[offset_of<K, StridesOfIds<K>>(place)];
            const bool is_row = id >= 0 && id < rows;
            const float value = table[(is_row ? step * id : 0) + offset_of<K, StridesOfColumns<K>>(place)];
            return is_row ? value : __int_as_float(0x7fc00000);
        },
        [&](const auto& place, float value) { out[offset_of<K, StridesOfOutput<K>>(place)] = value; });
}

template <class K, std::size_t which>
struct OperandShapeOf {
    static constexpr Shape shape = K::kernel.operands[which].shape;
};

/// One operand of a concatenation, to its place.
template <class K, std::size_t which, class Threads, class Used>
__device__ void copy_part(const KernelCall& call, const Used& used) {
    if (!has_place<K, OperandShapeOf<K, which>, Threads>()) {
        return;
    }
    using T = Element<K::kernel.dtype>;
    constexpr auto axis = static_cast<std::size_t>(K::kernel.attributes[0]);
    constexpr Index begin = [] {
        Index total = 0;
        for (int before = 0; before < static_cast<int>(which); ++before) {
            total += K::kernel.operands[static_cast<std::size_t>(before)].shape.extents[axis];
        }
        return total * K::kernel.output_strides[axis];
    }();
    const auto* in = call.operands[which].template get<T>(positions_of<K>(call));
    auto* out = call.output.get<Output<K>>(positions_of<K>(call)) + begin;
    for_each_place<K, OperandShapeOf<K, which>, Threads>(
        used, [&](const auto& place) { return in[offset_of<K, StridesOfOperand<K, static_cast<int>(which)>>(place)]; },
        [&](const auto& place, const T& value) {
            out[offset_of<K, StridesOfOutput<K>>(place)] = stored_as<Output<K>>(value);
        });
}

template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_concatenate(const KernelCall& call, const Used& used) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (copy_part<K, i, Threads>(call, used), ...);
    }
    (std::make_index_sequence<static_cast<std::size_t>(K::kernel.operand_count)>());
}

/// The strides of what is stored, over the stored shape.
template <class K>
struct StridesOfStored {
    static constexpr Strides strides = totograph::detail::broadcast_strides(
        K::kernel.operands[0].shape, K::kernel.operands[0].strides, K::kernel.iteration);
};

/// The first operand goes into the state; a second one is the position.
template <class K, class Threads = Blocks<>, class Used = UsedExtents<K>>
__device__ void run_store(const KernelCall& call, const Used& used) {
    if (!has_place<K, IterationOf<K>, Threads>()) {
        return;
    }
    using T = Element<K::kernel.dtype>;
    constexpr auto step = static_cast<Offset<K>>(
        K::kernel.iteration.rank == 0 ? 0
                                      : K::kernel.output_strides[static_cast<std::size_t>(K::kernel.attributes[0])]);
    const auto* in = call.operands[0].get<T>(positions_of<K>(call));
    auto* out = call.output.get<T>(positions_of<K>(call));
    const std::int32_t* positions = nullptr;
    if constexpr (K::kernel.operand_count == 2) {
        positions = call.operands[1].get<std::int32_t>(positions_of<K>(call));
    }
    for_each_place<K, IterationOf<K>, Threads>(
        used, [&](const auto& place) { return in[offset_of<K, StridesOfStored<K>>(place)]; },
        [&](const auto& place, const T& value) {
            Offset<K> position = static_cast<Offset<K>>(K::kernel.attributes[1]);
            if constexpr (K::kernel.operand_count == 2) {
                constexpr auto last = static_cast<std::int32_t>(K::kernel.attributes[2]);
                position = call.report.bounded(integer_of<K, 1>(positions, place.at[0]), last);
            }
            out[offset_of<K, StridesOfOutput<K>>(place) + position * step] = value;
        });
}

}  // namespace totograph::cuda
