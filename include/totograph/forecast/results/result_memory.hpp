// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace totograph {

/// Memory for the values of one forecast, held by all copies of this object and freed with the last of them. Copies may
/// live in several threads. `is_alone()` says that the others are gone, and that what they read may be overwritten.
class ResultMemory {
public:
    /// Holds nothing.
    ResultMemory() = default;
    /// Room for so many values.
    explicit ResultMemory(std::size_t count);
    ResultMemory(const ResultMemory& other) noexcept;
    ResultMemory(ResultMemory&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
    ResultMemory& operator=(const ResultMemory& other) noexcept { return *this = ResultMemory(other); }
    ResultMemory& operator=(ResultMemory&& other) noexcept {
        std::swap(block_, other.block_);
        return *this;
    }
    ~ResultMemory();

    /// Whether no other object holds this memory.
    [[nodiscard]] bool is_alone() const noexcept {
        return block_ != nullptr && block_->holders.load(std::memory_order_acquire) == 1;
    }

    /// Values that it has room for.
    [[nodiscard]] std::size_t room() const noexcept { return block_ == nullptr ? 0 : block_->values.capacity(); }

    /// Copies values into this memory, which no other holder may read. Allocates when it has no room for them.
    std::span<const float> fill(std::span<const float> values);

private:
    struct Block {
        std::atomic<std::size_t> holders{1};
        std::vector<float> values;
    };

    Block* block_ = nullptr;
};

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/forecast/results/impl/result_memory.hpp>
#endif
