// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/csv/profile.hpp>

#include <doctest/doctest.h>

#include "io/csv/column_of_cells.hpp"

using namespace totograph::io;
using column_of_cells::profile_of;

TEST_CASE("profile: names of clocks in other languages and letters") {
    for (const char* name : {"fecha", "Fecha_Hora", "TARİH", "Дата", "ДАТА", "Время", "日付", "날짜"}) {
        CAPTURE(name);
        CHECK(is_clock_name(name));
    }
    for (const char* name : {"данные", "日", "data", "값"}) {
        CAPTURE(name);
        CHECK_FALSE(is_clock_name(name));
    }
}

TEST_CASE("profile: times since 1970 are those from 2001 to 2096, in seconds and finer units") {
    CHECK(detail::epoch_power(999'999'999) == -1);
    CHECK(detail::epoch_power(1e9) == 0);
    CHECK(detail::epoch_power(3'999'999'999) == 0);
    CHECK(detail::epoch_power(4e9) == -1);
    CHECK(detail::epoch_power(1e12) == 1);
    CHECK(detail::epoch_power(1.7e18) == 3);
    CHECK(detail::epoch_power(1.7e21) == -1);
}

TEST_CASE("profile: numbers are regular where half of their distances agree, and three") {
    CHECK(detail::is_regular({0, 5, 10, 15, 16, 18, 27}, 0.1));
    CHECK_FALSE(detail::is_regular({0, 5, 10, 15, 16, 18, 27, 40}, 0.1));
    CHECK_FALSE(detail::is_regular({0, 1, 2, 9}, 0.1));
    CHECK(detail::is_regular({0, 1, 2}, 0.1));
    CHECK(detail::is_regular({0, 100, 209, 310, 400}, 0.1));
    CHECK_FALSE(detail::is_regular({0, 100, 209, 310, 400}, 0.001));
    CHECK_FALSE(detail::is_regular({7}, 0.1));
    CHECK_FALSE(detail::is_regular({7, 7, 7}, 0.1));
}

TEST_CASE("profile: a unit is that of the first number that has one, also of a zero") {
    CHECK(profile_of({"0 kB", "0 kB"}).unit == "kB");
    CHECK(profile_of({"0", "5 kB", "0"}).unit == "kB");
    CHECK_FALSE(profile_of({"0", "5 kB", "0"}).has_other_unit);
    CHECK(profile_of({"5 kB", "5"}).has_other_unit);
}

TEST_CASE("profile: dates in digits have one length") {
    CHECK(profile_of({"20240101", "20240102"}).is_date_in_digits());
    CHECK(profile_of({"202401", "202402"}).is_date_in_digits());
    CHECK_FALSE(profile_of({"20240101", "202402"}).is_date_in_digits());
    CHECK_FALSE(profile_of({"20240101", "20240199"}).is_date_in_digits());
}
