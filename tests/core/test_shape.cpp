// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>

using namespace totograph;

TEST_CASE("a shape counts its elements and rows, and names axes from both ends") {
    constexpr Shape shape{2, 3, 4};
    static_assert(shape.rank == 3 && shape.size() == 24 && shape.rows() == 6);
    static_assert(shape[0] == 2 && shape[2] == 4 && shape[-1] == 4 && shape[-3] == 2);
    static_assert(Shape{}.size() == 1 && Shape{}.rows() == 1 && Shape{}.rank == 0);
    static_assert(Shape{5}.rows() == 1);
    CHECK(to_string(shape) == "[2, 3, 4]");
    CHECK(to_string(Shape{}) == "[]");
}

TEST_CASE("shapes are equal when rank and extents are") {
    static_assert(Shape{2, 3} == Shape{2, 3});
    static_assert(!(Shape{2, 3} == Shape{3, 2}));
    static_assert(!(Shape{2, 3} == Shape{2, 3, 1}));
    // What is left behind in extents beyond the rank does not count.
    Shape shortened{2, 3, 4};
    --shortened.rank;
    CHECK(shortened == Shape{2, 3});
}

TEST_CASE("strides of contiguous tensors") {
    constexpr Strides strides = contiguous_strides({2, 3, 4});
    static_assert(strides[0] == 12 && strides[1] == 4 && strides[2] == 1 && strides[3] == 0);
    static_assert(contiguous_strides({})[0] == 0);
}

TEST_CASE("shapes broadcast from the end") {
    struct Case {
        Shape a;
        Shape b;
        Shape expected;
    };
    for (const Case& item : {Case{{2, 3}, {2, 3}, {2, 3}}, Case{{2, 3}, {3}, {2, 3}}, Case{{2, 3}, {}, {2, 3}},
                             Case{{2, 1}, {1, 3}, {2, 3}}, Case{{1}, {4, 5, 6}, {4, 5, 6}},
                             Case{{3, 1, 1}, {4, 5}, {3, 4, 5}}, Case{{}, {}, {}}}) {
        CHECK(broadcast(item.a, item.b) == item.expected);
        CHECK(broadcast(item.b, item.a) == item.expected);
    }
    CHECK(broadcast({2, 3}, {2, 4}).rank == -1);
    CHECK(broadcast({2, 3}, {2}).rank == -1);
}

TEST_CASE("axes are replaced and appended") {
    CHECK(with_axis({2, 3, 4}, 1, 7) == Shape{2, 7, 4});
    CHECK(with_axis({2, 3, 4}, -1, 7) == Shape{2, 3, 7});
    CHECK(with_last({2, 3}, 9) == Shape{2, 3, 9});
}

TEST_CASE("divisions that round up") {
    CHECK(divide_rounding_up(0, 4) == 0);
    CHECK(divide_rounding_up(8, 4) == 2);
    CHECK(divide_rounding_up(9, 4) == 3);
    CHECK(round_up(9, 4) == 12);
    CHECK(round_up(8, 4) == 8);
}
