// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

// What the blocks of a cluster that share an item of a step found, on its way to the first of them. Each number is
// stored where it is wanted, and its bytes count at a barrier there: a barrier of the cluster that says what was stored
// would wait for all that its threads have asked memory for.

namespace totograph::cuda {

/// @tparam Partial  what a block found, of numbers of 32 bits
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
    /// Tells the others that this block has begun. All threads call each of these functions once, in this order; those
    /// of a block wait for each other between this one and the next.
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
    /// The place of what block `part` found. Others than the first one may only give it to `store`.
    static __device__ __forceinline__ Partial& place_of(int part) {
        return shared().of_blocks[part];
    }
    /// Stores a number where the first block has `place`. Each one is stored once.
    template <class Number>
    static __device__ __forceinline__ void store(Number& place, Number value) {
        static_assert(sizeof(Number) == sizeof(std::uint32_t));
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        asm volatile(
            "{\n.reg .b32 there;\n.reg .b32 counts;\nmapa.shared::cluster.u32 there, %0, 0;\n"
            "mapa.shared::cluster.u32 counts, %1, 0;\n"
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [there], %2, [counts];\n}\n" ::"r"(
                address_of(place)),
            "r"(address_of(shared().arrived)), "r"(std::bit_cast<std::uint32_t>(value))
            : "memory");
#endif
    }
    /// In the first block: waits until all that the blocks found is here.
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
};

}  // namespace totograph::cuda
