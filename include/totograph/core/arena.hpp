// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace totograph {

/// Alignment of every buffer: one cache line, and the widest vector register.
inline constexpr std::size_t buffer_alignment = 64;

constexpr std::size_t aligned_size(std::size_t bytes) {
    return (bytes + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
}

namespace detail {

/// Gives a block back to where it came from.
struct ReleaseBlock {
    std::size_t mapped_bytes = 0;  ///< 0: from operator new.

    void operator()(std::byte* memory) const noexcept {
#if defined(__linux__)
        if (mapped_bytes != 0) {
            ::munmap(memory, mapped_bytes);
            return;
        }
#endif
        ::operator delete (memory, std::align_val_t{buffer_alignment});
    }
};

}  // namespace detail

/// One aligned, zeroed block of memory. Everything that a forecast touches lives in one.
///
/// Large blocks come straight from the operating system, in huge pages where it has them: weights are read in turn,
/// and what is freed goes back at once.
class Arena {
public:
    Arena() = default;
    /// A zeroed block of so many bytes. Throws `std::bad_alloc`.
    explicit Arena(std::size_t bytes) : size_(bytes) {
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

    /// Its first byte; null when it is empty.
    [[nodiscard]] std::byte* data() const noexcept {
        return memory_.get();
    }
    /// Its bytes, as asked for.
    [[nodiscard]] std::size_t size() const noexcept {
        return size_;
    }

private:
#if defined(__linux__)
    static constexpr std::size_t huge_page = std::size_t{2} << 20U;
    static constexpr std::size_t large_block = std::size_t{256} << 10U;

    /// Parts of a mapping are given back, which must be whole pages: their size differs among machines.
    static std::size_t page_bytes() {
        const long bytes = ::sysconf(_SC_PAGESIZE);
        return bytes > 0 ? static_cast<std::size_t>(bytes) : huge_page;
    }

    /// Zeroed pages that begin at a multiple of a huge page.
    static std::byte* map_pages(std::size_t bytes) {
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

    std::unique_ptr<std::byte, detail::ReleaseBlock> memory_;
    std::size_t size_ = 0;
};

}  // namespace totograph
