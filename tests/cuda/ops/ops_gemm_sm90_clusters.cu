// SPDX-License-Identifier: Apache-2.0
// GEMMs whose whole rows clusters take, in every precision, on the device against the eager executor on the CPU.
#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

/// The GEMM of a model with which the rounding of what it makes runs, where clusters take whole rows.
template <class Model, std::size_t launch = 1>
using RowClusters = tg::cuda::ClusterGroupOf<tg::Program<Model>, true, launch>;
template <class Model, std::size_t launch = 1>
constexpr bool may_take_rows = tg::cuda::is_compiled(tg::cuda::GemmKernel::sm90_cluster,
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
using TwoGemms = ResidualAndNorm<1700, 64, 384, 64, 768, true>;
using Narrow = ResidualAndNorm<1700, 64, 448, 64, 512, false, 512>;
using Shallow = ResidualAndNorm<1756, 64, 320, 64>;
using WithoutNorm = ResidualAndRounding<1792, 64, 512, 64>;
using ShallowWithoutNorm = ResidualAndRounding<1793, 64, 192, 64>;
using WithoutResidual = Embedding<1761, 64, 64>;
using JustMade = ResidualJustMade<1700, 192>;
using TwoOfStream = TwoResiduals<1700, 2304>;
static_assert(may_take_rows<OwnKernelsAlone> && may_take_rows<WholeTiles> && may_take_rows<LongerRows> &&
              may_take_rows<TwoGemms> && may_take_rows<Shallow> && may_take_rows<WithoutNorm> &&
              may_take_rows<ShallowWithoutNorm> && may_take_rows<WithoutResidual> && may_take_rows<JustMade> &&
              may_take_rows<TwoOfStream, 1> && may_take_rows<TwoOfStream, 3>);
static_assert(!RowClusters<WithoutNorm>::type::has_norm && RowClusters<WithoutNorm>::type::has_residual);
static_assert(RowClusters<WithoutResidual>::type::has_norm && !RowClusters<WithoutResidual>::type::has_residual);
// Residuals that are read while the kernel before still runs: a state, and one that the kernel before that stored a
// moment ago, all three of ours. Not one that the launch before makes.
static_assert(RowClusters<WholeTiles>::type::residual_is_early);
static_assert(RowClusters<TwoOfStream, 3>::type::residual_is_early && runs_on_sm90<TwoOfStream, 2>());
static_assert(!RowClusters<JustMade>::type::residual_is_early);
static_assert(kernel_of<OwnKernelsAlone, 0> == tg::cuda::GemmKernel::sm90_wave && runs_on_sm90<OwnKernelsAlone, 2>());

/// Whether models reach it where so many clusters run at once.
constexpr bool all_take_rows(int clusters_at_once) {
    return takes_rows<OwnKernelsAlone>(clusters_at_once) && takes_rows<WholeTiles>(clusters_at_once) &&
           takes_rows<LongerRows>(clusters_at_once) && takes_rows<TwoGemms>(clusters_at_once) &&
           takes_rows<Narrow>(clusters_at_once) && takes_rows<Shallow>(clusters_at_once) &&
           takes_rows<WithoutNorm>(clusters_at_once) && takes_rows<ShallowWithoutNorm>(clusters_at_once) &&
           takes_rows<WithoutResidual>(clusters_at_once) && takes_rows<JustMade>(clusters_at_once) &&
           takes_rows<TwoOfStream, 3>(clusters_at_once);
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
static_assert(RowClusters<Shallow>::type::Tile::stages == 6 && RowClusters<Shallow>::type::Tile::k == 64);
using TooFewRows = ResidualAndNorm<300, 64, 512, 64>;
static_assert(LaunchOf<TooFewRows, 1>::launch.gemm.tail == tg::cuda::TailFusion::norm && !may_take_rows<TooFewRows>);

}  // namespace

TEST_CASE("clusters that take whole rows") {
    const tg::cuda::Device device = tg::cuda::describe_device(0);
    CHECK((device.row_clusters > 0) == device.has_wgmma);
    CHECK(device.row_clusters * tg::cuda::row_cluster_blocks <= device.multiprocessors);
    // Else cuBLASLt computes what rows of the table are to reach them with.
    WARN((!device.has_wgmma || all_take_rows(device.row_clusters)));
}

TEST_CASE("GEMMs by clusters that take whole rows") {
    check_gemms<Sm90ClusterRows>();
}
