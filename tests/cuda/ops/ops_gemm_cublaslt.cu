// SPDX-License-Identifier: Apache-2.0
// GEMMs of more rows and draws from GEMMs, by cuBLASLt, in f32 by tf32 parts, or in tf32 by tiles, in every precision,
// on the device against the eager executor on the CPU.
#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

static_assert(!is_skinny<Gated<65, 512, 1024>>() && !runs_on_sm90<Gated<527, 192, 384>>());
static_assert(rounds_pointwise<PointwiseInput<300, 64, 48>>());
static_assert(rounds_pointwise<PointwiseOfSums<100, 64, 48>>() && rounds_pointwise<PointwiseOfSums<600, 64, 48>>());

/// Which kernel computes the GEMMs of a launch of a model in f32, on an H100 or H200.
template <class Model, std::size_t launch = 0>
constexpr tg::cuda::GemmKernel in_f32 =
    tg::cuda::select_f32_gemm(tg::cuda::LaunchAt<tg::Program<Model>, false, launch>::launch.gemm,
                              tg::cuda::traits_of(90))
        .kernel;
using enum tg::cuda::GemmKernel;
// Rows, columns and k that no tile divides, with a residual; a part of each row; and too few tiles.
static_assert(in_f32<Residual<611, 296, 424>> == tf32_parts && in_f32<Residual<611, 1048, 768>> == tf32_parts);
static_assert(in_f32<LinearOfPart<700, 72, 40, 744>> == tf32_parts && in_f32<Residual<300, 512, 768>> == cublaslt);
// Wide tiles with their chain; pairs of GEMMs.
static_assert(in_f32<ActivatedWithOperands<1101, 320, 6144>> == tf32_parts_chain);
static_assert(in_f32<Gated<611, 296, 1400>> == tf32_parts_chain);

static_assert(LaunchOf<PointwiseInput<300, 64, 48>>::launch.kind == tg::cuda::LaunchKind::step);
static_assert(LaunchOf<PointwiseOfSums<100, 64, 48>>::launch.kind == tg::cuda::LaunchKind::rows);
static_assert(LaunchOf<PointwiseOfSums<600, 64, 48>>::launch.kind == tg::cuda::LaunchKind::rows);
static_assert(LaunchOf<DrawnGemms<1, 24>>::launch.draws.is_possible);
static_assert(LaunchOf<DrawnGemms<DrawnGemms<1, 1>::samples, 5>>::launch.draws.is_possible);
// Skinny kernels would compute the norm of so few rows; of draws a kernel does, in the same launch.
template <Precision precision>
constexpr bool draws_behind_norm() {
    using Drawn = tg::Program<DrawnGemms<1, 24, true>>;
    constexpr const tg::cuda::Launch& launch = tg::cuda::LaunchAt<Drawn, precision == Precision::bf16, 0>::launch;
    constexpr auto choices = tg::cuda::gemm_choices<Drawn, precision>(tg::cuda::traits_of(90), {});
    return launch.kind == tg::cuda::LaunchKind::gemm && launch.has_reduction && launch.draws.is_possible &&
           choices[0].follows_norm == (precision != Precision::bf16) &&
           choices[0].converts_input == (precision == Precision::bf16);
}
static_assert(draws_behind_norm<Precision::f32>() && draws_behind_norm<Precision::tf32>() &&
              draws_behind_norm<Precision::bf16>());

}  // namespace

TEST_CASE("GEMMs of more rows, and draws") {
    check_gemms<CublasLtRows>();
}
