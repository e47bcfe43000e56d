// SPDX-License-Identifier: Apache-2.0
#include "../../examples/common/time_axis.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace examples;

namespace {

std::vector<std::string> labels_of(const TimeAxis& axis) {
    std::vector<std::string> labels;
    for (const TimeTick& tick : axis.ticks) {
        labels.push_back(tick.label);
    }
    return labels;
}

using Labels = std::vector<std::string>;

}  // namespace

TEST_CASE("seconds, minutes and midnight") {
    const Timeline timeline({"2026-11-21T23:58:59Z", "2026-11-21T23:59:00Z"});
    const TimeAxis axis = time_axis(timeline, 1, 121, 61, 5);
    CHECK(labels_of(axis) == Labels{"23:59:00", "23:59:30", "Nov 22", "00:00:30", "00:01:00"});
    CHECK(axis.ticks[1].row == doctest::Approx(31));
    CHECK(axis.caption == "2026-11-21 to 2026-11-22 UTC, one step is 1 s");
}

TEST_CASE("ticks stand on the clock of the file's zone") {
    const Timeline timeline({"2026-11-21T09:30:00+05:30", "2026-11-21T10:30:00+05:30"});
    const TimeAxis axis = time_axis(timeline, 0, 6, 2, 4);
    CHECK(labels_of(axis) == Labels{"10:00", "12:00", "14:00"});
    CHECK(axis.ticks[0].row == doctest::Approx(0.5));
    CHECK(axis.caption == "2026-11-21 UTC+05:30, one step is 1 h");
}

TEST_CASE("days, weeks from Monday, months and years") {
    const Timeline daily({"2026-11-20", "2026-11-21"});
    CHECK(labels_of(time_axis(daily, 0, 3, 2, 5)) == Labels{"Nov 20", "Nov 21", "Nov 22", "Nov 23"});
    CHECK(labels_of(time_axis(daily, 0, 21, 2, 4)) == Labels{"Nov 23", "Nov 30", "Dec 7"});
    CHECK(labels_of(time_axis(daily, 0, 100, 2, 5)) == Labels{"Dec", "2027", "Feb"});
    CHECK(labels_of(time_axis(daily, 0, 1500, 2, 5)) == Labels{"2027", "2028", "2029", "2030"});
}

TEST_CASE("workdays have no place for weekends") {
    // Three weeks from Monday, 2024-03-04, on; prices at 16:00 as well as days.
    for (const char* time : {"", " 16:00"}) {
        CAPTURE(time);
        std::vector<std::string> stamps;
        for (const char* day : {"04", "05", "06", "07", "08", "11", "12", "13", "14", "15", "18", "19", "20", "21"}) {
            stamps.push_back("2024-03-" + std::string(day) + time);
        }
        const Timeline workdays(stamps);
        const TimeAxis weeks = time_axis(workdays, 0, 20, 14, 5);
        const bool is_day = stamps[0].size() == 10;
        CHECK(labels_of(weeks) == (is_day ? Labels{"Mar 4", "Mar 11", "Mar 18", "Mar 25", "Apr 1"}
                                          : Labels{"Mar 11", "Mar 18", "Mar 25", "Apr 1"}));
        CHECK(weeks.ticks.back().row == doctest::Approx(is_day ? 20 : 20 - 2.0 / 3));
        CHECK(weeks.caption == "2024-03-04 to 2024-04-01, one step is 1 workday");
        const TimeAxis days = time_axis(workdays, 11, 16, 14, 9);
        CHECK(labels_of(days) == (is_day ? Labels{"Mar 19", "Mar 20", "Mar 21", "Mar 22", "Mar 25", "Mar 26"}
                                         : Labels{"Mar 20", "Mar 21", "Mar 22", "Mar 25", "Mar 26"}));
    }
}

TEST_CASE("rows on two days of each month") {
    const Timeline halves({"2024-01-15", "2024-01-31", "2024-02-15", "2024-02-29"});
    const TimeAxis axis = time_axis(halves, 0, 13, 4, 4);
    CHECK(labels_of(axis) == Labels{"Mar", "May", "Jul"});
    CHECK(axis.ticks.at(0).row == doctest::Approx(3 + 1.0 / 15));  // a day behind 29 February
    CHECK(axis.ticks.at(2).row == doctest::Approx(11 + 1.0 / 15));
    CHECK(axis.caption == "2024-01-15 to 2024-07-31, one step is half a month");
    const Timeline epochs({"1705276800", "1706659200", "1707955200", "1709164800"});
    CHECK(time_axis(epochs, 0, 13, 4, 4).caption == "2024-01-15 to 2024-07-31 UTC, one step is half a month");
    const Timeline far({"2240-01-15", "2240-01-31", "2240-02-15", "2240-02-29"});
    CHECK(time_axis(far, 0, 360, 4, 4).caption == "2240-01-15 to 2255-01-15, one step is half a month");
    CHECK(labels_of(time_axis(far, 0, 360, 4, 4)) == Labels{"2245", "2250", "2255"});
}

TEST_CASE("behind the last year that nanoseconds count steps are numbered") {
    const Timeline years({"2020-01-01", "2021-01-01", "2022-01-01"});
    CHECK(time_axis(years, 0, 200, 3, 4).caption == "one step is 1 year");
    const TimeAxis beyond = time_axis(years, 0, 338, 3, 4);
    CHECK(beyond.caption == "steps after the last observation");
    CHECK(labels_of(beyond) == Labels{"0", "100", "200", "300"});
    const Timeline far({"2240-01-01", "2240-01-31", "2240-03-01"});
    CHECK(time_axis(far, 0, 150, 3, 4).caption == "2240-01-01 to 2252-04-27, one step is 30 days");
    CHECK(time_axis(far, 0, 300, 3, 4).caption == "steps after the last observation");
}

TEST_CASE("rows of whole months") {
    const Timeline monthly({"2025-11-01", "2025-12-01", "2026-01-01"});
    const TimeAxis axis = time_axis(monthly, 0, 11, 3, 5);
    CHECK(labels_of(axis) == Labels{"2026", "Apr", "Jul", "Oct"});
    CHECK(axis.caption == "one step is 1 month");
    const Timeline epochs({"1761955200", "1764547200", "1767225600"});
    CHECK(labels_of(time_axis(epochs, 0, 11, 3, 5)) == Labels{"2026", "Apr", "Jul", "Oct"});
    const Timeline yearly({"2020-07-01", "2021-07-01"});
    CHECK(labels_of(time_axis(yearly, 0, 3, 2, 6)) == Labels{"2020", "2021", "2022", "2023"});
    CHECK(time_axis(yearly, 0, 3, 2, 6).caption == "one step is 1 year");
}

TEST_CASE("ticks do not drift where the step is rounded") {
    // 30 rows a second, in milliseconds since 1970 and since the first of them.
    for (const std::int64_t first : {std::int64_t{1'763'690'400'000}, std::int64_t{0}}) {
        CAPTURE(first);
        std::vector<std::string> stamps;
        for (std::int64_t row = 0; row <= 600; ++row) {
            stamps.push_back(std::to_string(first + (200 * row + 3) / 6));
        }
        const TimeAxis axis = time_axis(Timeline(stamps), 0, 3600, 601, 4);
        REQUIRE(axis.ticks.size() >= 3);
        // 601 rows that are rounded tell their step to a few millionths.
        CHECK(axis.ticks.back().row == doctest::Approx(first == 0 ? 3000 : 3600).epsilon(1e-5));
        CHECK(axis.ticks.back().label == (first == 0 ? "100k" : "02:02:00"));
        CHECK((first == 0 || axis.caption == "2025-11-21 UTC, one step is 33.33 ms"));
    }
}

TEST_CASE("epoch numbers read as times, counters as numbers") {
    const Timeline epoch({"1763690400", "1763690460"});
    CHECK(labels_of(time_axis(epoch, 0, 10, 5, 4)) == Labels{"02:00", "02:05", "02:10"});
    const Timeline counter({"10", "20", "30"});
    CHECK(labels_of(time_axis(counter, 0, 4, 3, 5)) == Labels{"10", "20", "30", "40", "50"});
}

TEST_CASE("labels of numbers have the decimals that the numbers have") {
    const Timeline halves({"0.5", "1.0", "1.5"});
    const TimeAxis axis = time_axis(halves, 0, 3, 2, 5);
    CHECK(labels_of(axis) == Labels{"0.5", "1.0", "1.5", "2.0"});
    CHECK(axis.ticks[3].row == doctest::Approx(3));
    const Timeline days({"45292.25", "45292.50", "45292.75"});
    CHECK(labels_of(time_axis(days, 0, 7, 2, 3)) == Labels{"45293", "45294"});
}

TEST_CASE("without timestamps steps are counted from the last observation") {
    const TimeAxis axis = time_axis(Timeline(), 100, 219, 180, 6);
    CHECK(labels_of(axis) == Labels{"-60", "-40", "-20", "0", "20", "40"});
    CHECK(axis.ticks[3].row == doctest::Approx(179));
    CHECK(axis.caption == "steps after the last observation");
}

TEST_CASE("one row alone still has an axis") {
    CHECK(time_axis(Timeline(), 0, 0, 1, 5).ticks.size() >= 1);
    const Timeline millisecond({"2026-11-21T00:00:00.000Z", "2026-11-21T00:00:00.001Z"});
    CHECK(time_axis(millisecond, 0, 0, 1, 5).ticks.size() >= 1);
}

TEST_CASE("durations") {
    CHECK(detail::duration_text(250'000'000) == "250 ms");
    CHECK(detail::duration_text(90'000'000'000) == "90 s");
    CHECK(detail::duration_text(300'000'000'000) == "5 min");
    CHECK(detail::duration_text(86'400'000'000'000) == "1 day");
    CHECK(detail::duration_text(7 * 86'400'000'000'000) == "7 days");
}
