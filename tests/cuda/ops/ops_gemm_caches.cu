// SPDX-License-Identifier: Apache-2.0
// Attentions to caches that GEMMs fill, in every precision, on the device against the eager executor on the CPU.
#include <cstddef>

#include "cuda/ops/ops_gemm_device.hpp"

using namespace ops;

namespace {

using tg::BFloat16;
static_assert(attends_on_tiles<FilledCaches<suffixes_of(16), 5>, BFloat16, true>());
static_assert(attends_on_tiles<FilledCaches<suffixes_of(64, 130), 5>, BFloat16, true>());
static_assert(attends_on_tiles<FilledCaches<suffixes_of(128), 3>, BFloat16, true>());
static_assert(block_lanes<FilledCaches<many_blocks, 5, true>>() == 8);

/// Stages on a device whose multiprocessors have so much shared memory.
template <AttentionSize size>
constexpr int stages(std::size_t kibibytes) {
    int result = 0;
    visit_attention<FilledCaches<size, 3>>(
        [&]<class K>(K*) { result = tg::cuda::tile_detail::stages_of<K, Precision::bf16>(kibibytes * 1024); });
    return result;
}
static_assert(stages<many_suffixes_of(64)>(228) == 2 && stages<many_suffixes_of(96)>(228) == 2);
static_assert(stages<many_suffixes_of(112)>(228) == 1 && stages<many_suffixes_of(128)>(228) == 1);
static_assert(stages<many_suffixes_of(64)>(100) == 1);
template <AttentionSize size>
constexpr int blocks_together() {
    int result = 0;
    visit_attention<FilledCaches<size, 3>>(
        [&]<class K>(K*) { result = tg::cuda::tile_detail::blocks_together<K, Precision::bf16>; });
    return result;
}
constexpr AttentionSize suffixes_of_heads(Index heads) {
    AttentionSize size = suffixes_of(64);
    size.heads = heads;
    return size;
}
static_assert(blocks_together<suffixes_of_heads(16)>() == 1 && blocks_together<suffixes_of_heads(17)>() == 2);
static_assert(blocks_together<suffixes_of_heads(33)>() == 2 && blocks_together<suffixes_of_heads(34)>() == 3);
static_assert(blocks_together<suffixes_of_heads(64)>() == 3);
// Of few blocks, each has a multiprocessor for itself.
static_assert(stages<suffixes_of(112)>(228) == 2 && stages<suffixes_of(64)>(100) == 2);

template <AttentionSize size>
constexpr bool warps_share_keys() {
    bool result = false;
    visit_attention<FilledCaches<size, 3>>(
        [&]<class K>(K*) { result = tg::cuda::can_tile<K>(Precision::bf16) && tg::cuda::tile_detail::shares_keys<K>; });
    return result;
}
static_assert(!warps_share_keys<suffixes_of(64)>() && warps_share_keys<suffixes_of(64, 130)>());
static_assert(warps_share_keys<few_samples>() && warps_share_keys<few_samples_of(256)>());
static_assert(warps_share_keys<twenty_wide>() && !warps_share_keys<longer_prefix>());
template <AttentionSize size>
constexpr int warps() {
    int result = 0;
    visit_attention<FilledCaches<size, 3>>([&]<class K>(K*) { result = tg::cuda::tile_detail::warps_of_block<K>; });
    return result;
}
static_assert(warps<sixteen_warps>() == 16 && warps<few_samples>() == 8 && warps<few_samples_of(128)>() == 8);
static_assert(warps<few_samples_of(208)>() == 4);
/// Blocks of a cluster that share keys.
template <AttentionSize size>
constexpr int parts() {
    int result = 0;
    visit_attention<FilledCaches<size, 3>>([&]<class K>(K*) { result = tg::cuda::tile_detail::parts_of_tile<K>; });
    return result;
}
static_assert(parts<twenty_wide>() == 4 && parts<few_samples_of(256)>() == 1 && parts<sixteen_warps>() == 1);
static_assert(stages<twenty_wide>(228) == 3 && stages<twenty_wide>(100) == 1);
static_assert(stages<few_samples>(228) == 3 && stages<few_samples>(164) == 2 && stages<few_samples>(100) == 3);
static_assert(stages<few_samples_of(128)>(228) == 3 && stages<few_samples_of(128)>(100) == 1);
static_assert(stages<few_samples_of(256)>(228) == 3 && stages<few_samples_of(256)>(100) == 1);

}  // namespace

TEST_CASE("attention to caches that GEMMs fill") {
    check_gemms<FilledCacheRows>();
}
