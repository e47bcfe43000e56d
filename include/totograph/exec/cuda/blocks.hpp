// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include <totograph/core/shape.hpp>

// How the items of a step are shared among threads.

namespace totograph::cuda {

/// Threads of every block. One number for all kernels, so that sums have one order wherever a kernel runs.
inline constexpr int block_threads = 256;

/// The threads that share the items of a step: those of a grid of any size, or of `count` blocks, of which
/// `first_thread` of each takes the first items.
///
/// A segment is code that runs once, so most of its time is fetching it: with the number of blocks known, few items
/// need no loop, and no loop is unrolled.
template <int count = 0, int first_thread = 0>
struct Blocks {
    static constexpr bool is_known = count > 0;
    static constexpr int threads = count * block_threads;  ///< Of all blocks, where their number is known.

    /// Calls `visit(item)` for the items of a thread.
    template <auto items, class Visit>
    static __device__ __forceinline__ void for_each(Visit&& visit) {
        using Item = std::remove_const_t<decltype(items)>;
        const unsigned thread = (threadIdx.x + (block_threads - first_thread)) % block_threads;
        const Item first = static_cast<Item>(blockIdx.x * block_threads + thread);
        share<items, Item{count} * block_threads>(first, static_cast<Item>(gridDim.x * block_threads), visit);
    }

    /// For groups of `size` neighbouring threads, each of which takes whole items: the first group of a block the first
    /// of them, whatever `first_thread` is.
    template <int size, auto items, class Visit>
    static __device__ __forceinline__ void for_each_of_groups(Visit&& visit) {
        using Item = std::remove_const_t<decltype(items)>;
        constexpr int groups = block_threads / size;
        const Item first = static_cast<Item>(blockIdx.x * groups + threadIdx.x / size);
        share<items, Item{count} * groups>(first, static_cast<Item>(gridDim.x * groups), visit);
    }

private:
    template <auto items, auto known, class Item, class Visit>
    static __device__ __forceinline__ void share(Item first, Item step, Visit&& visit) {
        if constexpr (is_known && items <= known) {
            if (first < items) {
                visit(first);
            }
        } else if constexpr (is_known) {
#pragma unroll 1
            for (Item item = first; item < items; item += known) {
                visit(item);
            }
        } else {
            for (Item item = first; item < items; item += step) {
                visit(item);
            }
        }
    }
};

}  // namespace totograph::cuda
