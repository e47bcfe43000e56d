// SPDX-License-Identifier: Apache-2.0
#include "../../examples/common/below_range_note.hpp"
#include "../../examples/common/small_spread_note.hpp"
#include "../../examples/stream/context_ring.hpp"
#include "../../examples/stream/spread_watch.hpp"

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

TEST_CASE("values below the range of 32-bit floats are told for any model, once") {
    const double gap = std::nan("");
    const std::vector<std::string> names{"tiny", "few digits", "zero", "one of many"};
    const std::vector<std::vector<double>> columns{{1e-300, -3e-300, gap}, {1e-39, 3e-39}, {0, 0}, {1e-300, 1}};
    CHECK(below_range_note(names, columns).starts_with("The values of 'tiny' and 'few digits' are below 1.2e-38"));
    CHECK(small_spread_note({"few digits"}, std::vector(columns.begin() + 1, columns.begin() + 2), {}).empty());
    CHECK(below_range_note({"one of many"}, std::vector(columns.begin() + 3, columns.end())).empty());
}

TEST_CASE("of a stream, too, they are told once") {
    ContextRing ring(2, 4);
    for (const double value : {1e-300, 2e-300}) {
        ring.push({value, value + 1});
    }
    const std::vector<std::string> names{"tiny", "other"};
    const std::array<double, 1> levels{0.5};
    SpreadWatch watch(2, levels);
    CHECK(watch.look(names, ring, 3).empty());
    CHECK(watch.look(names, ring, 2).starts_with("The values of 'tiny' are below"));
    CHECK(watch.look(names, ring, 2).empty());
}
