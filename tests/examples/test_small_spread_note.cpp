// SPDX-License-Identifier: Apache-2.0
#include "../../examples/common/small_spread_note.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

using namespace examples;

TEST_CASE("the deviation is that of the values that are there, at any level") {
    const double gap = std::nan("");
    CHECK(deviation_of(std::vector<double>{1, gap, 3}) == doctest::Approx(1));
    CHECK(deviation_of(std::vector<double>{1e9 + 1, 1e9 + 3}) == doctest::Approx(1));
    CHECK(deviation_of(std::vector<double>{gap}) == 0);
}

TEST_CASE("series that vary by little are told for a model that samples") {
    const std::vector<std::string> names{"small", "constant", "large"};
    const std::vector<std::vector<double>> columns{{1, 1.001, 1.002}, {2, 2, 2}, {1, 2, 3}};
    const std::string note = small_spread_note(names, columns, {});
    CHECK(note.starts_with("The values of 'small' have a standard deviation below 0.1"));
    const std::array<double, 1> levels{0.5};
    CHECK(small_spread_note(names, columns, levels).empty());
    CHECK(small_spread_note({"large"}, std::vector(columns.begin() + 2, columns.end()), {}).empty());
}
