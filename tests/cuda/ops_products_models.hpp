// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include <totograph/graph/recorder.hpp>
#include <totograph/nn/attention.hpp>
#include <totograph/nn/student_t.hpp>

#include "cuda/ops_states.hpp"
#include "support/outputs.hpp"

// Models of products and attentions, in sizes that take each way there is to run them: few rows and many, widths that
// tensor cores take and others.

namespace ops {

using tg::test::Outputs;

/// A layer with weights of its own.
constexpr Tensor layer(Tensor x, Index columns) {
    Recorder& r = x.recorder();
    const int number = r.graph().size();
    return linear(x, r.weight("w{}", {columns, x.extent(-1)}, number), r.weight("b{}", {columns}, number));
}

constexpr Tensor norm(Tensor x) {
    return x * reciprocal_square_root(mean(x * x) + 1e-5) * x.recorder().weight("scale", {x.extent(-1)});
}

template <Index rows, Index depth, Index columns>
struct Linear {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(layer(r.state("x", {rows, depth}), columns));
    }
};

/// What x can be, and what can follow.
struct LinearOfViews {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {4, 3, 32});
        out(layer(slice(x, 2, 16, 16), 24));
        out(layer(slice(x, 1, 1, 1), 24));
        out(layer(reshape(slice(x, 1, 0, 2), {8, 32}), 24));       // uneven rows
        out(layer(reshape(permute(x, {1, 0, 2}), {12, 32}), 24));  // uneven rows
        out(layer(softmax(x), 24) * 2.0);
        out(sum(layer(x, 24)) * 0.5);
        out(softplus(layer(x, 20)) + 2.0);
        out(reshape(layer(x, 24), {12, 24}) + r.state("y", {12, 24}));
        out(layer(layer(x, 64), 16));
    }
};

template <Index rows, Index depth, Index columns>
struct Scaled {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(layer(r.state("x", {rows, depth}), columns) * 2.0);
    }
};

/// A product whose result a chain goes on with.
template <Index rows, Index depth, Index columns>
struct Activated {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(silu(layer(r.state("x", {rows, depth}), columns)) * 2.0);
    }
};

/// The same with what a chain reads for each element, each row and each column.
template <Index rows, Index depth, Index columns>
struct ActivatedWithOperands {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor product = layer(r.state("x", {rows, depth}), columns);
        out(silu(product) * r.state("of.columns", {columns}) +
            r.state("y", {rows, columns}) * r.state("of.rows", {rows, 1}));
    }
};

/// A chain whose innermost axis is odd.
template <Index rows, Index depth>
struct ActivatedInFives {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor product = reshape(layer(r.state("x", {rows, depth}), 40), {rows, 8, 5});
        out(silu(product) * r.state("of.fives", {5}));
    }
};

/// Products of different widths of one input.
template <Index rows, Index depth, Index columns>
struct WideAndNarrow {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {rows, depth});
        out(silu(layer(x, columns)));
        out(layer(x, 2 * columns) * 0.5);
    }
};

/// Two products of one input that meet.
template <Index rows, Index depth, Index columns>
struct Gated {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = norm(r.state("x", {rows, depth}));
        out(silu(layer(x, columns)) * layer(x, columns));
    }
};

/// The same without a sigmoid.
template <Index rows, Index depth, Index columns>
struct Bilinear {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = norm(r.state("x", {rows, depth}));
        out(layer(x, columns) * layer(x, columns));
    }
};

/// The same as a feed-forward network has them: another product reads what they make.
template <Index rows, Index depth, Index columns>
struct FeedForward {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = norm(r.state("x", {rows, depth}));
        out(layer(silu(layer(x, columns)) * layer(x, columns), 64));
    }
};

template <Index rows, Index depth, Index columns>
struct Residual {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(r.state("y", {rows, columns}) + layer(r.state("x", {rows, depth}), columns));
    }
};

/// A residual stream that several products read and add to, each after a norm.
template <Index rows>
struct NormsAndResiduals {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        Tensor x = r.state("x", {rows, 64});
        const Tensor normed = norm(x);
        out(layer(normed, 64));
        out(layer(normed, 96));
        x = x + layer(silu(layer(norm(x), 128)), 64);
        out(x);
        out(layer(norm(x), 64));
    }
};

/// What a product of `depth` adds to a residual stream of 768, which lies in rows of `width`, and the next product, of
/// `columns`, after a norm; or two of them.
template <Index rows, Index input, Index depth, Index columns, Index width = 768, bool two = false>
struct ResidualAndNorm {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor hidden = layer(r.state("x", {rows, input}), depth) * 2.0;
        const Tensor stream = slice(r.state("stream", {rows, width}), 1, 0, 768) + layer(hidden, 768);
        const Tensor normed = norm(stream);
        out(layer(normed, columns));
        if (two) {
            out(layer(normed, 96));
        }
        out(stream);
    }
};

/// Keys and values as a block stores them: projected, rotated, and written at a position of a cache.
template <Index series, Index variates, Index width = 64, Index depth = width>
struct IntoCaches {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape rows{series, 1, variates, 1, width};
        const Tensor x = norm(r.state("x", {series, 1, variates, 1, depth}));
        const auto rotated = [&](Tensor y) {
            const Tensor heads = reshape(y, {series, 1, variates, 1, 4, width / 4});
            return reshape(
                heads * r.state("cosines", {1, width / 4}) + rotate_pairs(heads) * r.state("sines", {1, width / 4}),
                rows);
        };
        const Tensor position = r.state("at", {1}, DType::i32);
        out(rotated(layer(x, width)));
        r.store_at(r.state("out.keys", {series, 1, variates, 6, width}), rotated(layer(x, width)), 3, position);
        r.store_at(r.state("out.values", {series, 1, variates, 6, width}), layer(x, width), 3, position);
    }
};

/// Draws from mixtures whose parameters are products of one input: from one that all samples share, or one for each.
template <Index mixtures, Index components>
struct DrawnProducts {
    static constexpr Index samples = 40;
    static constexpr bool draws = true;
    static constexpr std::int32_t integer(std::string_view name, Index at) {
        return name == "seed" ? (at == 0 ? -1640531527 : 77) : name == "first_series" ? 1000003 : 3;
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {5, mixtures, 4, 1, 96});
        const auto parameter = [&] { return reshape(layer(x, 16 * components), {5, mixtures, 4, 1, 16, components}); };
        const Tensor freedom = softplus(parameter()) + 2.0;
        const Tensor location = parameter();
        const Tensor scale = softplus(parameter());
        const tg::nn::StudentTMixture mixture{freedom, location, scale, softmax(parameter())};
        out(tg::nn::sample(mixture, samples, r.state("seed", {2}, DType::i32), r.state("first_series", {1}, DType::i32),
                           r.state("patch", {1}, DType::i32)));
    }
};

/// The size of rows `[series, samples, variates, positions, heads * head_dim]`.
struct AttentionSize {
    Index series = 1;
    Index samples = 1;
    Index variates = 1;
    Index positions = 1;
    Index heads = 4;
    Index head_dim = 16;

    [[nodiscard]] constexpr Shape rows(Index of_samples, Index of_positions) const {
        return {series, of_samples, variates, of_positions, heads * head_dim};
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

/// Nothing but the valid positions of a series was written. The last series has fewer of them, or none.
template <AttentionSize size, Index fewer = size.positions * 2 / 3>
struct Causal {
    static constexpr Index capacity = size.positions + 2;
    static constexpr std::int32_t integer(std::string_view, Index series) {
        return static_cast<std::int32_t>(series + 1 == size.series ? fewer : size.positions);
    }
    static constexpr bool is_written(std::string_view name, Index at) {
        const RowPlace place = place_of(size.rows(size.samples, capacity), at);
        return name == "q" || place.position < integer(name, place.series);
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape keys = size.rows(size.samples, capacity);
        out(tg::nn::causal_attention(r.state("q", size.rows(size.samples, size.positions)), r.state("k", keys),
                                     r.state("v", keys), r.state("valid", {size.series}, DType::i32), size.heads));
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
            is_suffix ? size.rows(size.samples, suffix_capacity) : size.rows(prefix_samples, size.positions), at);
        return name == "q" || place.position < (is_suffix ? suffix_length : integer("prefix.length", place.series));
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Shape prefix = size.rows(prefix_samples, size.positions);
        const Shape suffix = size.rows(size.samples, suffix_capacity);
        out(tg::nn::cached_attention(
            r.state("q", size.rows(size.samples, 1)), r.state("prefix.key", prefix), r.state("prefix.value", prefix),
            r.state("prefix.length", {size.series}, DType::i32), r.state("suffix.key", suffix),
            r.state("suffix.value", suffix), r.state("suffix.length", {1}, DType::i32), size.heads));
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
            r.state("q", size.rows(size.samples, 1)), rows("prefix.key", 1, size.positions),
            rows("prefix.value", 1, size.positions), r.state("prefix.length", {size.series}, DType::i32),
            rows("suffix.key", size.samples, suffix_capacity), rows("suffix.value", size.samples, suffix_capacity),
            r.state("suffix.length", {1}, DType::i32), size.heads));
    }
};

/// Caches that products fill and one attention reads: in bf16 they are stored so. The newest position is written by the
/// launch that makes the query. The last series has no prefix; and what one sample wrote at its first position may be
/// NaN, and all that another one reads, which is their own affair. Inputs are small, so that scores are of the order of
/// 1: a softmax of large ones takes another key where rounding moves them.
template <AttentionSize size, Index suffix_length, bool torn = false>
struct FilledCaches {
    static constexpr Index depth = 64;
    static constexpr Index earlier = suffix_length - 1;
    static constexpr std::int32_t integer(std::string_view name, Index series) {
        return static_cast<std::int32_t>(name == "suffix.length"     ? suffix_length
                                         : name == "at"              ? earlier
                                         : series + 1 == size.series ? 0
                                                                     : size.positions);
    }
    static constexpr bool is_written(std::string_view name, Index at) {
        const Index sample = at / (size.variates * (name == "x.earlier" ? earlier : 1) * depth) % size.samples;
        const bool is_torn =
            (name == "x.earlier" && sample == 3 && at / depth % earlier == 0) || (name == "x.newest" && sample == 5);
        return !torn || !is_torn;
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Index width = size.heads * size.head_dim;
        const Tensor keys = r.state("out.prefix.key", size.rows(1, size.positions));
        const Tensor values = r.state("out.prefix.value", size.rows(1, size.positions));
        const Tensor own_keys = r.state("out.suffix.key", size.rows(size.samples, suffix_length));
        const Tensor own_values = r.state("out.suffix.value", size.rows(size.samples, suffix_length));
        const auto input = [&](std::string_view name, Index samples, Index positions) {
            constexpr double small = 0.15;
            return r.state(name, {size.series, samples, size.variates, positions, depth}) * small;
        };
        const Tensor context = input("context", 1, size.positions);
        r.store(keys, layer(context, width));
        r.store(values, layer(context, width));
        const Tensor x = input("x.earlier", size.samples, earlier);
        r.store(own_keys, layer(x, width), 3, 0);
        r.store(own_values, layer(x, width), 3, 0);
        const Tensor newest = input("x.newest", size.samples, 1);
        const Tensor query = layer(newest, width);
        const Tensor at = r.state("at", {1}, DType::i32);
        r.store_at(own_keys, layer(newest, width), 3, at);
        r.store_at(own_values, layer(newest, width), 3, at);
        out(tg::nn::cached_attention(query, keys, values, r.state("prefix.length", {size.series}, DType::i32), own_keys,
                                     own_values, r.state("suffix.length", {1}, DType::i32), size.heads));
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
                                            size.heads));
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
                                      size.heads));
    }
};

inline constexpr AttentionSize small_causal{
    .series = 2, .samples = 1, .variates = 3, .positions = 41, .heads = 4, .head_dim = 16};
inline constexpr AttentionSize odd_causal{
    .series = 2, .samples = 1, .variates = 3, .positions = 9, .heads = 2, .head_dim = 6};
inline constexpr AttentionSize large_causal{
    .series = 1, .samples = 1, .variates = 2, .positions = 300, .heads = 4, .head_dim = 64};
inline constexpr AttentionSize few_causal{
    .series = 3, .samples = 1, .variates = 1, .positions = 40, .heads = 2, .head_dim = 32};
inline constexpr AttentionSize few_cached{
    .series = 2, .samples = 2, .variates = 2, .positions = 60, .heads = 4, .head_dim = 64};
inline constexpr AttentionSize few_queries{
    .series = 1, .samples = 1, .variates = 20, .positions = 3, .heads = 4, .head_dim = 64};
inline constexpr AttentionSize small_cached{
    .series = 2, .samples = 5, .variates = 3, .positions = 45, .heads = 4, .head_dim = 8};
inline constexpr AttentionSize large_cached{
    .series = 2, .samples = 33, .variates = 2, .positions = 130, .heads = 4, .head_dim = 64};
/// Two blocks of samples, the second one of six.
constexpr AttentionSize own_keys_of(Index head_dim, Index positions = 37) {
    return {.series = 2, .samples = 70, .variates = 2, .positions = positions, .heads = 2, .head_dim = head_dim};
}
inline constexpr AttentionSize one_sample{
    .series = 2, .samples = 1, .variates = 40, .positions = 70, .heads = 16, .head_dim = 48};
inline constexpr AttentionSize last{
    .series = 2, .samples = 1, .variates = 3, .positions = 130, .heads = 4, .head_dim = 64};
inline constexpr AttentionSize narrow_causal{
    .series = 2, .samples = 1, .variates = 3, .positions = 70, .heads = 2, .head_dim = 48};
inline constexpr AttentionSize wide_causal{
    .series = 2, .samples = 1, .variates = 3, .positions = 70, .heads = 2, .head_dim = 80};
inline constexpr AttentionSize widest_causal{
    .series = 2, .samples = 1, .variates = 3, .positions = 70, .heads = 2, .head_dim = 128};
inline constexpr AttentionSize few_variates{
    .series = 2, .samples = 3, .variates = 7, .positions = 5, .heads = 4, .head_dim = 16};
inline constexpr AttentionSize many_variates{
    .series = 1, .samples = 9, .variates = 40, .positions = 4, .heads = 4, .head_dim = 64};

/// In the order of the table.
using ProductModels = std::tuple<
    Linear<1, 768, 2304>, Linear<7, 768, 768>, Linear<16, 768, 768>, Linear<300, 768, 768>, Linear<61, 24, 20>,
    LinearOfViews, Gated<1, 512, 1024>, Gated<13, 512, 1024>, Gated<300, 512, 1024>, Residual<5, 512, 768>,
    Residual<300, 512, 768>, NormsAndResiduals<3>, NormsAndResiduals<70>, IntoCaches<1, 3>, IntoCaches<5, 7>,
    Linear<17, 64, 40>, Gated<33, 512, 1024>, Gated<64, 768, 3072>, ActivatedWithOperands<50, 3072, 768>,
    Residual<64, 3072, 768>, NormsAndResiduals<40>, IntoCaches<3, 21, 768>, Gated<65, 512, 1024>,
    ActivatedWithOperands<24, 96, 1600>, Linear<40, 64, 3584>, Activated<20, 256, 8192>, ActivatedInFives<30, 64>,
    WideAndNarrow<45, 160, 1024>, Activated<700, 192, 512>, ActivatedWithOperands<701, 192, 512>,
    ActivatedWithOperands<9, 192, 512>, Gated<527, 192, 384>, FeedForward<1100, 768, 6144>,
    ActivatedWithOperands<1101, 320, 6144>, IntoCaches<147, 7, 1536, 576>, FeedForward<1213, 768, 3072>,
    FeedForward<1280, 768, 6144>, IntoCaches<160, 8, 1536, 576>, IntoCaches<293, 7, 1536, 576>,
    FeedForward<1750, 768, 3072>, FeedForward<1792, 832, 3072>, Scaled<1700, 512, 3840>, Bilinear<1750, 512, 3072>,
    Scaled<1100, 512, 6144>, Bilinear<1280, 512, 6144>, ResidualAndNorm<1756, 512, 2304, 2304>,
    ResidualAndNorm<1664, 64, 512, 64>, ResidualAndNorm<1793, 64, 448, 64, 800>,
    ResidualAndNorm<1700, 64, 384, 64, 768, true>, DrawnProducts<1, 24>, DrawnProducts<DrawnProducts<1, 1>::samples, 5>,
    Causal<small_causal>, Causal<odd_causal>, Causal<large_causal>, Causal<few_causal>, Causal<few_causal, 0>,
    Cached<few_cached, true, 4>, Cached<few_cached, false, 3, 0>, AcrossVariates<few_queries>,
    Cached<small_cached, true, 3>, Cached<small_cached, false, 3>, Cached<large_cached, true, 4>,
    Cached<large_cached, true, 1>, Cached<large_cached, true, 0>, Cached<large_cached, false, 5>, LastPosition<last>,
    AcrossVariates<few_variates>, AcrossVariates<few_variates, true>, AcrossVariates<many_variates>,
    Causal<narrow_causal>, Causal<wide_causal>, Causal<widest_causal>, CachedInLongerRows<own_keys_of(32)>,
    Cached<one_sample, true, 5>, FilledCaches<own_keys_of(16), 5>, FilledCaches<own_keys_of(32), 4>,
    FilledCaches<own_keys_of(48), 3>, FilledCaches<own_keys_of(64, 130), 5>, FilledCaches<own_keys_of(64), 4, true>,
    FilledCaches<own_keys_of(80), 2>, FilledCaches<own_keys_of(96), 3>, FilledCaches<own_keys_of(112), 3>,
    FilledCaches<own_keys_of(128), 3>>;

/// The states of a model after a run on the CPU, by its place in `ProductModels`.
std::vector<StateContent> eager_states_of_products(std::size_t model);

}  // namespace ops
