// SPDX-License-Identifier: Apache-2.0
#include "../../examples/common/format.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace examples;
using Labels = std::vector<std::string>;

TEST_CASE("exact numbers have twelve digits, and floats read back") {
    for (const float value : {0.1F, -3.25F, 1e-30F, 3.4e38F, 16777217.0F}) {
        CHECK(std::stof(exact_number(static_cast<double>(value))) == value);
    }
    CHECK(exact_number(0.1) == "0.1");
    CHECK(exact_number(1000000001.25) == "1000000001.25");
    CHECK(exact_number(1700000000000012.5) == "1700000000000012.5");
    CHECK(exact_number(-2.0 / 3) == "-0.666666666667");
    CHECK(exact_number(std::numeric_limits<float>::quiet_NaN()).empty());
    CHECK(exact_number(std::numeric_limits<float>::infinity()).empty());
}

TEST_CASE("short numbers") {
    CHECK(short_number(0) == "0");
    CHECK(short_number(3.14159) == "3.142");
    CHECK(short_number(-2.5) == "-2.5");
    CHECK(short_number(123456) == "123456");
    CHECK(short_number(0.000123456) == "0.0001235");
    CHECK(short_number(1.5e20) == "1.5e20");
    CHECK(short_number(-3.4e-12) == "-3.4e-12");
    CHECK(short_number(std::nan("")) == "–");
    CHECK(fixed_number(-0.001, 2) == "0.00");
    CHECK(fixed_number(1e300, 0).size() == 301);
}

TEST_CASE("a number beside others has as many digits as tells them apart") {
    CHECK(number_beside(119.9876, 3.2) == "119.99");
    CHECK(number_beside(1000000111.9, 2.4) == "1000000111.9");
    CHECK(number_beside(1000000111.9, 0.04) == "1000000111.9");
    CHECK(number_beside(1000000111.9876, 0.04) == "1000000111.9876");
    CHECK(number_beside(123456, 1e5) == "123456");
    CHECK(number_beside(0, 1) == "0");
    CHECK(number_beside(3.6e16, 54) == "36000000000000000");
    CHECK(number_beside(-1.5e-30, 1e-31) == "-1.5e-30");
    CHECK(number_beside(2, 0) == "2");
    CHECK(number_beside(0.1, 0) == "0.1");
    CHECK(number_beside(9007199254741056, 0) == "9007199254741056");
    CHECK(number_beside(std::nan(""), 1).empty());
}

TEST_CASE("counts and plurals") {
    CHECK(count_text(999) == "999");
    CHECK(count_text(4096) == "4,096");
    CHECK(count_text(-1234567) == "-1,234,567");
    CHECK(plural(1, "step") == "1 step");
    CHECK(plural(2000, "step") == "2,000 steps");
    CHECK(plural(3, "series") == "3 series");
}

TEST_CASE("ticks are round and lie inside") {
    const std::vector<double> ticks = nice_ticks({-3.0, 103.0}, 5);
    CHECK(ticks == std::vector<double>{0, 25, 50, 75, 100});
    for (const double width : {1e-30, 0.003, 1.0, 77.0, 1e30, 1e39}) {
        for (const double low : {-width / 3, 0.0, 5 * width}) {
            const Range range = padded({low, low + width}, 0.05);
            const std::vector<double> found = nice_ticks(range, 5);
            CHECK(found.size() >= 2);
            CHECK(found.size() <= 6);
            for (const double tick : found) {
                CHECK(tick >= range.low);
                CHECK(tick <= range.high * (1 + 1e-9) + width * 1e-9);
            }
        }
    }
}

TEST_CASE("a constant series gets a range of its own") {
    CHECK(padded({5, 5}, 0.1).width() == doctest::Approx(0.5));
    CHECK(padded({0, 0}, 0.1).width() == doctest::Approx(2));
    CHECK(padded({-3e38, -3e38}, 0.1).width() > 1e37);
    CHECK(nice_ticks(padded({1e9, 1e9}, 0.05), 4).size() >= 2);
}

TEST_CASE("tick labels share unit and decimals") {
    CHECK(tick_labels({0, 0.5, 1}) == Labels{"0", "0.5", "1.0"});
    CHECK(tick_labels({0, 25, 50}) == Labels{"0", "25", "50"});
    CHECK(tick_labels({0, 5000, 10000, 15000}) == Labels{"0", "5k", "10k", "15k"});
    CHECK(tick_labels({-2.5e6, 0, 2.5e6}) == Labels{"-2.5M", "0", "2.5M"});
    CHECK(tick_labels({1000000, 1000002}) == Labels{"1000000", "1000002"});
    CHECK(tick_labels({0, 1e38, 2e38}) == Labels{"0", "1e38", "2e38"});
    CHECK(tick_labels({0, 1e-7}) == Labels{"0", "1e-7"});
    CHECK(tick_labels({}).empty());
}
