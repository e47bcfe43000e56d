// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/time/clock.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace totograph::io;
using Stamps = std::vector<std::string>;
using Times = std::vector<std::int64_t>;

constexpr std::int64_t day = 86'400'000'000'000;

TEST_CASE("clock: what a column holds") {
    CHECK(read_clock({}).kind == Clock::Kind::none);
    CHECK(read_clock(Stamps{"", ""}).kind == Clock::Kind::labels);
    CHECK(read_clock(Stamps{"monday", "tuesday"}).kind == Clock::Kind::labels);
    CHECK(read_clock(Stamps{"2024-01-01", "7"}).kind == Clock::Kind::labels);  // of two kinds
    CHECK(read_clock(Stamps{"1970-01-01", "", "1970-01-02"}).times == Times{0, Clock::unknown, day});
    CHECK(read_clock(Stamps{"19700102", "19700103"}).times == Times{day, 2 * day});
    CHECK(read_clock(Stamps{"1970Q1", "1970Q2"}).times == Times{0, 90 * day});
    CHECK(read_clock(Stamps{"2/1/1970"}, DateOrder::month_first).times == Times{31 * day});
}

TEST_CASE("clock: times are spelled as all of a column show together") {
    const auto next = [](const Stamps& stamps, std::int64_t step, DateOrder order = DateOrder::year_first) {
        const Clock clock = read_clock(stamps, order);
        return clock.text(clock.times.back() + step);
    };
    CHECK(next({"2024-01-01T00:00:00.500000", "2024-01-01T00:00:01"}, 500'000'000) == "2024-01-01T00:00:01.500000");
    CHECK(next({"2024-01-01 23:00:00", "2024-01-02"}, day / 24) == "2024-01-02 01:00:00");
    CHECK(next({"10/9/2023", "10/16/2023"}, 19 * day, DateOrder::month_first) == "11/4/2023");
    CHECK(next({"10/09/2023", "10/16/2023"}, 19 * day, DateOrder::month_first) == "11/04/2023");
}

TEST_CASE("clock: hours, minutes and seconds that touch are as many as any time of the column has") {
    const Clock clock = read_clock({"20240101T00", "20240101T003015", "20240101T01"});
    REQUIRE(clock.kind == Clock::Kind::instants);
    CHECK(clock.text(clock.times[0]) == "20240101T000000");
    CHECK(read_clock({"20240101T00", "20240101T01"}).text(clock.times[0]) == "20240101T00");
    CHECK(read_clock({"20240101", "20240101T01"}).kind == Clock::Kind::labels);
}

TEST_CASE("clock: numbers keep their decimals") {
    const Clock clock = read_clock(Stamps{"1.5", "-0.25", "3e0"});
    CHECK(clock.kind == Clock::Kind::numbers);
    CHECK(clock.times == Times{150, -25, 300});
    CHECK(clock.text(-25) == "-0.25");
    CHECK(clock.text(5) == "0.05");
    CHECK(clock.epoch_unit == 0);
    CHECK(read_clock(Stamps{"1700000000"}).epoch_unit == 1'000'000'000);
    CHECK(read_clock(Stamps{"1700000000000"}).epoch_unit == 1'000'000);
    CHECK(read_clock(Stamps{"1700000000", ""}).epoch_unit == 1'000'000'000);
    CHECK(read_clock(Stamps{"1000000000"}).epoch_unit == 1'000'000'000);
    CHECK(read_clock(Stamps{"999999999"}).epoch_unit == 0);
    CHECK(read_clock(Stamps{"3999999999"}).epoch_unit == 1'000'000'000);
    CHECK(read_clock(Stamps{"4000000000"}).epoch_unit == 0);
    // Days of a spreadsheet, in hours: what is behind nine decimals is rounded.
    const Clock days = read_clock(Stamps{"45292", "45292.041666666664", "45292.08333333333", "-0.00000000051"});
    CHECK(days.kind == Clock::Kind::numbers);
    CHECK(days.times == Times{45'292'000'000'000, 45'292'041'666'667, 45'292'083'333'333, -1});
    CHECK(days.text(days.times[1]) == "45292.041666667");
    CHECK(read_clock(Stamps{"0.12345678901x"}).kind == Clock::Kind::labels);
    CHECK(parse_count("1.25", 2) == 125);
    CHECK(!parse_count("1.25", 1));
    // A number as large as that has no neighbours.
    CHECK(read_clock(Stamps{"5000000000000000000"}).kind == Clock::Kind::labels);
    // Times that rounding would make one are none.
    CHECK(read_clock(Stamps{"0.0000000001", "0.0000000002"}).kind == Clock::Kind::labels);
    CHECK(read_clock(Stamps{"0.1234567891", "", "0.1234567891"}).kind == Clock::Kind::numbers);
    for (const char* same : {"0.12345678900", "+0.123456789", "00.1234567890", ".1234567890"}) {
        CAPTURE(same);
        CHECK(read_clock(Stamps{"0.1234567890", same}).kind == Clock::Kind::numbers);
    }
    CHECK(read_clock(Stamps{"-0.0000000000", "0"}).kind == Clock::Kind::numbers);
    CHECK(read_clock(Stamps{"0.1234567890", "0.12345678901"}).kind == Clock::Kind::labels);
    CHECK(read_clock(Stamps{"0.0000000001", "-0.0000000001"}).kind == Clock::Kind::labels);
}

TEST_CASE("clock: distances that 64 bits do not hold are the nearest one") {
    CHECK(time_between(5, 3) == -2);
    CHECK(time_between(-2, std::numeric_limits<std::int64_t>::max()) == std::numeric_limits<std::int64_t>::max());
    CHECK(time_between(std::numeric_limits<std::int64_t>::max(), -2) == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("clock: dates decide their order together") {
    CHECK(decide_dates({"1/2/2024", "13/2/2024", ""}).order == DateOrder::day_first);
    CHECK(decide_dates({"1/2/2024", "2/13/2024"}).order == DateOrder::month_first);
    CHECK(decide_dates({"2024-01-02", "5 Jan 2024"}).order == DateOrder::year_first);
    CHECK(decide_dates({"1/2/2024", "3/4/2024"}).is_unclear);
    CHECK(!decide_dates({"13/2/2024", "2/13/2024"}).order);
}

TEST_CASE("clock: dates in digits are read and spelled alike") {
    for (const char* text : {"190001", "202412", "20240229", "2024022923", "202402292359", "20240229235959"}) {
        CAPTURE(text);
        const auto stamp = parse_date_in_digits(text);
        REQUIRE(stamp);
        CHECK(timestamp_text(stamp->instant, stamp->style) == text);
    }
    CHECK(parse_date_in_digits("1970010201")->instant == day + day / 24);
    // An hour of 24 is midnight at the end of the day.
    CHECK(parse_date_in_digits("1970010124")->instant == day);
    CHECK(timestamp_text(day, parse_date_in_digits("1970010124")->style) == "1970010200");
    CHECK(parse_date_in_digits("18500131"));  // days alone may be as old as that
}

TEST_CASE("clock: epoch times and counters are no dates in digits") {
    for (const char* text : {"",
                             "2024",
                             "20241",
                             "2024013",
                             "202400",
                             "202413",
                             "189912",
                             "210101",
                             "2024-1",
                             "2024.1",
                             "+20241",
                             "20240230",
                             "2024013125",
                             "202401312401",
                             "202401312360",
                             "20240131235960",
                             "1704067200",
                             "1700000000",
                             "2024010100000",
                             "1704067200000",
                             "2024010100000000"}) {
        CAPTURE(text);
        CHECK(!parse_date_in_digits(text));
    }
    CHECK(read_clock(Stamps{"202011", "202012", "202101"}).kind == Clock::Kind::instants);
    CHECK(read_clock(Stamps{"202011", "202012", "202013"}).kind == Clock::Kind::numbers);
    CHECK(read_clock(Stamps{"2024010100", "2024010199"}).kind == Clock::Kind::numbers);
    CHECK(read_clock(Stamps{"202401", "20240201"}).kind == Clock::Kind::numbers);  // of two lengths
    CHECK(read_clock(Stamps{"1704067200", "1704070800"}).epoch_unit == 1'000'000'000);
    CHECK(read_clock(Stamps{"197001", "", "197002"}).times == Times{0, Clock::unknown, 31 * day});
}
