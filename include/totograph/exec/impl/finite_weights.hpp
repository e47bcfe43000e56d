// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/finite_weights.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/core/finite.hpp>
#include <totograph/core/inline.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/weights.hpp>

namespace totograph {

TOTOGRAPH_INLINE void refuse_weight(const std::string& name, const Shape& shape, Index at, float value) {
    std::array<Index, max_rank> index{};
    for (int axis = shape.rank - 1; axis >= 0; --axis) {
        index[static_cast<std::size_t>(axis)] = at % shape[axis];
        at /= shape[axis];
    }
    std::string place = "[";
    for (int axis = 0; axis < shape.rank; ++axis) {
        place += (axis == 0 ? "" : ", ") + std::to_string(index[static_cast<std::size_t>(axis)]);
    }
    const std::string found = std::isnan(value) ? "NaN" : value < 0 ? "-infinity" : "infinity";
    throw Error(ErrorCode::tensor_mismatch,
                "The tensor '" + name + "' of the checkpoint holds " + found + " at " + place + "] of its shape " +
                    to_string(shape) +
                    ", where a finite number was expected; fetch the checkpoint again, or take one from before its "
                    "training diverged.");
}

TOTOGRAPH_INLINE void require_finite(const std::string& name, const Shape& shape, std::span<const float> values) {
    if (!all_finite(values)) {
        const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
        refuse_weight(name, shape, bad - values.begin(), *bad);
    }
}

TOTOGRAPH_INLINE void require_finite(const std::string& name, const Shape& shape, const TensorReader& reader) {
    constexpr std::size_t part = std::size_t{1} << 16U;  // elements that stay in a core's cache
    const auto size = static_cast<std::size_t>(shape.size());
    std::vector<float> memory(std::min(part, size));
    for (std::size_t first = 0; first < size; first += part) {
        const std::span<float> values(memory.data(), std::min(part, size - first));
        reader.read(first, values);
        if (!all_finite(values)) {
            const auto bad =
                std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
            refuse_weight(name, shape, static_cast<Index>(first) + (bad - values.begin()), *bad);
        }
    }
}

TOTOGRAPH_INLINE void require_finite(const TensorSource& source, const std::string& name, const Shape& shape) {
    if (const std::unique_ptr<const TensorReader> reader = source.reader(name, shape)) {
        return require_finite(name, shape, *reader);
    }
    std::vector<float> values(static_cast<std::size_t>(shape.size()));
    source.read(name, shape, values);
    require_finite(name, shape, values);
}

}  // namespace totograph
