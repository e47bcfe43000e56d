// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <cstdint>
#include <limits>
#include <locale>
#include <string>
#include <string_view>

#include <totograph/io/csv/decimal.hpp>

namespace {

using totograph::io::DecimalKind;
using totograph::io::format_decimal;
using totograph::io::parse_decimal;

void reads(std::string_view text, double expected) {
    CAPTURE(std::string(text));
    const auto decimal = parse_decimal(text);
    CHECK(decimal.kind == DecimalKind::number);
    CHECK(std::bit_cast<std::uint64_t>(decimal.value) == std::bit_cast<std::uint64_t>(expected));
}

void is(std::string_view text, DecimalKind kind) {
    CAPTURE(std::string(text));
    CHECK(parse_decimal(text).kind == kind);
}

}  // namespace

TEST_CASE("decimal: numbers in every usual spelling") {
    reads("0", 0.0);
    reads("-0", -0.0);
    reads("+0.0", 0.0);
    reads("1", 1.0);
    reads("+1.5", 1.5);
    reads("-2.25e2", -225.0);
    reads("1E-3", 1e-3);
    reads("1e+3", 1e3);
    reads(".5", 0.5);
    reads("5.", 5.0);
    reads("000123.4500", 123.45);
    reads("0.1", 0.1);
    reads("1000000001", 1000000001.0);            // A float has no digits for it.
    reads("9007199254740993", 9007199254740992);  // Halfway between two doubles: to even.
    reads("3.4028235e38", 3.4028235e38);          // As float the largest there is.
    reads("4.9406564584124654e-324", std::numeric_limits<double>::denorm_min());
}

TEST_CASE("decimal: text that is no number, or more than one") {
    for (const std::string_view text :
         {"",   "+",   "-",     "+-1",  "++1",    "--1",   "-+1",  ".",        "e5",
          "1e", "1e+", "1.2.3", "1 2",  " 1",     "1 ",    "1,5",  "0x10",     "abc",
          "1f", "nan", "NaN",   "-nan", "nan(1)", "1_000", "true", "\xd9\xa1", "1\xc2\xa0"}) {
        is(text, DecimalKind::text);
    }
    is(std::string_view("1\0", 2), DecimalKind::text);
}

TEST_CASE("decimal: infinity in every spelling") {
    for (const std::string_view text : {"inf", "-inf", "+inf", "Inf", "INF", "infinity", "-Infinity"}) {
        is(text, DecimalKind::infinite);
    }
}

TEST_CASE("decimal: too large is told apart from too small") {
    for (const std::string_view text : {"3.5e38", "-3.5e38", "1e39", "1e400", "-1e400", "1e99999999999999999999",
                                        "0.001e500", "1000000000000000000000e30", "+1e39"}) {
        is(text, DecimalKind::overflowing);
    }
    // Halfway between the largest float and what would be the next, which rounds to infinity; and the double before it.
    is("340282356779733661637539395458142568448", DecimalKind::overflowing);
    is("-340282356779733661637539395458142568448", DecimalKind::overflowing);
    reads("340282356779733623858607532500980858880", 0x1.fffffefffffffp127);
    is("1" + std::string(500, '0'), DecimalKind::overflowing);
    is("1" + std::string(500, '0') + ".5", DecimalKind::overflowing);
    is("1" + std::string(500, '0') + "e-100", DecimalKind::overflowing);
    reads("1e-400", 0.0);
    reads("-1e-400", -0.0);
    reads("+1e-60", 1e-60);
    reads("1e-99999999999999999999", 0.0);
    reads("1000e-500", 0.0);
    reads("0." + std::string(500, '0') + "1", 0.0);
    reads("0." + std::string(500, '0') + "1e+100", 0.0);
    reads("0e99999999999999999999", 0.0);
    reads("-0.000e500", -0.0);
    reads("1" + std::string(100, '0') + "e-100", 1.0);
    reads("0." + std::string(99, '0') + "1e100", 1.0);
}

TEST_CASE("decimal: the shortest spelling reads back as the same double") {
    CHECK(format_decimal(0.1) == "0.1");
    CHECK(format_decimal(1.0) == "1");
    CHECK(format_decimal(-0.0) == "-0");
    CHECK(format_decimal(16777216.0) == "16777216");
    reads(format_decimal(0.1F), static_cast<double>(0.1F));
    // Steps of a large prime visit every exponent and no pattern of the mantissa twice.
    for (std::uint64_t step = 0; step < 200'000; ++step) {
        const auto value = std::bit_cast<double>(step * 11'400'714'819'323'198'485ULL);
        const bool is_float = std::abs(value) < std::numeric_limits<float>::max();
        if (is_float && std::bit_cast<std::uint64_t>(parse_decimal(format_decimal(value)).value) !=
                            std::bit_cast<std::uint64_t>(value)) {
            FAIL("the number ", value, " does not survive");
        }
    }
}

TEST_CASE("decimal: the locale does not matter") {
    struct DecimalComma : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    const std::locale before = std::locale::global(std::locale(std::locale::classic(), new DecimalComma));
    // Installed on some systems only; where it is not, the C library keeps its point.
    std::setlocale(LC_NUMERIC, "de_DE.UTF-8");
    reads("12345.5", 12345.5);
    is("1,5", DecimalKind::text);
    CHECK(format_decimal(12345.5) == "12345.5");
    std::locale::global(before);
    std::setlocale(LC_NUMERIC, "C");
}
