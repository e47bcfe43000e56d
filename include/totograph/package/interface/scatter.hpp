// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <totograph/core/shape.hpp>

namespace totograph::package {

/// Whether strides are those of row-major elements, or null, which stands for them.
template <std::size_t rank>
bool is_row_major(const std::array<Index, rank>& extents, const std::int64_t* strides) {
    Index expected = 1;
    for (std::size_t axis = rank; strides != nullptr && axis-- > 0;) {
        if (extents[axis] > 1 && strides[axis] != expected) {
            return false;
        }
        expected *= extents[axis];
    }
    return true;
}

/// Has `fill` write row-major elements to where a caller wants them: at once where they lie so there, else through a
/// copy.
template <std::size_t rank, class Fill>
void write_strided(float* to, const std::array<Index, rank>& extents, const std::int64_t* strides, const Fill& fill) {
    std::size_t count = 1;
    for (const Index extent : extents) {
        count *= static_cast<std::size_t>(extent);
    }
    if (is_row_major(extents, strides)) {
        fill(std::span<float>(to, count));
        return;
    }
    std::vector<float> values(count);
    fill(std::span<float>(values));
    std::array<Index, rank> at{};
    for (const float value : values) {
        std::ptrdiff_t place = 0;
        for (std::size_t axis = 0; axis < rank; ++axis) {
            place += at[axis] * strides[axis];
        }
        to[place] = value;
        for (std::size_t axis = rank; axis-- > 0 && ++at[axis] == extents[axis];) {
            at[axis] = 0;
        }
    }
}

}  // namespace totograph::package
