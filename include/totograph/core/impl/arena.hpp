// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <totograph/core/arena.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <totograph/core/inline.hpp>

namespace totograph {
namespace detail {

TOTOGRAPH_INLINE void ReleaseBlock::operator()(std::byte* memory) const noexcept {
#if defined(__linux__)
    if (mapped_bytes != 0) {
        ::munmap(memory, mapped_bytes);
        return;
    }
#endif
    ::operator delete (memory, std::align_val_t{buffer_alignment});
}

}  // namespace detail

TOTOGRAPH_INLINE Arena::Arena(std::size_t bytes) : size_(bytes) {
    if (bytes == 0) {
        return;
    }
    detail::ReleaseBlock release;
#if defined(__linux__)
    if (bytes >= large_block) {
        const std::size_t page = page_bytes();
        release.mapped_bytes = (bytes + page - 1) / page * page;
        memory_ = {map_pages(release.mapped_bytes), release};
        return;
    }
#endif
    auto* memory = ::operator new (aligned_size(bytes), std::align_val_t{buffer_alignment});
    std::memset(memory, 0, aligned_size(bytes));
    memory_ = {static_cast<std::byte*>(memory), release};
}

#if defined(__linux__)
TOTOGRAPH_INLINE std::size_t Arena::page_bytes() {
    const long bytes = ::sysconf(_SC_PAGESIZE);
    return bytes > 0 ? static_cast<std::size_t>(bytes) : huge_page;
}

TOTOGRAPH_INLINE std::byte* Arena::map_pages(std::size_t bytes) {
    void* mapping = ::mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        throw std::bad_alloc();
    }
    auto* begin = static_cast<std::byte*>(mapping);
    const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
    if (before != 0) {
        ::munmap(begin, before);
    }
    if (before != huge_page) {
        ::munmap(begin + before + bytes, huge_page - before);
    }
    ::madvise(begin + before, bytes, MADV_HUGEPAGE);  // advice: without huge pages it works as well
    return begin + before;
}
#endif

}  // namespace totograph
