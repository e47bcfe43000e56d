// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

// What the blocks of a cluster that share an item of a step found, on its way to the first of them, or of shares of an
// item to one each. Each number is stored where it is wanted, and its bytes count at a barrier there: a barrier of the
// cluster that says what was stored would wait for all that its threads have asked memory for.

namespace totograph::cuda {

/// @tparam Partial  what a block found, of numbers of 32 bits or pairs of them
/// @tparam parts    blocks of the cluster; each has one item
template <class Partial, int parts>
class ClusterParts {
    struct Shared {
        Partial of_blocks[parts];
        std::uint64_t arrived;
    };
    static __device__ __forceinline__ Shared& shared() {
        __shared__ Shared memory;
        return memory;
    }

public:
    /// Tells the others that this block has begun. All threads call this function, and those that wait, once and in
    /// this order; those of a block wait for each other between this one and the next. Until the end of `wait_for_all`,
    /// each byte of each part is stored once in each block that waits; pairs lie at multiples of 8 bytes.
    static __device__ __forceinline__ void begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        if (threadIdx.x == 0) {
            const std::uint32_t barrier = address_of(shared().arrived);
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                         "r"(static_cast<std::uint32_t>(sizeof(Shared::of_blocks)))
                         : "memory");
        }
        asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
    }
    /// Waits until the others have begun.
    static __device__ __forceinline__ void wait_for_others() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
#endif
    }
    /// The place of what block `part` found. Blocks for which nothing is stored may only give it to `store`.
    static __device__ __forceinline__ Partial& place_of(int part) {
        return shared().of_blocks[part];
    }
    /// Stores a number, or a pair, where block `to` has `place`. Each one is stored once.
    template <class Number>
    static __device__ __forceinline__ void store(Number& place, Number value, int to = 0) {
        static_assert(sizeof(Number) == sizeof(std::uint32_t) || sizeof(Number) == sizeof(std::uint64_t));
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        const std::uint32_t there = address_in(to, place);
        const std::uint32_t counts = address_in(to, shared().arrived);
        if constexpr (sizeof(Number) == sizeof(std::uint32_t)) {
            asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(there),
                         "r"(std::bit_cast<std::uint32_t>(value)), "r"(counts)
                         : "memory");
        } else {
            asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(there),
                         "l"(std::bit_cast<std::uint64_t>(value)), "r"(counts)
                         : "memory");
        }
#endif
    }
    /// In a block for which something is stored: waits until all that the blocks found is here.
    static __device__ __forceinline__ const Partial (&wait_for_all())[parts] {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        asm volatile(
            "{\n.reg .pred done;\nagain:\n"
            "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], 0;\n@done bra end;\nbra again;\n"
            "end:\n}\n" ::"r"(address_of(shared().arrived))
            : "memory");
#endif
        return shared().of_blocks;
    }

private:
    template <class T>
    static __device__ __forceinline__ std::uint32_t address_of(T& in_shared) {
        return static_cast<std::uint32_t>(__cvta_generic_to_shared(&in_shared));
    }
    /// Where block `block` has it.
    template <class T>
    static __device__ __forceinline__ std::uint32_t address_in(int block, T& in_shared) {
        std::uint32_t there = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address_of(in_shared)), "r"(block));
#endif
        return there;
    }
};

}  // namespace totograph::cuda
