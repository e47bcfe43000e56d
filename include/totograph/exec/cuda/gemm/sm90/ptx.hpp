// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda.h>
#include <cuda_runtime.h>

#include <totograph/exec/cuda/gemm/tiles.hpp>
#include <totograph/exec/cuda/kernels/async_copy.hpp>

// The instructions of compute capability 9.0 that feed tensor cores from shared memory: copies of tiles by a unit of
// their own, and barriers in shared memory that count bytes. Code for `sm_90a` alone has them.

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define TOTOGRAPH_HAS_WGMMA 1
#endif

namespace totograph::cuda {

/// Threads that issue one `wgmma` together.
inline constexpr int warpgroup_size = 128;

/// Never launched: its attributes tell whether this program's code for a device has these instructions.
template <class Unused = void>
__global__ void wgmma_probe() {
#if defined(TOTOGRAPH_HAS_WGMMA)
    __shared__ volatile char marker[4];
    marker[0] = 0;
#endif
}

/// Rows of a matrix `[rows, k]`, each a multiple of 16 bytes, as the copy unit sees them: in tiles of `tile_rows` rows
/// by 128 bytes, swizzled as `wgmma` reads them. What lies beyond the matrix reads as zeros. Throws `Error` when the
/// driver refuses.
/// @param row_stride  elements from one row to the next, `k` at least
CUtensorMap make_tma_descriptor(const void* matrix, std::uint64_t rows, std::uint64_t k, std::uint32_t tile_rows,
                                MmaOperand operand, std::uint64_t row_stride);
/// The same of rows that lie next to each other.
inline CUtensorMap make_tma_descriptor(const void* matrix, std::uint64_t rows, std::uint64_t k, std::uint32_t tile_rows,
                                       MmaOperand operand = MmaOperand::bf16) {
    return make_tma_descriptor(matrix, rows, k, tile_rows, operand, k);
}

#if defined(TOTOGRAPH_HAS_WGMMA)

/// Barriers in shared memory: a phase ends when all arrivals have come and all bytes that they announced.
__device__ __forceinline__ void mbarrier_init(std::uint64_t* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
/// Makes barriers known to the copy unit and to the other blocks of the cluster.
__device__ __forceinline__ void fence_mbarrier_init() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void mbarrier_arrive(std::uint64_t* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
__device__ __forceinline__ void mbarrier_arrive_expect_tx(std::uint64_t* barrier, std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}
/// Arrives at the same barrier of a block of the cluster.
__device__ __forceinline__ void mbarrier_arrive_at(std::uint64_t* barrier, int block) {
    asm volatile(
        "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}\n" ::"r"(shared_address(barrier)),
        "r"(block)
        : "memory");
}
/// Waits for the end of the phase of this parity.
__device__ __forceinline__ void mbarrier_wait(std::uint64_t* barrier, std::uint32_t parity) {
    asm volatile(
        "{\n.reg .pred done;\nagain:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@done bra end;\nbra again;\n"
        "end:\n}\n" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}

/// The same, where other blocks of the cluster stored what is read next.
__device__ __forceinline__ void mbarrier_wait_cluster(std::uint64_t* barrier, std::uint32_t parity) {
    asm volatile(
        "{\n.reg .pred done;\nagain:\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n@done bra end;\nbra again;\n"
        "end:\n}\n" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}

/// Stores a number to the same place of a block of the cluster; its bytes count at that block's `barrier`.
__device__ __forceinline__ void store_async(int block, float* to, float value, std::uint64_t* barrier) {
    asm volatile(
        "{\n.reg .b32 there;\n.reg .b32 counts;\nmapa.shared::cluster.u32 there, %0, %3;\n"
        "mapa.shared::cluster.u32 counts, %1, %3;\n"
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [there], %2, [counts];\n}\n" ::"r"(
            shared_address(to)),
        "r"(shared_address(barrier)), "r"(__float_as_uint(value)), "r"(block)
        : "memory");
}

/// Brings a description of tiles to the copy unit before it is used.
__device__ __forceinline__ void prefetch_tma_descriptor(const CUtensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Copies the tile that begins at (`row`, `element`) to shared memory; its bytes count at `barrier`.
__device__ __forceinline__ void tma_load(const CUtensorMap& map, void* to, std::uint64_t* barrier, int element,
                                         int row) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
        "[%2];" ::"r"(shared_address(to)),
        "l"(&map), "r"(shared_address(barrier)), "r"(element), "r"(row)
        : "memory");
}
/// The same, to the same place of each block of the cluster whose bit is set in `blocks`; each counts its own.
__device__ __forceinline__ void tma_load_multicast(std::uint16_t blocks, const CUtensorMap& map, void* to,
                                                   std::uint64_t* barrier, int element, int row) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1, {%3, %4}], [%2], %5;" ::"r"(shared_address(to)),
        "l"(&map), "r"(shared_address(barrier)), "r"(element), "r"(row), "h"(blocks)
        : "memory");
}

/// Stores four matrices of 8x8 numbers of 16 bits, of which each thread of a warp has two neighbours a matrix: those of
/// row `lane / 4`. `row` is where a row of 16 bytes goes: for lane l, row `l % 8` of matrix `l / 8`.
__device__ __forceinline__ void stmatrix(std::byte* row, std::uint32_t first, std::uint32_t second, std::uint32_t third,
                                         std::uint32_t fourth) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(row)),
                 "r"(first), "r"(second), "r"(third), "r"(fourth)
                 : "memory");
}

/// Has instructions that read shared memory on their own, such as `wgmma`, see what this thread stored there.
__device__ __forceinline__ void fence_for_tensor_cores() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Registers of each thread of a warpgroup, a multiple of eight, from here on: more than it was launched with, when
/// others have given theirs, or fewer. All of its warps call it.
template <int registers>
__device__ __forceinline__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ __forceinline__ void give_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

__device__ __forceinline__ int cluster_rank() {
    std::uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return static_cast<int>(rank);
}
/// Waits for all blocks of the cluster; says nothing of what they stored.
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
#endif

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cuda/gemm/sm90/impl/ptx.hpp>
#endif
