// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/check.hpp>
#include <totograph/exec/cuda/device.hpp>
#include <totograph/exec/cuda/kernel_call.hpp>
#include <totograph/exec/cuda/library_product.hpp>
#include <totograph/exec/cuda/memory.hpp>
#include <totograph/exec/cuda/stream.hpp>

namespace totograph::cuda {

/// An event that times.
class Event {
public:
    Event() { check(cudaEventCreate(&event_), "creating an event"); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { cudaEventDestroy(event_); }
    void record(const Stream& stream) const { check(cudaEventRecord(event_, stream.get()), "recording an event"); }
    /// Milliseconds from an event to this one, which both have happened.
    [[nodiscard]] float since(const Event& start) const {
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "reading the time between events");
        return milliseconds;
    }

private:
    cudaEvent_t event_ = nullptr;
};

/// Numbers between -1 and 1, as bf16 or f32: products of zeros need less power, and run faster, than real ones.
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

/// The fastest of the algorithms that cuBLASLt expects to be fast, by measuring them on this device. One process
/// measures each product once.
inline ProductAlgorithm fastest_algorithm(const LibraryProduct& product, const Device& device) {
    struct Known {
        ProductShape shape;
        int device;
        ProductAlgorithm algorithm;
    };
    static std::mutex mutex;
    static std::vector<Known> known;
    const std::scoped_lock lock(mutex);
    const ProductShape& shape = product.shape();
    for (const Known& entry : known) {
        if (entry.device == device.index && entry.shape == shape) {
            return entry.algorithm;
        }
    }
    constexpr int tried = 12;
    constexpr int repeats = 8;
    const auto candidates = product.candidates(tried);
    const auto floats = [](Index elements) { return static_cast<std::size_t>(elements) * sizeof(float); };
    const DeviceMemory input(floats(shape.rows * shape.input_stride));
    const DeviceMemory weight(floats(shape.columns * shape.depth));
    const DeviceMemory output(floats(shape.rows * shape.output_stride));
    const DeviceMemory residual(floats(shape.rows * shape.residual_stride));
    const DeviceMemory bias(floats(shape.columns));
    const DeviceMemory workspace(product_workspace_bytes);
    const Stream stream;
    const bool as_bf16 = shape.precision == Precision::bf16;
    const auto fill = [&](const DeviceMemory& memory, Index count, bool rounded) {
        if (count > 0) {
            fill_with_noise<<<256, 256, 0, stream.get()>>>(memory.data(), count, rounded);
            check(cudaGetLastError(), "filling memory");
        }
    };
    fill(input, shape.rows * shape.input_stride, as_bf16);
    fill(weight, shape.columns * shape.depth, as_bf16);
    fill(residual, shape.rows * shape.residual_stride, false);
    fill(bias, shape.columns, false);
    const Event begin;
    const Event end;
    float least = std::numeric_limits<float>::infinity();
    ProductAlgorithm best = candidates.front();
    for (const ProductAlgorithm& candidate : candidates) {
        const auto launch = [&] {
            return product.try_launch(
                candidate, input.data(), weight.data(), output.data(),
                shape.residual_stride > 0 ? reinterpret_cast<const float*>(residual.data()) : nullptr,
                reinterpret_cast<const float*>(bias.data()), workspace.data(), stream.get());
        };
        if (launch() != CUBLAS_STATUS_SUCCESS) {
            continue;
        }
        begin.record(stream);
        for (int repeat = 0; repeat < repeats; ++repeat) {
            launch();
        }
        end.record(stream);
        stream.synchronize();
        if (const float time = end.since(begin); time < least) {
            least = time;
            best = candidate;
        }
    }
    known.push_back({shape, device.index, best});
    return best;
}

}  // namespace totograph::cuda
