// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/attention/attention.hpp>
#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/attention_tile.hpp>
#include <totograph/exec/cuda/attention/own_rows.hpp>
#include <totograph/exec/cuda/attention/tile_sizes.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/gemm.hpp>
#include <totograph/exec/cuda/kernels/async_copy.hpp>
#include <totograph/exec/cuda/kernels/elementwise.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/packs.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// Attention on tensor cores, for precisions that round GEMMs anyway. A block takes up to 64 queries that share their
// keys: positions of one variate, samples over a shared prefix, variates of one position, or of several where they are
// few. Keys and values pass through shared memory, 64 at a time; scores and the running softmax stay in registers. Keys
// that samples have for themselves come after those of the prefix, one position at a time, asked for from the start.

namespace totograph::cuda {

template <class K, Precision precision>
__global__ void __launch_bounds__(tile_threads, tile_blocks_together)
    tile_attention_kernel(const __grid_constant__ KernelCall call, int ahead) {
    using namespace tile_detail;
    using S = AttentionSizes<K>;
    constexpr bool is_prefill = S::is_prefill;
    constexpr bool is_decode = S::is_decode;
    constexpr bool is_over_variates = S::is_over_variates;
    constexpr bool has_suffix = S::has_suffix;
    constexpr int head_dim = S::head_dim;
    constexpr bool in_bf16 = precision == Precision::bf16;
    using Key = typename K::Key;
    static_assert(widths_are_contiguous<K>(), "totograph: attention needs heads that are contiguous in memory.");
    extern __shared__ uint4 tile_memory[];
    auto& tile = *reinterpret_cast<TileOf<K, precision>*>(tile_memory);

    // The block's place: all axes but the queries'.
    int block = static_cast<int>(blockIdx.x);
    const int first_query = block % query_tiles<K> * tile_queries;
    block /= query_tiles<K>;
    QueryPlace place{};
    place.head = block % S::heads;
    block /= S::heads;
    constexpr int all_slices = S::samples * S::positions;
    constexpr int slice_groups = (all_slices + slices<K> - 1) / slices<K>;
    int first_slice = 0;
    if constexpr (is_over_variates) {
        first_slice = block % slice_groups * slices<K>;
        block /= slice_groups;
    } else {
        place.variate = block % S::variates;
        block /= S::variates;
        constexpr int others = is_prefill ? S::samples : S::positions;
        (is_prefill ? place.sample : place.position) = block % others;
        block /= others;
    }
    place.series = block;
    // Of variates: the place of one of the tile's.
    const auto place_in_tile = [&](int number) {
        QueryPlace own = place;
        const int slice = min(first_slice + number / S::variates, all_slices - 1);
        own.sample = slice / S::positions;
        own.position = slice % S::positions;
        own.variate = number % S::variates;
        return own;
    };

    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    const int warp_query = first_query + static_cast<int>(threadIdx.x) / warp_size * queries_of_warp;
    const bool is_active = warp_query < queries<K>;
    const auto query_of = [&](int half) { return warp_query + lane / 4 + half * 8; };
    const auto exists = [&](int half) {
        return query_of(half) < queries<K> &&
               (!is_over_variates || first_slice + query_of(half) / S::variates < all_slices);
    };
    const auto place_of_query = [&](int half) {
        if constexpr (is_over_variates) {
            return place_in_tile(query_of(half));
        } else {
            QueryPlace own = place;
            (is_prefill ? own.position : own.sample) = query_of(half);
            return own;
        }
    };

    constexpr bool prefix_is_early = is_decode && K::prefix_is_early;
    if constexpr (!prefix_is_early) {
        wait_for_predecessor();
        launch_dependents();
    }
    const auto* query = call.operands[0].get<typename K::Query>(positions_of<K>(call));
    const auto* key = call.operands[1].get<Key>(positions_of<K>(call));
    const auto* value = call.operands[2].get<Key>(positions_of<K>(call));
    const auto* integers = call.operands[3].get<std::int32_t>(positions_of<K>(call));
    auto* out = call.output.get<Output<K>>(positions_of<K>(call));

    constexpr int packs = head_dim / 4;
    constexpr int items = (tile_keys * packs + tile_threads - 1) / tile_threads;
    StoredPack<Key, 4> loaded_keys[items];
    StoredPack<Key, 4> loaded_values[items];
    // Asks for keys and values from number `first` on; `capacity` of them lie in memory.
    const auto load_tile = [&](int first, auto capacity, auto&& key_row, auto&& value_row) {
#pragma unroll
        for (int i = 0; i < items; ++i) {
            const int item = static_cast<int>(threadIdx.x) + i * tile_threads;
            const int row = item / packs;
            if (row < min(tile_keys, capacity()) && first + row < capacity()) {
                const int dimension = item % packs * 4;
                loaded_keys[i] = load_stored<4, K::is_aligned>(key_row(first + row) + dimension);
                loaded_values[i] = load_stored<4, K::is_aligned>(value_row(first + row) + dimension);
            }
        }
    };
    // Puts those before number `end` into shared memory; the others may hold anything, NaN too.
    const auto store_tile = [&](int first, int end) {
#pragma unroll
        for (int i = 0; i < items; ++i) {
            const int item = static_cast<int>(threadIdx.x) + i * tile_threads;
            const int row = item / packs;
            if (row < tile_keys) {
                const bool counts = first + row < end;
                tile.store(row, item % packs * 4, counts ? loaded_keys[i] : StoredPack<Key, 4>{},
                           counts ? loaded_values[i] : StoredPack<Key, 4>{});
            }
        }
    };
    const auto capacity = [] { return keys<K>; };
    const auto row_of_key = [&](const Key* base, int number, auto which) {
        constexpr int operand = decltype(which)::value;
        if constexpr (is_over_variates) {
            const QueryPlace own = place_in_tile(number);
            return base + row_of<K, operand>(own, own.variate, own.position);
        } else {
            return base + row_of<K, operand>(place, place.variate, number);
        }
    };
    const auto key_row = [&](int number) { return row_of_key(key, number, std::integral_constant<int, 1>{}); };
    const auto value_row = [&](int number) { return row_of_key(value, number, std::integral_constant<int, 2>{}); };
    // The first tile is asked for before it is known how many keys are valid: one wait less.
    load_tile(0, capacity, key_row, value_row);
    int end = keys<K>;
    int suffix_end = 0;
    if constexpr (is_prefill) {
        end = min(end, max(integer_of<K, 3>(integers, place.series), 0));
    }
    if constexpr (is_decode) {
        end = call.report.bounded(integer_of<K, 3>(integers, place.series), key_capacity<K, 1>);
        if constexpr (has_suffix) {
            const auto* length = call.operands[suffix_length].get<std::int32_t>(positions_of<K>(call));
            suffix_end =
                call.report.bounded(integer_of<K, suffix_length>(length, place.series), key_capacity<K, suffix_key>, 1);
        }
    }
    if constexpr (prefix_is_early) {
        store_tile(0, end);
        wait_for_predecessor();
        launch_dependents();
    }
    using Attention = TileAttention<S, in_bf16, K::is_aligned>;
    Attention attention([&](int half) -> const typename K::Query* {
        const QueryPlace own = place_of_query(half);
        return exists(half) ? query + row_of<K, 0>(own, own.variate, own.position) : nullptr;
    });

    int limits[2] = {end, end};
    int shared_limit = is_decode ? end : 0;  // up to there all queries of the warp attend to all keys
    std::int32_t groups[2] = {};
    const auto group_of = [&](int number) {
        const QueryPlace own = place_in_tile(number);
        return mask_entry<K>(integers, own, own.variate, own.position);
    };
    if constexpr (is_over_variates) {
        groups[0] = exists(0) ? group_of(query_of(0)) : 0;
        groups[1] = exists(1) ? group_of(query_of(1)) : 0;
    } else {
        // Positions from `valid` on attend to nothing: their result is 0, as on the CPU.
        const int valid = end;
        if constexpr (is_prefill) {
            end = min(valid, first_query + tile_queries);
            shared_limit = warp_query + queries_of_warp <= valid ? warp_query + 1 : 0;
            for (int half = 0; half < 2; ++half) {
                limits[half] = query_of(half) < valid ? query_of(half) + 1 : 0;
            }
        }
    }

    const Key* own_key = nullptr;
    const Key* own_value = nullptr;
    if constexpr (has_suffix) {
        own_key = call.operands[suffix_key].get<Key>(positions_of<K>(call));
        own_value = call.operands[suffix_value].get<Key>(positions_of<K>(call));
    }
    static_assert(most_own_positions == 2, "totograph: one position or two are on their way.");
    auto* const own_of_warp = reinterpret_cast<Own<K>*>(&tile + 1) + static_cast<int>(threadIdx.x) / warp_size * ahead;
    const auto ask_own = [&](int position) {
        constexpr int own_pieces = decltype(Own<K>::key)::pieces;
        if (position < suffix_end) {
            Own<K>& to = own_of_warp[position & (ahead - 1)];
#pragma unroll
            for (int i = 0; i < queries_of_warp * own_pieces / warp_size; ++i) {
                const int item = lane + i * warp_size;
                const int row = item / own_pieces;
                const int piece = item % own_pieces;
                QueryPlace own = place;
                own.sample = warp_query + row;
                if (own.sample < queries<K>) {
                    const int first = piece * decltype(Own<K>::key)::piece_elements;
                    to.key.template ask<K::is_aligned>(
                        row, piece, own_key + row_of<K, suffix_key>(own, place.variate, position) + first);
                    to.value.template ask<K::is_aligned>(
                        row, piece, own_value + row_of<K, suffix_value>(own, place.variate, position) + first);
                }
            }
        }
        close_copies();
    };
    if constexpr (has_own_keys<K>) {
        for (int position = 0; position < ahead; ++position) {
            ask_own(position);
        }
    }
    if constexpr (!prefix_is_early) {
        store_tile(0, end);
    }
    const auto suffix_capacity = [] {
        return has_suffix ? static_cast<int>(K::kernel.operands[suffix_key].shape[3]) : 0;
    };
    const auto own_key_row = [&](int number) { return own_key + row_of<K, suffix_key>(place, place.variate, number); };
    const auto own_value_row = [&](int number) {
        return own_value + row_of<K, suffix_value>(place, place.variate, number);
    };

    for (int first = 0; first < end; first += tile_keys) {
        if (first > 0) {
            load_tile(first, capacity, key_row, value_row);
            __syncthreads();
            store_tile(first, end);
        }
        if constexpr (has_suffix && !has_own_keys<K>) {
            if (first + tile_keys >= end) {
                load_tile(0, suffix_capacity, own_key_row, own_value_row);  // on its way meanwhile
            }
        }
        __syncthreads();
        if (is_active) {
            attention.add(tile, first + tile_keys <= shared_limit, [&](int half, int index) {
                const int number = first + index;
                if constexpr (is_over_variates) {
                    return number < end && number / S::variates == query_of(half) / S::variates &&
                           group_of(number) == groups[half];
                } else {
                    return number < limits[half];
                }
            });
        }
    }
    if constexpr (has_own_keys<K>) {
        // Each sample's own keys, one position after the other.
        for (int position = 0; is_active && position < suffix_end; ++position) {
            if (ahead == 1) {
                wait_for_copies<0>();
            } else {
                wait_for_copies<1>();
            }
            __syncwarp();
            attention.add_own(own_of_warp[position & (ahead - 1)]);
            __syncwarp();
            ask_own(position + ahead);
        }
    } else if constexpr (has_suffix) {
        // One sample: its suffix is a prefix that goes on.
        for (int first = 0; first < suffix_end; first += tile_keys) {
            if (first > 0 || end == 0) {
                load_tile(first, suffix_capacity, own_key_row, own_value_row);
            }
            __syncthreads();
            store_tile(first, suffix_end);
            __syncthreads();
            if (is_active) {
                attention.add(tile, false, [&](int, int index) { return first + index < suffix_end; });
            }
        }
    }
    if (is_active) {
        attention.store(
            [&](int half) -> Output<K>* { return exists(half) ? out + output_row<K>(place_of_query(half)) : nullptr; });
    }
}

/// Launches it.
template <class K, Precision precision>
void launch_tile_attention(const KernelLauncher& launcher, const Device& device, const KernelCall& call,
                           cudaStream_t stream) {
    static_assert(tile_detail::tile_shared_bytes<K, precision>(1) <= least_shared_bytes_of_block,
                  "totograph: a block's keys and values fit in its shared memory.");
    const int ahead = tile_detail::own_positions<K, precision>(device.shared_bytes);
    launcher.launch(&tile_attention_kernel<K, precision>,
                    {tile_blocks<K>, tile_threads, 1, tile_detail::tile_shared_bytes<K, precision>(ahead)}, stream,
                    call, ahead);
}

}  // namespace totograph::cuda
