// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/attention_tile.hpp>
#include <totograph/exec/cuda/attention/key_stream.hpp>
#include <totograph/exec/cuda/attention/suffix_pipeline.hpp>
#include <totograph/exec/cuda/attention/tile_mask.hpp>
#include <totograph/exec/cuda/attention/tile_place.hpp>
#include <totograph/exec/cuda/attention/tile_results.hpp>
#include <totograph/exec/cuda/attention/tile_sizes.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

// Attention on tensor cores where keys are many and queries are few: a block takes up to 16 samples of a step of
// decoding, or positions, and its warps share the keys; of wide heads, the warps of four blocks of a cluster. Keys and
// values pass through shared memory, sixteen at a time for each warp.

namespace totograph::cuda {

template <class K, Precision precision>
__global__ void __launch_bounds__(tile_detail::threads_of_block<K>, tile_detail::blocks_together<K, precision>)
    shared_attention_kernel(const __grid_constant__ KernelCall call, int stages) {
    using namespace tile_detail;
    static_assert(widths_are_contiguous<K>(), "totograph: attention needs heads that are contiguous in memory.");
    static_assert(blocks_together<K, precision> >= 1, "totograph: sixteen warps are for attention in bf16.");
    extern __shared__ uint4 tile_memory[];
    const TileResults<K, precision> results;
    const TilePlace<K> place(UsedExtents<K>{call});
    constexpr bool prefix_is_early = AttentionSizes<K>::is_decode && K::prefix_is_early;
    if (!prefix_is_early || !place.is_used()) {
        wait_for_predecessor();
        launch_dependents();
    }
    if (!place.is_used()) {
        return;  // all of the block
    }
    using Attention = TileAttention<K, precision>;
    using Queries = typename Attention::SharedQueries;
    constexpr std::size_t query_bytes = shared_query_bytes<K, precision>;
    void* const stage_memory = tile_memory + query_bytes / sizeof(uint4);
    KeyStream<K> stream(call, place, stage_memory, stages);
    const auto* integers = call.operands[3].get<std::int32_t>(positions_of<K>(call));
    const int count = count_of_keys<K>(call, integers, place.shared().series);
    const int suffix_count = count_of_suffix<K>(call, place.shared().series);
    if constexpr (prefix_is_early) {
        wait_for_predecessor();
        launch_dependents();
    }
    const auto* query = call.operands[0].get<typename K::Query>(positions_of<K>(call));
    const auto query_row = [&](int half) -> const typename K::Query* {
        const QueryPlace own = place.place_of_query(half);
        return place.exists(half) ? query + row_of<K, 0>(own, own.variate, own.position) : nullptr;
    };
    Attention attention = [&] {
        if constexpr (Attention::shares_queries) {
            auto& queries = *reinterpret_cast<Queries*>(tile_memory);
            Attention::share_queries(queries, query_row);
            __syncthreads();
            return Attention(queries);
        } else {
            return Attention(query_row);
        }
    }();
    LaneLimits limits;
    const TileMask<K> mask(place, mask_ids<K>(call), count, suffix_count, limits);
    stream.add_to(attention, mask, min(end_of_keys(place, count, suffix_count), count), suffix_count);
    auto* out = call.output.get<Output<K>>(positions_of<K>(call));
    __syncthreads();  // the stages may still be read
    results.store(attention, *static_cast<typename ResultsOf<K>::Warps*>(stage_memory), [&](int half) -> Output<K>* {
        return place.exists(half) ? out + output_row<K>(place.place_of_query(half)) : nullptr;
    });
}

}  // namespace totograph::cuda
