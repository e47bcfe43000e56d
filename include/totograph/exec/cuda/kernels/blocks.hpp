// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <type_traits>

#include <totograph/core/shape.hpp>

// How the items of a step are shared among threads.

namespace totograph::cuda {

/// Threads of a block. One number for all kernels, so that sums have one order wherever a kernel runs: in a block of
/// more threads (`wide_block_threads`), so many of them add up a row.
inline constexpr int block_threads = 256;

/// Waits for the first `block_threads` of a block, which calls it with those.
/// @tparam threads  of the block
template <int threads>
__device__ __forceinline__ void synchronize_summing() {
    if constexpr (threads == block_threads) {
        __syncthreads();
    } else {
        asm volatile("bar.sync 1, %0;" ::"n"(block_threads) : "memory");
    }
}

/// Takes every item.
struct EachItem {
    template <class Item>
    __device__ __forceinline__ bool operator()(Item) const {
        return true;
    }
};

/// The items `first`, `first + step` and so on before `end`, `turns` of them at most: `write(item, read(item))`, where
/// `takes(item)`. Some are read before the first of them is written, so that their reads overlap, as many as registers
/// hold with ease; `write` may change the value.
template <int turns, class Item, class Read, class Write, class Takes = EachItem>
__device__ __forceinline__ void for_each_overlapped(Item first, Item step, Item end, Read&& read, Write&& write,
                                                    const Takes& takes = {}) {
    using Value = decltype(read(first));
    constexpr int together = std::min(turns, sizeof(Value) <= 8 ? 8 : 4);
    if constexpr (together <= 1) {
        if (first < end && takes(first)) {
            Value value = read(first);
            write(first, value);
        }
    } else {
#pragma unroll 1
        for (Item begin = first; begin < end; begin += together * step) {
            Value values[together];
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const Item item = begin + static_cast<Item>(i) * step;
                values[i] = read(item < end && takes(item) ? item : begin);  // without a branch
            }
#pragma unroll
            for (int i = 0; i < together; ++i) {
                const Item item = begin + static_cast<Item>(i) * step;
                if (item < end && takes(item)) {
                    write(item, values[i]);
                }
            }
        }
    }
}

/// The threads that share the items of a step: those of a grid of any size, or of `count` blocks from `first_block` on,
/// of which `first_thread` of each takes the first items. A block has `block_size` of them.
///
/// A segment is code that runs once, so much of its time is fetching it: with the number of blocks known, few items
/// need no loop, and loops are unrolled no further than reads need to overlap.
template <int count = 0, int first_thread = 0, unsigned first_block = 0, int block_size = block_threads>
struct Blocks {
    static constexpr int threads = block_size;
    static constexpr bool is_known = count > 0;
    /// Whether a thread has single elements of so many: those of a larger step are neighbours.
    template <Index size>
    static constexpr bool has_singles() {
        return is_known ? size <= count * threads : size < 65536;
    }
    static constexpr int most_lanes = 4;  ///< Neighbours of a thread.

    /// Whether a thread may have one of so many items. Asked before pointers are looked up: in a segment, warps without
    /// one should not wait for those of each step.
    template <auto items>
    static __device__ __forceinline__ bool has_item() {
        return !is_known || first_of<std::remove_const_t<decltype(items)>>() < items;
    }
    /// The same for the items of groups of `size` threads.
    template <int size, auto items>
    static __device__ __forceinline__ bool group_has_item() {
        return !is_known || first_of_groups<size, std::remove_const_t<decltype(items)>>() < items;
    }

    /// Calls `write(item, read(item))` for the items of a thread, where `takes(item)`.
    template <auto items, class Read, class Write, class Takes = EachItem>
    static __device__ __forceinline__ void for_each(Read&& read, Write&& write, const Takes& takes = {}) {
        using Item = std::remove_const_t<decltype(items)>;
        if constexpr (is_known) {
            constexpr Item step = Item{count} * threads;
            for_each_overlapped<static_cast<int>((items + step - 1) / step)>(first_of<Item>(), step, Item{items}, read,
                                                                             write, takes);
        } else {
            for (Item item = first_of<Item>(); item < items; item += static_cast<Item>(gridDim.x * threads)) {
                if (takes(item)) {
                    auto value = read(item);
                    write(item, value);
                }
            }
        }
    }

    /// For groups of `size` neighbouring threads, each of which takes whole items: the first group of a block the first
    /// of them, whatever `first_thread` is.
    template <int size, auto items, class Visit>
    static __device__ __forceinline__ void for_each_of_groups(Visit&& visit) {
        using Item = std::remove_const_t<decltype(items)>;
        constexpr int groups = threads / size;
        share<items, Item{count} * groups>(first_of_groups<size, Item>(), static_cast<Item>(gridDim.x * groups), visit);
    }

    /// For whole blocks, of which each takes whole items.
    template <auto items, class Visit>
    static __device__ __forceinline__ void for_each_of_blocks(Visit&& visit) {
        using Item = std::remove_const_t<decltype(items)>;
        const Item step = is_known ? Item{count} : static_cast<Item>(gridDim.x);
        for (Item item = static_cast<Item>(blockIdx.x - first_block); item < items; item += step) {
            visit(item);
        }
    }

private:
    template <class Item>
    static __device__ __forceinline__ Item first_of() {
        const unsigned thread = (threadIdx.x + (threads - first_thread)) % threads;
        return static_cast<Item>((blockIdx.x - first_block) * threads + thread);
    }
    template <int size, class Item>
    static __device__ __forceinline__ Item first_of_groups() {
        return static_cast<Item>((blockIdx.x - first_block) * (threads / size) + threadIdx.x / size);
    }

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

/// The threads of blocks, from `first_block` on, that each have the items of `rows_each` of `rows` rows, whatever the
/// step: what one step makes of a row, the next finds in the same block.
template <Index rows, Index rows_each, unsigned first_block = 0, int block_size = block_threads>
struct BlocksOfRows {
    static constexpr int threads = block_size;
    /// Pairs, unless they are fewer than threads, or one would belong to two rows.
    template <Index size>
    static constexpr bool has_singles() {
        return size / rows % 2 != 0 || size / rows * rows_each <= threads;
    }
    static constexpr int most_lanes = 2;

    // Nearly all threads have some.
    template <auto items>
    static __device__ __forceinline__ bool has_item() {
        return true;
    }
    template <int size, auto items>
    static __device__ __forceinline__ bool group_has_item() {
        return true;
    }

    /// Calls `write(item, read(item))` for the items of a thread, where `takes(item)`.
    template <auto items, class Read, class Write, class Takes = EachItem>
    static __device__ __forceinline__ void for_each(Read&& read, Write&& write, const Takes& takes = {}) {
        using Item = std::remove_const_t<decltype(items)>;
        constexpr Item step = threads;
        constexpr int turns = static_cast<int>((most<items> + step - 1) / step);
        const Item begin = static_cast<Item>(blockIdx.x - first_block) * most<items>;
        for_each_overlapped<turns>(begin + static_cast<Item>(threadIdx.x), step, end<items>(begin), read, write, takes);
    }

    /// For groups of `size` neighbouring threads, each of which takes whole items.
    template <int size, auto items, class Visit>
    static __device__ __forceinline__ void for_each_of_groups(Visit&& visit) {
        share<items, threads / size>(threadIdx.x / size, visit);
    }

    /// For whole blocks, of which each takes whole items.
    template <auto items, class Visit>
    static __device__ __forceinline__ void for_each_of_blocks(Visit&& visit) {
        share<items, 1>(0, visit);
    }

private:
    /// Items of a block.
    template <auto items>
    static constexpr auto most = [] {
        static_assert(items % rows == 0, "totograph: each row has as many items of a step as any other.");
        return static_cast<std::remove_const_t<decltype(items)>>(items / rows * rows_each);
    }();
    /// Where those of a block end that begin at `begin`: the last block may have fewer rows.
    template <auto items, class Item>
    static __device__ __forceinline__ Item end(Item begin) {
        return items - begin < most<items> ? items : begin + most<items>;
    }

    /// The items of a block's rows, among so many that take one after the other.
    template <auto items, int sharers, class Visit>
    static __device__ __forceinline__ void share(unsigned own, Visit&& visit) {
        using Item = std::remove_const_t<decltype(items)>;
        const Item begin = static_cast<Item>(blockIdx.x - first_block) * most<items>;
        const Item past = end<items>(begin);
        if constexpr (most<items> <= sharers) {
            if (begin + static_cast<Item>(own) < past) {
                visit(begin + static_cast<Item>(own));
            }
        } else {
#pragma unroll 1
            for (Item item = begin + static_cast<Item>(own); item < past; item += sharers) {
                visit(item);
            }
        }
    }
};

}  // namespace totograph::cuda
