// SPDX-License-Identifier: Apache-2.0
#include <totograph/graph/plan/place_buffers.hpp>

#include <cstddef>
#include <initializer_list>

#include <doctest/doctest.h>

#include <totograph/core/list.hpp>

namespace {

namespace tg = totograph;

/// A buffer of so many bytes, alive from one step to another.
struct Life {
    std::size_t bytes;
    int first_step;
    int last_step;
};

constexpr auto small = tg::KernelKind::pointwise;
constexpr auto reduction = tg::KernelKind::reduction;
constexpr auto gemm = tg::KernelKind::gemm;
constexpr auto opaque = tg::KernelKind::structural;

/// Where buffers lie among steps of these kinds.
struct Placed {
    tg::List<tg::Buffer> buffers;
    std::size_t bytes = 0;

    Placed(std::initializer_list<Life> lives, std::initializer_list<tg::KernelKind> kinds) {
        for (const Life& life : lives) {
            buffers.push_back({0, life.bytes, 0, life.first_step, life.last_step});
        }
        tg::List<tg::Kernel> kernels;
        tg::List<tg::Step> steps;
        for (const tg::KernelKind kind : kinds) {
            steps.push_back({});
            steps.back().kernel = static_cast<int>(kernels.size());
            kernels.push_back({});
            kernels.back().kind = kind;
            kernels.back().op = tg::Op::opaque;  // what counts of structural ones
        }
        bytes = tg::detail::place_buffers(buffers, steps, kernels);
    }

    [[nodiscard]] bool share(std::size_t a, std::size_t b) const {
        return buffers[a].offset < buffers[b].offset + buffers[b].bytes &&
               buffers[b].offset < buffers[a].offset + buffers[a].bytes;
    }
};

}  // namespace

TEST_CASE("steps between GEMMs use no memory twice") {
    // Small buffers of steps 0 to 3, each read by the next step; a large one from the GEMM on.
    const Placed placed({{64, 0, 1}, {64, 1, 2}, {64, 2, 3}, {64, 3, 4}, {4096, 4, 5}},
                        {small, small, small, small, gemm, small});
    for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            CHECK(!placed.share(a, b));
        }
    }
    CHECK(placed.bytes == 4096 + 4 * 64);  // what step 3 makes, the GEMM reads while it writes
}

TEST_CASE("the arena grows by an eighth for it, and no more") {
    // Apart they take 4 x 512 bytes, else 2 x 512; a buffer of the GEMM decides how much that is.
    const auto place = [](std::size_t large) {
        return Placed({{512, 0, 1}, {512, 1, 2}, {512, 2, 3}, {512, 3, 3}, {large, 4, 5}},
                      {small, small, small, small, gemm, gemm});
    };
    const Placed grows = place(1824);
    CHECK(grows.bytes == 2048);
    CHECK(!grows.share(0, 2));
    for (const std::size_t large : {1792U, 1024U}) {
        const Placed refuses = place(large);
        CHECK(refuses.bytes == large);
        CHECK(refuses.share(0, 2));
    }
}

TEST_CASE("a buffer that outlives the steps before a GEMM leaves no gap that the GEMM cannot use") {
    // Three buffers of the first steps, one of step 3 that the last GEMM still reads, and what the first GEMM makes. In
    // the order of need the third would lie above the first three, apart from each other, and the last above it.
    const Placed placed({{512, 0, 1}, {512, 1, 2}, {512, 2, 3}, {64, 3, 5}, {1536, 4, 5}},
                        {small, small, small, small, gemm, gemm});
    CHECK(placed.bytes == 64 + 1536);
    for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            CHECK(!placed.share(a, b));
        }
    }
    CHECK(!placed.share(3, 4));
    CHECK(placed.share(0, 4));
}

TEST_CASE("buffers that live long are placed first where the others would leave a gap that is too small") {
    // As above with more of the first GEMM's: 2048 bytes do not fit below the buffer that lives long.
    const Placed placed({{512, 0, 1}, {512, 1, 2}, {512, 2, 3}, {64, 3, 5}, {2048, 4, 5}},
                        {small, small, small, small, gemm, gemm});
    CHECK(placed.bytes == 64 + 2048);
    CHECK(!placed.share(3, 2));
    CHECK(!placed.share(3, 4));
    // What ends before these begin lies in their memory: a buffer between two steps before another GEMM.
    const Placed behind({{2100, 0, 1}, {512, 3, 4}, {512, 4, 5}, {512, 5, 6}, {64, 6, 8}, {2048, 7, 8}},
                        {small, small, gemm, small, small, small, small, gemm, gemm});
    CHECK(behind.bytes == 64 + 2048);
    CHECK(behind.share(0, 4));
}

TEST_CASE("a norm of what a GEMM makes uses no memory of the GEMM's input") {
    // The input of the GEMM, what it makes, and the norm of that, which the next GEMM reads.
    const auto place = [](tg::KernelKind kind) {
        return Placed({{512, 0, 1}, {512, 1, 3}, {64, 2, 3}, {512, 3, 4}}, {gemm, gemm, kind, gemm, gemm});
    };
    const Placed norm = place(reduction);
    CHECK(!norm.share(0, 2));
    CHECK(norm.share(0, 3));
    CHECK(norm.bytes == 2 * 512 + 64);
    CHECK(place(small).share(0, 2));  // no GEMM computes that

    // After the norm the memory is free: for a small step, too.
    const Placed small_after({{512, 0, 1}, {512, 1, 4}, {64, 2, 3}, {64, 3, 4}}, {gemm, gemm, reduction, small, gemm});
    CHECK(!small_after.share(0, 2));
    CHECK(small_after.share(0, 3));
    // Nothing but a GEMM computes a norm.
    CHECK(Placed({{512, 0, 1}, {512, 1, 3}, {64, 2, 3}}, {gemm, opaque, reduction, gemm}).share(0, 2));
}

TEST_CASE("memory is used again after a GEMM") {
    const Placed placed({{512, 0, 1}, {512, 1, 2}, {512, 2, 3}, {512, 3, 4}}, {gemm, gemm, gemm, gemm, gemm});
    CHECK(placed.bytes == 2 * 512);
    CHECK(placed.share(0, 2));
    CHECK(placed.share(1, 3));
}
