// SPDX-License-Identifier: Apache-2.0
// GEMMs whose tiles run in one wave or few, in every precision, on the device against the eager executor on the CPU.
#include <cstddef>

#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

using tg::cuda::GemmKernel;
using tg::cuda::Sm90WaveCut;
using tg::cuda::TailFusion;

/// How the GEMMs of a launch are cut into tiles; no tiles where other kernels compute them.
template <class Model, std::size_t launch = 0>
constexpr Sm90WaveCut cut_of() {
    return kernel_of<Model, launch> == GemmKernel::sm90_wave
               ? tg::cuda::sm90_wave_cut(LaunchOf<Model, launch>::launch.gemm)
               : Sm90WaveCut{};
}
template <class Model, std::size_t launch = 0>
constexpr bool is_cut_by(int m, int n, int cluster, int waves) {
    constexpr Sm90WaveCut cut = cut_of<Model, launch>();
    return cut.m == m && cut.n == n && cut.cluster == cluster && cut.waves == waves;
}

// Every size of a tile, alone and in clusters, in one wave, two and three.
static_assert(is_cut_by<FeedForward<448, 256, 512>>(64, 64, 1, 1));
static_assert(is_cut_by<Activated<896, 2112, 512>>(64, 64, 2, 1));
static_assert(is_cut_by<IntoCaches<147, 7, 512>, 1>(64, 128, 1, 1));
static_assert(is_cut_by<Scaled<300, 256, 4000>>(64, 192, 1, 1));
static_assert(is_cut_by<ActivatedWithOperands<893, 384, 1144>>(128, 96, 1, 1));
static_assert(is_cut_by<ResidualAndNorm<4032, 256, 640, 1376, 256, false, 256>, 1>(128, 64, 2, 1));
static_assert(is_cut_by<WideAndNarrow<1000, 136, 424>>(128, 96, 1, 1));
static_assert(is_cut_by<ActivatedWithOperands<1101, 256, 4096>>(128, 96, 1, 3));
static_assert(is_cut_by<IntoCaches<147, 7, 768, 128>, 2>(128, 128, 1, 1));
static_assert(is_cut_by<Residual<4200, 1368, 512>>(128, 128, 2, 1));
static_assert(is_cut_by<FeedForward<968, 512, 1368>>(128, 192, 1, 1));
static_assert(is_cut_by<Activated<1700, 64, 4800>>(128, 192, 1, 3));
static_assert(is_cut_by<Gated<1280, 256, 1536>>(128, 256, 1, 1));
static_assert(is_cut_by<FeedForward<4224, 512, 1368>>(128, 256, 1, 3));
static_assert(is_cut_by<FeedForward<1100, 192, 1368>>(192, 128, 1, 1));
static_assert(is_cut_by<IntoCaches<293, 7, 1536, 576>, 1>(192, 128, 2, 1));
static_assert(is_cut_by<IntoCaches<293, 7, 1536, 576>, 2>(64, 256, 1, 3));
// Two blocks of a cluster with tiles of different GEMMs, and with tiles of a pair.
static_assert(is_cut_by<WideAndNarrow<2000, 512, 320>>(128, 128, 2, 1) && (320 + 127) / 128 % 2 == 1);
static_assert(cut_of<Gated<2000, 1216, 128>>().cluster == 2);
// One stage and several, of which the last has a part of k; rows and columns that no tile divides.
static_assert(cut_of<Activated<1700, 64, 4800>>().stages == 1 && cut_of<WideAndNarrow<1000, 136, 424>>().stages == 3);
static_assert(cut_of<Scaled<1000, 40, 4096>>().stages == 1 && cut_of<Gated<2000, 1216, 128>>().stages == 10);
static_assert(cut_of<Residual<4200, 1368, 512>>().stages == 6 && cut_of<FeedForward<4224, 512, 1368>>().stages == 3);
static_assert(1700 % 128 != 0 && 4800 % 192 == 0 && 4000 % 192 != 0 && 1368 % 96 != 0);

/// What a launch leaves to the next one, which then stores no input of its own.
template <class Model, std::size_t launch>
constexpr TailFusion tail_of() {
    constexpr auto choices = tg::cuda::gemm_choices<tg::Program<Model>, Precision::bf16>(tg::cuda::traits_of(90), {});
    static_assert(!choices[launch + 1].converts_input);
    return choices[launch].tail;
}
static_assert(tail_of<TwoResiduals<1408, 1024>, 1>() == TailFusion::norm);
// Two GEMMs read the norm, and the last sum of squares is of fewer columns.
static_assert(tail_of<ResidualAndNorm<1100, 256, 704, 512, 800, true, 424>, 1>() == TailFusion::norm);
static_assert(tail_of<ResidualAndRounding<960, 256, 512, 512>, 1>() == TailFusion::bf16);
// The second tile of a block finishes a norm of its own.
using InTwoWaves = ResidualAndNorm<4032, 256, 640, 1376, 256, false, 256>;
static_assert(tail_of<InTwoWaves, 1>() == TailFusion::norm && cut_of<InTwoWaves, 2>().waves == 2);
// Small tiles finish what waves leave, and the other way round.
using SmallFirst = ResidualAndNorm<300, 256, 512, 2304, 512, false, 512>;
using SmallLast = ResidualAndNorm<1000, 256, 1024, 64, 512, false, 512>;
static_assert(tail_of<SmallFirst, 1>() == TailFusion::norm && kernel_of<SmallFirst, 1> == GemmKernel::sm90_small &&
              kernel_of<SmallFirst, 2> == GemmKernel::sm90_wave);
static_assert(tail_of<SmallLast, 1>() == TailFusion::norm && kernel_of<SmallLast, 1> == GemmKernel::sm90_wave &&
              kernel_of<SmallLast, 2> == GemmKernel::sm90_small);

/// The same of a launch in tf32.
template <class Model, std::size_t launch = 0>
constexpr bool is_cut_in_tf32_by(int m, int n, int cluster, int waves) {
    constexpr tg::cuda::GemmGroup group = tg::cuda::LaunchAt<tg::Program<Model>, false, launch>::launch.gemm;
    constexpr Sm90WaveCut cut = tg::cuda::sm90_wave_cut(group);
    return tg::cuda::select_tf32_gemm(group, tg::cuda::traits_of(90)).kernel == GemmKernel::sm90_wave && cut.m == m &&
           cut.n == n && cut.cluster == cluster && cut.waves == waves;
}
static_assert(is_cut_in_tf32_by<FeedForward<4224, 512, 1368>>(128, 192, 1, 4));
static_assert(is_cut_in_tf32_by<FeedForward<1100, 192, 1368>>(192, 128, 2, 1));
static_assert(is_cut_in_tf32_by<Gated<1280, 256, 1536>>(128, 256, 1, 1));
static_assert(is_cut_in_tf32_by<WideAndNarrow<1000, 136, 424>>(128, 96, 2, 1));
static_assert(is_cut_in_tf32_by<Residual<4200, 1368, 512>>(128, 128, 2, 1));
static_assert(is_cut_in_tf32_by<FeedForward<190, 256, 1400>>(64, 64, 2, 1));
static_assert(is_cut_in_tf32_by<IntoCaches<20, 8, 1024, 832>, 2>(64, 64, 1, 1));
static_assert(is_cut_in_tf32_by<Activated<896, 2112, 512>>(64, 64, 2, 1));
static_assert(is_cut_in_tf32_by<FeedForward<4224, 1024, 2736>>(128, 192, 1, 8));

/// Whether a launch in tf32 leaves sums of squares to the next one, whose own block has so many waves.
template <class Model, std::size_t launch>
constexpr bool leaves_squares_in_tf32(int waves) {
    constexpr auto choices = tg::cuda::gemm_choices<tg::Program<Model>, Precision::tf32>(tg::cuda::traits_of(90), {});
    return choices[launch].tail == TailFusion::norm && !choices[launch + 1].follows_norm &&
           tg::cuda::sm90_wave_cut(tg::cuda::LaunchAt<tg::Program<Model>, false, launch + 1>::launch.gemm).waves ==
               waves;
}
static_assert(leaves_squares_in_tf32<TwoResiduals<1408, 1024>, 1>(1));
static_assert(leaves_squares_in_tf32<ResidualAndNorm<1100, 256, 704, 512, 800, true, 424>, 1>(1));
static_assert(leaves_squares_in_tf32<InTwoWaves, 1>(2));
// Small tiles leave them to waves.
static_assert(tg::cuda::select_tf32_gemm(tg::cuda::LaunchAt<tg::Program<SmallFirst>, false, 1>::launch.gemm,
                                         tg::cuda::traits_of(90))
                      .kernel == GemmKernel::sm90_small &&
              leaves_squares_in_tf32<SmallFirst, 1>(1));

}  // namespace

TEST_CASE("GEMMs in waves of tiles") {
    check_gemms<Sm90WaveRows>();
}
