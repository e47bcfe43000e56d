// SPDX-License-Identifier: Apache-2.0
// Attentions of many queries at few positions, in every precision, on the device against the eager executor on the CPU.
#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

/// Warps of a block whose tiles are copied while others are multiplied; 0 where they are not.
template <class Model, Precision precision>
constexpr int staged_warps() {
    int result = 0;
    visit_attention<Model, precision>([&]<class K>(K*) {
        const bool stages =
            tg::cuda::can_tile<K>(precision) && tg::cuda::stages_tiles(K::kernel, tg::cuda::storage_of<K>, precision);
        result = stages ? tg::cuda::tile_detail::staged_warps<K> : 0;
    });
    return result;
}

/// Tiles of such a block that there is room for.
template <class Model, Precision precision>
constexpr int tile_stages() {
    int result = 0;
    visit_attention<Model, precision>([&]<class K>(K*) { result = tg::cuda::tile_detail::tile_stages<K>; });
    return result;
}

static_assert(staged_warps<RotatedCausal<positions_of_many(12), 64>, Precision::bf16>() == 1);
static_assert(staged_warps<RotatedCausal<positions_of_many(20), 64, true>, Precision::bf16>() == 2);
static_assert(staged_warps<RotatedCausal<positions_of_many(40), 64, true>, Precision::bf16>() == 4);
static_assert(staged_warps<Causal<positions_of_many(40), 26, true>, Precision::f32>() == 3);
static_assert(staged_warps<MaskedCaches<positions_of_many(20), 90, 140>, Precision::f32>() == 2);
static_assert(staged_warps<MaskedCaches<positions_of_many(45), 2, 100>, Precision::f32>() == 3);
static_assert(staged_warps<RotatedCausal<positions_of_many(20), 64, true>, Precision::tf32>() == 2);
static_assert(staged_warps<RotatedCausal<positions_of_many(40), 64, true>, Precision::tf32>() == 3);
static_assert(staged_warps<MaskedCaches<positions_of_many(12), 33, 47>, Precision::tf32>() == 4);
static_assert(staged_warps<MaskedCaches<positions_of_many(20), 90, 140>, Precision::tf32>() == 2);
static_assert(tile_stages<RotatedCausal<positions_of_many(20), 64, true>, Precision::tf32>() == 1);
static_assert(tile_stages<RotatedCausal<positions_of_many(40), 64, true>, Precision::tf32>() == 2);
static_assert(tile_stages<RotatedCausal<positions_of_many(40), 64, true>, Precision::bf16>() == 1);
static_assert(tile_stages<MaskedCaches<positions_of_many(12), 33, 47>, Precision::tf32>() == 2);

}  // namespace

TEST_CASE("attention of many queries at few positions") {
    check_gemms<FewPositionRows>();
}
