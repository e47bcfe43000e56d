// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/time/half_months.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <totograph/io/time/clock.hpp>

using namespace totograph::io;
using Stamps = std::vector<std::string>;

namespace {

/// The next dates behind the last one; none where rows do not come twice in a month.
Stamps behind(const Stamps& stamps, std::int64_t count = 3) {
    Stamps result;
    const Clock clock = read_clock(stamps);
    const std::optional<HalfMonths> halves = find_half_months(clock.times, clock.style.offset_seconds);
    for (std::int64_t i = 1; halves && i <= count; ++i) {
        result.push_back(clock.text(halves->later(clock.times.back(), i)));
    }
    return result;
}

}  // namespace

TEST_CASE("half months: two days of each month, the later one the last, or one that short months lack") {
    CHECK(behind({"2024-01-15", "2024-01-31", "2024-02-15", "2024-02-29"}) ==
          Stamps{"2024-03-15", "2024-03-31", "2024-04-15"});
    CHECK(behind({"2023-11-30", "2023-12-15", "2023-12-31", "2024-01-15"}) ==
          Stamps{"2024-01-31", "2024-02-15", "2024-02-29"});
    CHECK(behind({"2024-01-15", "2024-01-30", "2024-02-15", "2024-02-29"}) ==
          Stamps{"2024-03-15", "2024-03-30", "2024-04-15"});
    CHECK(behind({"2024-01-01", "2024-01-16", "2024-02-01", "2024-02-16"}) ==
          Stamps{"2024-03-01", "2024-03-16", "2024-04-01"});
    CHECK(behind({"2024-11-05", "2024-11-20", "2024-12-05", "2024-12-20"}) ==
          Stamps{"2025-01-05", "2025-01-20", "2025-02-05"});
    // Rows may be missing, and rows be in the time of a zone.
    CHECK(behind({"2024-01-15", "2024-01-31", "2024-03-15", "2024-04-15"}, 2) == Stamps{"2024-04-30", "2024-05-15"});
    CHECK(
        behind({"2024-03-01T00:00+01:00", "2024-03-15T00:00+01:00", "2024-04-01T00:00+02:00", "2024-04-15T00:00+02:00"},
               1) == Stamps{"2024-05-01T00:00+02:00"});
    // No other day before the last one.
    CHECK(behind({"2024-01-10", "2024-01-29", "2024-02-10", "2024-02-27"}).empty());
    // The 15th and the last one of a zone east of Greenwich, in UTC; 2024-02-28 is one before the last.
    CHECK(behind({"2024-01-14T23:00:00Z", "2024-01-30T23:00:00Z", "2024-02-14T23:00:00Z", "2024-02-28T23:00:00Z"}) ==
          Stamps{"2024-03-14T23:00:00Z", "2024-03-30T23:00:00Z", "2024-04-14T23:00:00Z"});
    CHECK(behind({"2024-02-28T23:00:00Z", "2024-03-14T23:00:00Z", "2024-03-30T23:00:00Z", "2024-04-14T22:00:00Z"}) ==
          Stamps{"2024-04-29T22:00:00Z", "2024-05-14T22:00:00Z", "2024-05-30T22:00:00Z"});
    // The 1st and the 16th there.
    CHECK(behind({"2023-12-31T23:00:00Z", "2024-01-15T23:00:00Z", "2024-01-31T23:00:00Z", "2024-02-15T23:00:00Z"}, 1) ==
          Stamps{"2024-02-29T23:00:00Z"});
}

TEST_CASE("half months: what comes otherwise has no two days") {
    CHECK(behind({"2024-01-15", "2024-01-31", "2024-02-15"}).empty());                // too few
    CHECK(behind({"2023-02-01", "2023-02-15", "2023-03-01", "2023-03-15"}).empty());  // every second week
    CHECK(behind({"2024-01-15", "2024-01-31", "2024-02-15", "2024-02-28"}).empty());
    CHECK(behind({"2024-01-15", "2024-02-15", "2024-03-15", "2024-05-15"}).empty());  // one day
    CHECK(behind({"2024-01-15", "2024-02-28", "2024-04-15", "2024-06-28"}).empty());  // never both in a row
    CHECK(behind({"2024-01-01", "2024-01-02", "2024-01-15", "2024-01-31"}).empty());
    CHECK(behind({"2024-01-31", "2024-01-15", "2024-02-15", "2024-02-29"}).empty());  // no order
}

TEST_CASE("half months: every 15th day is told from them by the first row on a third day") {
    CHECK(behind({"2024-04-01", "2024-04-16", "2024-05-01", "2024-05-16"}, 1) == Stamps{"2024-06-01"});
    CHECK(behind({"2024-04-01", "2024-04-16", "2024-05-01", "2024-05-16", "2024-05-31"}).empty());
}

TEST_CASE("half months: the conditions are as documented") {
    CHECK(behind({"2024-01-01", "2024-01-13", "2024-02-01", "2024-02-13"}, 1) == Stamps{"2024-03-01"});
    CHECK(behind({"2024-01-01", "2024-01-12", "2024-02-01", "2024-02-12"}).empty());  // 11 days
    CHECK(behind({"2024-01-15 08:00", "2024-01-31 20:00", "2024-02-15 08:00", "2024-02-29 20:00"}).empty());
    // One row on another day.
    CHECK(behind({"2024-01-15", "2024-01-31", "2024-02-15", "2024-02-29", "2024-03-14"}).empty());
}

TEST_CASE("half months: places are counted through the years") {
    const Stamps stamps{"2023-12-15", "2023-12-31", "2024-01-15", "2024-01-31"};
    const Clock clock = read_clock(stamps);
    const HalfMonths halves = find_half_months(clock.times, 0).value();
    CHECK(halves.place_of(clock.times[0]) == 2 * (2023 * 12 + 11));
    CHECK(halves.place_of(clock.times[3]) == halves.place_of(clock.times[0]) + 3);
    CHECK(clock.text(halves.later(clock.times[3], -3)) == stamps[0]);
    CHECK(clock.text(halves.later(clock.times[0], 24)) == "2024-12-15");
}
