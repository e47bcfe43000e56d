// SPDX-License-Identifier: Apache-2.0
#include "allocations.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

// The program's own operator new counts. Those of arrays and those that do not throw call these.

namespace {

constinit std::atomic<std::uint64_t> count{0};

void* counted(void* memory) {
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    count.fetch_add(1, std::memory_order_relaxed);
    return memory;
}

}  // namespace

std::uint64_t examples::allocations() noexcept {
    return count.load(std::memory_order_relaxed);
}

// Not inlined: the compiler would see memory of malloc go where it expects that of another operator new.
[[gnu::noinline]] void* operator new(std::size_t size) {
    return counted(std::malloc(size == 0 ? 1 : size));
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto step = static_cast<std::size_t>(alignment);
    return counted(std::aligned_alloc(step, (size / step + 1) * step));  // which takes whole steps, and not none
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
