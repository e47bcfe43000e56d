// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/csv/stacked_rows.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/csv.hpp>

#include "io/support.hpp"

// Series of unequal lengths in one table, with nothing but their times, or a column of numbers, to tell them apart.

using namespace totograph::io;
using totograph::ErrorCode;
using totograph::test::check_error;
using Times = std::vector<std::int64_t>;

namespace {

/// Times from `first` to `last`.
Times from_to(std::int64_t first, std::int64_t last) {
    Times times;
    for (std::int64_t time = first; time <= last; ++time) {
        times.push_back(time);
    }
    return times;
}

template <class Value>
std::vector<Value> operator+(std::vector<Value> values, const std::vector<Value>& more) {
    values.insert(values.end(), more.begin(), more.end());
    return values;
}

/// Rows at these times, no two with the same value.
Table rows_at(const Times& times) {
    Table table;
    table.clock.kind = Clock::Kind::numbers;
    table.clock.times = times;
    table.columns.emplace_back();
    for (std::size_t row = 0; row < times.size(); ++row) {
        table.columns[0].push_back(static_cast<double>(row));
    }
    return table;
}

bool are_stretches(const Times& times) {
    return stacked_rows(rows_at(times)).are_stretches;
}

/// 100 hours of a first series and the last `hours` of a second one, below it or between its rows.
std::string two_series(int hours, bool is_below, bool has_number) {
    std::string text = has_number ? "t,store,v\n" : "t,v\n";
    std::string below;
    for (int hour = 0; hour < 100; ++hour) {
        const auto add_line = [&](std::string& to, int store) {
            to += "2024-01-0" + std::to_string(1 + hour / 24);
            to += " " + two_digits(hour % 24) + ":00,";
            to += has_number ? std::to_string(store) + "," : "";
            to += std::to_string(1000 * store + hour) + "\n";
        };
        add_line(text, 7);
        if (hour >= 100 - hours) {
            add_line(is_below ? below : text, 3);
        }
    }
    return text + below;
}

}  // namespace

TEST_CASE("stacked rows: what repeats, and whether it says something else") {
    Table table = rows_at({1, 2, 2, 3, Clock::unknown, 1});
    table.columns[0] = {5, 6, 6, 7, 8, 9};
    const StackedRows rows = stacked_rows(table);
    CHECK(rows.rows == 5);
    CHECK(rows.times == 3);
    CHECK(rows.repeated == 2);
    CHECK(rows.different == 1);
    CHECK_FALSE(rows.are_stretches);
    CHECK(rows.are_many());  // 2 of 5 rows
    CHECK_FALSE(stacked_rows(rows_at(from_to(1, 9) + Times{9})).are_many());
}

TEST_CASE("stacked rows: few rows with the time of another one are corrections") {
    CHECK_FALSE(stacked_rows(rows_at({1, 2, 2, 3, 4})).are_many());
    CHECK_FALSE(stacked_rows(rows_at({1, 2, 2, 3, 3, 4, 5, 6})).are_many());
    CHECK(stacked_rows(rows_at({1, 2, 2, 3, 3, 4, 4, 5, 6, 7})).are_many());
    CHECK(stacked_rows(rows_at({1, 1, 2, 2})).are_many());
    const Table table = parse_csv(
        "time,note,v\n2024-01-01,ok,1\n2024-01-02,ok,2\n2024-01-02,corrected,3\n2024-01-03,ok,4\n2024-01-04,ok,5\n",
        "f.csv");
    CHECK(table.columns.at(0) == std::vector<double>{1, 2, 4, 5});
    CHECK(std::any_of(table.notes.begin(), table.notes.end(), [](const std::string& note) {
        return note.find("1 row with the time of another one") != std::string::npos;
    }));
}

TEST_CASE("stacked rows: neither rows without a time nor their numbers are series") {
    std::string blank = "time,id,v\n";
    std::string twice = blank;
    for (int row = 0; row < 40; ++row) {
        const std::string id = ",id-" + std::to_string(row) + "," + std::to_string(row % 7) + "\n";
        const std::string day = "2024-01-" + two_digits(1 + row / 2);
        blank += (row % 4 == 3 ? "" : day + (row % 2 == 0 ? " 06:00" : " 18:00")) + id;
        // Every third day has two rows, no two of them with the same text.
        twice += row % 2 == 0 || row % 6 == 1 ? day + id : "";
    }
    CHECK(parse_csv(blank, "f.csv").names == std::vector<std::string>{"v"});
    const Table table = parse_csv(twice, "f.csv");
    CHECK(table.names == std::vector<std::string>{"v"});
    CHECK(table.rows() == 20);
}

TEST_CASE("stacked rows: flags and versions of rows that were written again number no series") {
    std::string revised = "time,revised,v\n";
    for (int hour = 0; hour < 200; ++hour) {
        const std::string time = "2024-01-" + two_digits(1 + hour / 24) + " " + two_digits(hour % 24) + ":00,";
        revised += time + "0," + std::to_string(hour) + "\n";
        if (hour * hour % 19 == 5) {
            revised += time + "1," + std::to_string(hour + 500) + "\n";
        }
    }
    const Table table = parse_csv(revised, "f.csv");
    CHECK(table.rows() == 200);
    CHECK(std::any_of(table.notes.begin(), table.notes.end(), [](const std::string& note) {
        return note.find("with the time of another one") != std::string::npos;
    }));
}

TEST_CASE("stacked rows: rows without a time do not count in the columns that name series") {
    // Two hosts; the rows that only `note` tells apart have no time.
    std::string text = "time,host,note,v\n";
    for (int day = 1; day < 21; ++day) {
        for (const char* host : {"a", "b"}) {
            text += "2024-01-" + two_digits(day) + "," + host + ",x," + std::to_string(day) + "\n";
        }
        text += std::string(",a,") + (day % 2 == 0 ? "y" : "z") + ",0\n";
    }
    check_error(ErrorCode::invalid_file, {"40 rows at 20 times", "(--series host --value v)"},
                [&] { (void)parse_csv(text, "f.csv"); });
}

TEST_CASE("stacked rows: a series below another one") {
    CHECK(are_stretches(from_to(1, 100) + from_to(93, 100)));
    CHECK(are_stretches(from_to(1, 100) + from_to(96, 105)));  // half of it is new
    CHECK_FALSE(are_stretches(from_to(1, 100) + from_to(97, 105)));
    CHECK(are_stretches(from_to(1, 100) + from_to(40, 50)));
    Times falling = from_to(93, 100) + from_to(1, 100);
    std::reverse(falling.begin(), falling.end());
    CHECK(are_stretches(falling));
    // Fewer rows were written again, and of a clock that is put back more rows follow.
    CHECK_FALSE(are_stretches(from_to(1, 100) + from_to(94, 100)));
    CHECK_FALSE(are_stretches(from_to(1, 100) + from_to(89, 200)));
    Table same = rows_at(from_to(1, 100) + from_to(1, 100));
    std::copy(same.columns[0].begin(), same.columns[0].begin() + 100, same.columns[0].begin() + 100);
    CHECK_FALSE(stacked_rows(same).are_stretches);
}

TEST_CASE("stacked rows: a series between the rows of another one") {
    const auto between = [](const Times& others) {
        Times times = from_to(1, 100) + others;
        std::sort(times.begin(), times.end());
        return are_stretches(times);
    };
    CHECK(between(from_to(93, 100)));
    CHECK(between(from_to(40, 47)));
    CHECK(between(from_to(40, 60) + from_to(50, 80)));
    CHECK_FALSE(between(from_to(94, 100)));
    CHECK_FALSE(between({3, 9, 14, 20, 33, 41, 57, 60, 78, 99}));  // written twice here and there
}

TEST_CASE("stacked rows: a column of numbers that names the series") {
    const Times times = from_to(1, 20) + from_to(11, 20);
    const LabelNumbers stores = LabelNumbers(20, 0) + LabelNumbers(10, 1);
    CHECK(series_number(times, {LabelNumbers(30, 0), stores}) == std::optional<std::size_t>(1));
    CHECK(series_number(times, {}) == std::nullopt);
    LabelNumbers mixed = stores;
    std::swap(mixed[15], mixed[25]);
    CHECK(series_number(times, {mixed}) == std::nullopt);
    LabelNumbers same = stores;
    same[25] = 0;
    CHECK(series_number(times, {same}) == std::nullopt);
    // A count that goes on when the clock is put back says another thing in each row.
    CHECK(series_number(times, {[] {
                            LabelNumbers count;
                            for (std::size_t row = 0; row < 30; ++row) {
                                count.push_back(row);
                            }
                            return count;
                        }()}) == std::nullopt);
}

TEST_CASE("stacked rows: a file is refused with the options that help, or a note has them") {
    const auto has_note = [](const Table& table, int hours) {
        const std::string begin = std::to_string(hours) + " rows stand together with other values";
        return std::any_of(table.notes.begin(), table.notes.end(), [&](const std::string& note) {
            return note.starts_with(begin) && note.find("(--series COLUMN)") != std::string::npos;
        });
    };
    for (const bool is_below : {true, false}) {
        CAPTURE(is_below);
        for (const int hours : {40, 100}) {
            CAPTURE(hours);
            const std::string counted = std::to_string(100 + hours) + " rows at 100 times";
            check_error(ErrorCode::invalid_file, {counted, "(--series store --value v)"},
                        [&] { (void)parse_csv(two_series(hours, is_below, true), "f.csv"); });
            check_error(ErrorCode::invalid_file, {counted, "(--series store --value v)"},
                        [&] { (void)parse_csv(two_series(hours, is_below, true), "f.csv", {.columns = {"v"}}); });
        }
        // Fewer than a fifth are written again as well as not.
        const Table few = parse_csv(two_series(8, is_below, true), "f.csv");
        CHECK(few.rows() == 100);
        CHECK(has_note(few, 8));
        for (const int hours : {8, 40}) {
            const Table table = parse_csv(two_series(hours, is_below, false), "f.csv");
            CHECK(table.rows() == 100);
            CHECK(has_note(table, hours));
        }
        CHECK_FALSE(has_note(parse_csv(two_series(7, is_below, false), "f.csv"), 7));
        check_error(ErrorCode::invalid_file, {"at least half", "--series COLUMN"},
                    [&] { (void)parse_csv(two_series(100, is_below, false), "f.csv"); });
        CHECK(parse_csv(two_series(40, is_below, true), "f.csv", {.rows = RowPolicy::as_they_stand}).rows() == 140);
        CHECK(parse_csv(two_series(40, is_below, true), "f.csv", {.series = {"store"}, .value = "v"}).names ==
              std::vector<std::string>{"7", "3"});
    }
}

TEST_CASE("stacked rows: the column that may hold the values is one that changes within a series") {
    // As InfluxDB and databases write it: numbers of tables, of rows, of sensors and where these are say nothing.
    std::string text = "id,table,time,host,latitude,hits,usage\n";
    std::string numbered = "id,time,sensor,usage\n";
    for (int row = 0; row < 40; ++row) {
        const std::string host = std::to_string(row % 2);
        const std::string time = "2024-01-" + std::string(row < 18 ? "0" : "") + std::to_string(1 + row / 2);
        const std::string usage = std::to_string(row * 7 % 5) + ".5\n";
        text += std::to_string(90 + row) + "," + host + "," + time + ",h" + host + ",4" + host + ".5,0," + usage;
        numbered += std::to_string(row) + "," + time + "," + host + "," + usage;
    }
    check_error(ErrorCode::invalid_file, {"(--series host --value usage)"}, [&] { (void)parse_csv(text, "f.csv"); });
    check_error(ErrorCode::invalid_file, {"(--series sensor --value usage)"},
                [&] { (void)parse_csv(numbered, "f.csv"); });

    Table table;
    table.names = {"sensor", "place", "bytes"};
    table.clock.times = {1, 1, 2, 2, Clock::unknown};
    table.columns = {{0, 1, 0, 1, 0}, {5, 6, 5, 6, 7}, {10, 20, 30, 40, 0}};
    const LabelNumbers sensors = {0, 1, 0, 1};
    CHECK(likely_value(table, {"sensor"}, {sensors}) == 1);  // nothing better: bytes rise as a key does
    CHECK(likely_value(table, {"sensor", "place", "bytes"}, {sensors, sensors, {0, 1, 2, 3}}) == std::nullopt);
    table.columns[2] = {10, 20, 20, 40, 0};
    CHECK(likely_value(table, {"sensor"}, {sensors}) == 2);
    CHECK(likely_value(table, {"sensor", "place"}, {sensors, {0, 1, 1, 0}}) == 2);
}

TEST_CASE("stacked rows: dates in the first of several rows are not those of all") {
    std::string text = "day,v\n";
    for (int row = 0; row < 60; ++row) {
        text += (row % 3 == 0 ? "2024-01-" + two_digits(1 + row / 3) : "") + "," + std::to_string(row) + "\n";
    }
    check_error(ErrorCode::invalid_file, {"40 rows of 60 with values and without a time", "merged", "--as-is"},
                [&] { (void)parse_csv(text, "f.csv"); });
    CHECK(parse_csv(text, "f.csv", {.rows = RowPolicy::as_they_stand}).rows() == 60);
}

TEST_CASE("stacked rows: clocks that were set back, and rows that are filled in, are no series") {
    std::string back = "time,is_dst,kw\n";
    std::string filled = "time,kw,gas\n";
    for (int hour = 0; hour < 600; ++hour) {
        const std::string time = "2024-02-" + two_digits(1 + hour / 24) + " " + two_digits(hour % 24) + ":00,";
        back += time + (hour < 300 ? "1," : "0,") + std::to_string(hour) + "\n";
        back += hour >= 290 && hour < 302 ? time + "0," + std::to_string(hour + 5) + "\n" : "";
        filled += time + std::to_string(hour) + ",\n" + (hour % 30 == 7 ? time + ",1\n" : "");
    }
    CHECK(parse_csv(back, "f.csv").rows() == 600);
    CHECK(stacked_rows(parse_csv(filled, "f.csv", {.rows = RowPolicy::as_they_stand})).different == 0);
}

TEST_CASE("stacked rows: of a number's places three of four are as far from the one before") {
    CHECK(detail::come_regularly({0, 1, 2, 3, 5}));
    CHECK_FALSE(detail::come_regularly({0, 1, 2, 4, 6}));
    CHECK_FALSE(detail::come_regularly({0, 1, 2, 4}));
    CHECK(detail::come_regularly({5}));
}
