// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/exec/cuda/gemm/select.hpp>
#include <totograph/exec/cuda/gemm/sm90/ptx.hpp>
#include <totograph/exec/cuda/gemm/sm90/small_group.hpp>
#include <totograph/exec/cuda/gemm/sm90/small_kernel.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/lowering/launch_at.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>

namespace totograph::cuda {

/// What the launches before and behind one share with it, as its kernel's parameters name it.
struct SmallTail {
    const float* squares_of_input = nullptr;
    BFloat16* stored = nullptr;
    float* squares = nullptr;
};

/// Launches GEMMs with their chains, by blocks of a small tile each. Throws `Error` when the launch is refused.
/// @tparam At      the launch, a `LaunchAt`
/// @param input    bf16, rows next to each other
/// @param weights  of each GEMM
/// @param calls    what each GEMM's chain reads and writes
/// @param norm     of the norm before them, if there is one
/// @param shared   what it shares with the launches before and behind it
template <class At>
void launch_sm90_small(const KernelLauncher& launcher, const void* input,
                       const std::array<const std::byte*, At::launch.gemms()>& weights,
                       const std::array<KernelCall, At::launch.gemms()>& calls, const KernelCall& norm,
                       const SmallTail& shared, cudaStream_t stream) {
    [&]<int... i>(std::integer_sequence<int, i...>) {
        using Group = SmallGroup<typename NormAt<At, void>::type, small_tiles_have_tail(At::launch.gemm),
                                 typename At::template KernelAt<At::launch.norms() + i>...>;
        using Tile = typename Group::Tile;
        const auto weights_of = [&]<class K>(K*, const std::byte* weight) {
            return make_tma_descriptor(weight, static_cast<std::uint64_t>(K::kernel.columns() * K::kernel.accumulators),
                                       Group::k, Group::template tile_columns<K>);
        };
        const typename Group::Parameters parameters{
            make_tma_descriptor(input, Group::m, Group::k, Tile::m),
            {weights_of(static_cast<typename At::template KernelAt<At::launch.norms() + i>*>(nullptr), weights[i])...},
            {calls[i]...},
            norm,
            shared.squares_of_input,
            shared.stored,
            shared.squares};
        launcher.launch(&sm90_small_kernel<Group>, {Group::blocks, Tile::threads, 1, Tile::shared_bytes}, stream,
                        parameters);
    }
    (std::make_integer_sequence<int, At::launch.gemms()>());
}

}  // namespace totograph::cuda
