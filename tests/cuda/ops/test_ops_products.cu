// SPDX-License-Identifier: Apache-2.0
// Products and attentions in every precision, on the device against the eager executor on the CPU.
#include <cstddef>
#include <cstdlib>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda/ops/ops_device.hpp"
#include "cuda/ops/ops_products_models.hpp"

using namespace ops;

namespace {

// Models that are made for a kernel reach it.
template <class Model, std::size_t launch = 0>
using LaunchOf = tg::cuda::LaunchAt<tg::Program<Model>, true, launch>;
/// The kernel that computes the GEMMs of a launch on an H100 or H200, where nothing is fused behind the launch before.
template <class Model, std::size_t launch = 0>
constexpr tg::cuda::GemmKernel kernel_of =
    tg::cuda::select_gemm(LaunchOf<Model, launch>::launch.gemm, {}, tg::cuda::traits_of(90)).kernel;
template <class Model, std::size_t launch = 0>
constexpr bool runs_on_warpgroups() {
    return kernel_of<Model, launch> == tg::cuda::GemmKernel::sm90;
}
/// Whether all products of a model are streamed.
template <class Model>
constexpr bool is_streamed() {
    using Lowered = tg::cuda::Lowering<tg::Program<Model>, true>;
    bool result = true;
    for (std::size_t i = 0; i < Lowered::count; ++i) {
        result = result && Lowered::at(i).kind != tg::cuda::LaunchKind::gemm;
    }
    return result;
}
static_assert(is_streamed<Gated<64, 768, 3072>>() && !is_streamed<Gated<65, 512, 1024>>());
static_assert(is_streamed<Linear<17, 64, 40>>() && is_streamed<ActivatedWithOperands<50, 3072, 768>>());
/// Groups of columns that a block has, of the products of one launch of a model.
template <class Model, std::size_t launch = 0>
constexpr int column_groups() {
    using At = LaunchOf<Model, launch>;
    return []<int... i>(std::integer_sequence<int, i...>) {
        return tg::cuda::StreamingGroup<
            typename tg::cuda::ReductionAt<At>::type,
            tg::cuda::StreamedProduct<typename At::template KernelAt<At::launch.norms() + i>,
                                      At::launch.gemm.input_is_bf16, At::launch.scales[i],
                                      At::launch.weights[i]>...>::groups;
    }
    (std::make_integer_sequence<int, At::launch.gemms()>());
}
static_assert(column_groups<Gated<64, 768, 3072>>() == 3 && column_groups<Residual<64, 3072, 768>>() == 1);
static_assert(column_groups<ActivatedWithOperands<24, 96, 1600>>() == 2 && column_groups<Linear<40, 64, 3584>>() == 4);
static_assert(column_groups<Activated<20, 256, 8192>>() == 8 && column_groups<WideAndNarrow<45, 160, 1024>>() == 4);
static_assert(is_streamed<ActivatedInFives<30, 64>>());
static_assert(is_streamed<IntoCaches<3, 21, 768>>() && is_streamed<NormsAndResiduals<40>>());
static_assert(runs_on_warpgroups<FeedForward<1100, 768, 6144>>());
static_assert(runs_on_warpgroups<IntoCaches<147, 7, 1536, 576>, 2>());
static_assert(runs_on_warpgroups<FeedForward<1213, 768, 3072>>());
static_assert(runs_on_warpgroups<FeedForward<1280, 768, 6144>>());
static_assert(runs_on_warpgroups<IntoCaches<160, 8, 1536, 576>, 2>());
template <class Model, std::size_t launch = 0>
using WarpgroupsOf = typename tg::cuda::WarpgroupGroupOf<LaunchOf<Model, launch>>::type;
// Blocks of one tile, of one and two, and of three and more: sums and those who finish them wait for each other in both
// parities.
static_assert(WarpgroupsOf<IntoCaches<147, 7, 1536, 576>, 2>::items <= 132 / 2);
static_assert(WarpgroupsOf<FeedForward<1213, 768, 3072>>::items > 132 / 2);
static_assert(WarpgroupsOf<FeedForward<1213, 768, 3072>>::items < 2 * (132 / 2));
static_assert(WarpgroupsOf<FeedForward<1100, 768, 6144>>::items > 2 * (132 / 2));
static_assert(runs_on_warpgroups<IntoCaches<293, 7, 1536, 576>, 2>());
static_assert(WarpgroupsOf<IntoCaches<293, 7, 1536, 576>, 2>::items > 132 / 2, "a block goes from product to product");
// Tiles that reach beyond the last row, and tiles that do not.
static_assert(!WarpgroupsOf<FeedForward<1213, 768, 3072>>::tiles_are_whole);
static_assert(!WarpgroupsOf<IntoCaches<147, 7, 1536, 576>, 2>::tiles_are_whole);
static_assert(WarpgroupsOf<FeedForward<1280, 768, 6144>>::tiles_are_whole);
static_assert(WarpgroupsOf<IntoCaches<160, 8, 1536, 576>, 2>::tiles_are_whole);
// Tiles of 256 columns and of 224, where the last one reaches beyond the last column: of pairs, and of a product alone.
static_assert(WarpgroupsOf<FeedForward<1280, 768, 6144>>::tile_columns == 256);
static_assert(WarpgroupsOf<IntoCaches<160, 8, 1536, 576>, 2>::tile_columns == 256);
using NarrowTiles = FeedForward<1750, 768, 3072>;
using NarrowWholeTiles = FeedForward<1792, 832, 3072>;
using NarrowTilesOfOne = Scaled<1700, 512, 3840>;
static_assert(runs_on_warpgroups<NarrowTiles>() && WarpgroupsOf<NarrowTiles>::tile_columns == 224);
static_assert(runs_on_warpgroups<NarrowWholeTiles>() && WarpgroupsOf<NarrowWholeTiles>::tile_columns == 224);
static_assert(runs_on_warpgroups<NarrowTilesOfOne>() && WarpgroupsOf<NarrowTilesOfOne>::tile_columns == 224);
static_assert(runs_on_warpgroups<Bilinear<1750, 512, 3072>>() && runs_on_warpgroups<Bilinear<1280, 512, 6144>>());
static_assert(WarpgroupsOf<Bilinear<1750, 512, 3072>>::tile_columns == 224);
static_assert(WarpgroupsOf<Bilinear<1280, 512, 6144>>::tile_columns == 256);
static_assert(runs_on_warpgroups<Scaled<1100, 512, 6144>>());
static_assert(WarpgroupsOf<Scaled<1100, 512, 6144>>::tile_columns == 256);
static_assert(WarpgroupsOf<Scaled<1100, 512, 6144>>::items > 132 / 2);
static_assert(!WarpgroupsOf<NarrowTiles>::tiles_are_whole && WarpgroupsOf<NarrowWholeTiles>::tiles_are_whole);
static_assert(WarpgroupsOf<NarrowTiles>::all_column_tiles * 224 > WarpgroupsOf<NarrowTiles>::weight_rows<0>);
static_assert(WarpgroupsOf<NarrowTilesOfOne>::all_column_tiles * 224 > WarpgroupsOf<NarrowTilesOfOne>::weight_rows<0>);
// Of 768 columns, four tiles of 224 waste too much.
using MuchBeyond = IntoCaches<500, 7, 768>;
static_assert(WarpgroupsOf<MuchBeyond, 2>::tile_columns == 224 && !runs_on_warpgroups<MuchBeyond, 2>());
// What stays with cuBLASLt: chains with a sigmoid in products of less depth, stored as f32, or alone; and chains that
// read a number for each element.
static_assert(!runs_on_warpgroups<FeedForward<1280, 704, 6144>>() && !runs_on_warpgroups<Gated<1280, 768, 6144>>());
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
static_assert(runs_on_warpgroups<Scaled<1280, 768, 6144>>());
static_assert(!runs_on_warpgroups<FeedForwardOfOne>() && !runs_on_warpgroups<ReadsElements>());
static_assert(!runs_on_warpgroups<Gated<527, 192, 384>>());
/// The product of a model with which the rounding of what it makes runs, where clusters take whole rows.
template <class Model, std::size_t launch = 1>
using RowClusters = tg::cuda::RowClusterGroupOf<tg::Program<Model>, true, launch>;
template <class Model, std::size_t launch = 1>
constexpr bool may_take_rows = tg::cuda::may_choose(tg::cuda::GemmKernel::sm90_cluster,
                                                    LaunchOf<Model, launch>::launch.gemm);
/// Whether a model reaches it where so many clusters run at once.
template <class Model, std::size_t launch = 1>
constexpr bool takes_rows(int clusters_at_once) {
    tg::cuda::DeviceTraits device = tg::cuda::traits_of(90);
    device.row_clusters = clusters_at_once;
    return tg::cuda::select_gemm(LaunchOf<Model, launch>::launch.gemm, {}, device).kernel ==
           tg::cuda::GemmKernel::sm90_cluster;
}
/// No launch is cuBLASLt's: each may begin before the one before it has ended.
using OwnKernelsAlone = ResidualAndNorm<1756, 512, 2304, 2304>;
using WholeTiles = ResidualAndNorm<1664, 64, 512, 64>;
using LongerRows = ResidualAndNorm<1793, 64, 448, 64, 800>;
using TwoProducts = ResidualAndNorm<1700, 64, 384, 64, 768, true>;
using Shallow = ResidualAndNorm<1756, 64, 320, 64>;
using WithoutNorm = ResidualAndRounding<1792, 64, 512, 64>;
using ShallowWithoutNorm = ResidualAndRounding<1793, 64, 192, 64>;
using WithoutResidual = Embedding<1761, 64, 64>;
using JustMade = ResidualJustMade<1700, 192>;
using TwoOfStream = TwoResiduals<1700, 2304>;
static_assert(may_take_rows<OwnKernelsAlone> && may_take_rows<WholeTiles> && may_take_rows<LongerRows> &&
              may_take_rows<TwoProducts> && may_take_rows<Shallow> && may_take_rows<WithoutNorm> &&
              may_take_rows<ShallowWithoutNorm> && may_take_rows<WithoutResidual> && may_take_rows<JustMade> &&
              may_take_rows<TwoOfStream, 1> && may_take_rows<TwoOfStream, 3>);
static_assert(!RowClusters<WithoutNorm>::type::has_norm && RowClusters<WithoutNorm>::type::has_residual);
static_assert(RowClusters<WithoutResidual>::type::has_norm && !RowClusters<WithoutResidual>::type::has_residual);
// Residuals that are read while the kernel before still runs: a state, and one that the kernel before that stored a
// moment ago, all three of ours. Not one that the launch before makes.
static_assert(RowClusters<WholeTiles>::type::residual_is_early);
static_assert(RowClusters<TwoOfStream, 3>::type::residual_is_early && runs_on_warpgroups<TwoOfStream, 2>());
static_assert(!RowClusters<JustMade>::type::residual_is_early);
static_assert(runs_on_warpgroups<OwnKernelsAlone, 0>() && runs_on_warpgroups<OwnKernelsAlone, 2>());
/// Whether models reach it where so many clusters run at once.
constexpr bool all_take_rows(int clusters_at_once) {
    return takes_rows<OwnKernelsAlone>(clusters_at_once) && takes_rows<WholeTiles>(clusters_at_once) &&
           takes_rows<LongerRows>(clusters_at_once) && takes_rows<TwoProducts>(clusters_at_once) &&
           takes_rows<Shallow>(clusters_at_once) && takes_rows<WithoutNorm>(clusters_at_once) &&
           takes_rows<ShallowWithoutNorm>(clusters_at_once) && takes_rows<WithoutResidual>(clusters_at_once) &&
           takes_rows<JustMade>(clusters_at_once) && takes_rows<TwoOfStream, 3>(clusters_at_once);
}
static_assert(all_take_rows(15) && all_take_rows(16));
// The last tile has 92 of 128 rows, all, one, and 36.
static_assert(!RowClusters<OwnKernelsAlone>::type::tiles_are_whole && RowClusters<WholeTiles>::type::tiles_are_whole);
// More clusters than run at once, too few of them, and a device that has none.
static_assert(!takes_rows<WholeTiles>(12) && !takes_rows<WholeTiles>(17));
static_assert(!takes_rows<WholeTiles>(0));
// Stages are used six times each, once or twice, once but for the first, once, and not all of them.
static_assert(2304 == 6 * 6 * 64 && 512 == 8 * 64 && 448 == 7 * 64 && 384 == 6 * 64 && 320 == 5 * 64);
static_assert(RowClusters<Shallow>::type::stages_used == 5 && RowClusters<ShallowWithoutNorm>::type::stages_used == 3);
static_assert(RowClusters<WithoutResidual>::type::stages_used == 1);
static_assert(RowClusters<Shallow>::type::Tile::stages == 6 && RowClusters<Shallow>::type::Tile::depth == 64);
using TooFewRows = ResidualAndNorm<300, 64, 512, 64>;
static_assert(LaunchOf<TooFewRows, 1>::launch.gemm.tail == tg::cuda::TailFusion::norm && !may_take_rows<TooFewRows>);
/// Whether elementwise results are stored as bf16 for the product that reads them.
template <class Model>
constexpr bool rounds_pointwise() {
    return LaunchOf<Model, 1>::launch.gemm.input_is_bf16;
}
static_assert(rounds_pointwise<PointwiseInput<5, 64, 48>>() && rounds_pointwise<PointwiseInput<40, 96, 64>>());
static_assert(rounds_pointwise<PointwiseInput<300, 64, 48>>());
static_assert(rounds_pointwise<PointwiseOfSums<3, 64, 48>>() && rounds_pointwise<PointwiseOfSums<100, 64, 48>>());
static_assert(rounds_pointwise<PointwiseOfSums<600, 64, 48>>());
using tg::cuda::LaunchKind;
static_assert(LaunchOf<PointwiseInput<300, 64, 48>>::launch.kind == LaunchKind::step);
static_assert(LaunchOf<PointwiseOfSums<3, 64, 48>>::launch.kind == LaunchKind::segment);
static_assert(LaunchOf<PointwiseOfSums<100, 64, 48>>::launch.kind == LaunchKind::rows);
static_assert(LaunchOf<PointwiseOfSums<600, 64, 48>>::launch.kind == LaunchKind::rows);
static_assert(LaunchOf<DrawnProducts<1, 24>>::launch.draws.is_possible);
static_assert(LaunchOf<DrawnProducts<DrawnProducts<1, 1>::samples, 5>>::launch.draws.is_possible);

/// Calls `look` with the kernel of a model's cached attention in bf16, as a type.
template <class Model, class Look>
constexpr void look_at_attention(Look&& look) {
    using Executor = tg::cuda::Executor<Precision::bf16, tg::Program<Model>>;
    using Program = typename Executor::template ProgramAt<0>;
    const auto look_at = [&]<class At>(At*) {
        using K = typename At::template KernelAt<0>;
        if constexpr (K::kernel.kind == tg::KernelKind::structural && K::kernel.op == tg::Op::cached_attention) {
            look(static_cast<K*>(nullptr));
        }
    };
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (look_at(static_cast<tg::cuda::LaunchAt<Program, true, i>*>(nullptr)), ...);
    }
    (std::make_index_sequence<tg::cuda::Lowering<Program, true>::count>());
}

/// Whether a model attends on tiles, to keys of this type, and the prefix was settled before.
template <class Model, class Key, bool is_settled>
constexpr bool attends_on_tiles() {
    bool result = false;
    look_at_attention<Model>([&]<class K>(K*) {
        result = tg::cuda::can_tile<K>(Precision::bf16) && std::is_same_v<typename K::Key, Key> &&
                 K::prefix_is_early == is_settled;
    });
    return result;
}
using tg::BFloat16;
static_assert(attends_on_tiles<FilledCaches<own_keys_of(16), 5>, BFloat16, true>());
static_assert(attends_on_tiles<FilledCaches<own_keys_of(64, 130), 5>, BFloat16, true>());
static_assert(attends_on_tiles<FilledCaches<own_keys_of(128), 3>, BFloat16, true>());
static_assert(attends_on_tiles<CachedInLongerRows<own_keys_of(32)>, float, false>());
static_assert(attends_on_tiles<Cached<one_sample, true, 5>, float, false>());

/// Positions of own keys that are on their way on a device whose multiprocessors have so much shared memory.
template <Index head_dim>
constexpr int positions_on_the_way(std::size_t kibibytes) {
    int result = 0;
    look_at_attention<FilledCaches<own_keys_of(head_dim), 3>>(
        [&]<class K>(K*) { result = tg::cuda::tile_detail::own_positions<K, Precision::bf16>(kibibytes * 1024); });
    return result;
}
static_assert(positions_on_the_way<64>(228) == 2 && positions_on_the_way<96>(228) == 2);
static_assert(positions_on_the_way<112>(228) == 1 && positions_on_the_way<128>(228) == 1);
static_assert(positions_on_the_way<64>(100) == 1);

/// A draw takes another component where its uniform number lies between two weights' sums that rounding moved: errors
/// of the weights, of 24 bits, 11 or 8, are shares of the draws. Twice and more what such errors can move.
template <class Model>
constexpr Bound bound_for(Precision precision) {
    Bound bound = bound_of(precision);
    if constexpr (requires { Model::draws; }) {
        bound.share = precision == Precision::f32 ? 0.999 : precision == Precision::tf32 ? 0.99 : 0.9;
    }
    return bound;
}

template <std::size_t place>
void check_place() {
    using Tested = std::tuple_element_t<place, ProductRows>;
    check_row(Tested::name, [] {
        using Model = typename Tested::Model;
        const std::vector<StateContent> expected = eager_states_of_products(place);
        // For a tool that breaks on cuBLASLt's kernels, which the rest needs.
        if (std::getenv("TOTOGRAPH_TESTS_ONLY_BF16") != nullptr) {
            check_on_device<Precision::bf16, Model>(Tested::name, expected, bound_for<Model>(Precision::bf16));
            return;
        }
        check_on_device<Precision::f32, Model>(Tested::name, expected, bound_for<Model>(Precision::f32));
        check_on_device<Precision::tf32, Model>(Tested::name, expected, bound_for<Model>(Precision::tf32));
        check_on_device<Precision::bf16, Model>(Tested::name, expected, bound_for<Model>(Precision::bf16));
        // Products of many rows by cuBLASLt, and their chains apart.
        check_on_device<Precision::bf16, Model>(Tested::name, expected, bound_for<Model>(Precision::bf16),
                                                {.tunes = false, .fuses = false});
    });
}

}  // namespace

TEST_CASE("clusters that take whole rows") {
    const tg::cuda::Device device = tg::cuda::describe_device(0);
    CHECK((device.row_clusters > 0) == device.has_wgmma);
    CHECK(device.row_clusters * tg::cuda::row_cluster_blocks <= device.multiprocessors);
    // Else cuBLASLt computes what rows of the table are to reach them with.
    WARN((!device.has_wgmma || all_take_rows(device.row_clusters)));
}

TEST_CASE("every product and attention") {
    []<std::size_t... place>(std::index_sequence<place...>) {
        (check_place<place>(), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<ProductRows>>());
}
