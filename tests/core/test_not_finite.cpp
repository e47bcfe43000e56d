// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include <totograph/core/finite.hpp>
#include <totograph/core/not_finite.hpp>

using namespace totograph;

namespace {

constexpr float no_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float largest = std::numeric_limits<float>::max();

}  // namespace

TEST_CASE("what is not finite is told by its value, or by the mark -0 that callers get as 0") {
    for (const float value : {no_number, -no_number, infinity, -infinity}) {
        CHECK(is_not_finite(value, NotFinite::by_value));
        CHECK_FALSE(is_not_finite(value, NotFinite::by_mark));
    }
    for (const float value : {0.0F, 1.0F, -1.0F, largest, -largest, std::numeric_limits<float>::denorm_min()}) {
        CHECK_FALSE(is_not_finite(value, NotFinite::by_value));
        CHECK_FALSE(is_not_finite(value, NotFinite::by_mark));
        CHECK(without_mark(value, NotFinite::by_mark) == value);
    }
    CHECK(is_not_finite(-0.0F, NotFinite::by_mark));
    CHECK_FALSE(is_not_finite(-0.0F, NotFinite::by_value));
    CHECK_FALSE(std::signbit(without_mark(-0.0F, NotFinite::by_mark)));
    CHECK(std::signbit(without_mark(-0.0F, NotFinite::by_value)));
}

TEST_CASE("one number that is not finite is seen wherever it stands") {
    std::array<float, 259> numbers{};  // two runs of the loop, and three numbers behind them
    numbers.fill(-largest);
    CHECK(all_finite(numbers));
    CHECK(all_finite({}));
    for (float& number : numbers) {
        for (const float value : {no_number, infinity, -infinity}) {
            number = value;
            CHECK_FALSE(all_finite(numbers));
        }
        number = largest;
    }
    CHECK(all_finite(numbers));
}
