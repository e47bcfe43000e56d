// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/gemm.hpp>
#include <totograph/exec/cuda/kernels/kernel_call.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/cuda/runtime/replay_timer.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>

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

/// Times algorithms of a GEMM on the current device as they run in a forecast. The GEMM must outlive it.
///
/// Launches are replayed from a graph: for small GEMMs a host that launches them one by one takes longer than they
/// do, and what it would measure is itself. Weights come from memory: between two uses of a layer's weights all other
/// layers' have passed through the cache, so each launch of a replay takes another copy of them. Copies of small
/// weights may still be in the cache from the replay before. The input and the residual were just written: a kernel
/// does that before each launch.
///
/// Each of its functions throws `Error` when the device fails.
class AlgorithmTimer {
public:
    static constexpr int repeats = 12;  ///< Launches of one timing.

    /// Throws `Error` when the device has not enough memory.
    AlgorithmTimer(const CublasLtGemm& gemm, const Device& device)
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

    /// What is timed: `repeats` launches, each after its inputs were written. Empty when the algorithm does not run, or
    /// cannot be captured.
    [[nodiscard]] ReplayableGraph record(const GemmAlgorithm& algorithm) {
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
    /// The same without the launches.
    [[nodiscard]] ReplayableGraph record_writing() const {
        return record_each([] {});
    }

    /// Milliseconds of one replay.
    [[nodiscard]] float time(const ReplayableGraph& graph) const { return timer_.time(graph); }

private:
    static constexpr Index most_copies = 64;

    static std::size_t bytes(Index elements, Index each) { return static_cast<std::size_t>(elements * each); }
    [[nodiscard]] bool is_bf16() const { return shape_.precision == Precision::bf16; }
    [[nodiscard]] Index element() const { return is_bf16() ? 2 : 4; }
    [[nodiscard]] Index weight_elements() const { return shape_.n * shape_.k; }

    void fill(const DeviceMemory& memory, Index count, bool rounded) const {
        if (count > 0) {
            fill_with_noise<<<256, 256, 0, stream_.get()>>>(memory.data(), count, rounded);
            check(cudaGetLastError(), "filling memory");
        }
    }
    void write_inputs() const {
        fill(input_, shape_.m * shape_.input_stride, is_bf16());
        fill(residual_, shape_.m * shape_.residual_stride, false);
    }

    [[nodiscard]] cublasStatus_t launch(const GemmAlgorithm& algorithm) {
        copy_ = (copy_ + 1) % copies_;
        return gemm_.try_launch(algorithm, input_.data(), weight_.data() + bytes(copy_ * weight_elements(), element()),
                                output_.data(),
                                shape_.residual_stride > 0 ? reinterpret_cast<const float*>(residual_.data()) : nullptr,
                                reinterpret_cast<const float*>(bias_.data()), workspace_.data(), stream_.get());
    }

    template <class Launch>
    [[nodiscard]] ReplayableGraph record_each(const Launch& launch_it) const {
        const auto launch_all = [&](cudaStream_t) {
            for (int repeat = 0; repeat < repeats; ++repeat) {
                write_inputs();
                launch_it();
            }
        };
        return {stream_, launch_all, false};
    }

    const CublasLtGemm& gemm_;
    GemmShape shape_;
    Index copies_;
    DeviceMemory input_;
    DeviceMemory weight_;
    DeviceMemory output_;
    DeviceMemory residual_;
    DeviceMemory bias_;
    DeviceMemory workspace_;
    Stream stream_;
    ReplayTimer timer_{stream_};
    Index copy_ = 0;
};

}  // namespace totograph::cuda
