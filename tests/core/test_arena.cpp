// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <doctest/doctest.h>

#include <totograph/core/arena.hpp>

using namespace totograph;

TEST_CASE("sizes round up to the alignment") {
    static_assert(aligned_size(0) == 0 && aligned_size(1) == buffer_alignment);
    static_assert(aligned_size(buffer_alignment) == buffer_alignment);
    static_assert(aligned_size(buffer_alignment + 1) == 2 * buffer_alignment);
}

TEST_CASE("a block is aligned, zeroed, and as large as was asked for, small or large") {
    // The last one needs a byte more than whole pages.
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{100}, std::size_t{1} << 16U, std::size_t{9} << 20U,
                                    (std::size_t{9} << 20U) + 1}) {
        CAPTURE(bytes);
        {
            Arena before(2 * bytes + 4096);  // what is taken next may be a part of its memory
            std::fill_n(before.data(), before.size(), std::byte{0xff});
        }
        Arena arena(bytes);
        CHECK(arena.size() == bytes);
        CHECK(reinterpret_cast<std::uintptr_t>(arena.data()) % buffer_alignment == 0);
        CHECK(std::all_of(arena.data(), arena.data() + bytes, [](std::byte value) { return value == std::byte{0}; }));
        arena.data()[bytes - 1] = std::byte{7};

        std::byte* const memory = arena.data();
        Arena moved(std::move(arena));
        CHECK(moved.data() == memory);
        CHECK(moved.size() == bytes);
        CHECK(moved.data()[bytes - 1] == std::byte{7});
        Arena assigned(3);
        assigned = std::move(moved);
        CHECK(assigned.data() == memory);
    }
}

TEST_CASE("an empty arena has no memory") {
    CHECK(Arena().data() == nullptr);
    CHECK(Arena(0).data() == nullptr);
    CHECK(Arena(0).size() == 0);
}
