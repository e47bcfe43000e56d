// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>

using namespace totograph;

namespace {

float from_bits(std::uint32_t bits) {
    return std::bit_cast<float>(bits);
}

}  // namespace

TEST_CASE("element types have sizes, names and C++ types") {
    static_assert(size_in_bytes(DType::f32) == sizeof(float) && dtype_of<float> == DType::f32);
    static_assert(size_in_bytes(DType::f64) == sizeof(double) && dtype_of<double> == DType::f64);
    static_assert(size_in_bytes(DType::i32) == sizeof(std::int32_t) && dtype_of<std::int32_t> == DType::i32);
    static_assert(size_in_bytes(DType::bf16) == sizeof(BFloat16) && dtype_of<BFloat16> == DType::bf16);
    static_assert(size_in_bytes(DType::f16) == sizeof(Float16) && dtype_of<Float16> == DType::f16);
    static_assert(name(DType::bf16) == std::string_view("bf16") && name(DType::i32) == std::string_view("i32"));
}

TEST_CASE("bfloat16 rounds to nearest, ties to even") {
    CHECK(BFloat16(1.0F).bits == 0x3F80);
    CHECK(BFloat16(from_bits(0x3F808000)).bits == 0x3F80);  // a tie, down to even
    CHECK(BFloat16(from_bits(0x3F818000)).bits == 0x3F82);  // a tie, up to even
    CHECK(BFloat16(from_bits(0x3F808001)).bits == 0x3F81);
    CHECK(BFloat16(from_bits(0x3F807FFF)).bits == 0x3F80);
    CHECK(BFloat16(-0.0F).bits == 0x8000);
    CHECK(BFloat16(std::numeric_limits<float>::max()).bits == 0x7F80);  // beyond the largest is infinity
    CHECK(BFloat16(std::numeric_limits<float>::infinity()).bits == 0x7F80);
    CHECK(BFloat16(from_bits(0x00000001)).bits == 0);
    CHECK(std::isnan(static_cast<float>(BFloat16(from_bits(0x7F800001)))));  // no NaN becomes infinity
    CHECK(std::isnan(static_cast<float>(BFloat16(from_bits(0xFFFFFFFF)))));
}

TEST_CASE("every bfloat16 widens exactly and comes back") {
    for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
        BFloat16 value;
        value.bits = static_cast<std::uint16_t>(bits);
        const auto wide = static_cast<float>(value);
        if (std::isnan(wide)) {
            REQUIRE(std::isnan(static_cast<float>(BFloat16(wide))));
        } else {
            REQUIRE(BFloat16(wide).bits == bits);
        }
    }
}

TEST_CASE("half precision widens exactly") {
    const auto widened = [](std::uint16_t bits) {
        Float16 value;
        value.bits = bits;
        return static_cast<float>(value);
    };
    CHECK(widened(0x3C00) == 1.0F);
    CHECK(widened(0xC000) == -2.0F);
    CHECK(widened(0x7BFF) == 65504.0F);
    CHECK(widened(0x3555) == 0x1.554p-2F);
    CHECK(widened(0x0001) == 0x1p-24F);  // subnormal
    CHECK(widened(0x83FF) == -0x1.FF8p-15F);
    CHECK(widened(0x7C00) == std::numeric_limits<float>::infinity());
    CHECK(std::isnan(widened(0x7E01)));
    CHECK(std::signbit(widened(0x8000)));
    // Every number of half precision is its mantissa times a power of two.
    for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
        const auto exponent = static_cast<int>(bits >> 10U);
        const auto mantissa = static_cast<int>(bits & 0x3FFU);
        const double expected = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
        REQUIRE(static_cast<double>(widened(static_cast<std::uint16_t>(bits))) == expected);
    }
}
