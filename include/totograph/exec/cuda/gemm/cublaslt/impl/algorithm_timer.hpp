// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/exec/cuda/gemm/cublaslt/algorithm_timer.hpp>

#include <algorithm>
#include <cstdint>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/inline.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>

namespace totograph::cuda {

/// Numbers between -1 and 1, as bf16 or f32: GEMMs of zeros need less power, and run faster, than real ones.
template <class T>
__global__ void fill_with_noise(T* to, Index count, bool as_bf16) {
    for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += static_cast<Index>(gridDim.x) * blockDim.x) {
        const auto hashed = static_cast<std::uint32_t>((i + 1) * 2654435761LL);
        const float value = static_cast<float>(hashed >> 8U) * 0x1p-23F - 1.0F;
        if (as_bf16) {
            reinterpret_cast<BFloat16*>(to)[i] = stored_as<BFloat16>(value);
        } else {
            reinterpret_cast<float*>(to)[i] = value;
        }
    }
}

TOTOGRAPH_CUDA_INLINE AlgorithmTimer::AlgorithmTimer(const CublasLtGemm& gemm, const Device& device)
    : gemm_(gemm),
      shape_(gemm.shape()),
      copies_(std::clamp<Index>(
          divide_rounding_up(static_cast<Index>(device.cache_bytes) * 3 / 2, weight_elements() * element()), 2,
          most_copies)),
      input_(bytes(shape_.m * shape_.input_stride, element())),
      weight_(bytes(weight_elements() * copies_, element())),
      output_(bytes(shape_.m * shape_.output_stride, sizeof(float))),
      residual_(bytes(shape_.m * shape_.residual_stride, sizeof(float))),
      bias_(bytes(shape_.n, sizeof(float))),
      workspace_(gemm_workspace_bytes) {
    fill(weight_, weight_elements() * copies_, is_bf16());
    fill(bias_, shape_.n, false);
    write_inputs();
}

TOTOGRAPH_CUDA_INLINE ReplayableGraph AlgorithmTimer::record(const GemmAlgorithm& algorithm) {
    if (launch(algorithm) == CUBLAS_STATUS_SUCCESS) {
        try {
            return record_each([&] { check(launch(algorithm), "launching a gemm"); });
        } catch (const Error& error) {
            if (error.code() == ErrorCode::out_of_memory) {
                throw;
            }
        }
    }
    cudaGetLastError();  // the next algorithm must not be blamed for it
    return {};
}

TOTOGRAPH_CUDA_INLINE void AlgorithmTimer::fill(const DeviceMemory& memory, Index count, bool rounded) const {
    if (count > 0) {
        fill_with_noise<<<256, 256, 0, stream_.get()>>>(memory.data(), count, rounded);
        check(cudaGetLastError(), "filling memory");
    }
}

TOTOGRAPH_CUDA_INLINE cublasStatus_t AlgorithmTimer::launch(const GemmAlgorithm& algorithm) {
    copy_ = (copy_ + 1) % copies_;
    return gemm_.try_launch(algorithm, input_.data(), weight_.data() + bytes(copy_ * weight_elements(), element()),
                            output_.data(),
                            shape_.residual_stride > 0 ? reinterpret_cast<const float*>(residual_.data()) : nullptr,
                            reinterpret_cast<const float*>(bias_.data()), workspace_.data(), stream_.get());
}

TOTOGRAPH_CUDA_INLINE ReplayableGraph AlgorithmTimer::record_writing() const {
    return record_each([] {});
}

}  // namespace totograph::cuda
