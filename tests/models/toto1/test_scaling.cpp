// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include <totograph/models/toto1/scaling.hpp>

using totograph::toto1::power_of_ten;

TEST_CASE("powers of ten are right, and end in infinity and 0 where f64 ends") {
    static_assert(power_of_ten(0) == 1 && power_of_ten(10) == 1e10);
    for (const double exponent : {-307.5, -10.0, -1.5, 0.25, 1.0, 2.75, 10.0, 100.0, 307.0, 308.0}) {
        CAPTURE(exponent);
        CHECK(power_of_ten(exponent) == doctest::Approx(std::pow(10.0, exponent)).epsilon(1e-13));
    }
    // While compiling, where an overflow would be an error.
    constexpr double infinity = std::numeric_limits<double>::infinity();
    static_assert(power_of_ten(309) == infinity && power_of_ten(1e300) == infinity);
    static_assert(power_of_ten(-309) == 0 && power_of_ten(-1e300) == 0);
    static_assert(power_of_ten(308.2) > 1.5e308 && power_of_ten(308.2) < infinity);
    static_assert(power_of_ten(-308.2) > 0);
}
