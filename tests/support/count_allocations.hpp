// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

// Counts what operator new is asked for, and lets it fail where a test asks for that. It takes the operator's place in
// the whole program: include it in one source file of a program.

namespace {

std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> too_large{std::numeric_limits<std::size_t>::max()};

/// As long as it lives, what is at least so large finds no memory.
struct NoMemoryFor {
    explicit NoMemoryFor(std::size_t bytes) { too_large = bytes; }
    NoMemoryFor(const NoMemoryFor&) = delete;
    NoMemoryFor& operator=(const NoMemoryFor&) = delete;
    ~NoMemoryFor() { too_large = std::numeric_limits<std::size_t>::max(); }
};

}  // namespace

// Not inlined: the compiler would see memory of malloc go where it expects that of another operator new.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    void* const memory = size < too_large ? std::malloc(size == 0 ? 1 : size) : nullptr;
    if (memory != nullptr) {
        return memory;
    }
    throw std::bad_alloc();
}
// As the C++ library's own does; a sanitizer's would be freed by another allocator.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    ++allocations;
    return size < too_large ? std::malloc(size == 0 ? 1 : size) : nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
