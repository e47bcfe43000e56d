// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/forecast/bucket.hpp>

#include "support/printers.hpp"

using doctest::toString;
using totograph::Bucket;
using totograph::DType;
using totograph::Shape;

TEST_CASE("a failed comparison prints what it compared") {
    CHECK(toString(Shape{2, 3}) == "[2, 3]");
    CHECK(toString(Bucket{.variates = 7, .context = 64, .horizon = 8}) == "1 x 7 x 64 -> 8, no samples");
    CHECK(toString(std::vector<int>{1, 2}) == "{1, 2}");
    CHECK(toString(std::vector<std::vector<int>>{{1}, {}}) == "{{1}, {}}");
    CHECK(toString(std::array<bool, 2>{true, false}) == "{true, false}");
    CHECK(toString(std::vector<bool>{true}) == "{true}");
    CHECK(toString(std::vector<std::string>{"a", "b"}) == "{a, b}");
    CHECK(toString(std::vector<Shape>{{4}, {}}) == "{[4], []}");
    CHECK(toString(std::map<std::string, int>{{"a", 1}}) == "{(a, 1)}");
    CHECK(toString(std::optional<DType>(DType::bf16)) == "bf16");
    CHECK(toString(std::optional<int>()) == "nothing");
    CHECK(toString(std::nullopt) == "nothing");
    CHECK(toString(std::vector<int>(100, 5)) ==
          "{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, "
          "5, ... 100 in all}");
}
