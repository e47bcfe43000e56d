// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/sm90/tile_group.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/lowering/launch_at.hpp>

// What launches hand to kernels whose blocks compute tiles of a group.

namespace totograph::cuda {

/// The GEMMs of a launch, `LaunchAt`, as a group.
/// @tparam Norm  that begins it; void leaves it out, where another kernel has computed it
template <class BlockTile, class At, class Norm = typename NormAt<At, void>::type,
          class Indices = std::make_integer_sequence<int, At::launch.gemms()>>
struct TileGroupOf;
template <class BlockTile, class At, class Norm, int... i>
struct TileGroupOf<BlockTile, At, Norm, std::integer_sequence<int, i...>> {
    using type = TileGroup<BlockTile, Norm, tiles_have_tail(At::launch.gemm),
                           typename At::template KernelAt<At::launch.norms() + i>...>;
};

/// Where such a launch finds what it reads and stores.
template <int gemms>
struct TileOperands {
    const void* input;                            ///< Rows next to each other.
    std::array<const std::byte*, gemms> weights;  ///< Of each GEMM.
    std::array<KernelCall, gemms> calls;          ///< What each GEMM's chain reads and writes.
    KernelCall norm;                              ///< Of the norm before them, if there is one.
    SharedTail shared;                            ///< With the launches before and behind it.
};

/// The parameters of a group's kernel.
/// @param input_rows  that a block copies at a time
template <class Tile, class Norm, bool has_tail, class... K>
typename TileGroup<Tile, Norm, has_tail, K...>::Parameters parameters_of(TileGroup<Tile, Norm, has_tail, K...>*,
                                                                         const TileOperands<sizeof...(K)>& operands,
                                                                         std::uint32_t input_rows) {
    using Group = TileGroup<Tile, Norm, has_tail, K...>;
    const auto weights_of = [](auto columns, const std::byte* weight, std::uint32_t tile_columns) {
        return make_tma_descriptor(weight, static_cast<std::uint64_t>(columns), Group::k, tile_columns, Tile::operand);
    };
    return [&]<std::size_t... i>(std::index_sequence<i...>) {
        return typename Group::Parameters{
            make_tma_descriptor(operands.input, Group::m, Group::k, input_rows, Tile::operand),
            {weights_of(K::kernel.columns() * K::kernel.accumulators, operands.weights[i],
                        Group::template tile_columns<K>)...},
            {operands.calls[i]...},
            {operands.norm, operands.shared.squares_of_input},
            operands.shared.stored,
            operands.shared.squares};
    }
    (std::index_sequence_for<K...>());
}

}  // namespace totograph::cuda
