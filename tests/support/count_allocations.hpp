// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

// Counts what operator new is asked for. It takes the operator's place in the whole program: include it in one source
// file of a program.

namespace {

std::atomic<std::size_t> allocations{0};

}  // namespace

// Not inlined: the compiler would see memory of malloc go where it expects that of another operator new.
[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* const memory = std::malloc(size == 0 ? 1 : size); memory != nullptr) {
        return memory;
    }
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
    std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
