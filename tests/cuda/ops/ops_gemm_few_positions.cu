// SPDX-License-Identifier: Apache-2.0
// Attentions of many queries at few positions, in every precision, on the device against the eager executor on the CPU.
#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

/// Warps of a block whose tiles are copied while others are multiplied, in bf16; else 0.
template <class Model>
constexpr int staged_warps() {
    int result = 0;
    visit_attention<Model>([&]<class K>(K*) {
        const bool stages = tg::cuda::can_tile<K>(Precision::bf16) &&
                            tg::cuda::stages_tiles(K::kernel, tg::cuda::storage_of<K>, Precision::bf16);
        result = stages ? tg::cuda::tile_detail::staged_warps<K> : 0;
    });
    return result;
}

static_assert(staged_warps<RotatedCausal<positions_of_many(12), 64>>() == 1);
static_assert(staged_warps<RotatedCausal<positions_of_many(20), 64, true>>() == 2);
static_assert(staged_warps<RotatedCausal<positions_of_many(40), 64, true>>() == 3);

}  // namespace

TEST_CASE("attention of many queries at few positions") {
    check_gemms<FewPositionRows>();
}
