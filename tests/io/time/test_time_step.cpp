// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/time/time_step.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace totograph::io;
using Stamps = std::vector<std::string>;
using Kind = TimeStep::Kind;

namespace {

TimeStep step_of(const Stamps& stamps) {
    return find_time_step(read_clock(stamps));
}

/// The date so many steps after the last one.
std::string later(const Stamps& stamps, std::int64_t steps) {
    const Clock clock = read_clock(stamps);
    return clock.text(find_time_step(clock).later(clock.times.back(), steps));
}

}  // namespace

TEST_CASE("time step: even intervals, though some are odd") {
    CHECK(step_of({"1", "3", "5", "7"}).length == 2);
    CHECK(step_of({"1", "2", "3", "7", "8", "9"}).length == 1);
    CHECK(step_of({"0", "100", "201", "300", "401", "502"}).length == 101);       // the most frequent of those near
    CHECK(step_of({"0", "10", "20", "31", "42"}).length == 10);                   // the shorter of as frequent ones
    CHECK(later({"2024-01-04", "2024-01-05", "2024-01-08"}, 1) == "2024-01-09");  // from Thursday to Monday
    CHECK(later({"2024-01-04", "2024-01-05", "2024-01-08", "2024-01-09", "2024-01-12"}, 1) == "2024-01-13");
    CHECK(step_of({"1", "2", "9", "40"}).kind == Kind::uneven);
    CHECK(step_of({"5"}).kind == Kind::uneven);
    CHECK(step_of({"5", "5", "5"}).kind == Kind::uneven);
    CHECK(step_of({"2024-01-01", "2024-01-02", "2024-01-03", "2024-01-05"}).length == 86'400'000'000'000);
}

TEST_CASE("time step: one that is rounded does not drift") {
    const auto rounded = [](int rows, int every, int unit) {  // as whole numbers, `unit` a second
        Stamps stamps;
        for (int row = 0; row < rows; ++row) {
            stamps.push_back(std::to_string((2 * row * unit + every) / (2 * every)));
        }
        return stamps;
    };
    // 30 a second, in milliseconds: 3,000 rows ahead are 100 s, where 33 ms a row would be 99 s.
    const Stamps frames = rounded(601, 30, 1000);
    CHECK(step_of(frames).length == 33);
    CHECK(frames.back() == "20000");
    CHECK(later(frames, 1) == "20033");
    CHECK(later(frames, 3) == "20100");
    CHECK(later(frames, 3000) == "120000");
    CHECK(later(rounded(241, 60, 1000), -240) == "0");
    // Each time ahead is as rounded as the rows are, up or down, from whichever row they go on.
    for (const int every : {7, 24, 30, 60}) {
        CAPTURE(every);
        const Stamps all = rounded(500, every, 1000);
        for (std::size_t known = 300; known < 303; ++known) {
            const Stamps rows(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(known));
            for (std::size_t ahead = 1; ahead <= 100; ++ahead) {
                CHECK(later(rows, static_cast<std::int64_t>(ahead)) == all[known + ahead - 1]);
            }
        }
    }
    Stamps gaps = frames;
    gaps.erase(gaps.begin() + 100, gaps.begin() + 140);
    CHECK(later(gaps, 3000) == "120000");
    for (const int lost : {60, 600}) {
        CAPTURE(lost);
        Stamps long_gap = rounded(1201, 30, 1000);
        long_gap.erase(long_gap.begin() + 100, long_gap.begin() + 100 + lost);
        CHECK(later(long_gap, 3000) == "140000");
        long_gap.resize(long_gap.size() - 300);
        CHECK(later(long_gap, 300) == "40000");
    }
    CHECK(step_of(frames).reaches(20'000, 1'000'000'000'000));
    // No rounding: days by a clock that was set once, and intervals that come as they like.
    Stamps days;
    for (int day = 0; day < 40; ++day) {
        days.push_back(std::to_string(1000 * day + (day < 20 ? 0 : 50)));
    }
    CHECK(later(days, 1000) == std::to_string(1'000'000 + 39'050));
    CHECK(later({"0", "10", "20", "30", "40", "51", "62", "73", "84"}, 8) == "164");
    CHECK(later({"0", "100", "201", "300", "401", "502", "602", "703", "803"}, 2) == "1005");  // three intervals
    // As they stand, rows may end where they began.
    const Stamps round_trip = {"0", "10", "21", "31", "42", "52", "63", "73", "84", "0"};
    CHECK(step_of(round_trip).turns_a_step == 0);
    CHECK(later(round_trip, 8) == "80");
}

TEST_CASE("time step: whole months, on the same or the last day") {
    CHECK(step_of({"2024-01-15", "2024-02-15", "2024-05-15"}).length == 1);
    CHECK(step_of({"2023-03-31", "2023-06-30", "2023-12-31"}).length == 3);
    CHECK(step_of({"2024-01-15", "2024-02-16", "2024-03-15"}).kind != Kind::months);
    CHECK(step_of({"2024-01-01", "2024-03-01", "2024-06-01"}).kind != Kind::months);  // two and three
    CHECK(later({"2024-01-31", "2024-02-29"}, 1) == "2024-03-31");
    CHECK(later({"2023-01-30", "2023-02-28", "2023-03-30"}, 1) == "2023-04-30");
    CHECK(later({"2023-02-28", "2023-04-30"}, 2) == "2023-08-31");
    CHECK(later({"2024-11-15", "2024-12-15"}, -13) == "2023-11-15");
    CHECK(later({"2024-Q3", "2024-Q4"}, 2) == "2025-Q2");
}

TEST_CASE("time step: two days of each month") {
    const Stamps halves = {"2024-01-15", "2024-01-31", "2024-02-15", "2024-02-29"};
    CHECK(step_of(halves).kind == Kind::half_months);
    CHECK(later(halves, 2) == "2024-03-31");
    CHECK(later(halves, 24) == "2025-02-28");
    constexpr double day = 86'400e9;
    CHECK(step_of(halves).mean() == doctest::Approx(365.2425 / 24 * day));
    CHECK(step_of(halves).reaches(1'709'164'800'000'000'000, 5000));
    CHECK_FALSE(step_of(halves).reaches(1'709'164'800'000'000'000, 6000));
}

TEST_CASE("time step: two days of each month, in epoch times") {
    // The 15th and the last one of January and February 2024.
    const Stamps seconds = {"1705276800", "1706659200", "1707955200", "1709164800"};
    CHECK(step_of(seconds).kind == Kind::half_months);
    CHECK(later(seconds, 1) == "1710460800");
    CHECK(later(seconds, 2) == "1711843200");  // 31 March
    CHECK(later(seconds, 3) == "1713139200");
    CHECK(later({"1705276800.5", "1706659200.5", "1707955200.5", "1709164800.5"}, 2) == "1711843200.5");
    CHECK(later({"1705276800000", "1706659200000", "1707955200000", "1709164800000"}, -3) == "1705276800000");
    CHECK(step_of(seconds).mean() == doctest::Approx(365.2425 / 24 * 86'400));
    CHECK(step_of(seconds).calendar_steps(1'705'276'800, 1'711'843'200) == 5);
    CHECK(step_of(seconds).reaches(1'709'164'800, 5000));
    CHECK_FALSE(step_of(seconds).reaches(1'709'164'800, 6000));
    // A counter has no months.
    CHECK(step_of({"17052768", "17066592", "17079552", "17091648"}).kind != Kind::half_months);
}

TEST_CASE("time step: months of epoch times") {
    // The first days of January to April 2023, in seconds and in thousandths; and those of every year, with decimals.
    const Stamps seconds = {"1672531200", "1675209600", "1677628800", "1680307200"};
    CHECK(step_of(seconds).kind == Kind::months);
    CHECK(later(seconds, 1) == "1682899200");
    CHECK(later(seconds, 9) == "1704067200");  // 2024-01-01
    CHECK(later({"1672531200000", "1675209600000", "1680307200000"}, -1) == "1677628800000");
    CHECK(later({"1577836800.5", "1609459200.5", "1640995200.5"}, 2) == "1704067200.5");
    CHECK(step_of(seconds).reaches(1'680'307'200, 2700));
    CHECK_FALSE(step_of(seconds).reaches(1'680'307'200, 2800));
    // Days, one that is as far from the next as a month is long, and counters that are no times.
    CHECK(step_of({"1672531200", "1672617600", "1672704000", "1675382400"}).length == 86'400);
    CHECK(step_of({"16725312", "16752096", "16776288", "16803072"}).kind == Kind::even);
    CHECK(step_of({"1000000000000", "1672531200"}).kind == Kind::uneven);
}

TEST_CASE("time step: what lies beyond the nanoseconds is not reached") {
    constexpr std::int64_t in_2020 = 1'577'836'800'000'000'000;
    const TimeStep years{Kind::months, 12, {}};
    CHECK(years.reaches(in_2020, 200));
    CHECK_FALSE(years.reaches(in_2020, 300));
    CHECK_FALSE(years.reaches(in_2020, -400));
    const TimeStep tens{Kind::even, 10, {}};
    CHECK(tens.reaches(-5, 899'999'999'999'999'999));
    CHECK_FALSE(tens.reaches(5, std::numeric_limits<std::int64_t>::max()));
    // The distance is beyond 64 bits, though the time there is not.
    const TimeStep long_ones{Kind::even, 1'000'000'000'000'000'000, {}};
    CHECK_FALSE(long_ones.reaches(-4'000'000'000'000'000'000, 12));
    CHECK(long_ones.reaches(-4'000'000'000'000'000'000, 9));
    CHECK_FALSE(years.reaches(in_2020, std::numeric_limits<std::int64_t>::max() / 2));
}

TEST_CASE("time step: months although daylight saving moves the clock") {
    // Those in Berlin, as it spells them, and as UTC does.
    const Stamps winter_last = {"2024-09-01T00:00:00+02:00", "2024-10-01T00:00:00+02:00", "2024-11-01T00:00:00+01:00"};
    CHECK(step_of(winter_last).kind == Kind::months);
    CHECK(later(winter_last, 1) == "2024-12-01T00:00:00+01:00");
    const Stamps summer_last = {"2024-02-29T00:00:00+01:00", "2024-03-31T00:00:00+01:00", "2024-04-30T00:00:00+02:00"};
    CHECK(step_of(summer_last).kind == Kind::months);
    CHECK(later(summer_last, 1) == "2024-05-31T00:00:00+02:00");
    CHECK(step_of({"2024-01-31T23:00:00Z", "2024-02-29T23:00:00Z", "2024-03-31T22:00:00Z"}).kind == Kind::months);
    CHECK(step_of({"2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z", "2024-03-01T03:00:00Z"}).kind != Kind::months);
    // The last days there, which begin on the days before them elsewhere.
    const Stamps last_days = {"2024-01-30T23:00:00Z", "2024-02-28T23:00:00Z", "2024-03-30T23:00:00Z"};
    CHECK(later(last_days, 1) == "2024-04-29T23:00:00Z");
    CHECK(later(last_days, 11) == "2025-02-27T23:00:00Z");
    CHECK(later({"2023-09-29T22:00:00Z", "2023-12-30T23:00:00Z", "2024-03-30T23:00:00Z"}, 1) == "2024-06-29T23:00:00Z");
    CHECK(step_of({"2024-01-30", "2024-02-28"}).kind == Kind::even);  // two tell of no rule
}

TEST_CASE("time step: the first and the last workdays of months") {
    // 2024-03-29 was a holiday in places: the last workday is a day earlier there.
    for (const char* march : {"2024-03-29", "2024-03-28"}) {
        const Stamps stamps = {"2024-01-31", "2024-02-29", march, "2024-05-31"};
        CHECK(step_of(stamps).length == 1);
        CHECK(later(stamps, 1) == "2024-06-28");  // the 30th was a Sunday
        CHECK(later(stamps, 3) == "2024-08-30");  // the 31st was a Saturday
    }
    const Stamps first = {"2024-01-02", "2024-02-01", "2024-03-01"};
    CHECK(step_of(first).length == 1);
    CHECK(later(first, 3) == "2024-06-03");  // the 1st was a Saturday
    CHECK(step_of({"2024-01-31", "2024-02-01", "2024-03-01"}).kind != Kind::months);
    CHECK(step_of({"2024-03-30", "2024-04-30", "2024-05-29"}).kind != Kind::months);  // a Saturday among them
    // Holidays move them by so much, and not by more; two rows follow no rule.
    CHECK(step_of({"2023-01-27", "2023-02-28", "2023-03-31"}).kind == Kind::months);
    CHECK(step_of({"2024-01-26", "2024-02-29", "2024-03-29"}).kind != Kind::months);
    CHECK(step_of({"2021-04-05", "2021-05-03", "2021-06-01"}).kind == Kind::months);
    CHECK(step_of({"2021-04-06", "2021-05-03", "2021-06-01"}).kind != Kind::months);
    CHECK(step_of({"2024-01-31", "2024-02-28"}).kind == Kind::even);
}
