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

/// Positions of suffixes that are on their way on a device whose multiprocessors have so much shared memory.
template <Index head_dim>
constexpr int suffix_stages(std::size_t kibibytes) {
    int result = 0;
    visit_attention<FilledCaches<suffixes_of(head_dim), 3>>(
        [&]<class K>(K*) { result = tg::cuda::tile_detail::suffix_stages<K, Precision::bf16>(kibibytes * 1024); });
    return result;
}
static_assert(suffix_stages<64>(228) == 2 && suffix_stages<96>(228) == 2);
static_assert(suffix_stages<112>(228) == 1 && suffix_stages<128>(228) == 1);
static_assert(suffix_stages<64>(100) == 1);

}  // namespace

TEST_CASE("attention to caches that GEMMs fill") {
    check_gemms<FilledCacheRows>();
}
