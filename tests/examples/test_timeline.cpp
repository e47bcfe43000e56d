// SPDX-License-Identifier: Apache-2.0
#include "../../examples/intake/timeline.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "../../examples/intake/season.hpp"

using namespace examples;
using Stamps = std::vector<std::string>;

TEST_CASE("equal intervals continue in the spelling of the last row") {
    CHECK(Timeline(Stamps{"2026-12-31T23:59:58Z", "2026-12-31T23:59:59Z"}).stamp(2) == "2027-01-01T00:00:00Z");
    CHECK(Timeline(Stamps{"2024-02-27", "2024-02-28"}).stamp(3) == "2024-03-01");
    CHECK(Timeline(Stamps{"2026-11-21 10:00", "2026-11-21 10:15"}).stamp(4) == "2026-11-21 11:00");
    CHECK(Timeline(Stamps{"2026-11-21T10:00:00+02:00", "2026-11-21T11:00:00+02:00"}).stamp(2) ==
          "2026-11-21T12:00:00+02:00");
    CHECK(Timeline(Stamps{"2026-11-21T10:00:00.25Z", "2026-11-21T10:00:00.50Z"}).stamp(3) == "2026-11-21T10:00:01.00Z");
}

TEST_CASE("rows inside the table keep the file's own text") {
    const Timeline timeline(Stamps{"2026-11-21T10:00:00Z", "2026-11-21T10:00:01Z", "2026-11-21T10:00:02Z"});
    CHECK(timeline.stamp(1) == "2026-11-21T10:00:01Z");
}

TEST_CASE("months continue on the calendar") {
    const Timeline monthly(Stamps{"2025-11-01", "2025-12-01", "2026-01-01"});
    CHECK(monthly.kind() == Timeline::Kind::months);
    CHECK(monthly.stamp(4) == "2026-03-01");
    CHECK(Timeline(Stamps{"2025-11-30", "2025-12-31", "2026-01-31"}).stamp(3) == "2026-02-28");
    CHECK(Timeline(Stamps{"2024-02-29", "2025-02-28"}).stamp(2) == "2026-02-28");
    CHECK(Timeline(Stamps{"2020-01-01", "2021-01-01", "2022-01-01"}).stamp(3) == "2023-01-01");
}

TEST_CASE("months with names, quarters and last workdays continue") {
    CHECK(Timeline(Stamps{"Nov 2025", "Dec 2025", "Jan 2026"}).stamp(4) == "Mar 2026");
    CHECK(Timeline(Stamps{"2025Q3", "2025Q4", "2026Q1"}).stamp(5) == "2026Q4");
    // 2024-06-30 was a Sunday, 2024-08-31 a Saturday.
    const Timeline workdays(Stamps{"2024-03-29", "2024-04-30", "2024-05-31"});
    CHECK(workdays.kind() == Timeline::Kind::months);
    CHECK(workdays.stamp(3) == "2024-06-28");
    CHECK(workdays.stamp(5) == "2024-08-30");
    CHECK(workdays.stamp(1'000'000).empty());  // 64 bits do not reach so far
    // Its zone was an hour nearer to UTC in January.
    const Timeline summer(
        Stamps{"2024-01-01T00:00:00+01:00", "2024-03-01T00:00:00+01:00", "2024-05-01T00:00:00+02:00"});
    CHECK(summer.stamp(3) == "2024-07-01T00:00:00+02:00");
}

TEST_CASE("days without weekends go on without them") {
    // From Monday, 2024-03-04, to Wednesday, 2024-03-20; Friday, the 15th, was a holiday.
    Stamps stamps;
    for (const char* day : {"04", "05", "06", "07", "08", "11", "12", "13", "14", "18", "19", "20"}) {
        stamps.push_back("2024-03-" + std::string(day));
    }
    const Timeline days(stamps);
    CHECK(days.are_workdays());
    CHECK(days.stamp(11) == "2024-03-20");
    CHECK(days.stamp(12) == "2024-03-21");
    CHECK(days.stamp(13) == "2024-03-22");
    CHECK(days.stamp(14) == "2024-03-25");
    CHECK(days.stamp(11 + 260) == "2025-03-19");
    // On the clock of New York, which daylight saving moved on 2024-03-10.
    Stamps closing;
    for (std::size_t row = 0; row < stamps.size(); ++row) {
        closing.push_back(stamps[row] + (row < 5 ? "T00:00:00-05:00" : "T00:00:00-04:00"));
    }
    CHECK(Timeline(closing).stamp(14) == "2024-03-25T00:00:00-04:00");
    std::reverse(closing.begin(), closing.end());
    CHECK_FALSE(Timeline(closing).continues());
    // The same days in seconds and in milliseconds since 1970, at 14:30 UTC.
    Stamps seconds;
    Stamps milliseconds;
    for (const std::string& day : stamps) {
        const std::int64_t date = 1709510400 + (std::stoll(day.substr(8)) - 4) * 86400 + 52200;
        seconds.push_back(std::to_string(date));
        milliseconds.push_back(std::to_string(date * 1000));
    }
    CHECK(Timeline(seconds).are_workdays());
    CHECK(Timeline(seconds).stamp(13) == std::to_string(1709510400 + 18 * 86400 + 52200));
    CHECK(Timeline(seconds).stamp(14) == std::to_string(1709510400 + 21 * 86400 + 52200));
    CHECK(Timeline(milliseconds).stamp(14) == std::to_string(1709510400 + 21 * 86400 + 52200) + "000");
    // A week tells nothing, nor do days on which a weekend is.
    CHECK(Timeline(Stamps(stamps.begin(), stamps.begin() + 5)).stamp(5) == "2024-03-09");
    stamps.back() = "2024-03-23";
    CHECK(Timeline(stamps).stamp(12) == "2024-03-24");
}

TEST_CASE("a skipped beat does not matter, disorder does") {
    CHECK(
        Timeline(Stamps{"2026-11-21T10:00:00Z", "2026-11-21T10:00:01Z", "2026-11-21T10:00:03Z", "2026-11-21T10:00:04Z"})
            .stamp(4) == "2026-11-21T10:00:05Z");
    CHECK(!Timeline(Stamps{"2026-11-21", "2026-11-23", "2026-11-29", "2026-12-25"}).continues());
    CHECK(!Timeline(Stamps{"2026-11-23", "2026-11-22", "2026-11-21"}).continues());
    CHECK(!Timeline(Stamps{"2026-11-21", "2026-11-21", "2026-11-21"}).continues());
}

TEST_CASE("whole numbers continue, epoch times are known as such") {
    const Timeline counter(Stamps{"10", "20", "30"});
    CHECK(counter.stamp(4) == "50");
    CHECK(counter.epoch_unit() == 0);
    const Timeline seconds(Stamps{"1763690000", "1763690060"});
    CHECK(seconds.stamp(2) == "1763690120");
    CHECK(seconds.epoch_unit() == 1'000'000'000);
    CHECK(Timeline(Stamps{"1763690000000", "1763690060000"}).epoch_unit() == 1'000'000);
    CHECK(Timeline(Stamps{"1763690000000000000", "1763690060000000000"}).epoch_unit() == 1);
}

TEST_CASE("epoch times of months are months") {
    const Timeline months(Stamps{"1672531200", "1675209600", "1677628800", "1680307200"});
    CHECK(months.kind() == Timeline::Kind::months);
    CHECK(months.stamp(5) == "1685577600");
    CHECK(months.calendar_later(1) == 1'682'899'200'000'000'000);
    CHECK(season_of(months) == 12);
}

TEST_CASE("two days of each month go on so, in a season of a year") {
    const Timeline halves(Stamps{"2024-01-15", "2024-01-31", "2024-02-15", "2024-02-29"});
    CHECK(halves.kind() == Timeline::Kind::instants);
    CHECK(halves.stamp(7) == "2024-04-30");
    CHECK(season_of(halves) == 24);
    const Timeline epochs(Stamps{"1705276800", "1706659200", "1707955200", "1709164800"});
    CHECK(epochs.stamp(5) == "1711843200");
    CHECK(season_of(epochs) == 24);
}

TEST_CASE("what cannot be continued says so") {
    for (const Stamps& stamps : {Stamps{}, Stamps{"2026-11-21"}, Stamps{"monday", "tuesday"}, Stamps{"2026-11-21", ""},
                                 Stamps{"1", "2026-11-21"}, Stamps{"9223372036854775807", "1"}}) {
        const Timeline timeline(stamps);
        CHECK(!timeline.continues());
        CHECK(timeline.stamp(static_cast<std::int64_t>(stamps.size())).empty());
    }
    const Timeline far(Stamps{"0", "4000000000000000000"});
    CHECK(far.stamp(100).empty());
}
