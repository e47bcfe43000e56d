// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>

#include "cuda/ops/ops_layers.hpp"
#include "cuda/ops/ops_states.hpp"

// Models of attentions, in sizes that take each way there is to run them.

namespace ops {

/// The size of rows `[batch, samples, variates, positions, heads * head_dim]`.
struct AttentionSize {
    Index series = 1;
    Index samples = 1;
    Index variates = 1;
    Index positions = 1;
    Index heads = 4;
    Index head_dim = 16;
    Index kv_heads = 0;  ///< Of keys and values; 0 for as many as of queries.

    [[nodiscard]] constexpr Shape rows(Index of_samples, Index of_positions) const {
        return {series, of_samples, variates, of_positions, heads * head_dim};
    }
    [[nodiscard]] constexpr Shape key_rows(Index of_samples, Index of_positions) const {
        return {series, of_samples, variates, of_positions, (kv_heads == 0 ? heads : kv_heads) * head_dim};
    }
};

/// Which position a place in a tensor of such rows belongs to, and which series.
struct RowPlace {
    Index series = 0;
    Index position = 0;
};
constexpr RowPlace place_of(const Shape& rows, Index at) {
    return {at / (rows[1] * rows[2] * rows[3] * rows[4]), at / rows[4] % rows[3]};
}

/// Nothing but the valid positions of a series was written. The last series has fewer of them, or none. The value at
/// one position of a variate may be NaN, and its key not: those before it do not see it.
template <AttentionSize size, Index fewer = size.positions * 2 / 3, bool torn = false>
struct Causal {
    static constexpr Index capacity = size.positions + 2;
    static constexpr std::int32_t integer(std::string_view, Index series) {
        return static_cast<std::int32_t>(series + 1 == size.series ? fewer : size.positions);
    }
    static constexpr bool is_written(std::string_view name, Index at) {
        const Shape rows = size.rows(size.samples, capacity);
        const RowPlace place = place_of(rows, at);
        const bool is_torn = torn && name == "v" && at / rows[4] == capacity + size.positions / 2;
        return name == "q" || (place.position < integer(name, place.series) && !is_torn);
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape keys = size.rows(size.samples, capacity);
        out(tg::nn::causal_attention(r.state("q", size.rows(size.samples, size.positions)), r.state("k", keys),
                                     r.state("v", keys), r.state("valid", {size.series}, DType::i32),
                                     {.heads = size.heads}));
    }
};

/// The same of what GEMMs make, queries and keys rotated by tables of their positions: keys and values are stored as
/// bf16 where GEMMs are. One position of a variate may be NaN, which those before it do not see. Inputs are small, so
/// that scores are of the order of 1.
template <AttentionSize size, Index input_width, bool torn = false>
struct RotatedCausal {
    static constexpr Index torn_row = size.positions + size.positions / 2;
    static constexpr std::int32_t integer(std::string_view, Index series) {
        return static_cast<std::int32_t>(series + 1 == size.series ? size.positions - 5 : size.positions);
    }
    static constexpr bool is_written(std::string_view name, Index at) {
        return !torn || name != "x" || at / input_width != torn_row;
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape rows = size.rows(1, size.positions);
        constexpr double small = input_width > 64 ? 0.05 : 0.15;
        const Tensor x = r.state("x", {size.series, 1, size.variates, size.positions, input_width}) * small;
        const auto rotated = [&](Tensor y) {
            const Shape table{size.positions, 1, size.head_dim};
            const Tensor heads = reshape(y, {size.series, 1, size.variates, size.positions, size.heads, size.head_dim});
            return reshape(heads * r.state("cosines", table) + rotate_pairs(heads) * r.state("sines", table), rows);
        };
        const Index width = rows[-1];
        const Tensor query = rotated(layer(x, width));
        const Tensor key = rotated(layer(x, width));
        out(tg::nn::causal_attention(query, key, layer(x, width), r.state("valid", {size.series}, DType::i32),
                                     {.heads = size.heads}));
    }
};

/// One position; `positions` is the capacity of the prefix. It is shared by all samples or each sample's own. The last
/// series has fewer positions of it.
template <AttentionSize size, bool shared, Index suffix_length, Index fewer = size.positions * 2 / 3>
struct Cached {
    static constexpr Index suffix_capacity = 5;
    static constexpr Index prefix_samples = shared ? 1 : size.samples;
    static constexpr std::int32_t integer(std::string_view name, Index series) {
        return static_cast<std::int32_t>(name == "suffix.length"     ? suffix_length
                                         : series + 1 == size.series ? fewer
                                                                     : size.positions);
    }
    static constexpr bool is_written(std::string_view name, Index at) {
        const bool is_suffix = begins_with(name, "suffix");
        const RowPlace place = place_of(
            is_suffix ? size.key_rows(size.samples, suffix_capacity) : size.key_rows(prefix_samples, size.positions),
            at);
        return name == "q" || place.position < (is_suffix ? suffix_length : integer("prefix.length", place.series));
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape prefix = size.key_rows(prefix_samples, size.positions);
        const Shape suffix = size.key_rows(size.samples, suffix_capacity);
        out(tg::nn::cached_attention(
            r.state("q", size.rows(size.samples, 1)),
            {r.state("prefix.key", prefix), r.state("prefix.value", prefix),
             r.state("prefix.length", {size.series}, DType::i32)},
            {r.state("suffix.key", suffix), r.state("suffix.value", suffix), r.state("suffix.length", {1}, DType::i32)},
            {.heads = size.heads, .kv_heads = size.kv_heads}));
    }
};

/// Keys and values that begin at an odd place of longer rows.
template <AttentionSize size>
struct CachedInLongerRows {
    static constexpr Index suffix_capacity = 3;
    static constexpr std::int32_t integer(std::string_view name, Index) {
        return static_cast<std::int32_t>(name == "suffix.length" ? suffix_capacity : size.positions);
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Index width = size.heads * size.head_dim;
        const auto rows = [&](std::string_view name, Index samples, Index positions) {
            return slice(r.state(name, {size.series, samples, size.variates, positions, width + 3}), 4, 1, width);
        };
        out(tg::nn::cached_attention(
            r.state("q", size.rows(size.samples, 1)),
            {rows("prefix.key", 1, size.positions), rows("prefix.value", 1, size.positions),
             r.state("prefix.length", {size.series}, DType::i32)},
            {rows("suffix.key", size.samples, suffix_capacity), rows("suffix.value", size.samples, suffix_capacity),
             r.state("suffix.length", {1}, DType::i32)},
            {.heads = size.heads}));
    }
};

/// Caches that GEMMs fill and one attention reads: in bf16 they are stored so. The newest position is written by the
/// launch that makes the query. The last series has fewer positions of the prefix, or none; and what one sample wrote
/// at its first position may be NaN, and all that another one reads, which is their own affair. Inputs are small, so
/// that scores are of the order of 1: a softmax of large ones takes another key where rounding moves them.
template <AttentionSize size, Index suffix_length, bool torn = false, Index fewer = 0>
struct FilledCaches {
    static constexpr Index input_width = 64;
    static constexpr Index earlier = suffix_length - 1;
    static constexpr std::int32_t integer(std::string_view name, Index series) {
        return static_cast<std::int32_t>(name == "suffix.length"     ? suffix_length
                                         : name == "at"              ? earlier
                                         : series + 1 == size.series ? fewer
                                                                     : size.positions);
    }
    static constexpr bool is_written(std::string_view name, Index at) {
        const Index sample = at / (size.variates * (name == "x.earlier" ? earlier : 1) * input_width) % size.samples;
        const bool is_torn = (name == "x.earlier" && sample == 3 && at / input_width % earlier == 0) ||
                             (name == "x.newest" && sample == 5);
        return !torn || !is_torn;
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Index width = size.heads * size.head_dim;
        const Tensor keys = r.state("out.prefix.key", size.rows(1, size.positions));
        const Tensor values = r.state("out.prefix.value", size.rows(1, size.positions));
        const Tensor suffix_keys = r.state("out.suffix.key", size.rows(size.samples, suffix_length));
        const Tensor suffix_values = r.state("out.suffix.value", size.rows(size.samples, suffix_length));
        const auto input = [&](std::string_view name, Index samples, Index positions) {
            constexpr double small = 0.15;
            return r.state(name, {size.series, samples, size.variates, positions, input_width}) * small;
        };
        const Tensor context = input("context", 1, size.positions);
        r.store(keys, layer(context, width));
        r.store(values, layer(context, width));
        const Tensor x = input("x.earlier", size.samples, earlier);
        r.store(suffix_keys, layer(x, width), 3, 0);
        r.store(suffix_values, layer(x, width), 3, 0);
        const Tensor newest = input("x.newest", size.samples, 1);
        const Tensor query = layer(newest, width);
        const Tensor at = r.state("at", {1}, DType::i32);
        r.store_at(suffix_keys, layer(newest, width), 3, at);
        r.store_at(suffix_values, layer(newest, width), 3, at);
        out(tg::nn::cached_attention(query, {keys, values, r.state("prefix.length", {size.series}, DType::i32)},
                                     {suffix_keys, suffix_values, r.state("suffix.length", {1}, DType::i32)},
                                     {.heads = size.heads}));
    }
};

/// The newest position alone, as the last layer's attention needs.
template <AttentionSize size>
struct LastPosition {
    static constexpr std::int32_t integer(std::string_view, Index series) {
        return static_cast<std::int32_t>(series + 1 == size.series ? size.positions * 2 / 3 : size.positions);
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape keys = size.rows(size.samples, size.positions);
        out(tg::nn::last_position_attention(r.state("q", size.rows(size.samples, 1)), r.state("k", keys),
                                            r.state("v", keys), r.state("valid", {size.series}, DType::i32),
                                            {.heads = size.heads}));
    }
};

/// Several positions that see their group, or the keys that are visible: those of the first keys, or of the last ones.
/// The last series has fewer keys.
template <AttentionSize size, Index keys, tg::QueryPlaces places, tg::KeyMask mask = tg::KeyMask::by_group>
struct Grouped {
    static constexpr std::int32_t integer(std::string_view name, Index at) {
        return static_cast<std::int32_t>(name == "groups" ? at / 3 % 2 : at + 1 == size.series ? keys * 2 / 3 : keys);
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape rows = size.rows(size.samples, keys);
        out(tg::nn::attention(r.state("q", size.rows(size.samples, size.positions)),
                              {r.state("k", rows), r.state("v", rows), r.state("valid", {size.series}, DType::i32)},
                              {.heads = size.heads,
                               .queries = places,
                               .mask = mask,
                               .ids = r.state("groups", {size.series, size.variates, keys}, DType::i32)}));
    }
};

/// Several positions at the end of a cache and a suffix, some keys of which are masked. The last series has a shorter
/// prefix.
template <AttentionSize size, Index prefix, Index suffix>
struct MaskedCaches {
    static constexpr std::int32_t integer(std::string_view name, Index at) {
        return static_cast<std::int32_t>(name == "visible"         ? at % 5
                                         : name == "suffix.length" ? suffix - 2
                                         : at + 1 == size.series   ? prefix / 3
                                                                   : prefix);
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape first = size.rows(size.samples, prefix);
        const Shape last = size.rows(size.samples, suffix);
        out(tg::nn::attention(
            r.state("q", size.rows(size.samples, size.positions)),
            {r.state("prefix.key", first), r.state("prefix.value", first),
             r.state("prefix.length", {size.series}, DType::i32)},
            {r.state("suffix.key", last), r.state("suffix.value", last), r.state("suffix.length", {1}, DType::i32)},
            {.heads = size.heads,
             .mask = tg::KeyMask::by_key,
             .ids = r.state("visible", {size.series, size.variates, prefix + suffix}, DType::i32)}));
    }
};

/// Variates of three groups that change from position to position. Where it is `torn`, a sample's values at one
/// position are NaN: what that spoils ends there.
template <AttentionSize size, bool torn = false>
struct AcrossVariates {
    static constexpr bool is_written(std::string_view name, Index at) {
        const Index sample = at / (size.variates * size.positions * size.heads * size.head_dim) % size.samples;
        const RowPlace place = place_of(size.rows(size.samples, size.positions), at);
        return !torn || name != "v" || sample != 1 || place.position != 2;
    }
    static constexpr std::int32_t integer(std::string_view, Index at) {
        return static_cast<std::int32_t>(at * 7 / 3 % 3);
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape rows = size.rows(size.samples, size.positions);
        out(tg::nn::variate_attention(r.state("q", rows), r.state("k", rows), r.state("v", rows),
                                      r.state("groups", {size.series, size.variates, size.positions}, DType::i32),
                                      {.heads = size.heads}));
    }
};

inline constexpr AttentionSize small_causal{
    .series = 2, .samples = 1, .variates = 3, .positions = 41, .heads = 4, .head_dim = 16};
inline constexpr AttentionSize odd_causal{
    .series = 2, .samples = 1, .variates = 3, .positions = 9, .heads = 2, .head_dim = 6};
inline constexpr AttentionSize large_causal{
    .series = 1, .samples = 1, .variates = 2, .positions = 300, .heads = 4, .head_dim = 64};
/// So many blocks of 64 queries that each has its own keys, in several tiles.
inline constexpr AttentionSize rotated_in_tiles{
    .series = 2, .samples = 1, .variates = 3, .positions = 391, .heads = 8, .head_dim = 64};
inline constexpr AttentionSize torn_in_tiles{
    .series = 2, .samples = 1, .variates = 3, .positions = 150, .heads = 8, .head_dim = 48};
/// So few that their warps share keys.
inline constexpr AttentionSize torn_in_warps{
    .series = 2, .samples = 1, .variates = 2, .positions = 150, .heads = 3, .head_dim = 64};
inline constexpr AttentionSize few_causal{
    .series = 3, .samples = 1, .variates = 1, .positions = 40, .heads = 2, .head_dim = 32};
/// More than 512 queries of few keys, and fewer queries than that, but more blocks than multiprocessors.
inline constexpr AttentionSize many_of_few_keys{
    .series = 2, .samples = 1, .variates = 1, .positions = 18, .heads = 16, .head_dim = 64};
inline constexpr AttentionSize few_positions{
    .series = 2, .samples = 1, .variates = 2, .positions = 18, .heads = 4, .head_dim = 64};
inline constexpr AttentionSize many_blocks{
    .series = 2, .samples = 6, .variates = 6, .positions = 60, .heads = 4, .head_dim = 64};
inline constexpr AttentionSize few_cached{
    .series = 2, .samples = 2, .variates = 2, .positions = 60, .heads = 4, .head_dim = 64};
inline constexpr AttentionSize few_queries{
    .series = 1, .samples = 1, .variates = 20, .positions = 3, .heads = 4, .head_dim = 64};
inline constexpr AttentionSize small_cached{
    .series = 2, .samples = 5, .variates = 3, .positions = 45, .heads = 4, .head_dim = 8};
inline constexpr AttentionSize large_cached{
    .series = 2, .samples = 33, .variates = 2, .positions = 130, .heads = 4, .head_dim = 64};
/// Warps of a block share the keys: of few samples, and of few blocks.
inline constexpr AttentionSize few_samples{
    .series = 2, .samples = 6, .variates = 12, .positions = 300, .heads = 4, .head_dim = 64};
/// So few blocks that sixteen warps share the keys of each; samples do not divide sixteen.
inline constexpr AttentionSize sixteen_warps{
    .series = 2, .samples = 11, .variates = 10, .positions = 400, .heads = 3, .head_dim = 64};
/// Few queries of wide heads that fill a tile, and a few more.
inline constexpr AttentionSize twenty_wide{
    .series = 1, .samples = 20, .variates = 2, .positions = 300, .heads = 3, .head_dim = 256};
/// As `few_samples`, with heads of another width.
constexpr AttentionSize few_samples_of(Index head_dim) {
    AttentionSize size = few_samples;
    size.head_dim = head_dim;
    return size;
}
/// The same, of grouped queries.
inline constexpr AttentionSize few_samples_of_groups{
    .series = 2, .samples = 6, .variates = 12, .positions = 300, .heads = 4, .head_dim = 64, .kv_heads = 2};
/// One sample: all queries share the suffix, too.
inline constexpr AttentionSize one_sample_of_long{
    .series = 2, .samples = 1, .variates = 40, .positions = 200, .heads = 8, .head_dim = 48};
/// Eight blocks of a cluster share the keys.
inline constexpr AttentionSize long_prefix{
    .series = 2, .samples = 1, .variates = 2, .positions = 700, .heads = 3, .head_dim = 64};
/// Four blocks of a cluster do.
inline constexpr AttentionSize longer_prefix{
    .series = 2, .samples = 6, .variates = 1, .positions = 300, .heads = 3, .head_dim = 64};
inline constexpr AttentionSize wide_heads_of_long{
    .series = 2, .samples = 3, .variates = 2, .positions = 200, .heads = 2, .head_dim = 256};
/// A block of six warps.
inline constexpr AttentionSize ninety_positions{
    .series = 2, .samples = 1, .variates = 3, .positions = 90, .heads = 2, .head_dim = 64};
/// More than 512 queries of few positions.
constexpr AttentionSize positions_of_many(Index positions) {
    return {.series = 2, .samples = 1, .variates = 12, .positions = positions, .heads = 6, .head_dim = 64};
}
/// More blocks of positions than multiprocessors, of two tiles each.
constexpr AttentionSize many_of_width(Index head_dim) {
    AttentionSize size = positions_of_many(70);
    size.head_dim = head_dim;
    return size;
}
/// Two blocks of samples, the second one of six.
constexpr AttentionSize suffixes_of(Index head_dim, Index positions = 37) {
    return {.series = 2, .samples = 70, .variates = 2, .positions = positions, .heads = 2, .head_dim = head_dim};
}
/// The same of so many heads that three blocks share a multiprocessor.
constexpr AttentionSize many_suffixes_of(Index head_dim) {
    AttentionSize size = suffixes_of(head_dim);
    size.heads = 36;
    return size;
}
inline constexpr AttentionSize one_sample{
    .series = 2, .samples = 1, .variates = 40, .positions = 70, .heads = 16, .head_dim = 48};
inline constexpr AttentionSize wide_heads{
    .series = 2, .samples = 3, .variates = 2, .positions = 90, .heads = 2, .head_dim = 256};
inline constexpr AttentionSize many_wide_heads{
    .series = 2, .samples = 35, .variates = 2, .positions = 20, .heads = 4, .head_dim = 192};
inline constexpr AttentionSize last{
    .series = 2, .samples = 1, .variates = 3, .positions = 130, .heads = 4, .head_dim = 64};
inline constexpr AttentionSize narrow_causal{
    .series = 2, .samples = 1, .variates = 3, .positions = 70, .heads = 2, .head_dim = 48};
inline constexpr AttentionSize wide_causal{
    .series = 2, .samples = 1, .variates = 3, .positions = 70, .heads = 2, .head_dim = 80};
inline constexpr AttentionSize widest_causal{
    .series = 2, .samples = 1, .variates = 3, .positions = 70, .heads = 2, .head_dim = 128};
inline constexpr AttentionSize many_positions{
    .series = 2, .samples = 1, .variates = 3, .positions = 130, .heads = 2, .head_dim = 64};
inline constexpr AttentionSize block_of_positions{
    .series = 2, .samples = 1, .variates = 3, .positions = 70, .heads = 2, .head_dim = 64};
inline constexpr AttentionSize few_variates{
    .series = 2, .samples = 3, .variates = 7, .positions = 5, .heads = 4, .head_dim = 16};
inline constexpr AttentionSize many_variates{
    .series = 1, .samples = 9, .variates = 40, .positions = 4, .heads = 4, .head_dim = 64};

}  // namespace ops
