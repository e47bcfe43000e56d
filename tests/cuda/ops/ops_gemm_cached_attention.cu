// SPDX-License-Identifier: Apache-2.0
// Attentions to caches, in every precision, on the device against the eager executor on the CPU.
#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

static_assert(attends_on_tiles<CachedInLongerRows<suffixes_of(32)>, float, false>());
static_assert(attends_on_tiles<Cached<one_sample, true, 5>, float, false>());
static_assert(block_lanes<Cached<many_blocks, true, 5>>() == 8);

}  // namespace

TEST_CASE("attention to caches") {
    check_gemms<CachedAttentionRows>();
}
