// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <totograph/core/language.hpp>

namespace totograph {

/// What `std::array` is, for what runs while compiling. There every call costs about a microsecond, and a subscript of
/// `std::array` is a chain of two; here it is one, and by way of `items` none.
template <class T, std::size_t count>
struct Array {
    T items[count];

    [[nodiscard]] constexpr std::size_t size() const { return count; }
    [[nodiscard]] constexpr T* data() { return items; }
    [[nodiscard]] constexpr const T* data() const { return items; }
    [[nodiscard]] constexpr T* begin() { return items; }
    [[nodiscard]] constexpr const T* begin() const { return items; }
    [[nodiscard]] constexpr T* end() { return items + count; }
    [[nodiscard]] constexpr const T* end() const { return items + count; }
    [[nodiscard]] constexpr T& operator[](std::size_t place) { return items[place]; }
    [[nodiscard]] constexpr const T& operator[](std::size_t place) const { return items[place]; }

    friend constexpr bool operator==(const Array& a, const Array& b) {
        for (std::size_t i = 0; i < count; ++i) {
            if (!(a.items[i] == b.items[i])) {
                return false;
            }
        }
        return true;
    }
};

}  // namespace totograph
