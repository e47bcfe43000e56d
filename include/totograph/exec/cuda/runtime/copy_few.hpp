// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/kernels/blocks.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/dependent_launch.hpp>

// Few bytes travel between page-locked memory of the host and the device in kernels that read and write there: a copy
// by the device's copy engine begins later, and what follows it begins later still.

namespace totograph::cuda {

/// Up to so many bytes are few. Inputs of 4 KiB and results of 3 KiB by kernels took `small_4m` of `bench_cuda_toto2`
/// from 0.076 ms to 0.069 (H200). More were not measured.
inline constexpr std::size_t few_bytes = 16384;

/// Lets the next kernel begin at once, so it must read nothing of these words before it waits.
template <class Unused = void>
__global__ void __launch_bounds__(block_threads)
    copy_words(std::uint32_t* to, const std::uint32_t* from, unsigned count) {
    launch_dependents();
    const unsigned word = blockIdx.x * block_threads + threadIdx.x;
    if (word < count) {
        to[word] = from[word];
    }
}

/// Up to so many bytes of a result are copied to the host by a kernel behind a graph, more by the copy engine. With
/// 83 KiB `readme_22m` of `bench_cuda_toto2` takes 0.296 ms for 0.300: the kernel begins 1.4 us behind the graph, and
/// the engine 6.4 (H200). Alone, the engine is as fast from some 200 KiB on.
inline constexpr std::size_t result_bytes_by_kernel = 262144;

/// Copies floats, each thread four neighbours, and the first threads what is left behind all fours.
template <class Unused = void>
__global__ void __launch_bounds__(block_threads) copy_floats(float* to, const float* from, unsigned count) {
    const unsigned four = blockIdx.x * block_threads + threadIdx.x;
    if (four < count / 4) {
        reinterpret_cast<float4*>(to)[four] = reinterpret_cast<const float4*>(from)[four];
    }
    if (four < count % 4) {
        to[count / 4 * 4 + four] = from[count / 4 * 4 + four];
    }
}

/// Puts a copy of a result, which begins at a multiple of 16 bytes, to page-locked memory onto a stream.
inline void copy_result(std::byte* to, const std::byte* from, std::size_t floats, cudaStream_t stream) {
    const auto count = static_cast<unsigned>(floats);
    copy_floats<><<<count / 4 / block_threads + 1, block_threads, 0, stream>>>(
        reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from), count);
    check(cudaGetLastError(), "copying the result");
}

/// Whether `copy_few` can copy so many bytes, from words to words.
constexpr bool can_copy_few(std::size_t bytes) {
    return bytes > 0 && bytes <= few_bytes && bytes % sizeof(std::uint32_t) == 0;
}

/// Puts a copy from page-locked memory onto a stream, before a kernel that waits before it reads what is copied.
inline void copy_few(std::byte* to, const std::byte* from, std::size_t bytes, cudaStream_t stream) {
    const auto count = static_cast<unsigned>(bytes / sizeof(std::uint32_t));
    copy_words<><<<(count + block_threads - 1) / block_threads, block_threads, 0, stream>>>(
        reinterpret_cast<std::uint32_t*>(to), reinterpret_cast<const std::uint32_t*>(from), count);
    check(cudaGetLastError(), "copying the inputs");
}

}  // namespace totograph::cuda
