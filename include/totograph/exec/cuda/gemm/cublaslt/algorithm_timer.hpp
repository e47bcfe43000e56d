// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/gemm/cublaslt/gemm.hpp>
#include <totograph/exec/cuda/runtime/device.hpp>
#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/cuda/runtime/replay_timer.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>

namespace totograph::cuda {

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
    AlgorithmTimer(const CublasLtGemm& gemm, const Device& device);

    /// What is timed: `repeats` launches, each after its inputs were written. Empty when the algorithm does not run, or
    /// cannot be captured.
    [[nodiscard]] ReplayableGraph record(const GemmAlgorithm& algorithm);
    /// The same without the launches.
    [[nodiscard]] ReplayableGraph record_writing() const;

    /// Milliseconds of one replay.
    [[nodiscard]] float time(const ReplayableGraph& graph) const { return timer_.time(graph); }

private:
    static constexpr Index most_copies = 64;

    static std::size_t bytes(Index elements, Index each) { return static_cast<std::size_t>(elements * each); }
    [[nodiscard]] bool is_bf16() const { return shape_.precision == Precision::bf16; }
    [[nodiscard]] Index element() const { return is_bf16() ? 2 : 4; }
    [[nodiscard]] Index weight_elements() const { return shape_.n * shape_.k; }

    void fill(const DeviceMemory& memory, Index count, bool rounded) const;
    void write_inputs() const {
        fill(input_, shape_.m * shape_.input_stride, is_bf16());
        fill(residual_, shape_.m * shape_.residual_stride, false);
    }

    [[nodiscard]] cublasStatus_t launch(const GemmAlgorithm& algorithm);

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

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION)
#include <totograph/exec/cuda/gemm/cublaslt/impl/algorithm_timer.hpp>
#endif
