// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

namespace totograph {

/// Alignment of every buffer: one cache line, and the widest vector register.
inline constexpr std::size_t buffer_alignment = 64;

constexpr std::size_t aligned_size(std::size_t bytes) {
    return (bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
}

/// One aligned, zeroed block of memory. Everything that a forecast touches lives in one.
class Arena {
public:
    Arena() = default;
    explicit Arena(std::size_t bytes)
        : memory_(bytes == 0 ? nullptr
                             : static_cast<std::byte*>(
                                   ::operator new (aligned_size(bytes), std::align_val_t{buffer_alignment}))),
          size_(bytes) {
        if (bytes != 0) {
            std::memset(memory_.get(), 0, aligned_size(bytes));
        }
    }

    [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    struct Release {
        void operator()(std::byte* memory) const noexcept {
            ::operator delete (memory, std::align_val_t{buffer_alignment});
        }
    };
    std::unique_ptr<std::byte, Release> memory_;
    std::size_t size_ = 0;
};

}  // namespace totograph
