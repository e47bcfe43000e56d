// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <cuda.h>
#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>

// The instructions of compute capability 9.0 that feed tensor cores from shared memory: copies of tiles by a unit of
// their own, and barriers in shared memory that count bytes. Code for `sm_90a` alone has them.

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define TOTOGRAPH_HAS_WGMMA 1
#endif

namespace totograph::cuda {

/// Threads that issue one GEMM together.
inline constexpr int warpgroup_size = 128;

/// Never launched: its attributes tell whether this program's code for a device has these instructions.
template <class Unused = void>
__global__ void wgmma_probe() {
#if defined(TOTOGRAPH_HAS_WGMMA)
    __shared__ volatile char marker[4];
    marker[0] = 0;
#endif
}

/// Whether the code that the current device runs has them.
inline bool has_wgmma_code() {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, &wgmma_probe<>), "looking for device code for this device");
    return attributes.sharedSizeBytes > 0;
}

/// Clusters of so many blocks that run at once on the current device, when each block has a multiprocessor to itself; 0
/// where that is not known.
/// @param blocks        of a cluster
/// @param shared_bytes  shared memory of a multiprocessor
inline int clusters_at_once(int blocks, std::size_t shared_bytes) {
    const std::size_t shared_bytes_of_block = shared_bytes / 2;  // with what any block has beside, two do not fit
    check(cudaFuncSetAttribute(&wgmma_probe<>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes_of_block)),
          "asking for shared memory");
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = static_cast<unsigned>(blocks);
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(warpgroup_size);
    config.dynamicSmemBytes = shared_bytes_of_block;
    config.attrs = &cluster;
    config.numAttrs = 1;
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, &wgmma_probe<>, &config) != cudaSuccess) {
        cudaGetLastError();
        return 0;
    }
    return clusters;
}

/// Rows of a matrix of bf16 `[rows, k]`, `k` a multiple of 8, as the copy unit sees them: in tiles of
/// `tile_rows` rows by 64 elements, swizzled as GEMMs read them. What lies beyond the matrix reads as zeros. Throws
/// `Error` when the driver refuses.
inline CUtensorMap make_tma_descriptor(const void* matrix, std::uint64_t rows, std::uint64_t k,
                                       std::uint32_t tile_rows) {
    using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                const cuuint64_t*, const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave,
                                CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    static const Encode encode = [] {
        void* entry = nullptr;
        cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
        check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found),
              "looking for the driver's description of tiles");
#else
        check(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry, cudaEnableDefault, &found),
              "looking for the driver's description of tiles");
#endif
        return found == cudaDriverEntryPointSuccess ? reinterpret_cast<Encode>(entry) : nullptr;
    }();
    CUtensorMap map{};
    const cuuint64_t extents[2] = {k, rows};
    const cuuint64_t strides[1] = {k * 2};
    const cuuint32_t box[2] = {64, tile_rows};
    const cuuint32_t steps[2] = {1, 1};
    const bool is_made = encode != nullptr &&
                         encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(matrix), extents, strides,
                                box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
    if (!is_made) {
        throw Error(ErrorCode::device_failure, "cuda: the driver cannot describe tiles of a matrix of " +
                                                   std::to_string(rows) + " rows of " + std::to_string(k) +
                                                   " bf16; update it.");
    }
    return map;
}

#if defined(TOTOGRAPH_HAS_WGMMA)

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

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
