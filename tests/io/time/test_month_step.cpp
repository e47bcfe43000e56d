// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/time/month_step.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <totograph/io/time/clock.hpp>

using namespace totograph::io;
using Stamps = std::vector<std::string>;

namespace {

std::optional<MonthStep> step_of(const Stamps& stamps) {
    const Clock clock = read_clock(stamps);
    return find_month_step(clock.times, clock.style.offset_seconds);
}

/// The next dates behind the last one; none where these are no months.
Stamps behind(const Stamps& stamps, std::int64_t count = 2) {
    Stamps result;
    const std::optional<MonthStep> step = step_of(stamps);
    for (std::int64_t i = 1; step && i <= count; ++i) {
        REQUIRE(step->reaches(i));
        result.push_back(read_clock(stamps).text(step->later(i)));
    }
    return result;
}

/// Dates so many days apart, from 2023-01-03 on.
Stamps every(std::int64_t days, std::size_t count) {
    Clock clock = read_clock({"2023-01-03"});
    Stamps result;
    for (std::size_t i = 0; i < count; ++i) {
        result.push_back(clock.text(clock.times[0] + static_cast<std::int64_t>(i) * days * 86'400'000'000'000));
    }
    return result;
}

Stamps operator+(Stamps stamps, const char* more) {
    stamps.emplace_back(more);
    return stamps;
}

const Stamps firsts = {"2023-08-01", "2023-09-01", "2023-10-01", "2023-11-01", "2023-12-01"};
const Stamps ends = {"2022-12-31", "2023-01-31", "2023-02-28", "2023-03-31", "2023-04-30"};
const Stamps quarters = {"2022-12-31", "2023-03-31", "2023-06-30", "2023-09-30", "2023-12-31"};

}  // namespace

TEST_CASE("month step: where all times stand") {
    CHECK(behind(firsts) == Stamps{"2024-01-01", "2024-02-01"});
    CHECK(behind(ends) == Stamps{"2023-05-31", "2023-06-30"});
    CHECK(behind(quarters) == Stamps{"2024-03-31", "2024-06-30"});
    CHECK(behind({"2023-01-31", "2023-02-28", "2023-03-31", "2023-04-28"}) == Stamps{"2023-05-31", "2023-06-30"});
    CHECK(behind({"2023-01-01", "2023-02-01"}) == Stamps{"2023-03-01", "2023-04-01"});
    CHECK(behind({"2020-05-04", "2021-05-04", "2022-05-04"}) == Stamps{"2023-05-04", "2024-05-04"});
}

TEST_CASE("month step: a last time before its month is over changes nothing") {
    CHECK(behind(firsts + "2023-12-17") == Stamps{"2024-01-01", "2024-02-01"});
    CHECK(behind(ends + "2023-05-17") == Stamps{"2023-05-31", "2023-06-30"});
    CHECK(behind(quarters + "2024-01-17") == Stamps{"2024-03-31", "2024-06-30"});
    CHECK(behind(quarters + "2024-05-17") == Stamps{"2024-06-30", "2024-09-30"});
    CHECK(behind(firsts + "2024-01-02") == Stamps{"2024-02-01", "2024-03-01"});  // late
    CHECK(behind(firsts + "2023-12-29") == Stamps{"2024-02-01", "2024-03-01"});  // the last workday before
    CHECK(behind({"2024-01-15", "2024-02-15", "2024-03-15", "2024-04-15", "2024-05-15", "2024-06-14"}) ==
          Stamps{"2024-07-15", "2024-08-15"});
}

TEST_CASE("month step: one odd time among the others changes nothing") {
    for (std::size_t place = 0; place < quarters.size(); ++place) {
        CAPTURE(place);
        Stamps odd = quarters;
        const auto at = static_cast<std::ptrdiff_t>(place);
        odd.insert(odd.begin() + at, quarters[place].substr(0, 8) + "12");
        CHECK(behind(odd) == Stamps{"2024-03-31", "2024-06-30"});
        odd = quarters;
        odd[place].replace(8, 2, "29");
        CHECK(step_of(odd).value().step.length == 3);
    }
}

TEST_CASE("month step: without a rule the day of the last time counts") {
    CHECK(behind({"2023-01-03", "2023-02-09", "2023-03-12", "2023-04-27", "2023-05-30"}) ==
          Stamps{"2023-06-30", "2023-07-30"});
}

TEST_CASE("month step: equal distances of weeks, and short ones, are no months") {
    for (const std::int64_t days : {28, 35, 56}) {
        for (const std::size_t count : {2U, 3U, 4U, 12U}) {
            CAPTURE(days);
            CAPTURE(count);
            CHECK_FALSE(step_of(every(days, count)).has_value());
            CHECK_FALSE((count > 2 && step_of(every(days, count) + "2025-12-17").has_value()));
        }
    }
    // One is missing, clocks change, lines come late.
    CHECK_FALSE(step_of({"2023-01-03", "2023-01-31", "2023-02-28", "2023-04-25", "2023-05-23"}).has_value());
    CHECK_FALSE(step_of({"2023-02-20T00:00:00+01:00", "2023-03-20T00:00:00+01:00", "2023-04-17T00:00:00+02:00",
                         "2023-05-15T00:00:00+02:00", "2023-06-12T00:00:00+02:00"})
                    .has_value());
    CHECK_FALSE(step_of({"2023-01-03 12:00:00", "2023-01-31 12:00:05", "2023-02-28 12:00:01", "2023-03-28 12:00:07",
                         "2023-04-25 12:00:03"})
                    .has_value());
    CHECK_FALSE(
        step_of({"2023-01-03", "2023-02-17", "2023-04-04", "2023-05-18", "2023-07-02", "2023-08-17"}).has_value());
    CHECK_FALSE(
        step_of({"2023-01-03 12:00", "2023-02-14 12:00", "2023-03-28 12:01", "2023-05-09 12:00", "2023-06-20 12:00"})
            .has_value());
    CHECK_FALSE(step_of({"2022-01-01", "2022-04-11", "2022-07-21", "2022-10-29", "2023-02-06"}).has_value());
    CHECK_FALSE(step_of(every(7, 12)).has_value());
    CHECK_FALSE(step_of(every(30, 12)).has_value());
    CHECK_FALSE(step_of({"2023-01-03"}).has_value());
    // Of a leap year's quarters two have 91 days.
    CHECK(behind({"2024-01-01", "2024-04-01", "2024-07-01"}) == Stamps{"2024-10-01", "2025-01-01"});
    CHECK(behind({"2023-02-01", "2023-03-01"}) == Stamps{"2023-04-01", "2023-05-01"});
}

TEST_CASE("month step: on the clock of the times") {
    CHECK(behind({"2024-08-01T00:00:00+02:00", "2024-09-01T00:00:00+02:00", "2024-10-01T00:00:00+02:00",
                  "2024-11-01T00:00:00+01:00", "2024-11-20T12:00:00+01:00"},
                 1) == Stamps{"2024-12-01T00:00:00+01:00"});
}
