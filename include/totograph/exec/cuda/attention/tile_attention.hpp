// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/attention_tile.hpp>
#include <totograph/exec/cuda/attention/select.hpp>
#include <totograph/exec/cuda/attention/shared_attention.hpp>
#include <totograph/exec/cuda/attention/suffix_pipeline.hpp>
#include <totograph/exec/cuda/attention/tile_loader.hpp>
#include <totograph/exec/cuda/attention/tile_mask.hpp>
#include <totograph/exec/cuda/attention/tile_place.hpp>
#include <totograph/exec/cuda/attention/tile_sizes.hpp>
#include <totograph/exec/cuda/attention/tile_stages.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/used_extents.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>

// Attention on tensor cores. A block takes up to 64 queries that share their keys: positions of one variate, samples
// over a shared prefix, variates of one position, or of several where they are few; or up to 96 positions where those
// are all. Keys and values pass through shared memory, up to 64 at a time; scores and the running softmax stay in
// registers. Keys that samples have for themselves come after those of the prefix, one position at a time, asked for
// from the start.

namespace totograph::cuda {

namespace tile_detail {

/// Calls `attend(keys)` for so many keys of a tile as are multiplied, an `std::integral_constant`.
/// @tparam of_tile  keys that a tile can hold
template <class K, int of_tile, class Attend>
__device__ __forceinline__ void with_keys_of_tile(int first, int end, const Attend& attend) {
    if constexpr (has_tail<K, of_tile>) {
        if (end - first <= most_keys_of_tail) {
            attend(std::integral_constant<int, most_keys_of_tail>());
            return;
        }
    }
    attend(std::integral_constant<int, of_tile>());
}

/// Attends to the keys that the queries of a block share. The first tile of them is in shared memory.
/// @param on_last  called where the last of these tiles is about to be multiplied
template <class K, class Tile, class Attention, class KeyRows, class ValueRows, class OnLast>
__device__ __forceinline__ void attend_to_shared(Tile& tile, TileLoader<K>& loader, Attention& attention,
                                                 const TilePlace<K>& place, const TileMask<K>& mask, int end,
                                                 const KeyRows& key_row, const ValueRows& value_row,
                                                 const OnLast& on_last) {
    for (int first = 0; first < end; first += tile_keys) {
        if (first > 0) {
            loader.template load<keys<K>>(first, key_row, value_row);
            __syncthreads();
            loader.store(tile, first, end, place);
        }
        if (first + tile_keys >= end) {
            on_last();
        }
        with_keys_of_tile<K, tile_keys>(first, end, [&](auto keys) {
            const std::uint32_t unmasked = mask.template unmasked<keys>(first);
            __syncthreads();
            if (place.is_active() && mask.any_counts(first)) {
                attention.template add<keys>(tile, mask.template all_count<keys>(first), [&](int score) {
                    return (unmasked >> score & 1U) != 0 && mask.counts(first, score);
                });
            }
        });
    }
}

/// Attends to a suffix that all queries share: a prefix that goes on. The first tile of it has been loaded, if there
/// was a prefix.
template <class K, class Tile, class Attention, class KeyRows, class ValueRows>
__device__ __forceinline__ void attend_to_suffix(Tile& tile, TileLoader<K>& loader, Attention& attention,
                                                 const TilePlace<K>& place, const TileMask<K>& mask, bool has_prefix,
                                                 int count, const KeyRows& key_row, const ValueRows& value_row) {
    for (int first = 0; first < count; first += tile_keys) {
        if (first > 0 || !has_prefix) {
            loader.template load<key_capacity<K, suffix_key>>(first, key_row, value_row);
        }
        __syncthreads();
        loader.store(tile, first, count, place);
        const std::uint32_t unmasked = mask.template unmasked_of_suffix<tile_keys>(first);
        __syncthreads();
        if (place.is_active()) {
            attention.template add<tile_keys>(tile, false, [&](int score) {
                return (unmasked >> score & 1U) != 0 && mask.counts_of_suffix(first, score);
            });
        }
    }
}

}  // namespace tile_detail

template <class K, Precision precision>
__global__ void __launch_bounds__(tile_detail::threads_of_block<K>, tile_detail::blocks_together<K, precision>)
    tile_attention_kernel(const __grid_constant__ KernelCall call, int stages) {
    using namespace tile_detail;
    using S = AttentionSizes<K>;
    static_assert(widths_are_contiguous<K>(), "totograph: attention needs heads that are contiguous in memory.");
    constexpr bool prefix_is_early = S::is_decode && K::prefix_is_early;
    extern __shared__ uint4 tile_memory[];
    auto& tile = *reinterpret_cast<TileOf<K, precision>*>(tile_memory);
    const TilePlace<K> place(UsedExtents<K>{call});
    if (!prefix_is_early || !place.is_used()) {
        wait_for_predecessor();
        launch_dependents();
    }
    if (!place.is_used()) {
        return;  // all of the block
    }
    const auto* query = call.operands[0].get<typename K::Query>(positions_of<K>(call));
    const auto key_row = shared_rows<K, 1>(call, place);
    const auto value_row = shared_rows<K, 2>(call, place);
    const auto* integers = call.operands[3].get<std::int32_t>(positions_of<K>(call));
    auto* out = call.output.get<Output<K>>(positions_of<K>(call));

    // The first tile is asked for before it is known how many keys are valid: one wait less.
    TileLoader<K> loader;
    loader.template load<keys<K>>(0, key_row, value_row);
    const int count = count_of_keys<K>(call, integers, place.shared().series);
    const int suffix_count = count_of_suffix<K>(call, place.shared().series);
    if constexpr (prefix_is_early) {
        loader.store(tile, 0, count, place);
        wait_for_predecessor();
        launch_dependents();
    }
    using Attention = TileAttention<K, precision>;
    Attention attention([&](int half) -> const typename K::Query* {
        const QueryPlace own = place.place_of_query(half);
        return place.exists(half) ? query + row_of<K, 0>(own, own.variate, own.position) : nullptr;
    });
    LaneLimits limits;
    const TileMask<K> mask(place, mask_ids<K>(call), count, suffix_count, limits);
    const int end_of_all = end_of_keys(place, count, suffix_count);
    const int end = min(end_of_all, count);
    const auto store_first = [&] {
        if constexpr (!prefix_is_early) {
            loader.store(tile, 0, end, place);
        }
    };
    if constexpr (has_suffix_per_query<K>) {
        SuffixPipeline<K> suffix(call, place, &tile + 1, stages, suffix_count);
        store_first();
        attend_to_shared<K>(tile, loader, attention, place, mask, end, key_row, value_row, [] {});
        suffix.add_to(attention);
    } else if constexpr (S::has_suffix) {
        const auto suffix_key_row = shared_rows<K, suffix_key>(call, place);
        const auto suffix_value_row = shared_rows<K, suffix_value>(call, place);
        store_first();
        attend_to_shared<K>(tile, loader, attention, place, mask, end, key_row, value_row, [&] {
            loader.template load<key_capacity<K, suffix_key>>(0, suffix_key_row, suffix_value_row);
        });
        attend_to_suffix<K>(tile, loader, attention, place, mask, end > 0, end_of_all - end, suffix_key_row,
                            suffix_value_row);
    } else {
        store_first();
        attend_to_shared<K>(tile, loader, attention, place, mask, end, key_row, value_row, [] {});
    }
    const auto out_row = [&](int half) -> Output<K>* {
        return place.exists(half) ? out + output_row<K>(place.place_of_query(half)) : nullptr;
    };
    if (place.is_active()) {
        attention.store(out_row);
    }
}

/// The same of positions, whose keys are stored as they are multiplied: a tile of them is copied while the one before
/// is multiplied.
template <class K, Precision precision>
__global__ void __launch_bounds__(tile_detail::staged_warps<K>* warp_size, tile_detail::blocks_together<K, precision>)
    staged_attention_kernel(const __grid_constant__ KernelCall call, int) {
    using namespace tile_detail;
    static_assert(widths_are_contiguous<K>(), "totograph: attention needs heads that are contiguous in memory.");
    extern __shared__ uint4 tile_memory[];
    const TilePlace<K> place(UsedExtents<K>{call});
    wait_for_predecessor();
    launch_dependents();
    if (!place.is_used()) {
        return;  // all of the block
    }
    using Stages = TileStages<K, precision>;
    Stages tiles(call, place, tile_memory);
    const auto* integers = call.operands[3].get<std::int32_t>(positions_of<K>(call));
    const int count = count_of_keys<K>(call, integers, place.shared().series);
    const int suffix_count = count_of_suffix<K>(call, place.shared().series);
    const auto* query = call.operands[0].get<typename K::Query>(positions_of<K>(call));
    TileAttention<K, precision> attention([&](int half) -> const typename K::Query* {
        const QueryPlace own = place.place_of_query(half);
        return place.exists(half) ? query + row_of<K, 0>(own, own.variate, own.position) : nullptr;
    });
    LaneLimits limits;
    const TileMask<K> mask(place, mask_ids<K>(call), count, suffix_count, limits);
    const int end_of_all = end_of_keys(place, count, suffix_count);
    tiles.set_ends(min(end_of_all, count), end_of_all - count);
    for (int turn = 0; turn < tiles.count(); ++turn) {
        const bool is_suffix = tiles.is_suffix(turn);
        const int begin = tiles.first_key(turn);
        const auto attend = [&](auto keys_together, int keys) {
            constexpr int together = decltype(keys_together)::value;
            const auto unmasked_from = [&](int first) {
                return is_suffix ? mask.template unmasked_of_suffix<together>(first)
                                 : mask.template unmasked<together>(first);
            };
            std::uint32_t unmasked = unmasked_from(begin);
            const auto& tile = tiles.wait_for(turn);
            tiles.copy(turn + 1);
#pragma unroll 1
            for (int part = 0; part < keys; part += together) {
                const auto rows = Stages::template part_of<together>(tile, part);
                const int first = begin + part;
                if (place.is_active() && (is_suffix || mask.any_counts(first))) {
                    attention.template add<together>(
                        rows, !is_suffix && mask.template all_count<together>(first), [&](int score) {
                            return (unmasked >> score & 1U) != 0 &&
                                   (is_suffix ? mask.counts_of_suffix(first, score) : mask.counts(first, score));
                        });
                }
                if (part + together < keys) {
                    unmasked = unmasked_from(first + together);
                }
            }
        };
        if constexpr (precision == Precision::bf16) {
            with_keys_of_tile<K, staged_keys<K>>(begin, tiles.end(turn), [&](auto keys) { attend(keys, keys); });
        } else {
            // Registers hold what comes of sixteen. In tf32 thirty-two were slower (`bench_cuda_toto2`, `batch_22m`:
            // 0.820 ms for 0.814).
            attend(std::integral_constant<int, queries_of_warp>(), min(staged_keys<K>, tiles.end(turn) - begin));
        }
    }
    auto* out = call.output.get<Output<K>>(positions_of<K>(call));
    if (place.is_active()) {
        attention.store([&](int half) -> Output<K>* {
            return place.exists(half) ? out + output_row<K>(place.place_of_query(half)) : nullptr;
        });
    }
}

/// Launches one of them, or the kernel of blocks whose warps share keys.
template <class K, Precision precision>
void launch_tile_attention(const KernelLauncher& launcher, const Device& device, const KernelCall& call,
                           cudaStream_t stream) {
    static_assert(tile_detail::tile_shared_bytes<K, precision>(1) + tile_detail::ResultsOf<K>::exchange_bytes <=
                      tile_bytes_of(K::kernel, storage_of<K>, precision),
                  "totograph: a block of tiles takes no more shared memory than it was selected by.");
    const int stages = tile_detail::stages_of<K, precision>(device.shared_bytes);
    const auto kernel = [] {
        if constexpr (tile_detail::shares_keys<K>) {
            return &shared_attention_kernel<K, precision>;
        } else if constexpr (stages_tiles(K::kernel, storage_of<K>, precision)) {
            return &staged_attention_kernel<K, precision>;
        } else {
            return &tile_attention_kernel<K, precision>;
        }
    }();
    constexpr int warps = stages_tiles(K::kernel, storage_of<K>, precision) ? tile_detail::staged_warps<K>
                                                                            : tile_detail::warps_of_block<K>;
    const int together = device.has_clusters ? tile_detail::parts_of_tile<K> : 1;
    launcher.launch(kernel,
                    {tile_detail::tile_blocks<K> * together, warps * warp_size, together,
                     tile_detail::tile_shared_bytes<K, precision>(stages)},
                    stream, call, stages);
}

}  // namespace totograph::cuda
