// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cuda/check.hpp>
#include <totograph/exec/cuda/device.hpp>
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
    constexpr int repeats = 5;
    const auto candidates = product.candidates(tried);
    const auto floats = [](Index elements) { return static_cast<std::size_t>(elements) * sizeof(float); };
    const DeviceMemory input(floats(shape.rows * shape.input_stride));
    const DeviceMemory weight(floats(shape.columns * shape.depth));
    const DeviceMemory output(floats(shape.rows * shape.output_stride));
    const DeviceMemory residual(floats(shape.rows * shape.residual_stride));
    const DeviceMemory bias(floats(shape.columns));
    const DeviceMemory workspace(product_workspace_bytes);
    const Stream stream;
    // Small numbers, the same bits in f32 and bf16.
    for (const DeviceMemory* memory : {&input, &weight, &residual, &bias}) {
        if (memory->size() > 0) {
            check(cudaMemsetAsync(memory->data(), 0x3c, memory->size(), stream.get()), "filling memory");
        }
    }
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
