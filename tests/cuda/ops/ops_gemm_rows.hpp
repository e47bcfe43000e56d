// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <tuple>
#include <vector>

#include "cuda/ops/ops_attention_models.hpp"
#include "cuda/ops/ops_gemm_models.hpp"
#include "cuda/ops/ops_states.hpp"
#include "support/attention_cases.hpp"

// What test_ops_gemm runs: a table for each of its files, so that they compile side by side.

namespace ops {

/// Skinny GEMMs: of as many rows as one tensor core instruction takes.
using FewRows =
    std::tuple<Row<"linear, one row", Linear<1, 768, 2304>>, Row<"linear, 7 rows", Linear<7, 768, 768>>,
               Row<"linear, 16 rows", Linear<16, 768, 768>>, Row<"linear of views, and what follows", LinearOfViews>,
               Row<"norm and pair, one row", Gated<1, 512, 1024>>, Row<"norm and pair, 13 rows", Gated<13, 512, 1024>>,
               Row<"bias and residual, 5 rows", Residual<5, 512, 768>>,
               Row<"bias and residual, k of 1368, 3 rows", Residual<3, 1368, 512>>,
               Row<"norms and residuals, 3 rows", NormsAndResiduals<3>>,
               Row<"rotated into caches, 3 rows", IntoCaches<1, 3>>,
               Row<"GEMM, chain and operands, 9 rows", ActivatedWithOperands<9, 192, 512>>,
               Row<"elementwise, then linear, 5 rows", PointwiseInput<5, 64, 48>>,
               Row<"side by side, then linear, 5 rows", ConcatenatedInput<5, 64, 48>>,
               Row<"norm and pair, k of 84, 3 rows", Gated<3, 84, 64>>,
               Row<"norm and pair, k of 1372, 9 rows", Gated<9, 1372, 64>>,
               Row<"residual, then norm and linear, 8 rows", ResidualAndNorm<8, 64, 96, 64>>,
               Row<"part of a residual, then norm and linear, 13 rows", ResidualAndNorm<13, 64, 96, 64, 832, true>>,
               Row<"residual, then linear, 16 rows", ResidualAndRounding<16, 64, 96, 64>>,
               Row<"elementwise of sums, then linear, 3 rows", PointwiseOfSums<3, 64, 48>>,
               Row<"norms of other rows, 12 rows", NormsOfOthers>>;

/// Skinny GEMMs of 17 to 64 rows, in tiles; in bf16 some of more than 48 are computed by small tiles.
using TiledRows = std::tuple<
    Row<"linear, 17 rows", Linear<17, 64, 40>>,
    Row<"GEMM, chain and operands, 24 rows", ActivatedWithOperands<24, 96, 1600>>,
    Row<"GEMM and chain, 20 rows", Activated<20, 256, 8192>>,
    Row<"GEMM and chain of fives, 30 rows", ActivatedInFives<30, 64>>,
    Row<"norm and pair in turns, 24 rows", Gated<24, 2048, 1384>>,
    Row<"GEMMs of two widths in turns, 19 rows", WideAndNarrow<19, 2048, 2048>>,
    Row<"norm and pair, 33 rows", Gated<33, 512, 1024>>, Row<"rotated into caches, 35 rows", IntoCaches<5, 7>>,
    Row<"linear, 40 rows", Linear<40, 64, 3584>>, Row<"linear, k of 5464, 18 rows", Linear<18, 5464, 64>>,
    Row<"norm and pair, k of 88, 18 rows", Gated<18, 88, 688>>, Row<"linear, k of 1372, 24 rows", Linear<24, 1372, 64>>,
    Row<"norm and pair in turns, k of 1372, 24 rows", Gated<24, 1372, 1384>>,
    Row<"norms and residuals, 40 rows", NormsAndResiduals<40>>,
    Row<"residual, then norm and linear, 19 rows", ResidualAndNorm<19, 64, 96, 64>>,
    Row<"residual, then norms and linear in turns, 24 rows", ResidualAndNorm<24, 64, 96, 11072, 1384, false, 1384>>,
    Row<"part of a residual, then norm and linear, k of 88, 45 rows", ResidualAndNorm<45, 64, 96, 64, 832, true, 88>>,
    Row<"elementwise, then linear, 40 rows", PointwiseInput<40, 96, 64>>,
    Row<"GEMMs of two widths, 45 rows", WideAndNarrow<45, 160, 1024>>,
    Row<"GEMM, chain and operands, 50 rows", ActivatedWithOperands<50, 3072, 768>>,
    Row<"linear, narrow", Linear<61, 24, 20>>, Row<"rotated into caches, 63 rows", IntoCaches<3, 21, 768>>,
    Row<"norm and pair, 64 rows", Gated<64, 768, 3072>>, Row<"bias and residual, 64 rows", Residual<64, 3072, 768>>,
    // In tf32 the blocks of a cluster share k.
    Row<"bias and residual, k of 5464, 18 rows", Residual<18, 5464, 2048>>,
    Row<"linear, k of 4100, 24 rows", Linear<24, 4100, 1048>>,
    Row<"GEMM and chain of fives, k of 5000, 30 rows", ActivatedInFives<30, 5000>>,
    Row<"into a cache, k of 5464, 33 rows", IntoCache<3, 11, 64, 5464>>,
    Row<"GEMM, chain and operands, k of 5464, 47 rows", ActivatedWithOperands<47, 5464, 1000>>>;

/// Of more rows, by cuBLASLt, or in tf32 by tiles; and draws, which take sums of products as they come from it.
using CublasLtRows =
    std::tuple<Row<"norm and pair, 65 rows", Gated<65, 512, 1024>>,
               Row<"norms and residuals, 70 rows", NormsAndResiduals<70>>,
               Row<"elementwise of sums, then linear, 100 rows", PointwiseOfSums<100, 64, 48>>,
               Row<"linear, 300 rows", Linear<300, 768, 768>>, Row<"norm and pair, 300 rows", Gated<300, 512, 1024>>,
               Row<"bias and residual, 300 rows", Residual<300, 512, 768>>,
               Row<"bias and residual, k of 296, 611 rows", Residual<611, 296, 424>>,
               Row<"bias and residual, k of 1048, 611 rows", Residual<611, 1048, 768>>,
               Row<"linear of a part, 700 rows", LinearOfPart<700, 72, 40, 744>>,
               Row<"norm and pair, k of 296, 611 rows", Gated<611, 296, 1400>>,
               Row<"rotated into caches, 1,500 rows", IntoCaches<250, 6, 1024, 832>>,
               Row<"elementwise, then linear, 300 rows", PointwiseInput<300, 64, 48>>,
               Row<"side by side, then linear, 300 rows", ConcatenatedInput<300, 64, 48>>,
               Row<"two halves, then linear, twice, 300 rows", CopiedInput<300, false>>,
               Row<"two halves, then linear, and turned, 131 rows", CopiedInput<131, true>>,
               Row<"norm and pair, 527 rows", Gated<527, 192, 384>>,
               Row<"elementwise of sums, then linear, 600 rows", PointwiseOfSums<600, 64, 48>>,
               Row<"GEMM and chain, 700 rows", Activated<700, 192, 512>>,
               Row<"GEMM, chain and operands, 701 rows", ActivatedWithOperands<701, 192, 512>>,
               Row<"draws from GEMMs, shared mixtures", DrawnGemms<1, 24>>,
               Row<"draws from GEMMs of a norm, 20 rows", DrawnGemms<1, 24, true>>,
               Row<"draws from GEMMs, a mixture each", DrawnGemms<DrawnGemms<1, 1>::samples, 5>>>;

/// Of some hundred rows, by warpgroups, a small tile a block.
using Sm90SmallRows =
    std::tuple<Row<"bias and residual, 160 rows", Residual<160, 1024, 832>>,
               Row<"scaled, 100 rows", Scaled<100, 512, 1536>>, Row<"norm and pair, 160 rows", Gated<160, 512, 1024>>,
               Row<"norm and pair, k of 1368, 157 rows", Gated<157, 1368, 1000>>,
               Row<"rotated into caches, 160 rows", IntoCaches<20, 8, 1024, 832>>,
               Row<"feed-forward, 190 rows", FeedForward<190, 256, 1400>>,
               Row<"GEMM, chain and operands, 189 rows", ActivatedWithOperands<189, 384, 3512>>,
               Row<"GEMM and chain, k of 136, 66 rows", Activated<66, 136, 424>>,
               Row<"GEMM and a function, 256 rows", Softened<256, 512, 2112>>,
               Row<"GEMM and a function, 300 rows", Softened<300, 512, 2112>>,
               Row<"GEMM and a function, k of 416, 500 rows", Softened<500, 416, 2112>>,
               Row<"rotated into caches, heads of 80, 160 rows", IntoCaches<20, 8, 320>>,
               Row<"rotated into caches, heads of 24, 160 rows", IntoCaches<20, 8, 96>>,
               Row<"GEMMs of two widths, 300 rows", WideAndNarrow<300, 1088, 576>>,
               Row<"two residuals, 200 rows", TwoResiduals<200, 1024>>,
               Row<"residual and norm, 424 columns, 130 rows", ResidualAndNorm<130, 256, 1024, 512, 800, true, 424>>,
               Row<"residual and rounding, 161 rows", ResidualAndRounding<161, 256, 512, 512>>,
               Row<"sums by the first of four, 256 rows", SumsByFirst<64, 512>>>;

/// Of more rows, whose tiles run in one wave, or in two or three.
using Sm90WaveRows = std::tuple<
    Row<"scaled, 300 rows", Scaled<300, 256, 4000>>, Row<"scaled, 2100 rows", Scaled<2100, 128, 4000>>,
    Row<"GEMM and chain, 1700 rows", Activated<1700, 64, 4800>>,
    Row<"GEMM and chain, k of 2112, 896 rows", Activated<896, 2112, 512>>,
    Row<"feed-forward, k of 1024, 4224 rows", FeedForward<4224, 1024, 2736>>,
    Row<"GEMM, chain and operands, 893 rows", ActivatedWithOperands<893, 384, 1144>>,
    Row<"GEMM, chain and operands, 1101 rows", ActivatedWithOperands<1101, 256, 4096>>,
    Row<"GEMMs of two widths, 1000 rows", WideAndNarrow<1000, 136, 424>>,
    Row<"GEMMs of two widths in clusters, 2000 rows", WideAndNarrow<2000, 512, 320>>,
    Row<"scaled, k of 40, 1000 rows", Scaled<1000, 40, 4096>>,
    Row<"norm and pair in clusters, 2000 rows", Gated<2000, 1216, 128>>,
    Row<"norm and pair, 1280 rows", Gated<1280, 256, 1536>>, Row<"feed-forward, 448 rows", FeedForward<448, 256, 512>>,
    Row<"feed-forward, k of 512, 968 rows", FeedForward<968, 512, 1368>>,
    Row<"feed-forward, k of 192, 1100 rows", FeedForward<1100, 192, 1368>>,
    Row<"feed-forward, k of 512, 4224 rows", FeedForward<4224, 512, 1368>>,
    Row<"rotated into caches, k of 512, 1029 rows", IntoCaches<147, 7, 512>>,
    Row<"rotated into caches, k of 128, 1029 rows", IntoCaches<147, 7, 768, 128>>,
    Row<"rotated into caches, heads of 80, 1029 rows", IntoCaches<147, 7, 320>>,
    Row<"rotated into caches, k of 256, 2051 rows", IntoCaches<293, 7, 768, 256>>,
    Row<"rotated into caches, k of 576, 2051 rows", IntoCaches<293, 7, 1536, 576>>,
    Row<"bias and residual, k of 1368, 4200 rows", Residual<4200, 1368, 512>>,
    Row<"two residuals, 1408 rows", TwoResiduals<1408, 1024>>,
    Row<"residual and norm, 424 columns, 1100 rows", ResidualAndNorm<1100, 256, 704, 512, 800, true, 424>>,
    Row<"residual and norm in two waves, 4032 rows", ResidualAndNorm<4032, 256, 640, 1376, 256, false, 256>>,
    Row<"residual and norm, small tiles first, 300 rows", ResidualAndNorm<300, 256, 512, 2304, 512, false, 512>>,
    Row<"residual and norm, small tiles last, 1000 rows", ResidualAndNorm<1000, 256, 1024, 64, 512, false, 512>>,
    Row<"residual and rounding, 960 rows", ResidualAndRounding<960, 256, 512, 512>>>;

/// A wave of tiles leaves the squares of a norm to an `sm90` kernel.
template <Index rows, Index columns, bool two = false>
using NormBySm90 = ResidualAndNorm<rows, 64, 704, columns, 1024, two, 1024>;

/// Of so many rows that warpgroups compute them with their chains.
using Sm90Rows =
    std::tuple<Row<"feed-forward, 1100 rows", FeedForward<1100, 768, 6144>>,
               Row<"rotated into caches, 1029 rows", IntoCaches<147, 7, 1536, 768>>,
               Row<"feed-forward, 1213 rows", FeedForward<1213, 768, 3072>>,
               Row<"feed-forward, 1280 rows", FeedForward<1280, 768, 6144>>,
               Row<"rotated into caches, 1280 rows", IntoCaches<160, 8, 1536, 768>>,
               Row<"rotated into caches, 2051 rows", IntoCaches<293, 7, 1536, 768>>,
               Row<"feed-forward, 1750 rows", FeedForward<1750, 768, 3072>>,
               Row<"feed-forward, 1792 rows", FeedForward<1792, 832, 3072>>,
               Row<"feed-forward, k of 1064, 2112 rows", FeedForward<2112, 1064, 2736>>,
               Row<"scaled, 1700 rows", Scaled<1700, 512, 3840>>, Row<"bilinear, 1750 rows", Bilinear<1750, 512, 3072>>,
               Row<"scaled, 1100 rows", Scaled<1100, 512, 6144>>,
               Row<"residual, and norm by sm90, 1100 rows", NormBySm90<1100, 3328>>,
               Row<"residual, and norm by sm90, 2200 rows", NormBySm90<2200, 3328>>,
               Row<"residual, and norm of two GEMMs by sm90, 2200 rows", NormBySm90<2200, 3200, true>>,
               Row<"bilinear, 1280 rows", Bilinear<1280, 512, 6144>>>;

/// GEMMs whose whole rows clusters take, for what rounds them for the next GEMM.
using Sm90ClusterRows =
    std::tuple<Row<"residual and norm, 1756 rows", ResidualAndNorm<1756, 512, 2304, 2304>>,
               Row<"residual and norm, 1664 rows", ResidualAndNorm<1664, 64, 512, 64>>,
               Row<"residual and norm, 1793 rows", ResidualAndNorm<1793, 64, 448, 64, 800>>,
               Row<"residual and norm, two GEMMs, 1700 rows", ResidualAndNorm<1700, 64, 384, 64, 768, true>>,
               Row<"residual and norm, 512 columns, 1700 rows", ResidualAndNorm<1700, 64, 448, 64, 512, false, 512>>,
               Row<"residual and norm, shallow, 1756 rows", ResidualAndNorm<1756, 64, 320, 64>>,
               Row<"residual and rounding, 1792 rows", ResidualAndRounding<1792, 64, 512, 64>>,
               Row<"residual and rounding, 1793 rows", ResidualAndRounding<1793, 64, 192, 64>>,
               Row<"embedding and norm, 1761 rows", Embedding<1761, 64, 64>>,
               Row<"two residuals, 1700 rows", TwoResiduals<1700, 2304>>,
               Row<"residual just made, 1700 rows", ResidualJustMade<1700, 192>>>;

/// Attentions to a context, to the variates of a position, and of the last position.
using AttentionRows = std::tuple<
    Row<"causal attention", Causal<small_causal>>, Row<"causal attention, odd heads", Causal<odd_causal>>,
    Row<"causal attention, large", Causal<large_causal>>, Row<"causal attention, few queries", Causal<few_causal>>,
    Row<"causal attention, a series without values", Causal<few_causal, 0>>,
    Row<"causal attention, many queries of few keys", Causal<many_of_few_keys>>,
    Row<"causal attention, many queries of few keys, nine", Causal<many_of_few_keys, 9>>,
    Row<"variate attention, few queries", AcrossVariates<few_queries>>,
    Row<"attention of the last position", LastPosition<last>>,
    Row<"attention of the last position, many queries", LastPosition<one_sample_of_long>>,
    Row<"variate attention", AcrossVariates<few_variates>>,
    Row<"variate attention, NaN in one sample", AcrossVariates<few_variates, true>>,
    Row<"variate attention, large", AcrossVariates<many_variates>>,
    Row<"causal attention, heads of 48", Causal<narrow_causal>>,
    Row<"causal attention, heads of 80", Causal<wide_causal>>,
    Row<"causal attention, heads of 128", Causal<widest_causal>>,
    Row<"causal attention, ninety positions", Causal<ninety_positions>>,
    Row<"causal attention, many heads of 32, NaN in a value", Causal<many_of_width(32), 46, true>>,
    Row<"causal attention, many heads of 80, NaN in a value", Causal<many_of_width(80), 46, true>>,
    Row<"rotated causal attention, in tiles", RotatedCausal<rotated_in_tiles, 768>>,
    Row<"rotated causal attention, in tiles, NaN at one position", RotatedCausal<torn_in_tiles, 64, true>>,
    Row<"rotated causal attention, by warps, NaN at one position", RotatedCausal<torn_in_warps, 64, true>>,
    Row<"attention within groups", Grouped<many_positions, 133, tg::QueryPlaces::first>>,
    Row<"attention within groups, few keys", Grouped<few_positions, 20, tg::QueryPlaces::first>>,
    Row<"attention within groups, some keys", Grouped<few_positions, 100, tg::QueryPlaces::first>>,
    Row<"attention within groups, the last of few keys", Grouped<few_positions, 20, tg::QueryPlaces::last>>,
    Row<"attention by key, few keys", Grouped<few_positions, 20, tg::QueryPlaces::last, tg::KeyMask::by_key>>,
    Row<"attention by key, some keys", Grouped<few_positions, 100, tg::QueryPlaces::first, tg::KeyMask::by_key>>,
    Row<"attention within groups, the last positions", Grouped<block_of_positions, 150, tg::QueryPlaces::last>>,
    Row<"attention to masked caches", MaskedCaches<block_of_positions, 90, 140>>,
    Row<"attention to masked caches, a series without a prefix", MaskedCaches<block_of_positions, 2, 140>>>;

/// Attentions of many queries at few positions.
using FewPositionRows = std::tuple<
    Row<"causal attention, forty positions, NaN in a value", Causal<positions_of_many(40), 26, true>>,
    Row<"rotated causal attention, twelve positions", RotatedCausal<positions_of_many(12), 64>>,
    Row<"rotated causal attention, twenty positions, NaN at one", RotatedCausal<positions_of_many(20), 64, true>>,
    Row<"rotated causal attention, forty positions, NaN at one", RotatedCausal<positions_of_many(40), 64, true>>,
    Row<"attention within groups, the last of a hundred positions",
        Grouped<positions_of_many(30), 100, tg::QueryPlaces::last>>,
    Row<"attention to masked caches, twelve positions", MaskedCaches<positions_of_many(12), 33, 47>>,
    Row<"attention to masked caches, twenty positions", MaskedCaches<positions_of_many(20), 90, 140>>,
    Row<"attention to masked caches, a hundred keys behind two", MaskedCaches<positions_of_many(45), 2, 100>>>;

/// Attentions to caches.
using CachedAttentionRows =
    std::tuple<Row<"cached attention, few queries", Cached<few_cached, true, 4>>,
               Row<"cached attention, a series without a prefix", Cached<few_cached, false, 3, 0>>,
               Row<"cached attention, shared prefix", Cached<small_cached, true, 3>>,
               Row<"cached attention, own prefix", Cached<small_cached, false, 3>>,
               Row<"cached attention, shared, large", Cached<large_cached, true, 4>>,
               Row<"cached attention, many blocks, shared prefix", Cached<many_blocks, true, 5>>,
               Row<"cached attention, many blocks, own prefix", Cached<many_blocks, false, 5, 0>>,
               Row<"cached attention, suffix of one", Cached<large_cached, true, 1>>,
               Row<"cached attention, no suffix", Cached<large_cached, true, 0>>,
               Row<"cached attention, own, large", Cached<large_cached, false, 5>>,
               Row<"cached attention, few samples of a long prefix", Cached<few_samples, true, 5>>,
               Row<"cached attention, few samples, no suffix", Cached<few_samples, true, 0, 17>>,
               Row<"cached attention, few queries of a long prefix", Cached<long_prefix, true, 4>>,
               Row<"cached attention, few queries, a series of one key", Cached<long_prefix, true, 0, 1>>,
               Row<"cached attention, wide heads of a long prefix", Cached<wide_heads_of_long, true, 4>>,
               Row<"cached attention, parts of longer rows", CachedInLongerRows<suffixes_of(32)>>,
               Row<"cached attention, one sample, many queries", Cached<one_sample, true, 5>>,
               Row<"cached attention, one sample, a long prefix", Cached<one_sample_of_long, true, 5>>,
               Row<"cached attention, few samples, a series of 20 keys", Cached<few_samples, true, 5, 20>>,
               Row<"cached attention, few samples, a series without a prefix", Cached<few_samples, true, 5, 0>>,
               Row<"cached attention, few samples of a long prefix, no suffix", Cached<few_samples, true, 0>>,
               Row<"cached attention, few samples, parts of longer rows", CachedInLongerRows<few_samples>>,
               Row<"cached attention, few samples, grouped queries", Cached<few_samples_of_groups, true, 5>>,
               Row<"cached attention, wide heads", Cached<wide_heads, true, 4>>,
               Row<"cached attention, wide heads, own, many queries", Cached<many_wide_heads, false, 5>>>;

/// All that an attention can be asked for: grouped queries, scales, masks, blocks, heads of any width.
using AttentionOptionRows = std::tuple<Row<"attentions, the first half", tg::test::EverySecondAttention<0>>,
                                       Row<"attentions, the second half", tg::test::EverySecondAttention<1>>>;

/// Attentions to caches that GEMMs fill: their keys are stored as bf16 where GEMMs are.
using FilledCacheRows = std::tuple<
    Row<"caches filled by GEMMs, heads of 16", FilledCaches<suffixes_of(16), 5>>,
    Row<"caches filled by GEMMs, heads of 32", FilledCaches<suffixes_of(32), 4>>,
    Row<"caches filled by GEMMs, heads of 48", FilledCaches<suffixes_of(48), 3>>,
    Row<"caches filled by GEMMs, heads of 64", FilledCaches<suffixes_of(64, 130), 5>>,
    Row<"caches filled by GEMMs, many blocks, NaN in one", FilledCaches<many_blocks, 5, true>>,
    Row<"caches filled by GEMMs, NaN in one sample", FilledCaches<suffixes_of(64), 4, true>>,
    Row<"caches filled by GEMMs, few samples, NaN in one", FilledCaches<few_samples, 11, true>>,
    Row<"caches filled by GEMMs, sixteen warps, NaN in one", FilledCaches<sixteen_warps, 11, true>>,
    Row<"caches filled by GEMMs, sixteen warps, a short prefix", FilledCaches<sixteen_warps, 7, false, 30>>,
    Row<"caches filled by GEMMs, a longer prefix, NaN in one", FilledCaches<longer_prefix, 11, true>>,
    Row<"caches filled by GEMMs, few samples, heads of 16", FilledCaches<few_samples_of(16), 11>>,
    Row<"caches filled by GEMMs, few samples, heads of 32", FilledCaches<few_samples_of(32), 3, false, 1>>,
    Row<"caches filled by GEMMs, few samples, heads of 80", FilledCaches<few_samples_of(80), 4, false, 64>>,
    Row<"caches filled by GEMMs, few samples, heads of 96", FilledCaches<few_samples_of(96), 4, false, 65>>,
    Row<"caches filled by GEMMs, few samples, heads of 48", FilledCaches<few_samples_of(48), 9>>,
    Row<"caches filled by GEMMs, few samples, heads of 112", FilledCaches<few_samples_of(112), 5, false, 16>>,
    Row<"caches filled by GEMMs, few samples, heads of 128", FilledCaches<few_samples_of(128), 5, false, 193>>,
    Row<"caches filled by GEMMs, few samples, heads of 256, NaN in one",
        FilledCaches<few_samples_of(256), 5, true, 77>>,
    Row<"caches filled by GEMMs, few samples, heads of 208", FilledCaches<few_samples_of(208), 5>>,
    Row<"caches filled by GEMMs, twenty samples, heads of 256", FilledCaches<twenty_wide, 6, true>>,
    Row<"caches filled by GEMMs, twenty samples, heads of 256, five keys", FilledCaches<twenty_wide, 2, false, 5>>,
    Row<"caches filled by GEMMs, heads of 80", FilledCaches<suffixes_of(80), 2>>,
    Row<"caches filled by GEMMs, heads of 96", FilledCaches<suffixes_of(96), 3>>,
    Row<"caches filled by GEMMs, heads of 112", FilledCaches<suffixes_of(112), 3>>,
    Row<"caches filled by GEMMs, heads of 128", FilledCaches<suffixes_of(128), 3>>,
    Row<"caches filled by GEMMs, 36 heads of 128", FilledCaches<many_suffixes_of(128), 3>>,
    Row<"caches filled by GEMMs, heads of 256, NaN in one", FilledCaches<suffixes_of(256), 3>>>;

/// The states of the model of a row after a run on the CPU, by the row's name.
std::vector<StateContent> eager_states_of_gemms(std::string_view name);

}  // namespace ops
