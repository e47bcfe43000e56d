// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <type_traits>
#include <vector>

#include <cublas_v2.h>

#include <totograph/exec/cuda/gemm/cublaslt/tuning.hpp>

#include "measure.hpp"

// GEMMs as the libraries compute them: what a floor is made of.

namespace bench {

constexpr std::size_t element_bytes(Precision precision) {
    return precision == Precision::bf16 ? 2 : 4;
}

/// Memory full of noise: the rate of tensor cores depends on what they multiply. The exponent keeps it finite.
inline tg::cuda::DeviceMemory noise(std::size_t bytes) {
    std::vector<std::uint16_t> values(bytes / 2);
    std::mt19937 generator(1);
    for (std::uint16_t& value : values) {
        value = static_cast<std::uint16_t>((generator() & 0x80ffU) | 0x3c00U);
    }
    tg::cuda::DeviceMemory memory(bytes);
    tg::cuda::check(cudaMemcpy(memory.data(), values.data(), bytes, cudaMemcpyHostToDevice), "copying noise");
    return memory;
}

/// Computes a GEMM, `output [m, n]` = `input [m, k]` times the transpose of `weight [n, k]`, on a
/// stream.
using Multiply = std::function<void(const void* input, const void* weight, void* output, cudaStream_t stream)>;
/// Makes that for a shape. GEMMs of one maker share a library's handle and memory: they run one after the other.
using MakeMultiply = std::function<Multiply(const tg::cuda::GemmShape& shape)>;

inline std::shared_ptr<const tg::cuda::DeviceMemory> make_workspace() {
    return std::make_shared<const tg::cuda::DeviceMemory>(tg::cuda::gemm_workspace_bytes);
}

/// By cuBLASLt, of all algorithms that it names for a GEMM with the one that is the fastest alone.
inline MakeMultiply by_tuned_cublaslt() {
    const auto handle = std::make_shared<const tg::cuda::CublasLtHandle>();
    return [handle, memory = make_workspace()](const tg::cuda::GemmShape& shape) -> Multiply {
        const auto gemm = std::make_shared<tg::cuda::CublasLtGemm>(handle->get(), shape);
        gemm->choose(tg::cuda::rank_algorithms(*gemm, tg::cuda::describe_device(0)).front());
        return [handle, memory, gemm](const void* input, const void* weight, void* output, cudaStream_t stream) {
            gemm->launch(input, weight, output, nullptr, nullptr, memory->data(), stream);
        };
    };
}

/// By plain calls of cuBLAS, which chooses algorithms itself.
inline MakeMultiply by_calls_of_cublas() {
    cublasHandle_t made = nullptr;
    tg::cuda::check(cublasCreate(&made), "creating a handle of cuBLAS");
    const std::shared_ptr<std::remove_pointer_t<cublasHandle_t>> handle(
        made, [](cublasHandle_t owned) { cublasDestroy(owned); });
    return [handle, memory = make_workspace()](const tg::cuda::GemmShape& shape) -> Multiply {
        return [handle, memory, shape](const void* input, const void* weight, void* output, cudaStream_t stream) {
            const auto n = static_cast<int>(shape.n);
            const auto m = static_cast<int>(shape.m);
            const auto k = static_cast<int>(shape.k);
            const cudaDataType_t type = shape.precision == Precision::bf16 ? CUDA_R_16BF : CUDA_R_32F;
            const cublasComputeType_t computes =
                shape.precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
            const float one = 1;
            const float zero = 0;
            tg::cuda::check(cublasSetStream(handle.get(), stream), "choosing the stream of cuBLAS");
            // That took away the memory it had been given; without any, cuBLAS would allocate within the graph.
            tg::cuda::check(cublasSetWorkspace(handle.get(), memory->data(), memory->size()), "giving cuBLAS memory");
            // cuBLAS counts matrices by columns: it computes the transpose of our output, and the weight comes first.
            tg::cuda::check(cublasGemmEx(handle.get(), CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, weight, type, k, input,
                                         type, k, &zero, output, type, n, computes, CUBLAS_GEMM_DEFAULT),
                            "multiplying by cuBLAS");
        };
    };
}

/// Times replays of what `record` puts onto a stream.
template <class Record>
Spread time_replays(const tg::cuda::Stream& stream, int repeats, Record&& record) {
    const tg::cuda::ReplayableGraph graph(stream, record);
    return spread_of(repeats, [&] {
        graph.launch(stream.get());
        tg::cuda::check(cudaStreamSynchronize(stream.get()), "waiting for a replay");
    });
}

}  // namespace bench
