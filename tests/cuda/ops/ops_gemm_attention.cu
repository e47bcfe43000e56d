// SPDX-License-Identifier: Apache-2.0
// Attentions to a context, and to the variates of a position, in every precision, on the device against the eager
// executor on the CPU.
#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

TEST_CASE("attention to a context, and to variates") {
    check_gemms<AttentionRows>();
}
