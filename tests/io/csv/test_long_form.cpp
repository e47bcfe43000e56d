// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/csv/long_form.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/csv.hpp>
#include <totograph/io/csv/split.hpp>
#include <totograph/io/csv/table.hpp>
#include <totograph/io/time/clock.hpp>
#include <totograph/io/time/regular_rows.hpp>

#include "io/support.hpp"

using namespace totograph::io;
using totograph::ErrorCode;
using totograph::test::check_error;
using Names = std::vector<std::string>;

namespace {

/// Rows of one column of values, in long form.
Table rows_of(const Names& times, const std::vector<double>& values) {
    Table rows;
    rows.timestamp_name = "t";
    rows.timestamps = times;
    rows.names = {"v"};
    rows.columns = {values};
    rows.units = {"ms"};
    rows.clock = read_clock(times);
    return rows;
}

}  // namespace

TEST_CASE("long form: a column for each series, in the order of time, with gaps") {
    const Table table = pivot(rows_of({"2", "1", "1", "2"}, {3, 1, 2, 9}), {"a", "a", "b", "a"}, "f.csv");
    CHECK(table.names == Names{"a", "b"});
    CHECK(table.units == Names{"ms", "ms"});
    CHECK(table.timestamps == Names{"1", "2"});
    CHECK(table.clock.times == std::vector<std::int64_t>{1, 2});
    CHECK(table.columns[0] == std::vector<double>{1, 3});
    CHECK(table.columns[1][0] == 2);
    CHECK(std::isnan(table.columns[1][1]));
    REQUIRE(table.notes.size() == 1);
    CHECK(table.notes[0].find("1 value of a series at a time that has one already") != std::string::npos);
}

TEST_CASE("long form: a note names series that become gaps for a good part") {
    const auto note = [](int rows, int often, bool are_together) {
        Names times;
        Names series;
        std::vector<double> values;
        for (int row = 0; row < rows; ++row) {
            times.push_back(std::to_string(10 * row));
            series.emplace_back("a");
            if (row % often == 0) {
                times.push_back(std::to_string(10 * row + (are_together ? 0 : 3)));
                series.emplace_back("b");
            }
        }
        values.resize(times.size());
        const Table table = pivot(rows_of(times, values), series, "f.csv");
        return table.notes.empty() ? "" : table.notes.back();
    };
    // Two recorders with the same rhythm, one of them three seconds late.
    CHECK(note(20, 1, false).find("'f.csv' have values at different times: of 'a', 'b' a third or more") !=
          std::string::npos);
    // One that is slower, at times of the other.
    CHECK(note(40, 4, true).find("of 'b' a third or more") != std::string::npos);
    CHECK(note(20, 1, true).empty());
    CHECK(note(7, 1, false).empty());    // few
    CHECK(note(40, 20, false).empty());  // two values of one among 40 of the other
    // A series that begins later, or ended before, has no gaps for that.
    using detail::is_full_of_gaps;
    CHECK(!is_full_of_gaps({false, false, false, false, false, false, true, true, true, true, true, true, true, true}));
    CHECK(!is_full_of_gaps({true, true, true, true, true, true, true, true, false, false, false, false, false, false}));
    CHECK(is_full_of_gaps({true, true, true, true, true, true, true, false, false, false, false, true}));
    CHECK(!is_full_of_gaps({true, true, true, true, true, true, true, false, false, false, true}));
    CHECK(!is_full_of_gaps({}));
}

TEST_CASE("long form: a series that is called as the clock is gets another name") {
    CHECK(pivot(rows_of({"1", "1"}, {1, 2}), {"t", "u"}, "f.csv").names == Names{"t_2", "u"});
}

TEST_CASE("long form: without a clock values do not belong together") {
    const Table rows = rows_of({"x", "y"}, {1, 2});
    check_error(ErrorCode::invalid_file, {"'f.csv'", "--time COLUMN"}, [&] { pivot(rows, {"a", "b"}, "f.csv"); });
}

TEST_CASE("long form: repeated values are an error where they are many, or strictly") {
    const Table two = rows_of({"1", "1", "2", "2"}, {1, 2, 3, 4});
    const Names one_name(4, "a");
    check_error(ErrorCode::invalid_file,
                {"'f.csv'", "4 values of the series 'a', 2 of them at a time that has one", "(--series COLUMN,COLUMN)"},
                [&] { pivot(two, one_name, "f.csv"); });
    check_error(ErrorCode::invalid_file, {"(--series host,metric)"}, [&] {
        pivot(two, one_name, "f.csv", RowPolicy::repair, [&](const std::vector<std::int64_t>& times) {
            CHECK(times == two.clock.times);
            return std::string("host,metric");
        });
    });
    CHECK(pivot(rows_of({"1", "1", "2", "2"}, {1, 1, 2, 2}), one_name, "f.csv").rows() == 2);
    const Table few = rows_of({"1", "1", "2", "3"}, {1, 2, 3, 4});
    CHECK(pivot(few, one_name, "f.csv").rows() == 3);
    check_error(ErrorCode::invalid_file, {"'f.csv'", "1 value of a series at a time that has one already", "--strict"},
                [&] { pivot(few, one_name, "f.csv", RowPolicy::strict); });
    CHECK(pivot(rows_of({"1", "2"}, {1, 2}), {"a", "a"}, "f.csv", RowPolicy::strict).notes.empty());
}

TEST_CASE("rows of a table in long form are split by what a column says") {
    const std::string text = "time;symbol;open;close\n2024-01-01;B;1;2\n2024-01-01;\"A, B\";3;4\n\n2024-01-02;B;5;\n";
    const auto parts = split_csv(text, "prices.csv", "symbol");
    REQUIRE(parts.size() == 2);
    CHECK(parts[0].value == "B");
    CHECK(parts[0].text == "time;open;close\n2024-01-01;1;2\n2024-01-02;5;\n");
    CHECK(parts[0].separator == ';');
    CHECK(parts[1].value == "A, B");
    CHECK(parts[1].text == "time;open;close\n2024-01-01;3;4\n");
    // Between commas, in quotes, this would be a thousand and more.
    const auto decimals = split_csv("symbol;day;close\nA;2024-01-01;1,085\nA;2024-01-02;1,090\n", "f.csv", "symbol");
    CHECK(parse_csv(decimals.front().text, "f.csv").columns == std::vector<std::vector<double>>{{1.085, 1.09}});
    CHECK(csv_column_names(text, "prices.csv") == Names{"time", "symbol", "open", "close"});
    std::vector<std::string> notes;
    CHECK(split_csv("prices\n\ns,v,w\na,1,2\nb,1,2\na,1", "f.csv", "s", {}, &notes).size() == 2);
    REQUIRE(notes.size() == 2);
    CHECK(notes[0].find("before its table") != std::string::npos);
    CHECK(notes[1].find("the last one, is not whole") != std::string::npos);
    // Of one column that is left, gaps at the end are rows.
    const auto gaps = split_csv("s,v\na,1\na,\nb,7\na,3\na,\n", "f.csv", "s");
    CHECK(parse_csv(gaps.front().text, "f.csv").rows() == 4);
    CHECK(parse_csv(gaps.back().text, "f.csv").rows() == 1);
    CHECK_THROWS_WITH_AS((void)split_csv(text, "prices.csv", "name"), "The file 'prices.csv' has no column 'name'.",
                         totograph::Error);
    CHECK_THROWS_WITH_AS(
        (void)split_csv("a,b\n1,2\n,3\n", "prices.csv", "a"),
        "Line 3 of 'prices.csv' has nothing in column 'a', which tells what the row is of; fill it, or "
        "leave it out.",
        totograph::Error);
}

TEST_CASE("the rows of each value are read with the decimal marks that the whole table tells") {
    const auto first = [](const std::string& text) {
        const CsvPart part = split_csv(text, "f.csv", "s").front();
        return parse_csv(part.text, "f.csv", {.separator = part.separator, .marks = part.marks}).columns;
    };
    using Columns = std::vector<std::vector<double>>;
    // Those of B tell that a point parts thousands in A's, whatever other columns have.
    CHECK(first("s;v\nA;1.210\nA;1.220\nB;98,5\n") == Columns{{1210, 1220}});
    CHECK(first("v;s;w\n1.210;A;1,234.5\n1.220;A;2.5\n98,5;B;2.5\n") == Columns{{1210, 1220}, {1234.5, 2.5}});
    CHECK(first("s;v\nA;1.210\nA;1.220\n") == Columns{{1.21, 1.22}});
    CHECK(first("s;v\nA;1.21\nB;1,22\n") == Columns{{1.21}});  // its own do
    // What the whole table does not tell is refused, as parse_csv does.
    for (const std::string text :
         {"s;v\nA;1.010\nA;1.220\nB;980\n", "s;v\nA;1.210\nB;98,543\n", "s;v\nA;1.210\nB;1.21\nC;1,22\n"}) {
        check_error(ErrorCode::invalid_file, {"could be a point or a comma"}, [&] { first(text); });
        check_error(ErrorCode::invalid_file, {"could be a point or a comma"}, [&] { parse_csv(text, "f.csv"); });
    }
}

TEST_CASE("two series below each other are told apart though one lacks rows") {
    // 24 days of x, and of y those days whose number is a multiple of `every`.
    const auto text = [](int every) {
        std::string lines = "time,host,v\n";
        for (int day = 1; day <= 24; ++day) {
            const std::string time = "2024-01-" + std::string(day < 10 ? "0" : "") + std::to_string(day);
            lines += time + ",x," + std::to_string(day) + "\n";
            if (day % every == 0) {
                lines += time + ",y,500\n";
            }
        }
        return lines;
    };
    for (const int every : {1, 2, 3}) {
        CAPTURE(every);
        check_error(ErrorCode::invalid_file, {" rows at 24 times", "--series host --value v"},
                    [&] { (void)parse_csv(text(every), "f.csv"); });
    }
    // A few rows of one time are repeated ones.
    CHECK(parse_csv(text(12), "f.csv").rows() == 24);
    CHECK(parse_csv(text(2), "f.csv", {.rows = RowPolicy::as_they_stand}).rows() == 36);
}

TEST_CASE("a part of a file has its header, whatever the file's words for gaps are") {
    for (const std::string name : {"v", "-999"}) {
        CAPTURE(name);
        const CsvOptions options{.gaps = {name}};
        const auto parts = split_csv("s," + name + "\na,1\na,2\nb,7\n", "f.csv", "s", options);
        REQUIRE(parts.size() == 2);
        const Table table = parse_csv(parts[0].text, "f.csv", options);
        CHECK(table.names == Names{name});
        CHECK(table.columns.at(0) == std::vector<double>{1, 2});
    }
}
