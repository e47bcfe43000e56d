// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/attention/attention_sizes.hpp>
#include <totograph/exec/cuda/attention/attention_tile.hpp>
#include <totograph/exec/cuda/attention/block_attention.hpp>
#include <totograph/exec/cuda/attention/select.hpp>
#include <totograph/exec/cuda/attention/staged_rows.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/cuda/runtime/cluster_parts.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// Which attentions run on tiles, what a block of them takes, and how many there are.

namespace totograph::cuda {

/// Whether a step is an attention that runs on tiles.
template <class K>
constexpr bool can_tile(Precision precision) {
    return select_attention(K::kernel, storage_of<K>, precision, least_device) == AttentionKernel::tiles;
}

namespace tile_detail {

/// Positions of samples whose variates one tile holds: several where variates are few. They do not see each other.
template <class K>
inline constexpr int slices = [] {
    constexpr auto variates = static_cast<int>(K::kernel.iteration[2]);
    return AttentionSizes<K>::is_over_variates && variates <= tile_queries ? tile_queries / variates : 1;
}();

/// Whether the warps of a block share its keys, and have the same queries.
template <class K>
inline constexpr bool shares_keys = warps_share_keys(K::kernel);

template <class K>
inline constexpr auto warps_of_block = static_cast<int>(tile_warps_of(K::kernel, storage_of<K>.keys_are_bf16));
template <class K>
inline constexpr int threads_of_block = warps_of_block<K>* warp_size;

/// Blocks of a cluster that share the keys of sixteen queries. Devices without clusters take one.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
template <class K>
inline constexpr int parts_of_tile = 1;
#else
template <class K>
inline constexpr auto parts_of_tile = static_cast<int>(tile_parts_of(K::kernel));
#endif

template <class K>
inline constexpr int queries_of_block = shares_keys<K> ? queries_of_warp : warps_of_block<K>* queries_of_warp;

/// All queries that share keys.
template <class K>
inline constexpr int queries = static_cast<int>(AttentionSizes<K>::queries_are_positions ? K::kernel.iteration[3]
                                                : AttentionSizes<K>::is_decode           ? K::kernel.iteration[1]
                                                                                         : K::kernel.iteration[2]) *
                               slices<K>;

/// Keys that a block may attend to.
template <class K>
inline constexpr int keys = AttentionSizes<K>::is_over_variates ? queries<K>
                                                                : static_cast<int>(K::kernel.operands[1].shape[3]);

template <class K>
inline constexpr int query_tiles = (queries<K> + queries_of_block<K> - 1) / queries_of_block<K>;

/// Whether each query has a suffix of its own, beside the keys that they share.
template <class K>
inline constexpr bool has_suffix_per_query = AttentionSizes<K>::is_decode&& AttentionSizes<K>::has_suffix &&
                                             (AttentionSizes<K>::samples > 1);

/// What the warps of a block that share keys found, and the blocks of a cluster.
template <class K>
struct ResultsOf {
    static constexpr int packs = AttentionSizes<K>::head_dim / 8;  ///< Pairs of dimensions of a lane's query.
    static constexpr int packs_of_part = packs / parts_of_tile<K>;

    struct Warps {
        float2 scores[2][warps_of_block<K>][warp_size];  ///< The largest score, and the sum of weights.
        float2 sums[2][packs][warps_of_block<K>][warp_size];
    };
    /// Of a block, for the one that finishes these dimensions.
    struct Block {
        float2 scores[2][queries_of_warp / 2];
        float2 sums[2][packs_of_part][warp_size];
    };
    using Exchange = ClusterParts<Block, parts_of_tile<K>>;
    /// Shared memory of the exchange.
    static constexpr std::size_t exchange_bytes = parts_of_tile<K> > 1
                                                      ? parts_of_tile<K> * sizeof(Block) + sizeof(std::uint64_t)
                                                      : 0;
};

template <class K>
using StagedRowsOf = StagedRows<AttentionSizes<K>::head_dim, typename K::Key, shares_keys<K>>;

/// Where tiles are copied while others are multiplied: keys and values of one as they lie in memory, and the warps of a
/// block, of smaller tiles those that have queries.
template <class K>
inline constexpr auto staged_keys = static_cast<int>(staged_tile_keys(K::kernel, storage_of<K>.keys_are_bf16));
template <class K>
using StagedTileOf = StagedRows<AttentionSizes<K>::head_dim, typename K::Key, true, staged_keys<K>>;
template <class K>
inline constexpr int staged_warps = staged_keys<K> < tile_keys ? (queries<K> + queries_of_warp - 1) / queries_of_warp
                                                               : warps_of_block<K>;
template <class K>
inline constexpr auto tile_stages = static_cast<int>(tile_stages_of(K::kernel, storage_of<K>.keys_are_bf16));

/// In f32 a tile holds the parts of numbers. Beside suffixes, of the widest heads, they would exceed `least_device`.
template <class K, Precision precision>
using TileOf =
    std::conditional_t<precision == Precision::f32 && !has_suffix_per_query<K>,
                       TileOfParts<AttentionSizes<K>::head_dim>, Tile<AttentionSizes<K>::head_dim, precision>>;

/// A last tile of so few keys, of those that a tile can hold, is multiplied for these alone.
inline constexpr int most_keys_of_tail = 16;
template <class K, int of_tile>
inline constexpr bool has_tail =
    of_tile > most_keys_of_tail&& keys<K> > of_tile&& keys<K> % of_tile > 0 && keys<K> % of_tile <= most_keys_of_tail;

/// Blocks of an attention.
template <class K>
inline constexpr Index tile_blocks = [] {
    using S = AttentionSizes<K>;
    constexpr Index groups =
        S::is_over_variates
            ? S::shape[0] * S::heads * divide_rounding_up(Index{S::samples} * S::positions, Index{slices<K>})
            : S::queries / queries<K>;
    constexpr Index blocks = groups * query_tiles<K>;
    static_assert(!has_positions(K::kernel) || shares_keys<K> ||
                  blocks == blocks_of_positions(K::kernel, storage_of<K>.keys_are_bf16));
    return blocks;
}();

/// Blocks that share a multiprocessor, as far as registers go.
template <class K, Precision precision>
inline constexpr int blocks_together = [] {
    const int usual = precision == Precision::f32 ? 2 : 3;
    using Limits = AttentionLimits;
    constexpr int head_dim = AttentionSizes<K>::head_dim;
    if (shares_keys<K>) {
        const int warps = precision == Precision::bf16 && head_dim <= 64                     ? 16
                          : precision == Precision::bf16 && head_dim > Limits::most_head_dim ? tile_warps
                                                                                             : 8;
        return warps / warps_of_block<K>;
    }
    // Few blocks hardly share a multiprocessor: a thread has more registers, and spills less.
    const auto there_are = static_cast<int>(divide_rounding_up(tile_blocks<K>, Limits::multiprocessors));
    const int wanted = std::min(warps_of_block<K> > tile_warps ? usual - 1 : usual, there_are);
    if (stages_tiles(K::kernel, storage_of<K>, precision)) {
        // More registers are worth more than a block for which there is no shared memory.
        const auto with_room = static_cast<int>(compiled_for.shared_bytes / (tile_stages<K> * sizeof(StagedTileOf<K>)));
        return std::min(wanted * warps_of_block<K> / staged_warps<K>, with_room);
    }
    return wanted;
}();

/// Positions of suffixes that are on their way to shared memory at a time, at most: more were no faster. And where
/// warps share keys, sixteen keys of each warp.
template <class K>
inline constexpr int most_stages = shares_keys<K> ? 3 : 2;

/// Shared memory of queries that all warps share.
template <class K, Precision precision>
inline constexpr std::size_t shared_query_bytes = TileAttention<K, precision>::shares_queries
                                                      ? sizeof(typename TileAttention<K, precision>::SharedQueries)
                                                      : 0;

/// Shared memory of a block with so many stages.
template <class K, Precision precision>
constexpr std::size_t tile_shared_bytes(int stages) {
    const std::size_t staged = static_cast<std::size_t>(warps_of_block<K> * stages) * sizeof(StagedRowsOf<K>);
    if constexpr (shares_keys<K>) {
        return shared_query_bytes<K, precision> + std::max(staged, sizeof(typename ResultsOf<K>::Warps));
    } else if constexpr (stages_tiles(K::kernel, storage_of<K>, precision)) {
        return tile_stages<K> * sizeof(StagedTileOf<K>);
    } else {
        return sizeof(TileOf<K, precision>) + (has_suffix_per_query<K> ? staged : 0);
    }
}

/// How many stages there are, where a multiprocessor has so much shared memory. Behind a tile, as many as leave as many
/// blocks there as one would. Where warps share keys stages are all that is on its way: as many as there can be of all
/// blocks, and of equally many those of most blocks.
template <class K, Precision precision>
constexpr int stages_of(std::size_t shared_bytes) {
    constexpr std::size_t of_system = 1024;  // of each block
    const auto blocks = [&](int stages) {
        const std::size_t bytes = tile_shared_bytes<K, precision>(stages) + ResultsOf<K>::exchange_bytes + of_system;
        return std::min<std::size_t>(shared_bytes / bytes, blocks_together<K, precision>);
    };
    int stages = 1;
    for (int more = 2; more <= most_stages<K>; ++more) {
        const bool is_better = shares_keys<K> ? blocks(more) * static_cast<std::size_t>(more) >
                                                    blocks(stages) * static_cast<std::size_t>(stages)
                                              : blocks(more) == blocks(1);
        if (is_better) {
            stages = more;
        }
    }
    return stages;
}

}  // namespace tile_detail

}  // namespace totograph::cuda
