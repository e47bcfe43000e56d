// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>

namespace totograph {

/// A shape as a type: `Extents<2, 3>` is the shape `[2, 3]`.
template <Index... extents>
struct Extents {
    static constexpr int rank = static_cast<int>(sizeof...(extents));
    static constexpr Index size = (Index{1} * ... * extents);
    static_assert(rank <= max_rank,
                  "totograph: a tensor has too many axes; max_rank is the most that a view can have.");
    static_assert(((extents > 0) && ...), "totograph: every extent of a tensor must be positive.");

    static constexpr Shape shape() { return Shape{extents...}; }
};

/// The strides that go with `Extents` when a view is not contiguous.
template <Index... strides>
struct StridesOf {
    static constexpr int rank = static_cast<int>(sizeof...(strides));

    static constexpr Strides values() {
        Strides out{};
        std::size_t axis = 0;
        ((out[axis++] = strides), ...);
        return out;
    }
};

/// Marks a view as contiguous and row-major.
struct RowMajor {};

/// A trivially copyable view of a tensor whose shape and strides are part of its type. It owns nothing and costs one
/// pointer.
template <class T, class ExtentsType, class Layout = RowMajor>
class TensorView {
public:
    using Element = T;
    using ExtentsOf = ExtentsType;
    static constexpr Shape shape = ExtentsType::shape();
    static constexpr Index size = ExtentsType::size;
    static constexpr bool is_contiguous = std::is_same_v<Layout, RowMajor>;

    static constexpr Strides strides = [] {
        if constexpr (is_contiguous) {
            return contiguous_strides(ExtentsType::shape());
        } else {
            static_assert(Layout::rank == ExtentsType::rank,
                          "totograph: a tensor view needs one stride for each extent.");
            return Layout::values();
        }
    }();

    constexpr TensorView() = default;
    constexpr explicit TensorView(T* data) : data_(data) {}

    /// The element at one index for each axis.
    template <class... Indices>
    [[nodiscard]] constexpr T& operator()(Indices... indices) const {
        static_assert(sizeof...(Indices) == static_cast<std::size_t>(ExtentsType::rank),
                      "totograph: index a tensor view with one number for each axis.");
        Index offset = 0;
        std::size_t axis = 0;
        ((offset += static_cast<Index>(indices) * strides[axis++]), ...);
        return data_[offset];
    }

    [[nodiscard]] constexpr T* data() const { return data_; }
    [[nodiscard]] constexpr T* begin() const requires is_contiguous { return data_; }
    [[nodiscard]] constexpr T* end() const requires is_contiguous { return data_ + size; }

    /// The same elements under another shape of the same size.
    template <Index... extents>
    requires is_contiguous [[nodiscard]] constexpr TensorView<T, Extents<extents...>> reshape() const {
        static_assert(Extents<extents...>::size == size,
                      "totograph: a view can only be reshaped to a shape with the same number of elements.");
        return TensorView<T, Extents<extents...>>(data_);
    }

private:
    T* data_ = nullptr;
};

}  // namespace totograph
