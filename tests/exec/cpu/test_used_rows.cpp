// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/shape.hpp>
#include <totograph/exec/cpu/kernels/used_rows.hpp>
#include <totograph/graph/bounds.hpp>

using namespace totograph;
using cpu::UsedRows;

namespace {

/// The places below the bounds, by going through all of them.
std::vector<Index> places_of(const LoopBounds& bounds, int axes, const std::int32_t* values) {
    Index size = 1;
    for (int axis = 0; axis < axes; ++axis) {
        size *= bounds.axes[axis];
    }
    std::vector<Index> places;
    for (Index place = 0; place < size; ++place) {
        Index left = place;
        bool is_used = true;
        for (int axis = axes - 1; axis >= 0; --axis) {
            const std::int8_t bound = bounds.bound[static_cast<std::size_t>(axis)];
            const Index value = bound == 0 ? bounds.axes[axis] : values[bound - 1];
            is_used = is_used && (value < 1 || left % bounds.axes[axis] < value);
            left /= bounds.axes[axis];
        }
        if (is_used) {
            places.push_back(place);
        }
    }
    return places;
}

void check(const LoopBounds& bounds, int axes, const std::int32_t* values) {
    const UsedRows rows(bounds, axes, values);
    const std::vector<Index> expected = places_of(bounds, axes, values);
    REQUIRE(rows.count() == static_cast<Index>(expected.size()));
    std::vector<Index> found;
    for (Index number = 0; number < rows.count(); ++number) {
        found.push_back(rows.place(number));
    }
    CHECK(found == expected);
    for (const Index step : {1, 2, 3, 7, 1000}) {
        std::vector<Index> walked;
        for (Index first = 0; first < rows.count(); first += step) {
            rows.for_each_stretch(first, std::min(rows.count(), first + step), [&](Index place, Index count) {
                for (Index i = 0; i < count; ++i) {
                    walked.push_back(place + i);
                }
            });
        }
        CHECK(walked == expected);
        for (Index first = 0; first < rows.count(); first += step) {
            UsedRows::Walk walk(rows, first);
            Index place = rows.place(first);
            for (Index number = first + 1; number < rows.count(); ++number) {
                place += walk.advance();
                CHECK(place == expected[static_cast<std::size_t>(number)]);
            }
        }
    }
}

}  // namespace

TEST_CASE("the places in use are those below all bounds, in order") {
    // Every choice of bounds and of values, with axes of extent 1 among the others, of rows and of elements.
    for (const Shape& axes : {Shape{2, 3, 4}, Shape{3, 1, 4}, Shape{1, 4, 1}, Shape{4, 1, 1}, Shape{1, 1, 3}}) {
        for (int chosen = 0; chosen < 8; ++chosen) {
            LoopBounds bounds{.axes = axes, .row_rank = 2, .bound = {}};
            for (int axis = 0; axis < 3; ++axis) {
                bounds.bound[static_cast<std::size_t>(axis)] =
                    static_cast<std::int8_t>((chosen >> axis) % 2 == 1 ? axis + 1 : 0);
            }
            for (int mixed = 0; mixed < 216; ++mixed) {
                const std::array<std::int32_t, 3> values{mixed % 6, mixed / 6 % 6, mixed / 36};
                check(bounds, 3, values.data());
                check(bounds, 2, values.data());
            }
        }
    }
}

TEST_CASE("without a state of bounds all is in use") {
    const LoopBounds bounds{.axes = {2, 3}, .row_rank = 2, .bound = {1, 2}};
    const UsedRows rows(bounds, 2, nullptr);
    CHECK(rows.is_all());
    CHECK(rows.count() == 6);
    CHECK(rows.place(5) == 5);
}
