// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/toto1/closeness.hpp"
#include "models/toto1/fixture_data.hpp"

// The comparisons that the parity tests rest on see what they are there for.

using fixture::Bounds;
using fixture::relative_error;
using fixture::row_error;
using fixture::signal_error;

TEST_CASE("what cannot be compared is not close") {
    const std::vector<float> none;
    const std::vector<float> two{1, 2};
    const std::vector<float> nan{1, NAN};
    CHECK(std::isinf(relative_error(none, none)));
    CHECK(std::isinf(relative_error(two, none)));
    CHECK(std::isinf(relative_error(two, nan)));
    CHECK(std::isinf(relative_error(nan, two)));
    CHECK(relative_error(nan, nan) == 0);
    CHECK(std::isinf(row_error(none, none, 1)));
    CHECK(std::isinf(row_error(two, two, 0)));
    CHECK(std::isinf(row_error(two, std::vector<float>{1, 2, 3}, 1)));
    CHECK(std::isinf(row_error(std::vector<float>{1, 2, 3}, std::vector<float>{1, 2, 3}, 2)));
    CHECK(std::isinf(signal_error(none, none, none, 1)));
    CHECK(std::isinf(signal_error(two, two, two, 2)));
    CHECK(std::isinf(signal_error(nan, two, two, 1)));
}

TEST_CASE("errors are relative to the largest value, of all or of a row") {
    const std::vector<float> expected{1, -4, 1000, 2000};
    CHECK(relative_error(std::vector<float>{1, -4, 1000, 2001}, expected) == doctest::Approx(1.0 / 2000));
    CHECK(row_error(std::vector<float>{1, -4, 1000, 2001}, expected, 2) == doctest::Approx(1.0 / 2000));
    CHECK(relative_error(std::vector<float>{2, -4, 1000, 2000}, expected) == doctest::Approx(1.0 / 2000));
    CHECK(row_error(std::vector<float>{2, -4, 1000, 2000}, expected, 2) == doctest::Approx(1.0 / 4));
    // A row of zeros is what it is, or it is wrong altogether.
    CHECK(row_error(std::vector<float>{0, 1}, std::vector<float>{0, 1}, 1) == 0);
    CHECK(std::isinf(row_error(std::vector<float>{1e-20F, 1}, std::vector<float>{0, 1}, 1)));
}

TEST_CASE("an error of one percent of a small variate is seen beside a variate that is 2,000 times larger") {
    for (const char* const name : {"constant", "tight_stabilizer"}) {
        const fixture::Tensors tensors(name);
        for (const std::string mean : {"mean_kv", "mean_nokv", "trace_mean"}) {
            CAPTURE(name);
            CAPTURE(mean);
            const std::vector<float> expected = tensors[mean];
            const std::size_t width = tensors.width(mean);
            std::vector<float> found = expected;
            for (std::size_t i = 0; i < width; ++i) {
                found[i] *= 1.01F;  // the first row is of the variate that is 3.25
            }
            CHECK(relative_error(found, expected) <= Bounds{}.tensor);
            CHECK(row_error(found, expected, width) > 100 * Bounds{}.row);
        }
    }
}

TEST_CASE("forecasts are compared on what they say beyond a level of a million") {
    const fixture::Tensors tensors("large_offset");
    const std::vector<float> expected = tensors["mean_kv"];
    const std::size_t width = tensors.width("mean_kv");
    const auto error_of_shift = [&](float shift) {
        std::vector<float> found = expected;
        found[width] += shift;
        CHECK(row_error(found, expected, width) <= Bounds{}.row);
        return signal_error(found, expected, tensors.levels(), width);
    };
    CHECK(error_of_shift(0) == 0);
    CHECK(error_of_shift(0.0625F) == 0);  // f32 has nothing in between
    CHECK(error_of_shift(0.125F) > 100 * Bounds{}.row);
}
