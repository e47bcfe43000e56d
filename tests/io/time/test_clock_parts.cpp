// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/time/clock_parts.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/profile.hpp>

#include "io/csv/column_of_cells.hpp"

using namespace totograph::io;
using column_of_cells::profile_of;
using Role = ClockPart::Role;

namespace {

/// Those of a column of dates, the first, and another one.
ClockParts hours_of(const std::vector<std::string>& dates, const std::string& name,
                    const std::vector<std::string>& hours) {
    return find_hours({"date", name}, {profile_of(dates), profile_of(hours)}, 0,
                      [](std::size_t position) { return position > 0; });
}

std::string text_of(const ClockParts& parts, const std::vector<std::string>& cells) {
    std::vector<CsvField> row;
    for (const std::string& cell : cells) {
        row.push_back(CsvField{cell, false, 1});
    }
    return clock_text(parts, row);
}

}  // namespace

TEST_CASE("clock parts: hours belong to dates that are repeated") {
    const ClockParts parts = hours_of({"2024-01-01", "2024-01-01", "2024-01-02"}, "Hour", {"22", "23", "0"});
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].role == Role::date);
    CHECK(parts[1].role == Role::hour);
    CHECK(parts[1].position == 1);
    CHECK(hours_of({"20240101", "20240101"}, "HE", {"1", "24"}).size() == 2);
    CHECK(hours_of({"2024-01-01", "2024-01-02"}, "hour", {"7", "7"}).empty());
    CHECK(hours_of({"2024-01-01", "2024-01-01"}, "hour", {"24", "25"}).empty());
    CHECK(hours_of({"2024-01-01", "2024-01-01"}, "hour", {"1.5", "2.5"}).empty());
    CHECK(hours_of({"2024-01-01", "2024-01-01"}, "houses", {"1", "2"}).empty());
}

TEST_CASE("clock parts: the text of a row") {
    const ClockParts hour = {{0, Role::date}, {1, Role::hour}};
    CHECK(text_of(hour, {"2024-01-01", "7"}) == "2024-01-01 07:00");
    CHECK(text_of(hour, {"20240101", "24"}) == "2024-01-01 24:00");
    CHECK(text_of(hour, {"2024-01-01", ""}).empty());
    CHECK(text_of(hour, {"", "7"}).empty());
    CHECK(text_of({{0, Role::date}, {1, Role::hour}, {2, Role::minute}}, {"2024-01-01", "7", "5"}) ==
          "2024-01-01 07:05");
    CHECK(text_of({{0, Role::year}, {1, Role::month}, {2, Role::day}, {3, Role::hour}}, {"2024", "1", "2", "24"}) ==
          "2024-01-02 24:00");
}

TEST_CASE("clock parts: columns of a calendar follow each other from the years on") {
    struct Named {
        std::string name;
        std::vector<std::string> cells;
    };
    const auto roles_of = [](const std::vector<Named>& columns) {
        std::vector<std::string> names;
        std::vector<ColumnProfile> profiles;
        for (const Named& column : columns) {
            names.push_back(column.name);
            profiles.push_back(profile_of(column.cells));
        }
        std::vector<Role> roles;
        for (const ClockPart& part : find_calendar_columns(names, profiles, [](std::size_t) { return true; })) {
            roles.push_back(part.role);
        }
        return roles;
    };
    const Named year{"year", {"2024", "2024"}};
    const Named quarter{"quarter", {"1", "2"}};
    const Named month{"month", {"3", "4"}};
    const Named day{"day", {"7", "8"}};
    const Named hour{"hour", {"0", "1"}};
    CHECK(roles_of({day, month, year}) == std::vector{Role::year, Role::month, Role::day});
    CHECK(roles_of({year, quarter, month}) == std::vector{Role::year, Role::quarter});
    CHECK(roles_of({year, month, hour}) == std::vector{Role::year, Role::month});
    CHECK(roles_of({year, day}).empty());
    CHECK(roles_of({month, day}).empty());
}
