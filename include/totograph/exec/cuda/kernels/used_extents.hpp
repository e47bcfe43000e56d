// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/kernels/element_places.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/graph/bounds.hpp>

// What of a kernel's loop is in use, as the state of bounds says when the kernel runs. Nobody reads the rest: whether a
// thread leaves it out is its own choice, and changes no bit of what is read.
//
// No program writes that state (`StatePlacement::writes_bounds`), and copies to it have ended when a kernel begins that
// reads it ahead of its wait: beside a copy by a kernel (`copy_few`) only a kernel begins that waits first
// (`Executor::waits_first`). So it can be read while the kernel before still runs.

namespace totograph::cuda {

/// Whether two loops of as many rows bound the same rows.
constexpr bool bounds_same_rows(const LoopBounds& a, const LoopBounds& b) {
    const auto next_bounded = [](const LoopBounds& bounds, int axis, Index& distance) {
        for (; axis >= 0 && bounds.bound[static_cast<std::size_t>(axis)] <= 0; --axis) {
            distance *= bounds.axes[axis];
        }
        return axis;
    };
    Index distance_a = 1;  // from one index of the axis to the next, in rows
    Index distance_b = 1;
    int left = next_bounded(a, a.row_rank - 1, distance_a);
    int right = next_bounded(b, b.row_rank - 1, distance_b);
    while (left >= 0 && right >= 0) {
        if (distance_a != distance_b || a.axes[left] != b.axes[right] ||
            a.bound[static_cast<std::size_t>(left)] != b.bound[static_cast<std::size_t>(right)]) {
            return false;
        }
        distance_a *= a.axes[left];
        distance_b *= b.axes[right];
        left = next_bounded(a, left - 1, distance_a);
        right = next_bounded(b, right - 1, distance_b);
    }
    return left < 0 && right < 0;
}

/// Stands for the extents in use where leaving out the rest is not worth the question: all are.
template <class K>
struct AllExtents {
    template <int>
    [[nodiscard]] __device__ __forceinline__ bool has(Offset<K>) const {
        return true;
    }
    template <int>
    [[nodiscard]] __device__ __forceinline__ bool has_any_of(Offset<K>) const {
        return true;
    }
    template <class Of, int rank>
    [[nodiscard]] __device__ __forceinline__ bool has_place(const Place<K, rank>&) const {
        return true;
    }
};

/// How many of `extent` indices are in use, as one of the values of the state of bounds says. No template: there would
/// be one for each axis of each kernel.
__device__ __forceinline__ std::int32_t used_of(const std::int32_t* values, int number, std::int32_t extent) {
    const std::int32_t value = values == nullptr ? 0 : values[number];
    return value < 1 || value > extent ? extent : value;
}

/// How much of each axis of a kernel's loop is in use. The axes are those of `Kernel::bounds`, before neighbours were
/// joined; numbers of rows and of elements are the same.
template <class K>
class UsedExtents {
    static constexpr LoopBounds bounds = K::bounds;
    static constexpr int rank = bounds.axes.rank;
    using Number = std::make_unsigned_t<Offset<K>>;

    /// The product of the extents from one axis to before another.
    static constexpr Index product(int begin, int end) {
        Index result = 1;
        for (int axis = begin; axis < end; ++axis) {
            result *= bounds.axes.extents[static_cast<std::size_t>(axis)];
        }
        return result;
    }
    /// The number of the value that bounds an axis, from 1 on; 0 where none does.
    template <int axis>
    static constexpr int bound_of = axis < rank ? bounds.bound[static_cast<std::size_t>(axis)] : 0;
    template <int axis>
    static constexpr bool is_bounded = bound_of<axis> > 0;
    template <int axis>
    static constexpr auto extent = static_cast<std::int32_t>(bounds.axes.extents[static_cast<std::size_t>(axis)]);

public:
    /// Whether any of the first axes is bounded.
    template <int axes>
    static constexpr bool bounds_any = [] {
        bool result = false;
        for (int axis = 0; axis < axes && axis < rank; ++axis) {
            result = result || bounds.bound[static_cast<std::size_t>(axis)] > 0;
        }
        return result;
    }();
    /// Axes that are rows, and all of them.
    static constexpr int rows = bounds.row_rank;
    static constexpr int elements = rank;

    __device__ __forceinline__ explicit UsedExtents(const KernelCall& call) {
        if constexpr (bounds_any<rank>) {
            const std::int32_t* const values = call.bounds;
            [&]<int... axis>(std::integer_sequence<int, axis...>) {
                ((is_bounded<axis> ? keep(used_[axis], used_of(values, bound_of<axis> - 1, extent<axis>), extent<axis>)
                                   : void()),
                 ...);
            }
            (std::make_integer_sequence<int, rank>());
        }
    }

    /// Whether all of the loop is in use.
    [[nodiscard]] __device__ __forceinline__ bool is_all() const { return is_all_; }

    /// How many indices of an axis are in use. Of an axis that is not bounded, as many as there are.
    template <int axis>
    [[nodiscard]] __device__ __forceinline__ std::int32_t along() const {
        if constexpr (is_bounded<axis>) {
            return used_[axis];
        } else {
            return static_cast<std::int32_t>(K::kernel.iteration.extents[static_cast<std::size_t>(axis)]);
        }
    }

    /// Whether a number of the loop's first `axes` axes is in use: `rows` or `elements`.
    template <int axes>
    [[nodiscard]] __device__ __forceinline__ bool has(Offset<K> number) const {
        if constexpr (!bounds_any<axes>) {
            return true;
        } else {
            return is_all_ || [&]<int... axis>(std::integer_sequence<int, axis...>) {
                return (static_cast<int>(has_along<axes, axis>(static_cast<Number>(number))) & ...) != 0;
            }
            (std::make_integer_sequence<int, axes>());
        }
    }

    /// Whether any of `lanes` neighbouring elements is, the first one a multiple of `lanes`.
    template <int lanes>
    [[nodiscard]] __device__ __forceinline__ bool has_any_of(Offset<K> first) const {
        constexpr Index together = product(last_bounded() + 1, rank);  // they are in use together
        if constexpr (!bounds_any<rank> || together % lanes == 0) {
            return has<rank>(first);
        } else {
            bool result = is_all_;
#pragma unroll
            for (int lane = 0; lane < lanes; ++lane) {
                result = result || has<rank>(first + lane);
            }
            return result;
        }
    }

    /// Whether a place of a shape is in use that has the axes of the loop. Along an axis where its extent is another,
    /// as that of a part of a concatenation, all are.
    template <class Of, int place_rank>
    [[nodiscard]] __device__ __forceinline__ bool has_place(const Place<K, place_rank>& place) const {
        if constexpr (rank == 0) {
            return true;
        } else {
            return [&]<int... axis>(std::integer_sequence<int, axis...>) {
                return (static_cast<int>(has_index<Of, axis>(place.at[axis])) & ... & 1) != 0;
            }
            (std::make_integer_sequence<int, (place_rank < rank ? place_rank : rank)>());
        }
    }

private:
    static constexpr int last_bounded() {
        int result = -1;
        for (int axis = 0; axis < rank; ++axis) {
            result = bounds.bound[static_cast<std::size_t>(axis)] > 0 ? axis : result;
        }
        return result;
    }

    __device__ __forceinline__ void keep(std::int32_t& used, std::int32_t value, std::int32_t extent_of_axis) {
        used = value;
        is_all_ = is_all_ && value == extent_of_axis;
    }

    template <int axes, int axis>
    [[nodiscard]] __device__ __forceinline__ bool has_along(Number number) const {
        if constexpr (is_bounded<axis>) {
            const Number outside = number / static_cast<Number>(product(axis + 1, axes));
            const Number index = product(0, axis) == 1 ? outside : outside % static_cast<Number>(extent<axis>);
            return index < static_cast<Number>(used_[axis]);
        } else {
            return true;
        }
    }

    template <class Of, int axis>
    [[nodiscard]] __device__ __forceinline__ bool has_index(Offset<K> index) const {
        if constexpr (is_bounded<axis> && Of::shape.extents[static_cast<std::size_t>(axis)] == extent<axis>) {
            return index < static_cast<Offset<K>>(used_[axis]);
        } else {
            return true;
        }
    }

    std::int32_t used_[rank == 0 ? 1 : rank];
    bool is_all_ = true;
};

/// Which rows of a kernel are in use, asked when all else is computed: until then one flag is kept, and where it says
/// that all are, nothing more is read.
template <class K>
class LateUsedRows {
public:
    __device__ __forceinline__ explicit LateUsedRows(const KernelCall& call)
        : call_(call), is_all_(UsedExtents<K>(call).is_all()) {}

    [[nodiscard]] __device__ __forceinline__ bool has(Offset<K> row) const {
        return is_all_ || UsedExtents<K>(call_).template has<UsedExtents<K>::rows>(row);
    }

private:
    const KernelCall& call_;
    bool is_all_;
};

}  // namespace totograph::cuda
