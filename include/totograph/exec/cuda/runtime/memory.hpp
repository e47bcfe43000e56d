// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>

#include <cuda_runtime.h>

#include <totograph/core/error.hpp>
#include <totograph/exec/cuda/runtime/check.hpp>

namespace totograph::cuda {

/// Bytes that this process holds through the classes below, on all devices.
struct HeldMemory {
    std::atomic<std::size_t> device{0};
    std::atomic<std::size_t> pinned{0};
};
inline HeldMemory& held_memory() noexcept {
    static HeldMemory held;
    return held;
}

/// A block of device memory. Freed when it goes.
class DeviceMemory {
public:
    DeviceMemory() = default;
    /// Throws `Error` with the bytes asked for and free.
    explicit DeviceMemory(std::size_t bytes) : bytes_(bytes) {
        if (bytes == 0) {
            return;
        }
        const cudaError_t status = cudaMalloc(&data_, bytes);
        if (status == cudaErrorMemoryAllocation) {
            cudaGetLastError();  // the error is handled here: later calls must not see it
            std::size_t free = 0;
            std::size_t total = 0;
            cudaMemGetInfo(&free, &total);
            throw Error(ErrorCode::out_of_memory, "cuda: " + std::to_string(bytes) +
                                                      " bytes of device memory were asked for, " +
                                                      std::to_string(free) + " of " + std::to_string(total) +
                                                      " are free; use smaller sizes, or free memory.");
        }
        check(status, "allocating device memory");
        held_memory().device += bytes;
    }
    DeviceMemory(DeviceMemory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    DeviceMemory& operator=(DeviceMemory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~DeviceMemory() {
        if (data_ != nullptr) {
            cudaFree(data_);
            held_memory().device -= bytes_;
        }
    }

    [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// A block of page-locked host memory: copies from and to the device run beside the host.
class PinnedMemory {
public:
    PinnedMemory() = default;
    /// Throws `Error` with the bytes asked for.
    explicit PinnedMemory(std::size_t bytes) : bytes_(bytes) {
        if (bytes == 0) {
            return;
        }
        const cudaError_t status = cudaMallocHost(&data_, bytes);
        if (status == cudaErrorMemoryAllocation) {
            cudaGetLastError();
            throw Error(ErrorCode::out_of_memory, "cuda: " + std::to_string(bytes) +
                                                      " bytes of page-locked host memory were asked for, and the "
                                                      "system has not as many; use smaller sizes, or raise the "
                                                      "limit of locked memory.");
        }
        check(status, "allocating page-locked memory");
        held_memory().pinned += bytes;
    }
    PinnedMemory(PinnedMemory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    PinnedMemory& operator=(PinnedMemory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~PinnedMemory() {
        if (data_ != nullptr) {
            cudaFreeHost(data_);
            held_memory().pinned -= bytes_;
        }
    }

    [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace totograph::cuda
