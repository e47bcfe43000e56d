// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

#include <totograph/core/array.hpp>
#include <totograph/core/shape.hpp>

// What an attention is, apart from its tensors: the attributes of `Op::attention`.

namespace totograph {

/// The axis of `[batch, samples, variates, positions, width]` that queries look along.
enum class AttentionAxis : std::uint8_t { positions, variates };

/// Which of the keys in reach count.
enum class KeyMask : std::uint8_t {
    none,      ///< All.
    by_key,    ///< Those whose entry of the mask is not 0.
    by_group,  ///< Those whose entry of the mask is that of the key at the query's own place.
};

/// The key that a query stands at: causality and masks by group are about it.
enum class QueryPlaces : std::uint8_t {
    first,  ///< Query i stands at key i. One that stands beyond the last key sees nothing.
    last,   ///< The queries stand at the last keys: a block that was just appended to a cache.
};

/// The attributes of an attention, `softmax(scale q k^T) v`. Heads lie next to each other in a row. Query head h reads
/// head `h / (heads / kv_heads)` of keys and values.
///
/// Inputs: queries, keys, values; over positions, how many keys hold something; with a suffix, its keys, values and
/// length; with a mask, its ids; with a scale that is data, the scale.
struct AttentionDescription {
    Index heads = 1;      ///< Of queries.
    Index kv_heads = 1;   ///< Of keys and values: a divisor of `heads`.
    Index head_dim = 1;   ///< Of queries and keys.
    Index value_dim = 1;  ///< Of values and results.
    double scale = 1;     ///< Of the scores, unless it is data.
    AttentionAxis axis = AttentionAxis::positions;
    QueryPlaces queries = QueryPlaces::first;
    KeyMask mask = KeyMask::none;
    bool is_causal = false;      ///< Queries see the key that they stand at, and those before.
    bool has_suffix = false;     ///< Behind the keys that samples may share, each sample has its own.
    bool scale_is_data = false;  ///< The scale is the last input.

    friend constexpr bool operator==(const AttentionDescription&, const AttentionDescription&) = default;

    /// All of it as numbers, to tell it from others.
    [[nodiscard]] constexpr Array<Index, 6> numbers() const {
        const auto choices = static_cast<Index>(axis) | static_cast<Index>(queries) << 2 |
                             static_cast<Index>(mask) << 4 | Index{is_causal} << 6 | Index{has_suffix} << 7 |
                             Index{scale_is_data} << 8;
        return {heads, kv_heads, head_dim, value_dim, choices, std::bit_cast<Index>(scale)};
    }

    /// Which head of keys and values a query head reads.
    [[nodiscard]] constexpr Index kv_head_of(Index head) const { return head / (heads / kv_heads); }

    /// Which input tells how many keys hold something.
    static constexpr int length_input = 3;
    /// Which inputs are the suffix's keys, values and length.
    static constexpr int suffix_key_input = 4;
    static constexpr int suffix_value_input = 5;
    static constexpr int suffix_length_input = 6;
    /// Which input the ids of the mask are.
    [[nodiscard]] constexpr int mask_input() const { return axis == AttentionAxis::variates ? 3 : has_suffix ? 7 : 4; }
    /// Which input the scale is, where it is data.
    [[nodiscard]] constexpr int scale_input() const { return mask_input() + (mask == KeyMask::none ? 0 : 1); }
    /// How many inputs there are.
    [[nodiscard]] constexpr int input_count() const { return scale_input() + (scale_is_data ? 1 : 0); }

    [[nodiscard]] constexpr bool is_key(int input) const {
        return input == 1 || (has_suffix && input == suffix_key_input);
    }
    [[nodiscard]] constexpr bool is_value(int input) const {
        return input == 2 || (has_suffix && input == suffix_value_input);
    }

    /// Whether lengths beyond the capacity of keys are an `Error`. In a prefill, what queries see ends at themselves.
    [[nodiscard]] constexpr bool checks_lengths() const { return axis == AttentionAxis::positions && !is_prefill(); }

    /// Each position and those before it, from the first on: a prefill.
    [[nodiscard]] constexpr bool is_prefill() const {
        return axis == AttentionAxis::positions && queries == QueryPlaces::first && is_causal &&
               mask == KeyMask::none && !has_suffix;
    }
    /// One query of so many positions, at the last key, sees all keys: a step of decoding.
    [[nodiscard]] constexpr bool is_decode(Index positions) const {
        return axis == AttentionAxis::positions && queries == QueryPlaces::last && mask == KeyMask::none &&
               positions == 1;
    }
    /// Variates see those of their group, or all of them.
    [[nodiscard]] constexpr bool is_across_variates() const {
        return axis == AttentionAxis::variates && mask != KeyMask::by_key;
    }
};

/// The usual scale, 1 / sqrt(head_dim).
constexpr double usual_attention_scale(Index head_dim) {
    const auto width = static_cast<double>(head_dim < 1 ? 1 : head_dim);
    double root = width;  // Newton's iteration from above: constant expressions have no sqrt
    double next = 0.5 * (root + 1);
    while (next < root) {
        root = next;
        next = 0.5 * (root + width / root);
    }
    return 1 / root;
}

}  // namespace totograph
