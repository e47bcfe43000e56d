// SPDX-License-Identifier: Apache-2.0
// GEMMs of some hundred rows, a small tile a block, in every precision, on the device against the eager executor on the
// CPU.
#include <cstddef>
#include <type_traits>
#include <utility>

#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

/// Rows of a block, of the GEMMs of one launch of a model; 0 where other kernels compute them.
template <class Model, std::size_t launch = 0>
constexpr int rows_of_block() {
    return kernel_of<Model, launch> == tg::cuda::GemmKernel::sm90_small
               ? tg::cuda::sm90_small_rows(LaunchOf<Model, launch>::launch.gemm)
               : 0;
}

// Every number of rows. Rows, columns and k that no tile divides, and that tiles do.
static_assert(rows_of_block<Residual<160, 1024, 832>>() == 16 && rows_of_block<Scaled<100, 512, 1536>>() == 32);
static_assert(rows_of_block<Gated<160, 512, 1024>>() == 40 && rows_of_block<Gated<157, 1368, 1000>>() == 40);
static_assert(rows_of_block<IntoCaches<20, 8, 1024, 832>, 1>() == 32 &&
              rows_of_block<IntoCaches<20, 8, 1024, 832>, 2>() == 40);
static_assert(rows_of_block<FeedForward<190, 256, 1400>>() == 64 &&
              rows_of_block<FeedForward<190, 256, 1400>, 1>() == 16);
static_assert(rows_of_block<ActivatedWithOperands<189, 384, 3512>>() == 128);
static_assert(rows_of_block<Activated<66, 136, 424>>() == 16);  // three stages, of which one has two
static_assert(rows_of_block<WideAndNarrow<300, 1088, 576>>() == 80);
static_assert(rows_of_block<TwoResiduals<200, 1024>>() == 32);

/// Rows of a block of the GEMMs of one launch of a model in tf32; 0 where other kernels compute them.
template <class Model, std::size_t launch = 0>
constexpr int rows_of_block_in_tf32() {
    constexpr tg::cuda::GemmGroup group = tg::cuda::LaunchAt<tg::Program<Model>, false, launch>::launch.gemm;
    return tg::cuda::select_tf32_gemm(group, tg::cuda::traits_of(90)).kernel == tg::cuda::GemmKernel::sm90_small
               ? tg::cuda::sm90_small_rows(group)
               : 0;
}
static_assert(rows_of_block_in_tf32<Residual<160, 1024, 832>>() == 16 &&
              rows_of_block_in_tf32<Scaled<100, 512, 1536>>() == 32);
static_assert(rows_of_block_in_tf32<Gated<160, 512, 1024>>() == 40 &&
              rows_of_block_in_tf32<Gated<65, 512, 1024>>() == 32);
static_assert(rows_of_block_in_tf32<Activated<66, 136, 424>>() == 16);  // five stages, of which one has two
static_assert(rows_of_block_in_tf32<IntoCaches<20, 8, 1024, 832>, 1>() == 32);
// Waves compute more rows of a block, unless a function follows.
static_assert(rows_of_block_in_tf32<Softened<256, 512, 2112>>() == 64 &&
              rows_of_block_in_tf32<Softened<300, 512, 2112>>() == 80 &&
              rows_of_block_in_tf32<Softened<500, 416, 2112>>() == 128);
static_assert(rows_of_block_in_tf32<IntoCaches<20, 8, 320>, 1>() > 0 &&
              rows_of_block_in_tf32<IntoCaches<20, 8, 96>, 1>() > 0);

/// What a launch leaves to the next one, which then stores no input of its own.
template <class Model, std::size_t launch>
constexpr tg::cuda::TailFusion tail_of() {
    constexpr auto choices = tg::cuda::gemm_choices<tg::Program<Model>, Precision::bf16>(tg::cuda::traits_of(90), {});
    static_assert(choices[launch].kernel == tg::cuda::GemmKernel::sm90_small && !choices[launch + 1].converts_input);
    return choices[launch].tail;
}
static_assert(tail_of<TwoResiduals<200, 1024>, 1>() == tg::cuda::TailFusion::norm);
static_assert(tail_of<TwoResiduals<200, 1024>, 3>() == tg::cuda::TailFusion::norm);
// Two GEMMs read the norm, and the last tile of the columns it is of is not whole.
static_assert(tail_of<ResidualAndNorm<130, 256, 1024, 512, 800, true, 424>, 1>() == tg::cuda::TailFusion::norm);
static_assert(tail_of<ResidualAndRounding<161, 256, 512, 512>, 1>() == tg::cuda::TailFusion::bf16);
// Tiles of other rows may be done before the row whose number a row takes.
static_assert(rows_of_block<SumsByFirst<64, 512>, 1>() > 0 && rows_of_block<SumsByFirst<64, 512>, 2>() > 0 &&
              LaunchOf<SumsByFirst<64, 512>, 1>::launch.gemm.tail == tg::cuda::TailFusion::none);

/// Whether a launch in tf32 leaves sums of squares to the next one, and which kernels both are.
template <class Model, std::size_t launch>
constexpr bool leaves_squares_in_tf32(tg::cuda::GemmKernel kernel, tg::cuda::GemmKernel next) {
    constexpr auto choices = tg::cuda::gemm_choices<tg::Program<Model>, Precision::tf32>(tg::cuda::traits_of(90), {});
    return choices[launch].kernel == kernel && choices[launch + 1].kernel == next &&
           choices[launch].tail == tg::cuda::TailFusion::norm && !choices[launch + 1].follows_norm;
}
static_assert(leaves_squares_in_tf32<ResidualAndNorm<130, 256, 1024, 512, 800, true, 424>, 1>(
    tg::cuda::GemmKernel::sm90_small, tg::cuda::GemmKernel::sm90_small));
static_assert(leaves_squares_in_tf32<TwoResiduals<200, 1024>, 1>(tg::cuda::GemmKernel::sm90_wave,
                                                                 tg::cuda::GemmKernel::sm90_small));

}  // namespace

TEST_CASE("GEMMs by small tiles") {
    check_gemms<Sm90SmallRows>();
}
