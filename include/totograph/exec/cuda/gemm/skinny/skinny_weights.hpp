// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/skinny/skinny_arithmetic.hpp>
#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/kernels/reduction.hpp>
#include <totograph/exec/tf32_tile.hpp>
#include <totograph/graph/kernel.hpp>

// How the blocks of skinny GEMMs share k, and how they read weights.

namespace totograph::cuda {

/// Rows that one tensor core instruction takes.
inline constexpr int skinny_m = SkinnyTile::m;
/// Columns that one tensor core instruction takes.
inline constexpr int skinny_n = SkinnyTile::n;

namespace skinny_detail {

/// A thread's place among those that share k, and in tensor core instructions: a lane is `4 row + quarter`.
struct ThreadPlace {
    int warp = static_cast<int>(threadIdx.x) / warp_size;  ///< Of those of a block.
    int lane = static_cast<int>(threadIdx.x) % warp_size;
    int row = lane / 4;
    int quarter = lane % 4;
};

/// The same where the blocks of a cluster share k: a warp of each, then the next warp of each. So all blocks have about
/// as much of k.
/// @param part  the place of the block in its cluster, of `parts`
template <int parts>
__device__ __forceinline__ ThreadPlace place_in_cluster(int part) {
    ThreadPlace thread;
    thread.warp = thread.warp * parts + part;
    return thread;
}

/// How warps share k, those of a block, or of all blocks of a cluster: each has every so manieth chunk, which is what
/// the four lanes of a column take at a time. Of the last chunk, there may be some quarters only: each is what one lane
/// has, the last one maybe half of it.
template <class Member>
struct Chunks {
    static constexpr int lane_k = Member::Arithmetic::lane_k;
    static constexpr int k = 4 * lane_k;
    static constexpr auto all_k = static_cast<int>(Member::K::kernel.k);
    static constexpr int warps_of_block = block_threads / warp_size;
    static_assert(warps_of_block == SkinnyTile::warps);
    static constexpr int warps = warps_of_block * Member::parts;
    static constexpr int count = (all_k + k - 1) / k;
    static constexpr int per_warp = (count + warps - 1) / warps;
    static constexpr int quarters = (all_k + lane_k - 1) / lane_k;
    static constexpr bool ends_in_half = all_k % lane_k != 0;

    /// Whether a warp has a `j`th chunk.
    static __device__ __forceinline__ bool exists(int j, const ThreadPlace& thread) {
        return (j + 1) * warps <= count || thread.warp + j * warps < count;
    }
    /// Whether every lane has a quarter of the `j`th chunk of its warp.
    static constexpr bool is_whole(int j) { return (j + 1) * warps * k <= all_k; }
    /// Whether a lane has one, or half of one.
    static __device__ __forceinline__ bool has_quarter(int j, const ThreadPlace& thread) {
        return is_whole(j) || (thread.warp + j * warps) * 4 + thread.quarter < quarters;
    }
    /// Whether a lane has the second half of one.
    static __device__ __forceinline__ bool has_second_half(int j, const ThreadPlace& thread) {
        return (thread.warp + j * warps) * k + thread.quarter * lane_k + lane_k <= all_k;
    }
};

/// How the L2 cache treats weights. They are read once and by nobody else: they should not displace what the caches
/// hold, code and parameters of the next kernels among it.
__device__ __forceinline__ std::uint64_t weights_policy() {
    std::uint64_t policy;
    asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
    return policy;
}

__device__ __forceinline__ uint4 load_weights(const uint4* from, std::uint64_t policy) {
    uint4 words;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;"
                 : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                 : "l"(from), "l"(policy));
    return words;
}
__device__ __forceinline__ std::uint32_t load_weights(const std::uint32_t* from, std::uint64_t policy) {
    std::uint32_t word;
    asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.u32 %0, [%1], %2;" : "=r"(word) : "l"(from), "l"(policy));
    return word;
}

/// The same where they exist; elsewhere they stay as they are.
__device__ __forceinline__ void load_weights_if(bool exist, const uint4* from, std::uint64_t policy, uint4& words) {
    asm volatile(
        "{.reg .pred exist; setp.ne.u32 exist, %6, 0;"
        "@exist ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0,%1,%2,%3}, [%4], %5;}"
        : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w)
        : "l"(from), "l"(policy), "r"(static_cast<unsigned>(exist)));
}
__device__ __forceinline__ void load_weights_if(bool exist, const std::uint32_t* from, std::uint64_t policy,
                                                std::uint32_t& word) {
    asm volatile(
        "{.reg .pred exist; setp.ne.u32 exist, %3, 0;"
        "@exist ld.global.nc.L1::no_allocate.L2::cache_hint.u32 %0, [%1], %2;}"
        : "+r"(word)
        : "l"(from), "l"(policy), "r"(static_cast<unsigned>(exist)));
}

/// Where a lane reads weights that lie in rows, of `skinny_n` columns times any number of groups from `first_column`
/// on.
template <class Member>
class RowPlaces {
    using Chunks = skinny_detail::Chunks<Member>;
    using Weight = typename Member::Arithmetic::Weight;
    const Weight* first_;

public:
    /// What a lane has of a chunk of one column.
    using Words = uint4;

    __device__ __forceinline__ RowPlaces(const KernelCall& call, const ThreadPlace& thread, int first_column)
        : first_(static_cast<const Weight*>(call.weight) +
                 static_cast<std::size_t>(first_column + thread.row) * Chunks::all_k + thread.warp * Chunks::k +
                 thread.quarter * Chunks::lane_k) {}

    static __device__ __forceinline__ bool exist(int j, const ThreadPlace& thread) {
        return Chunks::has_quarter(j, thread);
    }

    /// The address of those of the warp's `j`th chunk, `column` columns further on.
    __device__ __forceinline__ const void* at(int j, std::size_t column) const {
        return first_ + column * Chunks::all_k + static_cast<std::size_t>(j * Chunks::warps * Chunks::k);
    }
    __device__ __forceinline__ Words load(int j, std::size_t column, std::uint64_t policy) const {
        return load_weights(static_cast<const uint4*>(at(j, column)), policy);
    }
    __device__ __forceinline__ void load_if(bool exist, int j, std::size_t column, std::uint64_t policy,
                                            Words& words) const {
        load_weights_if(exist, static_cast<const uint4*>(at(j, column)), policy, words);
    }
};

/// The same of weights that lie in tiles, each of which is a chunk of a group of columns.
template <class Member>
class TilePlaces {
    using Chunks = skinny_detail::Chunks<Member>;
    static_assert(Chunks::lane_k == Tf32Tile::lane_k && skinny_n == Tf32Tile::columns);
    static constexpr std::size_t tiles = Tf32Tile::tiles_of(Chunks::all_k);  // of a group of columns
    const Tf32Tile* first_;
    int lane_;

public:
    using Words = Tf32Words;

    __device__ __forceinline__ TilePlaces(const KernelCall& call, const ThreadPlace& thread, int first_column)
        : first_(static_cast<const Tf32Tile*>(call.weight) + static_cast<std::size_t>(first_column / skinny_n) * tiles +
                 thread.warp),
          lane_(thread.lane) {}

    /// Tiles are whole: they have zeros where k has ended.
    static __device__ __forceinline__ bool exist(int j, const ThreadPlace& thread) { return Chunks::exists(j, thread); }

    __device__ __forceinline__ const void* at(int j, std::size_t column) const { return tile(j, column)->high[lane_]; }
    __device__ __forceinline__ Words load(int j, std::size_t column, std::uint64_t policy) const {
        const Tf32Tile* const from = tile(j, column);
        return {load_weights(reinterpret_cast<const uint4*>(from->high[lane_]), policy),
                load_weights(&from->low[lane_], policy)};
    }
    __device__ __forceinline__ void load_if(bool exist, int j, std::size_t column, std::uint64_t policy,
                                            Words& words) const {
        const Tf32Tile* const from = tile(j, column);
        load_weights_if(exist, reinterpret_cast<const uint4*>(from->high[lane_]), policy, words.high);
        load_weights_if(exist, &from->low[lane_], policy, words.low);
    }

private:
    __device__ __forceinline__ const Tf32Tile* tile(int j, std::size_t column) const {
        return first_ + column / skinny_n * tiles + j * Chunks::warps;
    }
};

/// How a GEMM's weights lie.
template <class Member>
using WeightPlaces = std::conditional_t<std::is_same_v<typename Member::Arithmetic::Words, Tf32Words>,
                                        TilePlaces<Member>, RowPlaces<Member>>;

/// Registers for what a lane has of a chunk of one column. Where each block has all of k they are counted in tf32 with
/// three that only alignment has: those kernels were timed as they are cut so.
template <class Member>
inline constexpr int word_registers = Member::parts > 1 ? Tf32Words::registers
                                                        : static_cast<int>(sizeof(typename Member::Arithmetic::Words) /
                                                                           sizeof(std::uint32_t));

/// The weights of a thread: some neighbours in k of a column, for each chunk, GEMM of a pair, and group of columns.
template <class Member, int groups>
using Weights = typename Member::Arithmetic::Words[Chunks<Member>::per_warp][Member::K::kernel.accumulators][groups];

/// Columns from the first one of a block to those of a group, of one GEMM of a pair.
template <class Member>
constexpr std::size_t columns_to(int factor, int group) {
    return static_cast<std::size_t>(factor) * static_cast<std::size_t>(Member::K::kernel.columns()) +
           static_cast<std::size_t>(group * skinny_n);
}

/// Asks for all weights of these columns. Nothing in a graph writes them, so they can be on their way before the kernel
/// before has ended.
/// @return the last address, for `wait_for_predecessor`
template <class Member, int groups>
__device__ __forceinline__ const void* load_weights(const WeightPlaces<Member>& places, const ThreadPlace& thread,
                                                    Weights<Member, groups>& weights) {
    using Chunks = skinny_detail::Chunks<Member>;
    const void* last = nullptr;
    const std::uint64_t policy = weights_policy();
#pragma unroll
    for (int j = 0; j < Chunks::per_warp; ++j) {
#pragma unroll
        for (int a = 0; a < Member::K::kernel.accumulators; ++a) {
#pragma unroll
            for (int group = 0; group < groups; ++group) {
                const std::size_t column = columns_to<Member>(a, group);
                last = places.at(j, column);
                if (Chunks::is_whole(j)) {
                    weights[j][a][group] = places.load(j, column, policy);
                } else {
                    weights[j][a][group] = {};
                    places.load_if(WeightPlaces<Member>::exist(j, thread), j, column, policy, weights[j][a][group]);
                }
            }
        }
    }
    return last;
}

}  // namespace skinny_detail

}  // namespace totograph::cuda
