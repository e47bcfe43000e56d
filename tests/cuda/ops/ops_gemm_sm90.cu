// SPDX-License-Identifier: Apache-2.0
// GEMMs of so many rows that warpgroups compute them with their chains, in every precision, on the device against
// the eager executor on the CPU.
#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

static_assert(runs_on_sm90<FeedForward<1100, 768, 6144>>());
static_assert(runs_on_sm90<IntoCaches<147, 7, 1536, 768>, 2>());
static_assert(runs_on_sm90<FeedForward<1213, 768, 3072>>());
static_assert(runs_on_sm90<FeedForward<1280, 768, 6144>>());
static_assert(runs_on_sm90<IntoCaches<160, 8, 1536, 768>, 2>());
template <class Model, std::size_t launch = 0>
using WarpgroupsOf = typename tg::cuda::Sm90GroupOf<LaunchOf<Model, launch>>::type;
// Blocks of one tile, of one and two, and of three and more: sums and those who finish them wait for each other in both
// parities.
static_assert(WarpgroupsOf<IntoCaches<147, 7, 1536, 768>, 2>::items <= 132 / 2);
static_assert(WarpgroupsOf<FeedForward<1213, 768, 3072>>::items > 132 / 2);
static_assert(WarpgroupsOf<FeedForward<1213, 768, 3072>>::items < 2 * (132 / 2));
static_assert(WarpgroupsOf<FeedForward<1100, 768, 6144>>::items > 2 * (132 / 2));
static_assert(runs_on_sm90<IntoCaches<293, 7, 1536, 768>, 2>());
static_assert(WarpgroupsOf<IntoCaches<293, 7, 1536, 768>, 2>::items > 132 / 2, "a block goes from GEMM to GEMM");
// Tiles that reach beyond the last row, and tiles that do not.
static_assert(!WarpgroupsOf<FeedForward<1213, 768, 3072>>::tiles_are_whole);
static_assert(!WarpgroupsOf<IntoCaches<147, 7, 1536, 768>, 2>::tiles_are_whole);
static_assert(WarpgroupsOf<FeedForward<1280, 768, 6144>>::tiles_are_whole);
static_assert(WarpgroupsOf<IntoCaches<160, 8, 1536, 768>, 2>::tiles_are_whole);
// Tiles of 256 columns and of 224, where the last one reaches beyond the last column: of pairs, and of a GEMM alone.
static_assert(WarpgroupsOf<FeedForward<1280, 768, 6144>>::tile_n == 256);
static_assert(WarpgroupsOf<IntoCaches<160, 8, 1536, 768>, 2>::tile_n == 256);
using NarrowTiles = FeedForward<1750, 768, 3072>;
using NarrowWholeTiles = FeedForward<1792, 832, 3072>;
using NarrowTilesOfOne = Scaled<1700, 512, 3840>;
static_assert(runs_on_sm90<NarrowTiles>() && WarpgroupsOf<NarrowTiles>::tile_n == 224);
static_assert(runs_on_sm90<NarrowWholeTiles>() && WarpgroupsOf<NarrowWholeTiles>::tile_n == 224);
static_assert(runs_on_sm90<NarrowTilesOfOne>() && WarpgroupsOf<NarrowTilesOfOne>::tile_n == 224);
static_assert(runs_on_sm90<Bilinear<1750, 512, 3072>>() && runs_on_sm90<Bilinear<1280, 512, 6144>>());
static_assert(WarpgroupsOf<Bilinear<1750, 512, 3072>>::tile_n == 224);
static_assert(WarpgroupsOf<Bilinear<1280, 512, 6144>>::tile_n == 256);
static_assert(runs_on_sm90<Scaled<1100, 512, 6144>>());
static_assert(WarpgroupsOf<Scaled<1100, 512, 6144>>::tile_n == 256);
static_assert(WarpgroupsOf<Scaled<1100, 512, 6144>>::items > 132 / 2);
static_assert(!WarpgroupsOf<NarrowTiles>::tiles_are_whole && WarpgroupsOf<NarrowWholeTiles>::tiles_are_whole);
static_assert(WarpgroupsOf<NarrowTiles>::all_column_tiles * 224 > WarpgroupsOf<NarrowTiles>::weight_rows<0>);
static_assert(WarpgroupsOf<NarrowTilesOfOne>::all_column_tiles * 224 > WarpgroupsOf<NarrowTilesOfOne>::weight_rows<0>);
// Of 768 columns, four tiles of 224 waste too much.
using MuchBeyond = IntoCaches<500, 7, 768>;
static_assert(WarpgroupsOf<MuchBeyond, 2>::tile_n == 224 && !runs_on_sm90<MuchBeyond, 2>());
// Columns and k that no tile divides: zeros come behind k.
using OddTiles = FeedForward<2112, 1064, 2736>;
static_assert(runs_on_sm90<OddTiles>() && WarpgroupsOf<OddTiles>::k % tg::cuda::Sm90Tile::k != 0);
// The launch before leaves the squares of the norm: to blocks of one tile, and of several.
template <class Model>
constexpr bool finishes_norm() {
    constexpr auto choices = tg::cuda::gemm_choices<tg::Program<Model>, Precision::bf16>(tg::cuda::traits_of(90), {});
    return choices[1].tail == tg::cuda::TailFusion::norm && choices[2].kernel == tg::cuda::GemmKernel::sm90 &&
           !choices[2].converts_input;
}
static_assert(finishes_norm<NormBySm90<1100, 3328>>() && finishes_norm<NormBySm90<2200, 3328>>());
static_assert(finishes_norm<NormBySm90<2200, 3200, true>>() &&
              WarpgroupsOf<NormBySm90<2200, 3200, true>, 2>::count == 2);
static_assert(WarpgroupsOf<NormBySm90<1100, 3328>, 2>::items <= 132 / 2);
static_assert(WarpgroupsOf<NormBySm90<2200, 3328>, 2>::items > 132 / 2);
// What stays with cuBLASLt: chains with a sigmoid in GEMMs of a smaller k, stored as f32, or alone; and chains that
// read a number for each element.
static_assert(!runs_on_sm90<FeedForward<1280, 448, 6144>>() && !runs_on_sm90<Gated<1280, 768, 6144>>());
struct FeedForwardOfOne {
    static constexpr void record(tg::Recorder& r) {
        Outputs out(r);
        out(layer(silu(layer(r.state("x", {1280, 768}), 6144)), 64));
    }
};
struct ReadsElements {
    static constexpr void record(tg::Recorder& r) {
        Outputs out(r);
        out(layer(r.state("x", {1280, 768}), 6144) * r.state("y", {1280, 6144}));
    }
};
static_assert(runs_on_sm90<Scaled<1280, 768, 6144>>());
static_assert(!runs_on_sm90<FeedForwardOfOne>() && !runs_on_sm90<ReadsElements>());

}  // namespace

TEST_CASE("GEMMs by sm90 kernels") {
    check_gemms<Sm90Rows>();
}
