// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/time/regular_rows.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/table.hpp>
#include <totograph/io/time/clock.hpp>

#include "io/support.hpp"

using namespace totograph::io;
using totograph::ErrorCode;
using totograph::test::check_error;
using Stamps = std::vector<std::string>;

namespace {

/// Rows at these times, numbered from 0.
Table rows_at(const Stamps& stamps) {
    Table table;
    table.timestamps = stamps;
    table.clock = read_clock(stamps);
    table.names = {"v"};
    table.columns.resize(1);
    for (std::size_t row = 0; row < stamps.size(); ++row) {
        table.columns[0].push_back(static_cast<double>(row));
    }
    return table;
}

Table regular(const Stamps& stamps) {
    Table table = rows_at(stamps);
    make_regular(table, "f.csv");
    return table;
}

bool notes(const Table& table, std::string_view part) {
    return table.notes.size() == 1 && table.notes[0].find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("regular rows: nothing is done, and nothing told, where nothing is wrong") {
    const Table table = regular({"1", "2", "3"});
    CHECK(table.columns[0] == std::vector<double>{0, 1, 2});
    CHECK(table.notes.empty());
    CHECK(regular({"one", "two"}).columns[0] == std::vector<double>{0, 1});
}

TEST_CASE("regular rows: newest first, unsorted, repeated") {
    CHECK(regular({"3", "2", "1"}).columns[0] == std::vector<double>{2, 1, 0});
    CHECK(notes(regular({"3", "2", "1"}), "newest row first: the rows are turned round"));
    CHECK(regular({"1", "3", "2", "4"}).timestamps == Stamps{"1", "2", "3", "4"});
    CHECK(notes(regular({"1", "3", "2", "4"}), "'2' comes after '3'): they are sorted"));
    CHECK(regular({"1", "2", "2", "3"}).columns[0] == std::vector<double>{0, 1, 3});
    CHECK(notes(regular({"1", "2", "2", "3"}), "1 of them with other values"));
    // The first one of the file is kept, whichever way it goes.
    CHECK(regular({"4", "3", "2", "2", "1"}).columns[0] == std::vector<double>{4, 2, 1, 0});
}

TEST_CASE("regular rows: of many rows the first of each time is kept, in the order of the file") {
    Stamps stamps;
    for (int row = 0; row < 60; ++row) {
        stamps.push_back(std::to_string(29 - row % 30));
    }
    Table table = rows_at(stamps);
    table.columns[0] = std::vector<double>(60, 7);
    table.columns.emplace_back();
    for (int row = 0; row < 60; ++row) {
        table.columns[1].push_back(row <= 30 ? 1 : std::nan(""));  // fewer than half say something else
    }
    make_regular(table, "f.csv");
    CHECK(table.columns[1] == std::vector<double>(30, 1));
}

TEST_CASE("regular rows: rows of one time that are gaps say the same") {
    Table table = rows_at({"1", "2", "2", "3"});
    table.columns[0][1] = table.columns[0][2] = std::nan("");
    make_regular(table, "f.csv");
    CHECK(notes(table, "1 row with the time of another one, such as '2': the first row"));
}

TEST_CASE("regular rows: rows without a time are dropped, but no half of many") {
    const auto with_timeless = [](std::size_t timeless, std::size_t others) {
        Stamps stamps(timeless);
        for (std::size_t row = 0; row < others; ++row) {
            stamps.push_back(std::to_string(row));
        }
        return rows_at(stamps);
    };
    Table fewer_than_half = with_timeless(8, 9);
    make_regular(fewer_than_half, "f.csv");
    CHECK(fewer_than_half.rows() == 9);
    Table few = with_timeless(7, 2);
    make_regular(few, "f.csv");
    CHECK(few.rows() == 2);
    Table half = with_timeless(8, 8);
    check_error(ErrorCode::invalid_file, {"8 rows of 16 with values and without a time", "--as-is"},
                [&] { make_regular(half, "f.csv"); });
}

TEST_CASE("regular rows: later times have the zone of the latest row, wherever that one stood") {
    const Stamps ascending = {"2024-11-02T00:00-04:00", "2024-11-03T00:00-04:00", "2024-11-04T00:00-05:00"};
    for (const Stamps& stamps : {ascending, Stamps(ascending.rbegin(), ascending.rend())}) {
        const Table table = regular(stamps);
        CHECK(table.timestamps == ascending);
        CHECK(table.clock.text(table.clock.times.back()) == ascending.back());
    }
}

TEST_CASE("regular rows: weekends become gaps, and the note says how to have it otherwise") {
    const Table table = regular({"2024-01-03", "2024-01-04", "2024-01-05", "2024-01-08", "2024-01-09"});
    CHECK(table.timestamps[3] == "2024-01-06");
    CHECK(std::isnan(table.columns[0][4]));
    CHECK(table.columns[0][5] == 3);
    CHECK(notes(table, "lacks 2 rows between its times, the first behind '2024-01-05': they become gaps (--as-is"));
    Table as_is = rows_at({"2024-01-03", "2024-01-05", "2024-01-04"});
    make_regular(as_is, "f.csv", RowPolicy::as_they_stand);
    CHECK(as_is.columns[0] == std::vector<double>{0, 1, 2});
}

TEST_CASE("regular rows: months that are missing") {
    const Table last = regular({"2024-02-29T00:00:00+01:00", "2024-03-31T00:00:00+01:00", "2024-05-31T00:00:00+02:00"});
    CHECK(last.timestamps[2] == "2024-04-30T00:00:00+02:00");
    CHECK(last.columns[0].size() == 4);
    const Table workdays = regular({"2024-03-29", "2024-04-30", "2024-05-31", "2024-07-31"});
    CHECK(workdays.timestamps[3] == "2024-06-28");
    CHECK(regular({"1672531200", "1675209600", "1680307200"}).timestamps[2] == "1677628800");
    CHECK(regular({"2024-01-15", "2024-01-31", "2024-02-15", "2024-03-31"}).timestamps ==
          Stamps{"2024-01-15", "2024-01-31", "2024-02-15", "2024-02-29", "2024-03-15", "2024-03-31"});
    CHECK(regular({"2024Q1", "2024Q2", "2024Q4"}).timestamps == Stamps{"2024Q1", "2024Q2", "2024Q3", "2024Q4"});
}

TEST_CASE("regular rows: strict refuses, and a wrong time does not take all memory") {
    Table table = rows_at({"2", "1"});
    check_error(ErrorCode::invalid_file, {"newest row first", "Without --strict"},
                [&] { make_regular(table, "f.csv", RowPolicy::strict); });
    check_error(ErrorCode::invalid_file, {"lacks more than 1000 rows", "'3'", "--as-is"}, [] {
        regular({"1", "2", "3", "9000000"});
    });
    CHECK(regular({"0", "1", "2", "3", "1004"}).rows() == 1005);  // 1000 of them gaps
    check_error(ErrorCode::invalid_file, {"lacks more than 1000 rows"}, [] { regular({"0", "1", "2", "3", "1005"}); });
}

TEST_CASE("regular rows: where at least half would be dropped, the clock is wrong") {
    check_error(ErrorCode::invalid_file,
                {"'f.csv'", "2 rows with the time of another one, such as '1', 2 of them with other values, of 4",
                 "--time COLUMN", "--series COLUMN", "--as-is"},
                [] {
                    regular({"1", "1", "2", "2"});
                });
    CHECK(notes(regular({"1", "1", "2", "2", "3"}), "2 of them with other values"));
    // Rows that say the same are lost without harm.
    Table same = rows_at({"1", "1", "1", "2", "2"});
    same.columns[0] = {7, 7, 7, 8, 8};
    make_regular(same, "f.csv");
    CHECK(same.columns[0] == std::vector<double>{7, 8});
    Table as_is = rows_at({"1", "1", "2", "2"});
    make_regular(as_is, "f.csv", RowPolicy::as_they_stand);
    CHECK(as_is.rows() == 4);
}

TEST_CASE("rows of a market are put in order, without gaps for nights and weekends") {
    const auto ordered = [](Table table, RowPolicy policy = RowPolicy::repair) {
        put_in_order(table, "f.csv", policy, "Name the column of symbols.");
        return table;
    };
    Table rows = rows_at({"2024-01-08", "2024-01-05", "2024-01-05", "2024-01-04"});
    rows.columns[0] = {3, 2, 2, 1};
    const Table table = ordered(rows);
    CHECK(table.timestamps == Stamps{"2024-01-04", "2024-01-05", "2024-01-08"});
    CHECK(table.columns[0] == std::vector<double>{1, 2, 3});
    REQUIRE(table.notes.size() == 2);
    CHECK(table.notes[0].find("newest row first") != std::string::npos);
    CHECK(table.notes[1].find("1 row with the time of another one") != std::string::npos);
    check_error(ErrorCode::invalid_file, {"newest row first", "Without --strict"},
                [&] { ordered(rows, RowPolicy::strict); });
    CHECK(ordered(rows, RowPolicy::as_they_stand).columns == rows.columns);
    rows.columns[0][1] = 9;
    check_error(ErrorCode::invalid_file,
                {"1 row with the time of another one and other values, such as '2024-01-05'",
                 "keep one row of each time. Name the column of symbols."},
                [&] { ordered(rows); });
}

TEST_CASE("regular rows: a long gap is filled where the step is rounded") {
    // 30 a second, in milliseconds: steps of 33 ms would be one too many in 60 rows, and six in 600.
    for (const std::size_t lost : {std::size_t{1}, std::size_t{60}, std::size_t{600}}) {
        CAPTURE(lost);
        Stamps whole;
        for (int row = 0; row <= 1200; ++row) {
            whole.push_back(std::to_string((200 * row + 3) / 6));
        }
        Stamps stamps = whole;
        stamps.erase(stamps.begin() + 100, stamps.begin() + 100 + static_cast<std::ptrdiff_t>(lost));
        const Table table = regular(stamps);
        CHECK(notes(table, "lacks " + std::to_string(lost) + " row"));
        CHECK(table.timestamps == whole);
    }
}
