// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/gemm_group.hpp>
#include <totograph/exec/cuda/gemm/skinny_cluster_cut.hpp>
#include <totograph/exec/cuda/gemm/sm90_wave_cut.hpp>
#include <totograph/exec/cuda/gemm/thresholds.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/graph/kernel.hpp>

// The one place that says how GEMMs are computed on a device, and what is fused behind them. Nothing here needs CUDA.

namespace totograph::cuda {

enum class GemmKernel : std::uint8_t {
    none,              ///< The launch has no GEMM.
    skinny,            ///< Up to 16 rows: blocks stream their weights; norm and epilogue run in the same kernel.
    skinny_tiles,      ///< Up to 64 rows, likewise: all rows travel to each block.
    skinny_cluster,    ///< 17 to 48 rows in tf32, of a k too long for these: the blocks of a cluster share it.
    tf32_parts,        ///< Many rows in f32: three products of tf32 parts; what follows is as with cuBLASLt.
    tf32_parts_chain,  ///< The same where the epilogue is inside.
    cublaslt,      ///< cuBLASLt; the epilogue is inside where it is a bias and a residual, else in a kernel after it.
    sm90,          ///< `wgmma` on tiles; the epilogue of a tile runs beside the GEMM of the next one.
    sm90_small,    ///< `wgmma` on small tiles, one a block, in bf16 or tf32, of some hundred rows; the epilogue is
                   ///< inside.
    sm90_wave,     ///< `wgmma` on tiles that run in one wave or few, in bf16 or tf32; the epilogue is inside.
    sm90_cluster,  ///< `wgmma` by clusters that have whole rows: bias, residual, bf16 and norm are inside.
};

/// As `explain` prints it.
constexpr const char* name(GemmKernel kernel) {
    switch (kernel) {
        case GemmKernel::none: return "none";
        case GemmKernel::skinny: return "skinny";
        case GemmKernel::skinny_tiles: return "skinny tiles";
        case GemmKernel::skinny_cluster: return "skinny cluster";
        case GemmKernel::tf32_parts:
        case GemmKernel::tf32_parts_chain: return "tf32 parts";
        case GemmKernel::cublaslt: return "cuBLASLt";
        case GemmKernel::sm90: return "sm90";
        case GemmKernel::sm90_small: return "sm90 small";
        case GemmKernel::sm90_wave: return "sm90 wave";
        case GemmKernel::sm90_cluster: return "sm90 cluster";
    }
    return "";
}

/// How the GEMMs of a launch are computed.
struct GemmChoice {
    GemmKernel kernel = GemmKernel::none;
    /// What of the next launch runs behind it, in the same kernel. Of a norm, `sm90_small` and `sm90_wave` leave sums
    /// of squares, which the next launch adds up.
    TailFusion tail = TailFusion::none;
    /// A kernel before it stores the input as bf16, with the norm that begins the launch, if there is one.
    bool converts_input = false;
    /// Of GEMMs that read f32: a kernel before it computes the norm that begins the launch.
    bool follows_norm = false;

    friend constexpr bool operator==(const GemmChoice&, const GemmChoice&) = default;
};

/// The limits that a program is compiled with: they decide which kernels there are.
inline constexpr const GemmThresholds& compiled_thresholds = thresholds_of(compiled_for.architecture());

/// Whether small tiles of the `sm90_small` kernel can compute GEMMs, and pay.
/// @param column_tiles  of all of them
/// @param k_bytes       of a row of the input
constexpr bool fits_small_tiles(Index m, Index column_tiles, Index k_bytes, const GemmThresholds& limits) {
    using Tile = Sm90SmallTile;
    const int rows = Tile::m_of(m, column_tiles);
    return rows > 0 && m <= limits.sm90_small_most_m && k_bytes >= Tile::warpgroups * Tile::row_bytes &&
           ((rows + Tile::n) * k_bytes <= limits.sm90_small_most_bytes ||
            (rows == Tile::fewest_m && k_bytes <= limits.sm90_small_most_k_bytes_of_fewest));
}

/// Whether a skinny kernel computes a GEMM: it is bound by reading the weights once.
/// @param input_stride  elements from one row of the input to the next
/// @param is_bf16       weights are; else they are f32
/// @param accumulators  2 for a pair of GEMMs of one input
constexpr bool takes_skinny(Index m, Index n, Index k, Index input_stride, bool is_bf16, int accumulators = 1,
                            const GemmThresholds& limits = compiled_thresholds) {
    return m <= limits.skinny_most_m && n % SkinnyTile::n == 0 && k % SkinnyTile::k_unit(is_bf16) == 0 &&
           k <= SkinnyTile::most_k(is_bf16, accumulators) && input_stride % 4 == 0;
}

/// The same of a step of a plan.
constexpr bool takes_skinny(const Kernel& kernel, bool is_bf16) {
    return kernel.kind == KernelKind::gemm &&
           takes_skinny(kernel.rows(), kernel.columns(), kernel.k, kernel.input_stride, is_bf16, kernel.accumulators);
}

/// Whether blocks of clusters share k of a GEMM in tf32 that is skinny but for its k, which is too long for a block.
constexpr bool fits_skinny_cluster(const GemmGroup& group, const GemmThresholds& limits = compiled_thresholds) {
    return !group.is_bf16 && !group.is_skinny && group.count == 1 && group.members[0].accumulators == 1 &&
           !group.feeds_draws && group.input_is_dense && group.m > SkinnyTile::m && group.m <= limits.skinny_most_m &&
           group.members[0].n % SkinnyTile::n == 0 && group.k % SkinnyTile::k_unit(false) == 0 &&
           group.k > SkinnyTile::most_k(false) && skinny_cluster_cut(group.m, group.members[0].n, group.k).groups > 0;
}
/// Whether all of its clusters run at once on a device.
constexpr bool fills_skinny_cluster(const GemmGroup& group, const DeviceTraits& device) {
    const SkinnyClusterCut cut = skinny_cluster_cut(group.m, group.members[0].n, group.k);
    return cut.clusters(group.members[0].n) <= device.row_clusters;
}
/// Whether a device takes them for a group in tf32.
constexpr bool takes_skinny_cluster(const GemmGroup& group, const DeviceTraits& device, bool fuses = true) {
    return fuses && fits_skinny_cluster(group) && fills_skinny_cluster(group, device);
}

/// Whether mixtures may be drawn from the accumulators of GEMMs: not where a skinny kernel is worth more.
constexpr bool may_draw_from(Index m, bool is_skinny, const GemmThresholds& limits = compiled_thresholds) {
    return !is_skinny || m > limits.skinny_most_m_before_draws;
}

namespace select_detail {

constexpr int divide_up(Index a, Index b) {
    return static_cast<int>((a + b - 1) / b);
}

/// Whether the epilogue takes about as long as the next tile's GEMM, which it runs beside, or less.
constexpr bool keeps_up(const GemmMember& member, Index k, const GemmThresholds& limits) {
    const Index k_tiles = divide_up(k, Sm90Tile::k);  // the last one may reach beyond k
    if (member.epilogue.tables > 0) {
        return member.epilogue.sigmoids == 0 && member.epilogue.stores_bf16 && member.accumulators == 1 &&
               k_tiles >= limits.sm90_least_k_tiles_with_tables;
    }
    if (member.epilogue.sigmoids == 0) {
        return k_tiles >= limits.sm90_least_k_tiles;
    }
    return member.epilogue.sigmoids == 1 && member.accumulators == 2 && member.epilogue.stores_bf16 &&
           k_tiles >= limits.sm90_least_k_tiles_with_sigmoid;
}

}  // namespace select_detail

/// How the `sm90` kernel cuts a group into tiles.
struct Sm90Cut {
    int tile_n;
    int row_pairs;     ///< Pairs of row tiles, one for each block of a cluster.
    int column_tiles;  ///< Of all GEMMs; the last one of each may reach beyond the last column.

    constexpr Sm90Cut(const GemmGroup& group, int columns)
        : tile_n(columns),
          row_pairs(select_detail::divide_up(group.m, Sm90Tile::cluster * Sm90Tile::m)),
          column_tiles(0) {
        for (int i = 0; i < group.count; ++i) {
            column_tiles += column_tiles_of(group.members[static_cast<std::size_t>(i)], columns);
        }
    }

    /// Tiles of so many columns that one GEMM takes; a pair has half of each.
    static constexpr int column_tiles_of(const GemmMember& member, int columns) {
        return select_detail::divide_up(member.n, columns / member.accumulators);
    }

    /// Pairs of tiles: what a cluster computes at a time.
    [[nodiscard]] constexpr int items() const { return row_pairs * column_tiles; }
    /// Items that a cluster computes one after the other.
    [[nodiscard]] constexpr int waves(int multiprocessors) const {
        return select_detail::divide_up(items(), multiprocessors / Sm90Tile::cluster);
    }
    /// Of what the multiprocessors compute meanwhile, the percentage that is part of the result.
    [[nodiscard]] constexpr Index fill(const GemmGroup& group, int multiprocessors) const {
        const Index computed = Index{waves(multiprocessors)} * (multiprocessors / Sm90Tile::cluster) * tile_n;
        return row_pairs * group.weight_rows() * 100 / computed;
    }
};

/// The tiles of a group: 256 columns, or 224 where waves of these take less on the device that a program is cut for; on
/// a smaller one the other might.
constexpr Sm90Cut sm90_cut(const GemmGroup& group) {
    const Sm90Cut wide(group, Sm90Tile::wide_n);
    const Sm90Cut narrow(group, Sm90Tile::narrow_n);
    constexpr int multiprocessors = compiled_for.multiprocessors;
    return narrow.waves(multiprocessors) * narrow.tile_n < wide.waves(multiprocessors) * wide.tile_n ? narrow : wide;
}

/// Whether the `sm90` kernel can compute a group, and pays on a device that it fills.
constexpr bool fits_sm90(const GemmGroup& group, const GemmThresholds& limits) {
    return group.is_bf16 && !group.is_skinny && !group.is_direct && !group.feeds_draws && group.count > 0 &&
           group.is_aligned && group.m >= limits.sm90_least_m && group.all([&](const GemmMember& member) {
               return member.accumulators <= 2 && member.is_packed && member.epilogue.is_short &&
                      member.epilogue.large == 0 && group.m * member.n >= Sm90Tile::least_elements &&
                      member.weight_rows() % limits.sm90_n_unit == 0 &&
                      select_detail::keeps_up(member, group.k, limits);
           });
}

/// Whether few multiprocessors are idle while the last tiles are computed, and few columns of tiles lie beyond the last
/// one of a GEMM.
constexpr bool fills_sm90(const GemmGroup& group, const DeviceTraits& device, const GemmThresholds& limits) {
    return device.has_wgmma && device.multiprocessors >= Sm90Tile::cluster &&
           sm90_cut(group).fill(group, device.multiprocessors) >= limits.sm90_least_fill;
}

/// Tiles of columns of a group in the `sm90_small` kernel.
constexpr Index sm90_small_column_tiles(const GemmGroup& group) {
    Index tiles = 0;
    for (int i = 0; i < group.count; ++i) {
        const GemmMember& member = group.members[static_cast<std::size_t>(i)];
        tiles += select_detail::divide_up(member.n, Sm90SmallTile::n / member.accumulators);
    }
    return tiles;
}
/// Rows of a block of it; 0 where a group has too many tiles.
constexpr int sm90_small_rows(const GemmGroup& group) {
    return Sm90SmallTile::m_of(group.m, sm90_small_column_tiles(group));
}

/// Whether a group is one for tiles of the `sm90_small` kernel, in bf16 or in tf32, and pays.
constexpr bool fits_small(const GemmGroup& group, const GemmThresholds& limits) {
    const int element = bytes_of(group.is_bf16 ? MmaOperand::bf16 : MmaOperand::tf32);
    return !group.is_skinny && !group.feeds_draws && group.count > 0 && group.is_aligned &&
           group.all([](const GemmMember& member) { return member.accumulators <= 2 && member.is_packed; }) &&
           fits_small_tiles(group.m, sm90_small_column_tiles(group), group.k * element, limits);
}
constexpr bool fits_sm90_small(const GemmGroup& group, const GemmThresholds& limits) {
    return group.is_bf16 && fits_small(group, limits);
}
/// Where weights and products are not bf16, but products may be of tf32.
constexpr bool fits_sm90_small_in_tf32(const GemmGroup& group, const GemmThresholds& limits) {
    return !group.is_bf16 && !group.input_is_bf16 && group.input_is_dense && group.m >= limits.sm90_least_m_in_tf32 &&
           fits_small(group, limits);
}
/// Whether all of its blocks run at once on a device.
constexpr bool fills_sm90_small(const GemmGroup& group, const DeviceTraits& device) {
    const int row_tiles = select_detail::divide_up(group.m, sm90_small_rows(group));
    return device.has_wgmma && sm90_small_column_tiles(group) * row_tiles <= device.multiprocessors;
}

/// Whether GEMMs that skinny kernels can compute are left to small tiles.
/// @param group  as it would be if skinny kernels did not compute it
constexpr bool prefers_small_tiles(const GemmGroup& group, const GemmThresholds& limits = compiled_thresholds) {
    return group.m > limits.skinny_most_m_in_bf16 && fits_sm90_small(group, limits);
}

/// Whether the `sm90_cluster` kernel can compute a group with the tail that follows, and pays on a device that it
/// fills.
constexpr bool fits_sm90_cluster(const GemmGroup& group, const GemmThresholds& limits) {
    return group.is_bf16 && !group.is_skinny && group.tail != TailFusion::none && group.adds_bias && group.count == 1 &&
           group.is_aligned && group.fits_in_32_bits && group.m >= limits.sm90_least_m &&
           group.k % Sm90ClusterTile::k == 0 && Sm90ClusterTile::n_of(group.members[0].n) > 0;
}

/// Whether all clusters run at once, and few could run besides: with fewer rows cuBLASLt's smaller tiles fill the
/// device better.
constexpr bool fills_sm90_cluster(const GemmGroup& group, const DeviceTraits& device, const GemmThresholds& limits) {
    const int clusters = select_detail::divide_up(group.m, Sm90ClusterTile::m);
    return clusters <= device.row_clusters && clusters * 100 >= device.row_clusters * limits.sm90_cluster_least_fill;
}

/// Whether the `tf32_parts` kernel computes a group whose products are of f32. Aligned rows have a multiple of eight
/// elements.
constexpr bool fits_tf32_parts(const GemmGroup& group, const GemmThresholds& limits) {
    return !group.is_bf16 && !group.is_skinny && group.count > 0 && group.is_aligned &&
           tf32_parts_tiles(group.m, group.weight_rows(), Tf32PartsTile::narrow) >=
               (group.k < limits.tf32_parts_long_k ? limits.tf32_parts_least_tiles
                                                   : limits.tf32_parts_least_tiles_of_long_k);
}

/// Whether the chains of such a group run in the same kernel. Of fewer tiles narrow ones are faster, behind which
/// another kernel computes the chain.
constexpr bool fits_tf32_parts_chain(const GemmGroup& group, const GemmThresholds& limits) {
    constexpr int most_large = 2;
    Index column_tiles = 0;
    for (int i = 0; i < group.count; ++i) {
        const GemmMember& member = group.members[static_cast<std::size_t>(i)];
        column_tiles += divide_rounding_up(member.n, Index{Tf32PartsTile::wide} / member.accumulators);
    }
    return fits_tf32_parts(group, limits) && !group.is_direct && !group.feeds_draws && group.input_is_dense &&
           group.all([](const GemmMember& member) {
               return member.accumulators <= 2 && member.is_packed && member.epilogue.is_short &&
                      member.epilogue.large <= most_large;
           }) &&
           divide_rounding_up(group.m, Index{Tf32PartsTile::wide}) * column_tiles >= Tf32PartsTile::fewest_wide;
}

/// Whether a group is one for tiles of the `sm90_wave` kernel, in bf16 or in tf32, and pays on a device that it fills.
constexpr bool fits_waves(const GemmGroup& group, const GemmThresholds& limits) {
    constexpr int most_large = 2;
    return !group.is_skinny && !group.feeds_draws && group.count > 0 && group.is_aligned &&
           group.m >= (group.is_bf16 ? limits.sm90_wave_least_m : limits.sm90_least_m_in_tf32) &&
           group.all([](const GemmMember& member) {
               return member.accumulators <= 2 && member.is_packed && member.epilogue.is_short &&
                      member.epilogue.large <= most_large;
           }) &&
           sm90_wave_cut(group).m > 0;
}
constexpr bool fits_sm90_wave(const GemmGroup& group, const GemmThresholds& limits) {
    return group.is_bf16 && fits_waves(group, limits);
}
/// Where weights and products are not bf16, but products may be of tf32.
constexpr bool fits_sm90_wave_in_tf32(const GemmGroup& group, const GemmThresholds& limits) {
    return !group.is_bf16 && !group.input_is_bf16 && group.input_is_dense && fits_waves(group, limits);
}
/// Whether it takes no more waves on a device than it is cut for.
constexpr bool fills_sm90_wave(const GemmGroup& group, const DeviceTraits& device) {
    return device.has_wgmma && sm90_wave_cut(group).blocks() <= device.multiprocessors;
}

/// Whether one of the kernels by `wgmma` can compute a group, and pays on a device.
constexpr bool takes(GemmKernel kernel, const GemmGroup& group, const DeviceTraits& device,
                     const GemmThresholds& limits) {
    switch (kernel) {
        case GemmKernel::sm90: return fits_sm90(group, limits) && fills_sm90(group, device, limits);
        case GemmKernel::sm90_small: return fits_sm90_small(group, limits) && fills_sm90_small(group, device);
        case GemmKernel::sm90_wave: return fits_sm90_wave(group, limits) && fills_sm90_wave(group, device);
        case GemmKernel::sm90_cluster:
            return fits_sm90_cluster(group, limits) && fills_sm90_cluster(group, device, limits);
        default: return false;
    }
}

/// Which of the kernels by `wgmma` a program holds for a group: the one that the device takes that it is compiled for;
/// `none` where that takes none.
constexpr GemmKernel wgmma_kernel(const GemmGroup& group) {
    const GemmThresholds& limits = compiled_thresholds;
    const auto takes_it = [&](GemmKernel kernel) { return takes(kernel, group, compiled_for, limits); };
    if (takes_it(GemmKernel::sm90_cluster)) {
        return GemmKernel::sm90_cluster;
    }
    const bool takes_small = takes_it(GemmKernel::sm90_small);
    if (takes_small && sm90_small_rows(group) <= limits.sm90_small_most_rows_before_wave) {
        return GemmKernel::sm90_small;
    }
    const bool takes_sm90 = takes_it(GemmKernel::sm90);
    if (takes_sm90 && select_detail::divide_up(group.k, Sm90Tile::k) >= limits.sm90_least_k_tiles_before_wave) {
        return GemmKernel::sm90;
    }
    if (takes_it(GemmKernel::sm90_wave)) {
        return GemmKernel::sm90_wave;
    }
    return takes_small ? GemmKernel::sm90_small : takes_sm90 ? GemmKernel::sm90 : GemmKernel::none;
}

/// Whether a program holds a kernel for a group; where products are of tf32, what `wgmma_kernel_in_tf32` names in place
/// of those by `wgmma`. cuBLASLt computes whatever is not skinny.
constexpr bool is_compiled(GemmKernel kernel, const GemmGroup& group) {
    switch (kernel) {
        case GemmKernel::none: return group.count == 0;
        case GemmKernel::skinny: return group.count > 0 && group.is_skinny && group.m <= SkinnyTile::m;
        case GemmKernel::skinny_tiles: return group.count > 0 && group.is_skinny && group.m > SkinnyTile::m;
        case GemmKernel::skinny_cluster: return fits_skinny_cluster(group);
        case GemmKernel::tf32_parts: return fits_tf32_parts(group, compiled_thresholds);
        case GemmKernel::tf32_parts_chain: return fits_tf32_parts_chain(group, compiled_thresholds);
        case GemmKernel::cublaslt: return group.count > 0 && !group.is_skinny;
        case GemmKernel::sm90:
        case GemmKernel::sm90_small:
        case GemmKernel::sm90_wave:
        case GemmKernel::sm90_cluster: return wgmma_kernel(group) == kernel;
    }
    return false;
}

/// Whether a kernel leaves the squares of the next launch's norm to that one, which adds them up.
constexpr bool leaves_squares(GemmKernel kernel) {
    return kernel == GemmKernel::sm90_small || kernel == GemmKernel::sm90_wave;
}
/// Whether a kernel reads what such a one leaves.
constexpr bool reads_squares(GemmKernel kernel) {
    return leaves_squares(kernel) || kernel == GemmKernel::sm90;
}

/// The same as `takes` where products are of tf32.
constexpr bool takes_in_tf32(GemmKernel kernel, const GemmGroup& group, const DeviceTraits& device,
                             const GemmThresholds& limits) {
    switch (kernel) {
        case GemmKernel::sm90_small: return fits_sm90_small_in_tf32(group, limits) && fills_sm90_small(group, device);
        case GemmKernel::sm90_wave: return fits_sm90_wave_in_tf32(group, limits) && fills_sm90_wave(group, device);
        default: return false;
    }
}
/// The same as `wgmma_kernel` where products are of tf32.
constexpr GemmKernel wgmma_kernel_in_tf32(const GemmGroup& group) {
    const GemmThresholds& limits = compiled_thresholds;
    const auto takes_it = [&](GemmKernel kernel) { return takes_in_tf32(kernel, group, compiled_for, limits); };
    const bool takes_small = takes_it(GemmKernel::sm90_small);
    if (takes_small && sm90_small_rows(group) <= limits.sm90_small_most_rows_before_wave) {
        return GemmKernel::sm90_small;
    }
    return takes_it(GemmKernel::sm90_wave) ? GemmKernel::sm90_wave
           : takes_small                   ? GemmKernel::sm90_small
                                           : GemmKernel::none;
}
/// Whether a program whose products are of tf32 holds one of the kernels by `wgmma` for a group.
constexpr bool holds_wgmma_in_tf32(const GemmGroup& group) {
    return wgmma_kernel_in_tf32(group) != GemmKernel::none;
}

/// Whether such a kernel of a group has code that leaves what the next launch begins with: its input as bf16 where
/// weights are, and the squares of the norm of that.
constexpr bool tiles_have_tail(const GemmGroup& group) {
    return group.tail != TailFusion::none && (leaves_squares(wgmma_kernel(group)) || holds_wgmma_in_tf32(group));
}

/// How a group is computed on a device. Always a kernel that is compiled: where the limits of a device would choose
/// another one, cuBLASLt computes the group.
/// @param before  how the launch before it is: its tail may have stored this one's input
/// @param fuses   `Execution::fuses`: without, cuBLASLt computes what is not skinny
/// @param limits  of the device
constexpr GemmChoice select_gemm(const GemmGroup& group, const GemmChoice& before, const DeviceTraits& device,
                                 bool fuses, const GemmThresholds& limits) {
    if (group.count == 0) {
        return {};
    }
    GemmChoice choice;
    if (group.is_skinny) {
        choice.kernel = group.m > SkinnyTile::m ? GemmKernel::skinny_tiles : GemmKernel::skinny;
        return choice;
    }
    choice.kernel = GemmKernel::cublaslt;
    choice.converts_input = group.is_bf16 && !group.input_is_bf16 && before.tail == TailFusion::none;
    const GemmKernel own = wgmma_kernel(group);
    if (fuses && takes(own, group, device, limits)) {
        choice.kernel = own;
        choice.tail = own == GemmKernel::sm90_cluster ? group.tail : TailFusion::none;
    }
    return choice;
}

/// The same with the limits of the device's architecture.
constexpr GemmChoice select_gemm(const GemmGroup& group, const GemmChoice& before, const DeviceTraits& device,
                                 bool fuses = true) {
    return select_gemm(group, before, device, fuses, thresholds_of(device.architecture()));
}

/// The same of GEMMs whose products are of tf32.
constexpr GemmChoice select_tf32_gemm(const GemmGroup& group, const DeviceTraits& device, bool fuses = true) {
    GemmChoice choice = select_gemm(group, {}, device, fuses);
    if (takes_skinny_cluster(group, device, fuses)) {
        choice.kernel = GemmKernel::skinny_cluster;
    }
    const GemmKernel own = wgmma_kernel_in_tf32(group);
    if (fuses && choice.kernel == GemmKernel::cublaslt &&
        takes_in_tf32(own, group, device, thresholds_of(device.architecture()))) {
        choice.kernel = own;
    }
    return choice;
}

/// The same of GEMMs whose products are of f32.
constexpr GemmChoice select_f32_gemm(const GemmGroup& group, const DeviceTraits& device, bool fuses = true) {
    GemmChoice choice = select_gemm(group, {}, device, fuses);
    if (fuses && choice.kernel == GemmKernel::cublaslt && is_compiled(GemmKernel::tf32_parts, group) &&
        device.has_wgmma && fits_tf32_parts(group, thresholds_of(device.architecture()))) {
        choice.kernel =
            is_compiled(GemmKernel::tf32_parts_chain, group) ? GemmKernel::tf32_parts_chain : GemmKernel::tf32_parts;
    }
    return choice;
}

}  // namespace totograph::cuda
