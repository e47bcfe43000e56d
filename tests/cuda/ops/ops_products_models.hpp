// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include <totograph/graph/recorder.hpp>
#include <totograph/nn/student_t.hpp>

#include "cuda/ops/ops_attention_models.hpp"
#include "cuda/ops/ops_layers.hpp"
#include "cuda/ops/ops_states.hpp"

// Models of products, in sizes that take each way there is to run them: few rows and many, widths that tensor cores
// take and others; and the table of all that test_ops_products runs.

namespace ops {

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

/// The same as a feed-forward network has them: another product reads what they make.
template <Index rows, Index depth, Index columns>
struct FeedForward {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = norm(r.state("x", {rows, depth}));
        out(layer(silu(layer(x, columns)) * layer(x, columns), 64));
    }
};

/// Two products that meet without a sigmoid.
template <Index rows, Index depth, Index columns>
struct Bilinear {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = norm(r.state("x", {rows, depth}));
        out(layer(x, columns) * layer(x, columns));
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

/// The same without a norm: the next product takes the stream as it is.
template <Index rows, Index input, Index depth, Index columns>
struct ResidualAndRounding {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor hidden = layer(r.state("x", {rows, input}), depth) * 2.0;
        const Tensor stream = r.state("stream", {rows, 768}) + layer(hidden, 768);
        out(layer(stream, columns));
        out(stream);
    }
};

/// A product of elementwise results begins the stream; a norm and the next product follow. (Without a norm, the two
/// products would be one.)
template <Index rows, Index depth, Index columns>
struct Embedding {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor stream = layer(r.state("x", {rows, depth}) * 0.5 + 0.25, 768);
        out(layer(norm(stream), columns));
        out(stream);
    }
};

/// A stream that two products add to, one run after the other.
template <Index rows, Index depth>
struct TwoResiduals {
    static constexpr int runs = 3;
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor stream = r.state("stream", {rows, 768});
        const Tensor first = stream + layer(layer(norm(stream), depth) * 0.5, 768);
        const Tensor second = first + layer(layer(norm(first), depth) * 0.5, 768);
        out(layer(norm(second), 64));
        r.store(stream, second);
    }
};

/// What a product adds to is what the launch right before it makes.
template <Index rows, Index depth>
struct ResidualJustMade {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {rows, 64});
        const Tensor hidden = layer(x, depth) * 2.0;
        const Tensor begin = layer(x, 768) * 0.5;
        out(layer(norm(begin + layer(hidden, 768)), 64));
        out(begin);  // or the sum with what is added to it would be one chain
    }
};

/// A product of elementwise results.
template <Index rows, Index depth, Index columns>
struct PointwiseInput {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(layer((r.state("x", {rows, depth}) - r.state("of.rows", {rows, 1})) * 0.5, columns));
    }
};

/// The same, where other steps are launched with them.
template <Index rows, Index depth, Index columns>
struct PointwiseOfSums {
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        out(layer(silu(cumulative_sum(r.state("x", {rows, depth}))), columns));
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
        return name == "seed" ? (at == 0 ? -1640531527 : 77) : name == "first" ? (at == 0 ? 1000003 : -7) : 3;
    }
    static constexpr void record(Recorder& r) {
        Outputs out(r);
        const Tensor x = r.state("x", {5, mixtures, 4, 1, 96});
        const auto parameter = [&] { return reshape(layer(x, 16 * components), {5, mixtures, 4, 1, 16, components}); };
        const Tensor freedom = softplus(parameter()) + 2.0;
        const Tensor location = parameter();
        const Tensor scale = softplus(parameter());
        const tg::nn::StudentTMixture mixture{freedom, location, scale, softmax(parameter())};
        out(tg::nn::sample(mixture, samples, r.state("seed", {2}, DType::i32), r.state("first", {2}, DType::i32),
                           r.state("patch", {1}, DType::i32)));
    }
};

using ProductRows = std::tuple<
    Row<"linear, one row", Linear<1, 768, 2304>>, Row<"linear, 7 rows", Linear<7, 768, 768>>,
    Row<"linear, 16 rows", Linear<16, 768, 768>>, Row<"linear, 300 rows", Linear<300, 768, 768>>,
    Row<"linear, narrow", Linear<61, 24, 20>>, Row<"linear of views, and what follows", LinearOfViews>,
    Row<"norm and pair, one row", Gated<1, 512, 1024>>, Row<"norm and pair, 13 rows", Gated<13, 512, 1024>>,
    Row<"norm and pair, 300 rows", Gated<300, 512, 1024>>, Row<"bias and residual, 5 rows", Residual<5, 512, 768>>,
    Row<"bias and residual, 300 rows", Residual<300, 512, 768>>,
    Row<"norms and residuals, 3 rows", NormsAndResiduals<3>>,
    Row<"norms and residuals, 70 rows", NormsAndResiduals<70>>, Row<"rotated into caches, 3 rows", IntoCaches<1, 3>>,
    Row<"rotated into caches, 35 rows", IntoCaches<5, 7>>, Row<"linear, 17 rows", Linear<17, 64, 40>>,
    Row<"norm and pair, 33 rows", Gated<33, 512, 1024>>, Row<"norm and pair, 64 rows", Gated<64, 768, 3072>>,
    Row<"product, chain and operands, 50 rows", ActivatedWithOperands<50, 3072, 768>>,
    Row<"bias and residual, 64 rows", Residual<64, 3072, 768>>,
    Row<"norms and residuals, 40 rows", NormsAndResiduals<40>>,
    Row<"rotated into caches, 63 rows", IntoCaches<3, 21, 768>>, Row<"norm and pair, 65 rows", Gated<65, 512, 1024>>,
    Row<"product, chain and operands, 24 rows", ActivatedWithOperands<24, 96, 1600>>,
    Row<"linear, 40 rows", Linear<40, 64, 3584>>, Row<"product and chain, 20 rows", Activated<20, 256, 8192>>,
    Row<"product and chain of fives, 30 rows", ActivatedInFives<30, 64>>,
    Row<"products of two widths, 45 rows", WideAndNarrow<45, 160, 1024>>,
    Row<"product and chain, 700 rows", Activated<700, 192, 512>>,
    Row<"product, chain and operands, 701 rows", ActivatedWithOperands<701, 192, 512>>,
    Row<"product, chain and operands, 9 rows", ActivatedWithOperands<9, 192, 512>>,
    Row<"norm and pair, 527 rows", Gated<527, 192, 384>>, Row<"feed-forward, 1100 rows", FeedForward<1100, 768, 6144>>,
    Row<"product, chain and operands, 1101 rows", ActivatedWithOperands<1101, 320, 6144>>,
    Row<"rotated into caches, 1029 rows", IntoCaches<147, 7, 1536, 576>>,
    Row<"feed-forward, 1213 rows", FeedForward<1213, 768, 3072>>,
    Row<"feed-forward, 1280 rows", FeedForward<1280, 768, 6144>>,
    Row<"rotated into caches, 1280 rows", IntoCaches<160, 8, 1536, 576>>,
    Row<"rotated into caches, 2051 rows", IntoCaches<293, 7, 1536, 576>>,
    Row<"feed-forward, 1750 rows", FeedForward<1750, 768, 3072>>,
    Row<"feed-forward, 1792 rows", FeedForward<1792, 832, 3072>>, Row<"scaled, 1700 rows", Scaled<1700, 512, 3840>>,
    Row<"bilinear, 1750 rows", Bilinear<1750, 512, 3072>>, Row<"scaled, 1100 rows", Scaled<1100, 512, 6144>>,
    Row<"bilinear, 1280 rows", Bilinear<1280, 512, 6144>>,
    Row<"residual and norm, 1756 rows", ResidualAndNorm<1756, 512, 2304, 2304>>,
    Row<"residual and norm, 1664 rows", ResidualAndNorm<1664, 64, 512, 64>>,
    Row<"residual and norm, 1793 rows", ResidualAndNorm<1793, 64, 448, 64, 800>>,
    Row<"residual and norm, two products, 1700 rows", ResidualAndNorm<1700, 64, 384, 64, 768, true>>,
    Row<"residual and norm, shallow, 1756 rows", ResidualAndNorm<1756, 64, 320, 64>>,
    Row<"residual and rounding, 1792 rows", ResidualAndRounding<1792, 64, 512, 64>>,
    Row<"residual and rounding, 1793 rows", ResidualAndRounding<1793, 64, 192, 64>>,
    Row<"embedding and norm, 1761 rows", Embedding<1761, 64, 64>>,
    Row<"two residuals, 1700 rows", TwoResiduals<1700, 2304>>,
    Row<"residual just made, 1700 rows", ResidualJustMade<1700, 192>>,
    Row<"elementwise, then linear, 5 rows", PointwiseInput<5, 64, 48>>,
    Row<"elementwise, then linear, 40 rows", PointwiseInput<40, 96, 64>>,
    Row<"elementwise, then linear, 300 rows", PointwiseInput<300, 64, 48>>,
    Row<"elementwise of sums, then linear, 3 rows", PointwiseOfSums<3, 64, 48>>,
    Row<"elementwise of sums, then linear, 100 rows", PointwiseOfSums<100, 64, 48>>,
    Row<"elementwise of sums, then linear, 600 rows", PointwiseOfSums<600, 64, 48>>,
    Row<"draws from products, shared mixtures", DrawnProducts<1, 24>>,
    Row<"draws from products, a mixture each", DrawnProducts<DrawnProducts<1, 1>::samples, 5>>,
    Row<"causal attention", Causal<small_causal>>, Row<"causal attention, odd heads", Causal<odd_causal>>,
    Row<"causal attention, large", Causal<large_causal>>, Row<"causal attention, few queries", Causal<few_causal>>,
    Row<"causal attention, a series without values", Causal<few_causal, 0>>,
    Row<"cached attention, few queries", Cached<few_cached, true, 4>>,
    Row<"cached attention, a series without a prefix", Cached<few_cached, false, 3, 0>>,
    Row<"variate attention, few queries", AcrossVariates<few_queries>>,
    Row<"cached attention, shared prefix", Cached<small_cached, true, 3>>,
    Row<"cached attention, own prefix", Cached<small_cached, false, 3>>,
    Row<"cached attention, shared, large", Cached<large_cached, true, 4>>,
    Row<"cached attention, suffix of one", Cached<large_cached, true, 1>>,
    Row<"cached attention, no suffix", Cached<large_cached, true, 0>>,
    Row<"cached attention, own, large", Cached<large_cached, false, 5>>,
    Row<"attention of the last position", LastPosition<last>>, Row<"variate attention", AcrossVariates<few_variates>>,
    Row<"variate attention, NaN in one sample", AcrossVariates<few_variates, true>>,
    Row<"variate attention, large", AcrossVariates<many_variates>>,
    Row<"causal attention, heads of 48", Causal<narrow_causal>>,
    Row<"causal attention, heads of 80", Causal<wide_causal>>,
    Row<"causal attention, heads of 128", Causal<widest_causal>>,
    Row<"cached attention, parts of longer rows", CachedInLongerRows<own_keys_of(32)>>,
    Row<"cached attention, one sample, many queries", Cached<one_sample, true, 5>>,
    Row<"caches filled by products, heads of 16", FilledCaches<own_keys_of(16), 5>>,
    Row<"caches filled by products, heads of 32", FilledCaches<own_keys_of(32), 4>>,
    Row<"caches filled by products, heads of 48", FilledCaches<own_keys_of(48), 3>>,
    Row<"caches filled by products, heads of 64", FilledCaches<own_keys_of(64, 130), 5>>,
    Row<"caches filled by products, NaN in one sample", FilledCaches<own_keys_of(64), 4, true>>,
    Row<"caches filled by products, heads of 80", FilledCaches<own_keys_of(80), 2>>,
    Row<"caches filled by products, heads of 96", FilledCaches<own_keys_of(96), 3>>,
    Row<"caches filled by products, heads of 112", FilledCaches<own_keys_of(112), 3>>,
    Row<"caches filled by products, heads of 128", FilledCaches<own_keys_of(128), 3>>>;

/// The states of a model after a run on the CPU, by its place in `ProductRows`.
std::vector<StateContent> eager_states_of_products(std::size_t row);

}  // namespace ops
