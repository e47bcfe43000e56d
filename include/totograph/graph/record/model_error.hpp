// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <totograph/core/shape.hpp>

namespace totograph {

/// What can be wrong with the code of a model. Each kind has one sentence, given by a `static_assert` of
/// `Program<Model>`.
enum class ModelErrorKind {
    none,
    shapes_do_not_broadcast,
    dtypes_differ,
    dtype_is_storage_only,
    dtype_is_not_taken,
    number_is_not_whole,
    shape_is_not_usable,
    reshape_changes_size,
    axis_out_of_range,
    slice_out_of_range,
    linear_shapes_differ,
    linear_weight_varies,
    block_width_differs,
    heads_do_not_divide,
    kv_heads_do_not_divide,
    attention_shapes_differ,
    attention_scale_is_wrong,
    attention_mask_differs,
    odd_rotary_width,
    sampled_shapes_differ,
    moments_shapes_differ,
    store_does_not_fit,
    cache_overflows,
    nothing_is_stored,
    state_has_no_name,
    state_declared_twice,
    weight_name_lacks_its_layer,
    bound_is_unknown,
    position_is_not_an_integer_state,
    too_many_inputs,
    input_count_differs,
    different_recorders,
    tensor_is_missing,
    loop_is_empty,
    loop_changes_its_tensor,
    tensor_left_its_loop,
    layer_left_its_loop,
};

/// The first mistake found while recording, with the figures in its text. A plain value, so that it exists at compile
/// time too.
struct ModelError {
    ModelErrorKind kind = ModelErrorKind::none;
    std::array<char, 256> text{};
    std::size_t length = 0;

    /// The figures: what was found, where, and what was expected.
    [[nodiscard]] constexpr std::string_view message() const { return {text.data(), length}; }

    /// Appends text; what does not fit is cut.
    constexpr ModelError& operator<<(std::string_view part) {
        for (const char character : part) {
            if (length < text.size()) {
                text[length++] = character;
            }
        }
        return *this;
    }

    /// Appends a number.
    constexpr ModelError& operator<<(Index value) {
        std::array<char, 20> digits{};
        std::size_t count = 0;
        const bool negative = value < 0;
        do {
            const Index digit = value % 10;
            digits[count++] = static_cast<char>('0' + (digit < 0 ? -digit : digit));
            value /= 10;
        } while (value != 0);
        if (negative) {
            *this << "-";
        }
        while (count > 0) {
            *this << std::string_view(&digits[--count], 1);
        }
        return *this;
    }

    /// Appends a shape, like `[4, 8]`.
    constexpr ModelError& operator<<(const Shape& shape) {
        *this << "[";
        for (int axis = 0; axis < shape.rank; ++axis) {
            *this << (axis == 0 ? "" : ", ") << shape[axis];
        }
        return *this << "]";
    }
};

}  // namespace totograph
