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

TEST_CASE("clock: numbers keep their decimals") {
    const Clock clock = read_clock(Stamps{"1.5", "-0.25", "3e0"});
    CHECK(clock.kind == Clock::Kind::numbers);
    CHECK(clock.times == Times{150, -25, 300});
    CHECK(clock.text(-25) == "-0.25");
    CHECK(clock.text(5) == "0.05");
    CHECK(clock.epoch_unit == 0);
    CHECK(read_clock(Stamps{"1700000000"}).epoch_unit == 1'000'000'000);
    CHECK(read_clock(Stamps{"1700000000000"}).epoch_unit == 1'000'000);
    // A number as large as that has no neighbours.
    CHECK(read_clock(Stamps{"5000000000000000000"}).kind == Clock::Kind::labels);
    CHECK(read_clock(Stamps{"0.1234567891"}).kind == Clock::Kind::labels);
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
