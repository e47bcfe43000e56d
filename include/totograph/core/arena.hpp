// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

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

    void operator()(std::byte* memory) const noexcept;
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
    explicit Arena(std::size_t bytes);

    /// Its first byte; null when it is empty.
    [[nodiscard]] std::byte* data() const noexcept { return memory_.get(); }
    /// Its bytes, as asked for.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
#if defined(__linux__)
    static constexpr std::size_t huge_page = std::size_t{2} << 20U;
    static constexpr std::size_t large_block = std::size_t{256} << 10U;

    /// Parts of a mapping are given back, which must be whole pages: their size differs among machines.
    static std::size_t page_bytes();

    /// Zeroed pages that begin at a multiple of a huge page.
    static std::byte* map_pages(std::size_t bytes);
#endif

    std::unique_ptr<std::byte, detail::ReleaseBlock> memory_;
    std::size_t size_ = 0;
};

}  // namespace totograph

#if !defined(TOTOGRAPH_SEPARATE_COMPILATION) && !defined(__CUDA_ARCH__)
#include <totograph/core/impl/arena.hpp>
#endif
