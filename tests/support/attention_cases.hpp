// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

// Attentions of every kind, as models.

namespace totograph::test {

/// An attention. Lengths differ from series to series and leave room behind them.
struct AttentionCase {
    std::string_view name;
    AttentionAxis axis = AttentionAxis::positions;
    Index samples = 1;
    Index variates = 2;
    Index queries = 6;  ///< Positions of the query.
    Index suffix = 0;   ///< Capacity; 0 for none.
    Index heads = 8;
    Index kv_heads = 2;
    Index head_dim = 16;
    Index value_dim = 16;
    double scale = 0;
    bool scale_is_data = false;
    bool is_causal = true;
    QueryPlaces queries_at = QueryPlaces::first;
    KeyMask mask = KeyMask::none;
    bool shares_keys = false;  ///< All samples have the keys of one.
    bool shares_mask = false;  ///< All series and variates have one mask.

    static constexpr Index batch = 2;
    static constexpr Index capacity = 9;  ///< Of keys over positions.

    [[nodiscard]] constexpr bool is_over_variates() const { return axis == AttentionAxis::variates; }
    [[nodiscard]] constexpr Index key_samples() const { return shares_keys ? 1 : samples; }
    [[nodiscard]] constexpr Index key_positions() const { return is_over_variates() ? queries : capacity; }
    [[nodiscard]] constexpr Shape results() const { return {batch, samples, variates, queries, heads * value_dim}; }
    [[nodiscard]] constexpr Shape mask_shape() const {
        return is_over_variates() ? Shape{shares_mask ? 1 : batch, variates, queries}
                                  : Shape{shares_mask ? 1 : batch, shares_mask ? 1 : variates, capacity + suffix};
    }
    [[nodiscard]] constexpr double usual_scale() const { return scale > 0 ? scale : usual_attention_scale(head_dim); }
};

/// Records one, from states that have its number as their layer.
constexpr Tensor record_case(Recorder& r, const AttentionCase& c, int layer) {
    const auto rows = [&](std::string_view name, Index samples, Index positions, Index width) {
        return r.state(name, {AttentionCase::batch, samples, c.variates, positions, width}, DType::f32, layer);
    };
    const Tensor query = rows("q", c.samples, c.queries, c.heads * c.head_dim);
    const Tensor key = rows("k", c.key_samples(), c.key_positions(), c.kv_heads * c.head_dim);
    const Tensor value = rows("v", c.key_samples(), c.key_positions(), c.kv_heads * c.value_dim);
    nn::AttentionOptions options{.heads = c.heads,
                                 .kv_heads = c.kv_heads,
                                 .scale = c.scale,
                                 .is_causal = c.is_causal,
                                 .queries = c.queries_at,
                                 .mask = c.mask};
    if (c.scale_is_data) {
        options.scale_data = r.state("positive.scale", {1}, DType::f32, layer);
    }
    if (c.mask != KeyMask::none) {
        options.ids = r.state("ids", c.mask_shape(), DType::i32, layer);
    }
    if (c.is_over_variates()) {
        return nn::variate_attention(query, key, value, options);
    }
    const nn::KeysAndValues keys{key, value, r.state("n", {AttentionCase::batch}, DType::i32, layer)};
    if (c.suffix == 0) {
        return nn::attention(query, keys, options);
    }
    return nn::attention(
        query, keys,
        {rows("sk", c.samples, c.suffix, c.kv_heads * c.head_dim),
         rows("sv", c.samples, c.suffix, c.kv_heads * c.value_dim), r.state("sn", {1}, DType::i32, layer)},
        options);
}

namespace attention_cases {

inline constexpr auto over_variates = AttentionAxis::variates;
inline constexpr auto last = QueryPlaces::last;
inline constexpr auto by_key = KeyMask::by_key;
inline constexpr auto by_group = KeyMask::by_group;

/// All that an attention can be asked for, at least once, and each head size.
inline constexpr std::array all{
    AttentionCase{.name = "grouped queries, 4 to 1", .heads = 4, .kv_heads = 1},
    AttentionCase{.name = "grouped queries, 8 to 2, samples", .samples = 3, .shares_keys = true},
    AttentionCase{.name = "a scale that is a number", .heads = 2, .scale = 0.0625},
    AttentionCase{.name = "a scale that is data", .heads = 2, .scale_is_data = true},
    AttentionCase{.name = "a scale that is data, not causal", .scale_is_data = true, .is_causal = false},
    AttentionCase{.name = "not causal", .is_causal = false},
    AttentionCase{.name = "not causal, last positions", .is_causal = false, .queries_at = last},
    AttentionCase{.name = "a mask by key", .mask = by_key},
    AttentionCase{.name = "a mask by group", .mask = by_group},
    AttentionCase{.name = "a mask by group, not causal", .is_causal = false, .mask = by_group},
    AttentionCase{.name = "one mask for all", .mask = by_key, .shares_mask = true},
    AttentionCase{.name = "a block against a cache", .queries = 4, .queries_at = last},
    AttentionCase{.name = "a block against a cache, masked by key", .queries = 4, .queries_at = last, .mask = by_key},
    AttentionCase{.name = "one position against a cache", .queries = 1, .queries_at = last},
    AttentionCase{.name = "one position, samples of their own", .samples = 2, .queries = 1, .queries_at = last},
    AttentionCase{.name = "one position, prefix and suffix",
                  .samples = 2,
                  .queries = 1,
                  .suffix = 5,
                  .queries_at = last,
                  .shares_keys = true},
    AttentionCase{.name = "one position, prefix and suffix, one sample",
                  .queries = 1,
                  .suffix = 5,
                  .queries_at = last,
                  .shares_keys = true},
    AttentionCase{.name = "a block, prefix and suffix",
                  .samples = 2,
                  .queries = 4,
                  .suffix = 6,
                  .queries_at = last,
                  .shares_keys = true},
    AttentionCase{
        .name = "a block, prefix and suffix, by key", .queries = 4, .suffix = 6, .queries_at = last, .mask = by_key},
    AttentionCase{.name = "a block, prefix and suffix, by group",
                  .queries = 4,
                  .suffix = 6,
                  .queries_at = last,
                  .mask = by_group},
    AttentionCase{.name = "a block, prefix and suffix, not causal",
                  .queries = 3,
                  .suffix = 6,
                  .is_causal = false,
                  .queries_at = last},
    AttentionCase{.name = "variates, all", .axis = over_variates, .variates = 5},
    AttentionCase{.name = "variates of a group", .axis = over_variates, .variates = 7, .mask = by_group},
    AttentionCase{.name = "variates by key", .axis = over_variates, .variates = 6, .mask = by_key},
    AttentionCase{.name = "variates of a group, one mask for all",
                  .axis = over_variates,
                  .variates = 7,
                  .mask = by_group,
                  .shares_mask = true},
    // Few queries with aligned heads and more than eight keys: on a device a block takes one.
    AttentionCase{.name = "variates by key, heads of 64",
                  .axis = over_variates,
                  .variates = 9,
                  .head_dim = 64,
                  .value_dim = 64,
                  .mask = by_key},
    AttentionCase{.name = "one position, prefix and suffix, heads of 64",
                  .samples = 2,
                  .queries = 1,
                  .suffix = 5,
                  .head_dim = 64,
                  .value_dim = 64,
                  .queries_at = last,
                  .shares_keys = true},
    AttentionCase{.name = "a block, prefix and suffix, by group, heads of 64",
                  .queries = 4,
                  .suffix = 6,
                  .head_dim = 64,
                  .value_dim = 64,
                  .queries_at = last,
                  .mask = by_group},
    AttentionCase{.name = "heads of 20", .heads = 3, .kv_heads = 3, .head_dim = 20, .value_dim = 20},
    AttentionCase{.name = "heads of 52, a block", .queries = 4, .head_dim = 52, .value_dim = 52, .queries_at = last},
    AttentionCase{.name = "heads of 64, values of 32", .head_dim = 64, .value_dim = 32},
    AttentionCase{.name = "heads of 64, values of 80, a block",
                  .queries = 4,
                  .head_dim = 64,
                  .value_dim = 80,
                  .queries_at = last},
    AttentionCase{.name = "heads of 20, values of 12, variates",
                  .axis = over_variates,
                  .variates = 5,
                  .head_dim = 20,
                  .value_dim = 12,
                  .mask = by_group},
    AttentionCase{.name = "heads of 16, values of 24, one position",
                  .queries = 1,
                  .suffix = 5,
                  .value_dim = 24,
                  .queries_at = last},
    AttentionCase{.name = "heads of 128", .heads = 2, .head_dim = 128, .value_dim = 128},
    AttentionCase{.name = "heads of 256", .heads = 2, .kv_heads = 1, .head_dim = 256, .value_dim = 256},
    AttentionCase{.name = "heads of 256, one position",
                  .queries = 1,
                  .heads = 2,
                  .kv_heads = 1,
                  .head_dim = 256,
                  .value_dim = 256,
                  .queries_at = last},
};

}  // namespace attention_cases

/// Every second case: a program has room for so many states.
template <std::size_t first>
struct EverySecondAttention {
    static constexpr std::size_t begin = first;
    /// Lengths and ids that mean something: the second series is shorter, groups and gaps are mixed.
    static constexpr std::int32_t integer(std::string_view name, Index at) {
        return static_cast<std::int32_t>(name == "n"    ? AttentionCase::capacity - (at == 0 ? 1 : 4)
                                         : name == "sn" ? 4
                                                        : at * 7 / 3 % 3);
    }
    static constexpr void record(Recorder& r) {
        for (std::size_t i = first; i < attention_cases::all.size(); i += 2) {
            r.store(r.state("out", attention_cases::all[i].results(), DType::f32, static_cast<int>(i)),
                    record_case(r, attention_cases::all[i], static_cast<int>(i)));
        }
    }
};

}  // namespace totograph::test
