// SPDX-License-Identifier: Apache-2.0
// Attentions to a context, and to the variates of a position, in every precision, on the device against the eager
// executor on the CPU.
#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

/// Whether a model's attention stages tiles, and whether its warps share keys in bf16.
template <class Model, Precision precision = Precision::bf16>
constexpr bool stages_tiles() {
    bool result = false;
    visit_attention<Model, precision>([&]<class K>(K*) {
        result =
            tg::cuda::can_tile<K>(precision) && tg::cuda::stages_tiles(K::kernel, tg::cuda::storage_of<K>, precision);
    });
    return result;
}
template <class Model>
constexpr bool warps_share_keys() {
    bool result = false;
    visit_attention<Model>(
        [&]<class K>(K*) { result = tg::cuda::can_tile<K>(Precision::bf16) && tg::cuda::warps_share_keys(K::kernel); });
    return result;
}

// Queries and keys come from warpgroups with the tables of their positions; positions attend in several staged tiles.
static_assert(runs_on_sm90<RotatedCausal<rotated_in_tiles, 768>, 1>());
static_assert(stages_tiles<RotatedCausal<rotated_in_tiles, 768>>());
static_assert(stages_tiles<RotatedCausal<torn_in_tiles, 64, true>>());
// In tf32: rows of 64 and 32 numbers, which a lane rounds where it copied them, and rows of 48 and 80, which take the
// other way.
static_assert(stages_tiles<RotatedCausal<rotated_in_tiles, 768>, Precision::tf32>());
static_assert(stages_tiles<RotatedCausal<torn_in_tiles, 64, true>, Precision::tf32>());
static_assert(stages_tiles<Causal<many_of_width(32), 46, true>, Precision::tf32>());
static_assert(stages_tiles<Causal<many_of_width(80), 46, true>, Precision::tf32>());
static_assert(!stages_tiles<Causal<large_causal>, Precision::tf32>());
static_assert(warps_share_keys<RotatedCausal<torn_in_warps, 64, true>>());
static_assert(block_lanes<Causal<many_of_few_keys>>() == 8 && block_lanes<Causal<few_causal>>() == 4);
// So do masks, of one key a thread and of several.
static_assert(block_lanes<Grouped<few_positions, 20, tg::QueryPlaces::first>>() > 0);
static_assert(block_lanes<Grouped<few_positions, 100, tg::QueryPlaces::first>>() > 0);
static_assert(block_lanes<Grouped<few_positions, 20, tg::QueryPlaces::last, tg::KeyMask::by_key>>() > 0);

}  // namespace

TEST_CASE("attention to a context, and to variates") {
    check_gemms<AttentionRows>();
}
