// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/plan/plan.hpp>

#include "support/tensor_sources.hpp"

// What the two halves of the tests of ops share: nvcc compiles the half that runs a model on the device, the host's
// compiler the half that runs it on the CPU. Between them travel the contents of states.

namespace ops {

namespace tg = totograph;
using tg::DType;
using tg::Index;
using tg::Recorder;
using tg::Shape;
using tg::Tensor;

using Bytes = std::vector<std::byte>;

/// How a device's results agree with the eager executor's.
enum class Agreement {
    to_the_bit,   ///< It only moves elements, or is rounded once.
    to_rounding,  ///< It rounds in another order, or has other approximations of functions.
    mostly,       ///< Few elements may be others altogether.
};

/// A text as an argument of a template.
template <std::size_t size>
struct Text {
    char characters[size]{};

    // NOLINTNEXTLINE(google-explicit-constructor): a literal is what it is written as
    constexpr Text(const char (&literal)[size]) { std::copy_n(literal, size, characters); }
};

/// A model, the name of its results, and how they agree.
template <Text text, class ModelType, Agreement expected = Agreement::to_rounding>
struct Row {
    using Model = ModelType;
    static constexpr const char* name = text.characters;
    static constexpr Agreement agreement = expected;
};

/// What a state holds.
struct StateContent {
    std::string name;
    int layer = -1;
    Bytes bytes;
};

/// How often a model runs before its states are compared: once, unless it says so.
template <class Model>
constexpr int runs_of() {
    if constexpr (requires { Model::runs; }) {
        return Model::runs;
    } else {
        return 1;
    }
}

inline bool begins_with(std::string_view text, std::string_view begin) {
    return text.substr(0, begin.size()) == begin;
}

inline bool is_output(std::string_view name) {
    return begins_with(name, "out");
}

/// The integer that a state of this name begins with: positions 0 to 3 for names that begin with "at", what the model
/// says where it says it, else -20 to 20.
template <class Model>
std::int32_t integer_of(std::string_view name, Index at, double draw) {
    if constexpr (requires { Model::integer(name, at); }) {
        return Model::integer(name, at);
    } else {
        return static_cast<std::int32_t>(begins_with(name, "at") ? std::floor(2.0 * draw + 2.0) : 20.0 * draw);
    }
}

/// What a state begins with, from its name alone: outputs with all bits set (NaN in f32 and f64), as poisoned memory
/// has them; states whose names begin with "positive" with numbers in [0.1, 2.1); others with numbers in [-2, 2); and
/// NaN in rows of which the model says that nothing was written.
template <class Model>
Bytes content_of(const tg::StateSlot& slot) {
    const auto size = static_cast<std::size_t>(slot.shape.size());
    const std::size_t width = tg::size_in_bytes(slot.dtype);
    Bytes bytes(size * width, std::byte{0xff});
    const std::uint64_t key = tg::test::hash_of(slot.name) + static_cast<std::uint64_t>((slot.layer + 1) * 7919);
    for (std::size_t at = 0; at < size && !is_output(slot.name); ++at) {
        const double draw = tg::test::uniform(key + at);
        double value = begins_with(slot.name, "positive") ? draw + 1.1 : 2.0 * draw;
        if constexpr (requires { Model::is_written(slot.name, Index{}); }) {
            value = Model::is_written(slot.name, static_cast<Index>(at)) ? value : std::nan("");
        }
        const auto put = [&](auto number) { std::memcpy(bytes.data() + at * width, &number, width); };
        if (slot.dtype == DType::f32) {
            put(static_cast<float>(value));
        } else if (slot.dtype == DType::f64) {
            put(value);
        } else {
            put(integer_of<Model>(slot.name, static_cast<Index>(at), draw));
        }
    }
    return bytes;
}

}  // namespace ops
