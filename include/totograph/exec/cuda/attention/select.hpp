// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/precision.hpp>
#include <totograph/graph/attention.hpp>
#include <totograph/graph/kernel.hpp>
#include <totograph/graph/op.hpp>

// The one place that says how an attention is computed. Nothing here needs CUDA.

namespace totograph::cuda {

enum class AttentionKernel : std::uint8_t {
    none,   ///< The step is no attention.
    block,  ///< A block a query, whose warps share its keys: queries are few.
    tiles,  ///< Up to 64 queries that share their keys, on tensor cores; in f32 by products of tf32 parts.
    warp,   ///< A warp a query: whatever else there is.
};

/// As `explain` prints it.
constexpr const char* name(AttentionKernel kernel) {
    switch (kernel) {
        case AttentionKernel::none: return "none";
        case AttentionKernel::block: return "attention block";
        case AttentionKernel::tiles: return "attention tiles";
        case AttentionKernel::warp: return "attention warp";
    }
    return "";
}

/// The limits of the kernels. Every known device has their tensor core instructions.
struct AttentionLimits {
    /// So many queries keep a device busy with a block each (`bench_cuda`, `one_patch`: its steps take blocks; the
    /// prefill of `readme` and its samples take tiles). The number itself was not measured.
    static constexpr Index block_most_queries = 512;
    /// The same where all keys are read at once, and of a tile more than half of the queries and keys would be empty.
    static constexpr Index block_most_queries_of_few_keys = 1024;
    /// With fewer keys the warps of a block have nothing to share; one more where a tile has several queries to offer.
    static constexpr Index block_fewest_keys = 8;
    /// Positions pay with two: 12 heads of 64 of 2 to 8 positions add 1.8 us in blocks, on tiles 3.9 in bf16 and 5.2 in
    /// tf32 (one H200). One position was not measured.
    static constexpr Index block_fewest_keys_of_positions = 2;
    static constexpr Index block_key_lanes = 4;  ///< Lanes that read a key in a block.
    static constexpr Index block_threads = 256;
    static constexpr Index block_keys_together = 2;  ///< Keys of a thread whose loads are on their way together.
    /// Blocks that share the keys of a query at most, and of a step: two for each multiprocessor of an H100.
    static constexpr Index block_most_parts = 8;
    static constexpr Index multiprocessors = 132;  ///< Of an H100.
    static constexpr Index block_most_of_step = 2 * multiprocessors;
    static constexpr Index block_most_key_lanes = 8;
    static constexpr Index block_lane_unit = 8;       ///< Elements of 16 bits that a lane reads at once.
    static constexpr Index most_head_dim = 128;       ///< Registers of a thread hold its part of an output row.
    static constexpr Index most_wide_head_dim = 256;  ///< The same, of twice the lanes.
    static constexpr Index tile_head_unit = 16;       ///< k of a tensor core instruction in bf16.
    /// In tf32 a thread holds twice the registers of keys and queries: with 80 it spills 520 bytes, in bf16 336 (nvcc
    /// 13.0, `-Xptxas=-v`, `sm_90a`). Wider heads were not measured.
    static constexpr Index tile_most_head_dim_tf32 = 80;
    /// In f32 parts of keys and weights take registers beside them. Wider heads were not measured.
    static constexpr Index tile_most_head_dim_f32 = 64;
    /// In a step of decoding whose warps share keys, which lie in bf16: a thread's registers hold what queries of such
    /// heads found, and the queries lie in shared memory.
    static constexpr Index tile_most_shared_head_dim = 256;
    /// In f32, positions of fewer keys take warps. Eight of 12 heads took 8 us a layer more on tiles (`bench_cuda`,
    /// `one_patch`: 0.486 ms on an H100); 32 take the same on both (`context_2048`). Of today's tiles it was not
    /// measured.
    static constexpr Index tile_fewest_keys_f32 = 32;
    static constexpr Index tile_keys = 64;     ///< Keys and values in shared memory.
    static constexpr Index tile_stages = 2;    ///< At most: one is copied while another is multiplied.
    static constexpr Index tile_queries = 64;  ///< Of a block, 16 a warp.
    static constexpr Index tile_warp_queries = 16;
    static constexpr Index tile_most_warps = 6;
    /// More warps that share keys would need more registers and shared memory for wider heads: sixteen, or eight, or
    /// eight where a multiprocessor has no other block.
    static constexpr Index tile_most_head_dim_of_many = 64;
    static constexpr Index tile_most_head_dim_of_eight_alone = 128;
    /// From so many keys on it pays that the warps of a block share them, where queries are few.
    static constexpr Index tile_fewest_shared_keys = 128;
    static constexpr Index tile_row_padding = 16;  ///< Bytes after each row in shared memory.
    /// Blocks of a cluster that share keys of wide heads. Eight were slower (`bench_cuda_kronos`, `base_paths`: the
    /// dependency layer's attention in the last step, 21.3 us by one block, 10.1 by four, 12.0 by eight).
    static constexpr Index tile_parts = 4;
    static constexpr Index tile_most_clusters = 30;  ///< Of four blocks, where 15 of eight run at once, as on an H200.
};

/// Queries of all heads.
template <class AnyKernel>
constexpr Index queries_of(const AnyKernel& kernel) {
    const Shape& shape = kernel.iteration;
    return shape[0] * shape[1] * shape[2] * shape[3] * kernel.attention.heads;
}

/// Lanes of a block that read one key together: more of wide heads, and where blocks are more than multiprocessors, for
/// then a thread has less to do and two thirds of the registers, so that more blocks run at once (`bench_cuda_toto2`,
/// 47 queries of 8 heads: `block_decode_22m` in tf32 takes 0.493 ms with eight lanes and 0.510 with four). But where
/// three blocks of four lanes find room on a multiprocessor, eight lanes exchange more (18 queries of 16 heads:
/// `small_313m` takes 0.464 ms with four lanes and 0.469 with eight).
template <class AnyKernel>
constexpr Index block_key_lanes(const AnyKernel& kernel, bool keys_are_bf16) {
    using Limits = AttentionLimits;
    const Index head_dim = kernel.attention.head_dim;
    if (head_dim > Limits::most_head_dim) {
        return Limits::block_most_key_lanes;
    }
    const Index queries = queries_of(kernel);
    const bool has_most_room = keys_are_bf16 && !kernel.attention.has_suffix && head_dim <= 64 &&
                               queries > 2 * Limits::multiprocessors && queries <= 3 * Limits::multiprocessors;
    const bool takes_more = queries > Limits::multiprocessors && !has_most_room &&
                            head_dim % (Limits::block_most_key_lanes * Limits::block_lane_unit) == 0;
    return takes_more ? Limits::block_most_key_lanes : Limits::block_key_lanes;
}

/// Whether blocks know heads of this width.
template <class AnyKernel>
constexpr bool fits_block(const AnyKernel& kernel, bool keys_are_bf16) {
    using Limits = AttentionLimits;
    const Index head_dim = kernel.attention.head_dim;
    return head_dim % (block_key_lanes(kernel, keys_are_bf16) * Limits::block_lane_unit) == 0 &&
           head_dim <= Limits::most_wide_head_dim;
}

/// Keys that one query of an attention may attend to.
template <class AnyKernel>
constexpr Index keys_of(const AnyKernel& kernel) {
    const AttentionDescription& attention = kernel.attention;
    if (attention.axis == AttentionAxis::variates) {
        return kernel.iteration[2];
    }
    if (attention.is_prefill()) {
        return kernel.iteration[3];
    }
    constexpr auto suffix = static_cast<std::size_t>(AttentionDescription::suffix_key_input);
    return kernel.operands[1].shape[3] + (attention.has_suffix ? kernel.operands[suffix].shape[3] : 0);
}

/// The same of its prefix, or of its suffix, whichever has more.
template <class AnyKernel>
constexpr Index most_keys_of_part(const AnyKernel& kernel) {
    constexpr auto suffix = static_cast<std::size_t>(AttentionDescription::suffix_key_input);
    return kernel.attention.has_suffix ? std::max(kernel.operands[1].shape[3], kernel.operands[suffix].shape[3])
                                       : keys_of(kernel);
}

/// Whether the queries of a tile are positions of one variate, whatever masks and suffixes there are. A lone position
/// would leave most of a tile empty.
constexpr bool has_queries_at_positions(const AttentionDescription& attention, Index positions) {
    return attention.is_prefill() || (attention.axis == AttentionAxis::positions && positions > 1);
}

/// Whether tiles know the pattern of an attention: queries at positions, a step of decoding whose samples share a
/// prefix, or variates that see their group.
template <class AnyKernel>
constexpr bool has_tile_pattern(const AnyKernel& kernel) {
    const AttentionDescription& attention = kernel.attention;
    return has_queries_at_positions(attention, kernel.iteration[3]) ||
           (attention.is_decode(kernel.iteration[3]) && kernel.operands[1].shape[1] == 1) ||
           (attention.axis == AttentionAxis::variates && attention.mask == KeyMask::by_group);
}

/// How many blocks share the keys of a query that takes blocks: where queries are fewer than the multiprocessors of a
/// device, and keys more than a block takes at a time. Two are not worth that they wait for each other
/// (32 layers of 15 queries with 192 keys, one H100: a step took 576 us by one block a query, 601 by two).
template <class AnyKernel>
constexpr Index block_parts_of(const AnyKernel& kernel) {
    using Limits = AttentionLimits;
    const Index queries = queries_of(kernel);
    // Queries that are few enough for parts take as many lanes in either storage.
    const Index keys_at_once = Limits::block_keys_together * Limits::block_threads / block_key_lanes(kernel, true);
    Index parts = 1;
    while (parts < Limits::block_most_parts && parts * keys_at_once < keys_of(kernel) &&
           2 * parts * queries <= Limits::block_most_of_step) {
        parts *= 2;
    }
    return parts > 2 ? parts : 1;
}

/// Whether the queries of a tile are positions that see others.
template <class AnyKernel>
constexpr bool has_positions(const AnyKernel& kernel) {
    return has_queries_at_positions(kernel.attention, kernel.iteration[3]) &&
           kernel.attention.axis == AttentionAxis::positions;
}

/// Queries that share keys: samples of a step of decoding, or positions.
template <class AnyKernel>
constexpr Index queries_of_keys(const AnyKernel& kernel) {
    return has_positions(kernel) ? kernel.iteration[3] : kernel.iteration[1];
}

/// Whether the warps of a block of tiles share its keys, each with the same 16 queries, and not its 64 queries: where
/// keys are many and queries would leave warps or multiprocessors idle.
template <class AnyKernel>
constexpr bool warps_share_keys(const AnyKernel& kernel) {
    using Limits = AttentionLimits;
    const AttentionDescription& attention = kernel.attention;
    // A step of decoding may have a suffix.
    const bool has_pattern =
        attention.is_decode(kernel.iteration[3]) || (has_positions(kernel) && !attention.has_suffix);
    if (!has_pattern || kernel.operands[1].shape[3] < Limits::tile_fewest_shared_keys) {
        return false;
    }
    const Index together = queries_of_keys(kernel);
    const Index blocks = queries_of(kernel) / together * divide_rounding_up(together, Limits::tile_queries);
    return together <= Limits::tile_warp_queries || 2 * blocks <= Limits::block_most_of_step;
}

/// Blocks of 16 queries each, whose warps share keys.
template <class AnyKernel>
constexpr Index blocks_of_shared_keys(const AnyKernel& kernel) {
    const Index together = queries_of_keys(kernel);
    return queries_of(kernel) / together * divide_rounding_up(together, AttentionLimits::tile_warp_queries);
}

/// Warps of a block of tiles, 16 queries each: four, or as many as keep up to 96 queries together. Those of two blocks
/// would read all keys twice, the second one for a few. Of warps that share keys eight, where blocks are few, and
/// sixteen where half of the multiprocessors would have none.
template <class AnyKernel>
constexpr Index tile_warps_of(const AnyKernel& kernel, bool keys_are_bf16) {
    using Limits = AttentionLimits;
    constexpr Index usual = Limits::tile_queries / Limits::tile_warp_queries;
    const Index positions = kernel.iteration[3];
    if (warps_share_keys(kernel)) {
        const Index blocks = blocks_of_shared_keys(kernel);
        const Index head_dim = kernel.attention.head_dim;
        const bool is_narrow = head_dim <= Limits::tile_most_head_dim_of_many;
        const bool fits_alone = keys_are_bf16 && head_dim <= Limits::tile_most_head_dim_of_eight_alone;
        if (is_narrow && keys_are_bf16 && 2 * blocks <= Limits::multiprocessors) {
            return 4 * usual;
        }
        const Index most_of_eight = is_narrow ? 2 * Limits::multiprocessors : fits_alone ? Limits::multiprocessors : 0;
        return blocks <= most_of_eight ? 2 * usual : usual;
    }
    if (!has_queries_at_positions(kernel.attention, positions) || kernel.attention.axis == AttentionAxis::variates) {
        return usual;
    }
    const Index wanted = divide_rounding_up(positions, Limits::tile_warp_queries);
    return wanted > usual && wanted <= Limits::tile_most_warps ? wanted : usual;
}

/// Blocks of a cluster that share the keys of 16 queries in a step of decoding: of wide heads, whose warps are few and
/// whose rows are long, where all clusters run at once. Each finishes as many eights of dimensions.
template <class AnyKernel>
constexpr Index tile_parts_of(const AnyKernel& kernel) {
    using Limits = AttentionLimits;
    constexpr Index parts = Limits::tile_parts;
    const Index head_dim = kernel.attention.head_dim;
    const bool pays = head_dim > Limits::most_head_dim && head_dim % (8 * parts) == 0 && warps_share_keys(kernel) &&
                      kernel.attention.is_decode(kernel.iteration[3]) &&
                      blocks_of_shared_keys(kernel) <= Limits::tile_most_clusters;
    return pays ? parts : 1;
}

/// Keys of a tile that is copied while another is multiplied. Where positions are so few that a warp of four has no
/// query, a tile of fewer keys and a block of fewer warps leave room for more blocks, while one such tile holds all
/// keys. In f32 and tf32 also where more tiles follow (`bench_cuda_kronos`, `small_desk` in f32: 32 positions of 432
/// keys 117 us to 94).
template <class AnyKernel>
constexpr Index staged_tile_keys(const AnyKernel& kernel, bool keys_are_bf16) {
    using Limits = AttentionLimits;
    constexpr Index of_one_warp = Limits::tile_warp_queries;
    const Index positions = kernel.iteration[3];
    const Index keys = keys_of(kernel);
    if (positions <= of_one_warp) {
        return keys <= of_one_warp ? of_one_warp : Limits::tile_keys;
    }
    const bool leaves_warps = positions <= Limits::tile_queries - Limits::tile_warp_queries;
    return leaves_warps && (keys <= Limits::tile_keys / 2 || !keys_are_bf16) ? Limits::tile_keys / 2
                                                                             : Limits::tile_keys;
}

/// How the rows lie in memory that an attention reads and writes.
struct AttentionStorage {
    bool is_aligned = true;  ///< All of them begin at multiples of 16 bytes.
    bool keys_are_bf16 = false;
};

/// Blocks of tiles whose queries are positions, and whose warps have queries of their own.
template <class AnyKernel>
constexpr Index blocks_of_positions(const AnyKernel& kernel, bool keys_are_bf16) {
    const Index together = queries_of_keys(kernel);
    const Index of_block = tile_warps_of(kernel, keys_are_bf16) * AttentionLimits::tile_warp_queries;
    return queries_of(kernel) / together * divide_rounding_up(together, of_block);
}

/// Whether a block of tiles has keys and values as they lie in memory: a tile is copied while the one before is
/// multiplied. In bf16 where they are stored as bf16, and in f32 where they are not, or else a copy would be larger
/// than a tile. In tf32, where they are stored as f32 and blocks are more than multiprocessors: a warp multiplies
/// sixteen staged keys at a time, and of others a tile, which is faster where a block is alone on its multiprocessor
/// (`bench_cuda_kronos`, `base_sliding`, 80 blocks of up to 512 keys: 45.5 ms for 48.7).
template <class AnyKernel>
constexpr bool stages_tiles(const AnyKernel& kernel, const AttentionStorage& storage, Precision precision) {
    if (!has_positions(kernel) || warps_share_keys(kernel) || (precision == Precision::bf16) != storage.keys_are_bf16) {
        return false;
    }
    return precision != Precision::tf32 || blocks_of_positions(kernel, false) > AttentionLimits::multiprocessors;
}

/// Staged tiles of a block: one where that holds all keys.
template <class AnyKernel>
constexpr Index tile_stages_of(const AnyKernel& kernel, bool keys_are_bf16) {
    const bool has_one =
        !kernel.attention.has_suffix && kernel.operands[1].shape[3] <= staged_tile_keys(kernel, keys_are_bf16);
    return has_one ? 1 : AttentionLimits::tile_stages;
}

/// Shared memory of a block of tiles that has one stage, or a little more than that: keys and values, in f32 their two
/// parts, and one position of a suffix that each query has for itself, as it is stored. Of staged rows, one tile or two
/// as they are stored. Warps that share keys take sixteen of them each, and then, in the same place, what they found of
/// sixteen queries; wide ones lie there, too.
template <class AnyKernel>
constexpr std::size_t tile_bytes_of(const AnyKernel& kernel, const AttentionStorage& storage, Precision precision) {
    using Limits = AttentionLimits;
    constexpr Index all_banks = 128;  // bytes; such rows are permuted, others padded
    const AttentionDescription& attention = kernel.attention;
    const Index element = precision == Precision::bf16 ? 2 : 4;
    const Index stored_row = attention.head_dim * (storage.keys_are_bf16 ? 2 : 4);
    const Index row_padding = stored_row % all_banks == 0 ? 0 : Limits::tile_row_padding;
    const Index row = stored_row + row_padding;
    if (warps_share_keys(kernel)) {
        const Index rows = tile_warps_of(kernel, storage.keys_are_bf16) * Limits::tile_warp_queries;
        const Index of_lanes = 2 * 4 * rows * 4;  // the largest score and the sum of each lane
        const bool is_wide = attention.head_dim > Limits::most_head_dim;
        const Index queries = is_wide ? Limits::tile_warp_queries * row : 0;
        // Of each block of a cluster, its sums of a share of the dimensions, and two numbers of each query; a barrier.
        const Index parts = tile_parts_of(kernel);
        const Index of_parts = parts > 1 ? Limits::tile_warp_queries * (attention.head_dim + parts * 2) * 4 + 8 : 0;
        return static_cast<std::size_t>(2 * rows * row + of_lanes + queries + of_parts);
    }
    if (stages_tiles(kernel, storage, precision)) {
        return static_cast<std::size_t>(tile_stages_of(kernel, storage.keys_are_bf16) * 2 *
                                        staged_tile_keys(kernel, storage.keys_are_bf16) * row);
    }
    const Index tile = 2 * Limits::tile_keys * (attention.head_dim * element + Limits::tile_row_padding);
    if (attention.has_suffix && kernel.iteration[1] > 1 && attention.is_decode(kernel.iteration[3])) {
        return static_cast<std::size_t>(tile + 2 * Limits::tile_queries * row);
    }
    return static_cast<std::size_t>(precision == Precision::f32 ? 2 * tile : tile);
}

/// Whether tiles know heads of this width.
template <class AnyKernel>
constexpr bool fits_tiles(const AnyKernel& kernel, const AttentionStorage& storage, Precision precision) {
    using Limits = AttentionLimits;
    const bool may_be_wide =
        kernel.attention.is_decode(kernel.iteration[3]) && storage.keys_are_bf16 && warps_share_keys(kernel);
    const Index most = precision == Precision::tf32  ? Limits::tile_most_head_dim_tf32
                       : precision == Precision::f32 ? Limits::tile_most_head_dim_f32
                       : may_be_wide                 ? Limits::tile_most_shared_head_dim
                                                     : Limits::most_head_dim;
    return kernel.attention.head_dim % Limits::tile_head_unit == 0 && kernel.attention.head_dim <= most;
}

/// The kernel that computes a step. A program is compiled for one answer: it asks for `least_device`, and all known
/// devices give the same.
template <class AnyKernel>
constexpr AttentionKernel select_attention(const AnyKernel& kernel, const AttentionStorage& storage,
                                           Precision precision, const DeviceTraits& device) {
    using Limits = AttentionLimits;
    if (kernel.kind != KernelKind::structural || kernel.op != Op::attention) {
        return AttentionKernel::none;
    }
    const AttentionDescription& attention = kernel.attention;
    const bool has_one_width = attention.value_dim == attention.head_dim;
    const bool is_short = precision == Precision::f32 && attention.is_prefill() &&
                          attention.queries != QueryPlaces::last && keys_of(kernel) < Limits::tile_fewest_keys_f32;
    const bool takes_tiles = fits_tiles(kernel, storage, precision) && has_one_width && !attention.scale_is_data &&
                             has_tile_pattern(kernel) && !is_short &&
                             tile_bytes_of(kernel, storage, precision) <= device.shared_bytes_of_block;
    // Of wide heads, many queries, too, where tiles cannot hold them: a warp reads keys far apart. Where tiles can,
    // they take few queries, too, if those fill one: by blocks, each query reads all keys (`bench_cuda_kronos`,
    // `base_paths`: 11.9 ms for 12.3).
    const bool is_wide = attention.head_dim > Limits::most_head_dim;
    const bool fills_tile = is_wide && takes_tiles && queries_of_keys(kernel) >= Limits::tile_warp_queries;
    const bool has_few_keys =
        keys_of(kernel) * block_key_lanes(kernel, storage.keys_are_bf16) <= Limits::block_threads &&
        queries_of_keys(kernel) < Limits::tile_queries / 2;
    const Index most_queries = has_few_keys ? Limits::block_most_queries_of_few_keys : Limits::block_most_queries;
    // In a decode step a tile would have one query (`bench_cuda`, `one_patch` in bf16: 0.212 ms, with tiles 0.225).
    const Index fewest_keys = has_positions(kernel) && !is_wide          ? Limits::block_fewest_keys_of_positions
                              : attention.is_decode(kernel.iteration[3]) ? Limits::block_fewest_keys
                                                                         : Limits::block_fewest_keys + 1;
    const bool prefers_block = (queries_of(kernel) <= most_queries && !fills_tile) || (is_wide && !takes_tiles);
    if (prefers_block && keys_of(kernel) >= fewest_keys && storage.is_aligned &&
        fits_block(kernel, storage.keys_are_bf16) && has_one_width) {
        return AttentionKernel::block;
    }
    return takes_tiles ? AttentionKernel::tiles : AttentionKernel::warp;
}

}  // namespace totograph::cuda
