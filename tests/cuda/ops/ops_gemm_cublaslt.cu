// SPDX-License-Identifier: Apache-2.0
// GEMMs of more rows and draws from GEMMs, by cuBLASLt, in every precision, on the device against the eager
// executor on the CPU.
#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

static_assert(!is_skinny<Gated<65, 512, 1024>>() && !runs_on_sm90<Gated<527, 192, 384>>());
static_assert(rounds_pointwise<PointwiseInput<300, 64, 48>>());
static_assert(rounds_pointwise<PointwiseOfSums<100, 64, 48>>() && rounds_pointwise<PointwiseOfSums<600, 64, 48>>());

static_assert(LaunchOf<PointwiseInput<300, 64, 48>>::launch.kind == tg::cuda::LaunchKind::step);
static_assert(LaunchOf<PointwiseOfSums<100, 64, 48>>::launch.kind == tg::cuda::LaunchKind::rows);
static_assert(LaunchOf<PointwiseOfSums<600, 64, 48>>::launch.kind == tg::cuda::LaunchKind::rows);
static_assert(LaunchOf<DrawnGemms<1, 24>>::launch.draws.is_possible);
static_assert(LaunchOf<DrawnGemms<DrawnGemms<1, 1>::samples, 5>>::launch.draws.is_possible);

}  // namespace

TEST_CASE("GEMMs by cuBLASLt, and draws") {
    check_gemms<CublasLtRows>();
}
