// SPDX-License-Identifier: Apache-2.0
// What NaN, infinities and numbers beyond i32 give, and scalars as states: the same on both executors.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/core/error.hpp>
#include <totograph/core/shape.hpp>
#include <totograph/exec/arithmetic.hpp>
#include <totograph/exec/cpu/evaluate/tensor_data.hpp>
#include <totograph/graph/op.hpp>
#include <totograph/graph/passes/rewrite.hpp>
#include <totograph/graph/program.hpp>
#include <totograph/graph/recorder.hpp>

#include "io/support.hpp"
#include "support/executors.hpp"

using namespace totograph;
using namespace totograph::test;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Pairs of numbers; more than any packet holds, so that whole packets and what is left over are both met.
constexpr std::size_t pairs = 37;
constexpr Index count = static_cast<Index>(pairs);
constexpr std::array<double, 7> numbers{nan, infinity, -infinity, 0, 1, -1, 2.5};

constexpr double left(std::size_t at) {
    return numbers[at % numbers.size()];
}
constexpr double right(std::size_t at) {
    return numbers[at / numbers.size() % numbers.size()];
}

template <DType dtype>
struct Extremes {
    static constexpr void record(Recorder& r) {
        const Tensor a = r.state("a", {count}, dtype);
        const Tensor b = r.state("b", {count}, dtype);
        r.tap("out maximum", maximum(a, b));
        r.tap("out minimum", minimum(a, b));
        r.tap("out at least 0", maximum(a, 0.0));
        r.tap("out softplus", softplus(a));
        r.tap("out root", sqrt(a));
        r.tap("out one over root", rsqrt(a));
    }
};

template <class Real>
void check_extremes() {
    run_on_both<Extremes<dtype_of<Real>>>(
        [](auto& executor) {
            for (std::size_t i = 0; i < pairs; ++i) {
                state_of<Real>(executor, "a")[i] = static_cast<Real>(left(i));
                state_of<Real>(executor, "b")[i] = static_cast<Real>(right(i));
            }
        },
        [](auto& executor) {
            const auto is = [](Real found, double expected) {
                return std::isnan(expected) ? std::isnan(found) : static_cast<double>(found) == expected;
            };
            for (std::size_t i = 0; i < pairs; ++i) {
                const double a = left(i);
                const double b = right(i);
                CAPTURE(a);
                CAPTURE(b);
                const bool one_is_nan = std::isnan(a) || std::isnan(b);
                CHECK(is(state_of<Real>(executor, "out maximum")[i], one_is_nan ? nan : a > b ? a : b));
                CHECK(is(state_of<Real>(executor, "out minimum")[i], one_is_nan ? nan : a < b ? a : b));
                CHECK(is(state_of<Real>(executor, "out at least 0")[i], std::isnan(a) ? nan : a > 0 ? a : 0));
                CHECK(std::isnan(state_of<Real>(executor, "out softplus")[i]) == std::isnan(a));
                if (a != 2.5) {
                    CHECK(is(state_of<Real>(executor, "out root")[i], std::sqrt(a)));
                    CHECK(is(state_of<Real>(executor, "out one over root")[i], 1 / std::sqrt(a)));
                }
            }
        });
}

/// Rows of which one number is not like the others, at each place in turn.
constexpr Index row_width = 21;

template <DType dtype>
struct ExtremesOfRows {
    static constexpr void record(Recorder& r) {
        const Tensor x = r.state("x", {row_width, row_width}, dtype);
        r.tap("out largest", amax(x));
        r.tap("out smallest", amin(x));
    }
};

template <class Real>
void check_extremes_of_rows() {
    for (const double odd : {nan, infinity, -infinity, 3.0}) {
        CAPTURE(odd);
        run_on_both<ExtremesOfRows<dtype_of<Real>>>(
            [&](auto& executor) {
                Real* const x = state_of<Real>(executor, "x").data();
                for (Index at = 0; at < row_width * row_width; ++at) {
                    x[at] = static_cast<Real>(at % row_width == at / row_width ? odd : -2.0);
                }
            },
            [&](auto& executor) {
                for (std::size_t row = 0; row < static_cast<std::size_t>(row_width); ++row) {
                    const auto largest_found = static_cast<double>(state_of<Real>(executor, "out largest")[row]);
                    const auto smallest_found = static_cast<double>(state_of<Real>(executor, "out smallest")[row]);
                    if (std::isnan(odd)) {
                        CHECK(std::isnan(largest_found));
                        CHECK(std::isnan(smallest_found));
                    } else {
                        CHECK(largest_found == std::max(odd, -2.0));
                        CHECK(smallest_found == std::min(odd, -2.0));
                    }
                }
            });
    }
}

/// The nearest i32 towards zero: 2^31 and beyond become the largest, NaN becomes 0.
struct Conversion {
    double from;
    std::int32_t to;
};
constexpr std::int32_t largest = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t smallest = std::numeric_limits<std::int32_t>::min();
constexpr std::array<Conversion, 12> conversions{{{nan, 0},
                                                  {infinity, largest},
                                                  {-infinity, smallest},
                                                  {0x1p31, largest},
                                                  {-0x1p31, smallest},
                                                  {-0x1.8p31, smallest},
                                                  {1e30, largest},
                                                  {-1e30, smallest},
                                                  {2.9, 2},
                                                  {-2.9, -2},
                                                  {-0.5, 0},
                                                  {0x1p30, 1 << 30}}};
constexpr auto conversion_count = static_cast<Index>(conversions.size());

template <DType dtype>
struct Casts {
    static constexpr void record(Recorder& r) {
        const Tensor integers = cast(r.state("x", {conversion_count}, dtype), DType::i32);
        r.tap("out cast", integers);
        r.tap("out doubled", integers + integers);  // i32 arithmetic stays within i32 likewise
    }
};

template <class Real>
void check_casts() {
    run_on_both<Casts<dtype_of<Real>>>(
        [](auto& executor) {
            for (std::size_t i = 0; i < conversions.size(); ++i) {
                state_of<Real>(executor, "x")[i] = static_cast<Real>(conversions[i].from);
            }
        },
        [](auto& executor) {
            for (std::size_t i = 0; i < conversions.size(); ++i) {
                CAPTURE(conversions[i].from);
                const std::int64_t doubled = 2 * std::int64_t{conversions[i].to};
                CHECK(state_of<std::int32_t>(executor, "out cast")[i] == conversions[i].to);
                CHECK(state_of<std::int32_t>(executor, "out doubled")[i] == (doubled > largest ? largest
                                                                             : doubled < smallest
                                                                                 ? smallest
                                                                                 : static_cast<std::int32_t>(doubled)));
            }
        });
}

/// Quotients of i32, with the value that i32 has nearest to each.
struct IntegerQuotient {
    std::int32_t a;
    std::int32_t b;
    std::int32_t quotient;
};
constexpr std::array<IntegerQuotient, 14> quotients{{{7, 2, 3},
                                                     {-7, 2, -3},
                                                     {7, -2, -3},
                                                     {-7, -2, 3},
                                                     {6, 3, 2},
                                                     {1, 3, 0},
                                                     {-1, 3, 0},
                                                     {5, 0, largest},
                                                     {-5, 0, smallest},
                                                     {0, 0, 0},
                                                     {smallest, -1, largest},
                                                     {largest, -1, -largest},
                                                     {largest, 2, 1073741823},
                                                     {smallest, largest, -1}}};
constexpr auto quotient_count = static_cast<Index>(quotients.size());

struct IntegerQuotients {
    static constexpr void record(Recorder& r) {
        const Tensor a = r.state("a", {quotient_count}, DType::i32);
        const Tensor b = r.state("b", {quotient_count}, DType::i32);
        r.tap("out", a / b);
    }
};

struct Scalars {
    static constexpr void record(Recorder& r) {
        const Tensor total = r.state("total", {});
        const Tensor calls = r.state("calls", {}, DType::i32);
        r.store(total, total + reshape(sum(r.state("x", {5})), {}));
        r.store(calls, calls + 1.0);
        r.store(r.state("out constant", {}), r.constant(2.5));
        r.store(r.state("out row", {3}), expand(total, {3}) * 2.0);
    }
};

}  // namespace

TEST_CASE("maximum and minimum are NaN where one of their inputs is, in f32") {
    check_extremes<float>();
}

TEST_CASE("maximum and minimum are NaN where one of their inputs is, in f64") {
    check_extremes<double>();
}

TEST_CASE("a cast of f32 to i32 saturates, and gives 0 for NaN") {
    check_casts<float>();
}

TEST_CASE("a cast of f64 to i32 saturates, and gives 0 for NaN") {
    check_casts<double>();
}

TEST_CASE("states may be scalars") {
    run_on_both<Scalars>(
        [](auto& executor) {
            state_of<float>(executor, "total")[0] = 10;
            state_of<std::int32_t>(executor, "calls")[0] = 6;
            for (std::size_t i = 0; i < 5; ++i) {
                state_of<float>(executor, "x")[i] = static_cast<float>(i);
            }
        },
        [](auto& executor) {
            CHECK(state_of<float>(executor, "total")[0] == 20);
            CHECK(state_of<std::int32_t>(executor, "calls")[0] == 7);
            CHECK(state_of<float>(executor, "out constant")[0] == 2.5F);
            for (const float value : state_of<float>(executor, "out row")) {
                CHECK(value == 40);
            }
        });
}

TEST_CASE("a quotient of integers is cut towards zero, and one that is no i32 is the nearest") {
    run_on_both<IntegerQuotients>(
        [](auto& executor) {
            for (std::size_t i = 0; i < quotients.size(); ++i) {
                state_of<std::int32_t>(executor, "a")[i] = quotients[i].a;
                state_of<std::int32_t>(executor, "b")[i] = quotients[i].b;
            }
        },
        [](auto& executor) {
            for (std::size_t i = 0; i < quotients.size(); ++i) {
                const std::int32_t a = quotients[i].a;  // clang captures no structured binding
                const std::int32_t b = quotients[i].b;
                const std::int32_t quotient = quotients[i].quotient;
                CAPTURE(a);
                CAPTURE(b);
                CHECK(state_of<std::int32_t>(executor, "out")[i] == quotient);
                CHECK(elementwise<Op::divide, std::int32_t>(a, b, 0) == quotient);  // as a device computes it
            }
        });
}

TEST_CASE("the largest and the smallest number of a row are NaN where one of them is") {
    check_extremes_of_rows<float>();
    check_extremes_of_rows<double>();
}

TEST_CASE("the reference refuses a dtype that only stores") {
    std::array<std::uint16_t, 2> memory{};
    const cpu::TensorData stored{memory.data(), DType::bf16, Shape{2}};
    check_error(ErrorCode::invalid_argument, {"bf16"}, [&] { (void)stored.get(0); });
    check_error(ErrorCode::invalid_argument, {"bf16"}, [&] { stored.set(0, 1.0); });
    double loaded = 0;
    check_error(ErrorCode::invalid_argument, {"f16"},
                [&] { cpu::load_each(memory.data(), DType::f16, 0, 1, 1, &loaded); });
}
