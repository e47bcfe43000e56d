// SPDX-License-Identifier: Apache-2.0
// GEMMs of more rows and draws from GEMMs, by cuBLASLt, in f32 by tf32 parts, or in tf32 in waves, in every precision,
// on the device against the eager executor on the CPU.
#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

static_assert(!is_skinny<Gated<65, 512, 1024>>() && !runs_on_sm90<Gated<527, 192, 384>>());
static_assert(rounds_pointwise<PointwiseInput<300, 64, 48>>());
static_assert(rounds_pointwise<PointwiseOfSums<100, 64, 48>>() && rounds_pointwise<PointwiseOfSums<600, 64, 48>>());

/// Whether tf32 parts compute the first GEMM of a model in f32, on an H100 or H200.
template <class Model>
constexpr bool takes_parts = tg::cuda::select_f32_gemm(tg::cuda::LaunchAt<tg::Program<Model>, false, 0>::launch.gemm,
                                                       tg::cuda::traits_of(90))
                                 .kernel
                             == tg::cuda::GemmKernel::tf32_parts;
// Rows, columns and k that no tile divides, with a residual; wide tiles; and too few of them.
static_assert(takes_parts<Residual<611, 296, 424>> && takes_parts<ActivatedWithOperands<1101, 320, 6144>>);
static_assert(takes_parts<Residual<611, 1048, 768>> && takes_parts<LinearOfPart<700, 72, 40, 744>>);
static_assert(!takes_parts<Residual<300, 512, 768>>);

static_assert(LaunchOf<PointwiseInput<300, 64, 48>>::launch.kind == tg::cuda::LaunchKind::step);
static_assert(LaunchOf<PointwiseOfSums<100, 64, 48>>::launch.kind == tg::cuda::LaunchKind::rows);
static_assert(LaunchOf<PointwiseOfSums<600, 64, 48>>::launch.kind == tg::cuda::LaunchKind::rows);
static_assert(LaunchOf<DrawnGemms<1, 24>>::launch.draws.is_possible);
static_assert(LaunchOf<DrawnGemms<DrawnGemms<1, 1>::samples, 5>>::launch.draws.is_possible);

}  // namespace

TEST_CASE("GEMMs of more rows, and draws") {
    check_gemms<CublasLtRows>();
}
