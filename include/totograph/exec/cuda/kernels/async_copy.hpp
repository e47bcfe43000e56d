// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// Copies from memory to shared memory that need no registers on the way: a thread begins some, commits the group, and
// goes on. What has arrived, the thread that began them sees when it has waited, others after a barrier.

namespace totograph::cuda {

/// An address in shared memory as instructions take it.
__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// Begins to copy sixteen bytes; both addresses are multiples of sixteen.
__device__ __forceinline__ void copy_async(std::uint32_t shared, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
}
__device__ __forceinline__ void copy_async(std::byte* shared, const void* from) {
    copy_async(shared_address(shared), from);
}

/// The same where there is something to copy; else zeros.
__device__ __forceinline__ void copy_async_or_zeros(std::uint32_t shared, const void* from, bool exists) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(exists ? 16 : 0)
                 : "memory");
}
__device__ __forceinline__ void copy_async_or_zeros(std::byte* shared, const void* from, bool exists) {
    copy_async_or_zeros(shared_address(shared), from, exists);
}

/// Commits a group of copies, which may be empty.
__device__ __forceinline__ void commit_copies() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits for all groups but the last `others`.
template <int others>
__device__ __forceinline__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(others) : "memory");
}

}  // namespace totograph::cuda
