// SPDX-License-Identifier: Apache-2.0
// Skinny GEMMs, in every precision, on the device against the eager executor on the CPU.
#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

static_assert(rounds_pointwise<PointwiseInput<5, 64, 48>>() && rounds_pointwise<PointwiseOfSums<3, 64, 48>>());
static_assert(LaunchOf<ConcatenatedInput<5, 64, 48>, 2>::launch.gemm.input_is_bf16);
static_assert(LaunchOf<PointwiseOfSums<3, 64, 48>>::launch.kind == tg::cuda::LaunchKind::segment);

}  // namespace

TEST_CASE("skinny GEMMs of few rows") {
    check_gemms<FewRows>();
}
