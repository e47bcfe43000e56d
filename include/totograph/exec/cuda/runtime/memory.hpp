// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace totograph::cuda {

/// Bytes that this process holds through the classes below, on all devices.
struct HeldMemory {
    std::atomic<std::size_t> device{0};
    std::atomic<std::size_t> pinned{0};
};
HeldMemory& held_memory() noexcept;

/// A block of device memory. Freed when it goes.
class DeviceMemory {
public:
    DeviceMemory() = default;
    /// Throws `Error` with the bytes asked for and free.
    explicit DeviceMemory(std::size_t bytes);
    DeviceMemory(DeviceMemory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    DeviceMemory& operator=(DeviceMemory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~DeviceMemory();

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
    explicit PinnedMemory(std::size_t bytes);
    PinnedMemory(PinnedMemory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    PinnedMemory& operator=(PinnedMemory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~PinnedMemory();

    [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cuda/runtime/impl/memory.hpp>
#endif
