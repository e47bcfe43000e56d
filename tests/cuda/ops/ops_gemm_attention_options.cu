// SPDX-License-Identifier: Apache-2.0
// Attentions of every kind, in every precision, on the device against the eager executor on the CPU.
#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

TEST_CASE("attention with all of its options") {
    check_gemms<AttentionOptionRows>();
}
