// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include <cuda_runtime.h>

#include <totograph/exec/cuda/runtime/memory.hpp>
#include <totograph/exec/cuda/runtime/stream.hpp>

namespace totograph::cuda {

/// Takes bytes to the device through page-locked memory: while one buffer is on its way, the next is filled.
class Uploader {
public:
    /// What is aligned to this may follow what ends before it in one copy.
    static constexpr std::size_t alignment = 256;

    /// For about so many bytes.
    explicit Uploader(std::size_t bytes)
        : size_(std::clamp((bytes + alignment - 1) / alignment * alignment, alignment, most_bytes)) {}
    Uploader(const Uploader&) = delete;
    Uploader& operator=(const Uploader&) = delete;
    ~Uploader() { cudaStreamSynchronize(stream_.get()); }

    /// Memory for bytes that go to `to`: at most `wanted` of them, and at least one. They lie side by side with what
    /// has been added before when their places do.
    std::span<std::byte> room(std::byte* to, std::size_t wanted);

    /// The bytes of the last room are there.
    void add(std::size_t bytes) noexcept { used_ += bytes; }

    /// Sends what has been added.
    void send();

    /// Where copies happen in order, for work that follows them.
    [[nodiscard]] cudaStream_t stream() const noexcept { return stream_.get(); }

    /// Sends what has been added, and waits for all.
    void finish();

private:
    static constexpr std::size_t most_bytes = std::size_t{8} << 20U;

    [[nodiscard]] PinnedMemory& buffer() noexcept { return buffers_[which_]; }

    std::size_t size_;
    Stream stream_;
    std::array<PinnedMemory, 2> buffers_;
    std::array<Event, 2> sent_{Event(false), Event(false)};
    std::size_t which_ = 0;
    std::byte* begin_ = nullptr;
    std::size_t used_ = 0;
};

}  // namespace totograph::cuda

#if !defined(TOTOGRAPH_SEPARATE_CUDA_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/exec/cuda/runtime/impl/uploader.hpp>
#endif
