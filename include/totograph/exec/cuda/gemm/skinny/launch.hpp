// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_block.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_gemm.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_tiles.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/runtime/device_traits.hpp>
#include <totograph/exec/cuda/runtime/kernel_launcher.hpp>
#include <totograph/exec/cuda/runtime/next_begins.hpp>

// Skinny GEMMs of one input, in one launch.

namespace totograph::cuda {

/// GEMMs of one input in one launch: blocks of the first, then of the next.
template <NextBegins next, class Reduction, class... Members>
struct SkinnyGroup {
    static constexpr int count = sizeof...(Members);

    static constexpr bool norm_has_operands = skinny_detail::norm_has_operands<Reduction>;

    struct Calls {
        KernelCall call[count + (norm_has_operands ? 1 : 0)];  ///< Of each GEMM, and of the norm where it has operands.
        BFloat16* stored_input;                                ///< What the launch behind reads as bf16.
    };

private:
    static constexpr bool is_tiled = std::max({Members::K::kernel.rows()...}) > skinny_m;
    template <class Member>
    static constexpr int column_groups = static_cast<int>(Member::K::kernel.columns()) / skinny_n;

    static_assert(!is_tiled || next == NextBegins::after_wait,
                  "totograph: a block of many rows fills a multiprocessor, so none begins before it has waited.");

public:
    /// How a block computes its columns: groups of them at a time, and turns.
    struct Cut {
        int groups = 1;
        int turns = 1;

        [[nodiscard]] constexpr int all_groups() const { return groups * turns; }
    };

private:
    /// Blocks that have the columns of a GEMM, and of all, so many groups of them each.
    template <class Member>
    static constexpr int blocks_of(int groups) {
        return (column_groups<Member> + groups - 1) / groups;
    }
    static constexpr int blocks(int groups) { return (blocks_of<Members>(groups) + ...); }

    /// Whether blocks can compute so many groups at a time.
    template <int groups, int turns>
    static constexpr bool fits = ((column_groups<Members> % groups == 0 && SkinnyTiles<Members, groups, turns>::fits) &&
                                  ...);

    /// The cut with the fewest groups a block, so that all blocks run at once, and of those the one with the fewest
    /// turns; no groups where there is none.
    template <bool takes_turns>
    static constexpr Cut cut_of() {
        constexpr int most_groups = 8;  // more fit with few rows alone, which then hardly matter
        constexpr int least_turns = takes_turns ? 2 : 1;
        Cut best{.groups = 0};
        const auto attempt = [&]<int groups>(std::integral_constant<int, groups>) {
            if constexpr (fits<groups, least_turns>) {
                Cut candidate{.groups = groups};
                while (takes_turns && blocks(candidate.all_groups()) > compiled_for.multiprocessors) {
                    ++candidate.turns;
                }
                if (blocks(candidate.all_groups()) <= compiled_for.multiprocessors &&
                    (best.groups == 0 || candidate.all_groups() <= best.all_groups())) {
                    best = candidate;
                }
            }
        };
        [&]<int... i>(std::integer_sequence<int, i...>) {
            (attempt(std::integral_constant<int, i + 1>()), ...);
        }
        (std::make_integer_sequence<int, most_groups>());
        return best;
    }

public:
    /// Of few rows a block has one group. Of more, all rows travel to each block: it has so many groups that the device
    /// a program is cut for has no multiprocessor with two blocks. Where registers do not hold the weights of all of
    /// them, it takes turns, in which those of the next turn are on their way.
    static constexpr Cut cut = [] {
        if constexpr (is_tiled) {
            static_assert(fits<1, 2>, "totograph: one group of columns fits for every skinny GEMM.");
            const Cut at_once = cut_of<false>();
            return at_once.groups > 0 ? at_once : cut_of<true>();
        } else {
            return Cut{};
        }
    }();
    static constexpr int blocks_per_multiprocessor = [] {
        if constexpr (is_tiled) {
            return 1;
        } else {
            // Weights and inputs of a small k take few registers, so that more blocks fit on a multiprocessor.
            constexpr int chunks = std::max({skinny_detail::Chunks<Members>::per_warp...});
            constexpr int registers = std::max({SkinnyBlock<Members, Reduction, next>::operand_registers...});
            constexpr int most_of_two = std::min({Members::Arithmetic::chunks_of_two_blocks...});
            return registers <= 72 ? 3 : chunks <= most_of_two ? 2 : 1;
        }
    }();

private:
    static constexpr std::size_t shared_bytes = [] {
        if constexpr (is_tiled) {
            return std::max({sizeof(SkinnyTiles<Members, cut.groups, cut.turns>)...});
        } else {
            return std::size_t{0};
        }
    }();

public:
    static constexpr Spread spread{blocks(cut.all_groups()), block_threads, 1, shared_bytes};

    static __device__ void run(const Calls& calls, std::byte* memory) {
        int block = static_cast<int>(blockIdx.x);
        int index = 0;
        const auto member = [&]<class Member>(Member*) {
            constexpr int own = blocks_of<Member>(cut.all_groups());
            if (block >= 0 && block < own) {
                const KernelCall& norm_call = calls.call[norm_has_operands ? count : index];
                if constexpr (is_tiled) {
                    SkinnyTilesBlock<Member, Reduction, cut.groups, cut.turns>::run(calls.call[index], norm_call,
                                                                                    calls.stored_input, block, memory);
                } else {
                    SkinnyBlock<Member, Reduction, next>::run(calls.call[index], norm_call, calls.stored_input, block);
                }
            }
            block -= own;
            ++index;
        };
        (member(static_cast<Members*>(nullptr)), ...);
    }
};

template <class Group>
__global__ void __launch_bounds__(block_threads, Group::blocks_per_multiprocessor)
    skinny_kernel(const __grid_constant__ typename Group::Calls calls) {
    extern __shared__ uint4 skinny_memory[];
    Group::run(calls, reinterpret_cast<std::byte*>(skinny_memory));
}

}  // namespace totograph::cuda
