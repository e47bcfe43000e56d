// SPDX-License-Identifier: Apache-2.0
// The shapes that people's CSV files have, each in a few lines.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/csv.hpp>
#include <totograph/io/csv/digits.hpp>
#include <totograph/io/csv/names.hpp>
#include <totograph/io/csv/split.hpp>
#include <totograph/io/csv/text_encoding.hpp>

#include "io/support.hpp"
#include "support/sanitized.hpp"

namespace {

using namespace totograph;
using io::CsvOptions;
using totograph::test::check_error;
using totograph::test::repetitions;
using Names = std::vector<std::string>;

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

io::Table parse(std::string_view text, const CsvOptions& options = {}) {
    return io::parse_csv(text, "data.csv", options);
}

void refuses(std::string_view text, std::initializer_list<std::string_view> parts, const CsvOptions& options = {}) {
    CAPTURE(std::string(text));
    check_error(ErrorCode::invalid_file, parts, [&] { parse(text, options); });
}

/// Whether a column has these values, gaps included.
bool holds(const io::Table& table, std::size_t column, const std::vector<double>& values) {
    bool same = table.columns.at(column).size() == values.size();
    for (std::size_t row = 0; same && row < values.size(); ++row) {
        const double value = table.columns[column][row];
        same = value == values[row] || (std::isnan(value) && std::isnan(values[row]));
    }
    return same;
}

/// Whether one note, and only one, says so.
bool notes(const io::Table& table, std::string_view part) {
    std::size_t found = 0;
    for (const std::string& note : table.notes) {
        found += note.find(part) != std::string::npos ? 1 : 0;
    }
    return found == 1;
}

std::string utf16(std::string_view text, bool is_little, bool has_mark) {
    std::string bytes = has_mark ? (is_little ? "\xff\xfe" : "\xfe\xff") : "";
    for (const char letter : text) {
        bytes += is_little ? letter : '\0';
        bytes += is_little ? '\0' : letter;
    }
    return bytes;
}

}  // namespace

TEST_CASE("csv variants: the separator is found") {
    for (const std::string separator : {",", ";", "\t", "|"}) {
        CAPTURE(separator);
        const auto table = parse("a" + separator + "b\n1" + separator + "2\n3" + separator + "4\n");
        CHECK(table.names == Names{"a", "b"});
        CHECK(holds(table, 1, {2, 4}));
        CHECK(table.notes.empty());
    }
    CHECK(parse("\"a;b\",c\n1,2\n").names == Names{"a;b", "c"});
    CHECK(parse("sep=;\na;b\n1;2\n").names == Names{"a", "b"});
    CHECK(holds(parse("1,5;2,5\n3,5;4,5\n"), 1, {2.5, 4.5}));  // as many commas as semicolons
}

TEST_CASE("csv variants: encodings") {
    for (const bool is_little : {true, false}) {
        for (const bool has_mark : {true, false}) {
            const auto table = parse(utf16("a,b\r\n1,2\r\n3,4\r\n", is_little, has_mark));
            CHECK(table.names == Names{"a", "b"});
            CHECK(holds(table, 1, {2, 4}));

            const std::string stacked = utf16("s,v\r\na,1\r\nb,2\r\n", is_little, has_mark);
            CHECK(io::csv_column_names(stacked, "f.csv") == Names{"s", "v"});
            const std::vector<io::CsvPart> parts = io::split_csv(stacked, "f.csv", "s");
            REQUIRE(parts.size() == 2);
            CHECK(parts[1].value == "b");
            CHECK(parts[1].text == "v\n2\n");
        }
    }
    // U+00B0, and a pair of halves: U+1F600.
    const std::string_view names(
        "\xff\xfe\xb0\0\x3d\xd8\x00\xde,\0b\0\n\0"
        "1\0,\0"
        "2\0\n\0",
        22);
    CHECK(parse(names).names == Names{"\xc2\xb0\xf0\x9f\x98\x80", "b"});
    CHECK(io::utf8_of_utf16(std::string_view("\x3d\xd8"
                                             "a\0",
                                             4),
                            io::TextEncoding::utf16_little_endian) ==
          "\xef\xbf\xbd"
          "a");
    refuses("\x1f\x8b\x08", {"compressed by gzip", "gunzip"});
    refuses("PK\x03\x04", {"ZIP archive", "export the table as CSV"});
    for (const char* json : {"{\"a\": 1}\n{\"a\": 2}\n", "[\n  {\"a\": 1}]", "[[1,2],[3,4]]"}) {
        refuses(json, {"'data.csv' holds JSON, not a table", "as CSV"});
    }
    check_error(ErrorCode::invalid_file, {"holds JSON"}, [] { (void)io::split_csv("[{\"a\": 1}]", "f.csv", "a"); });
    for (const char* page : {"<!DOCTYPE html>\n<html>", "<HTML>", "<table>", "<?xml version=\"1.0\"?>", "\n<html>"}) {
        refuses(page, {"HTML or XML", "as CSV"});
    }
    CHECK(parse("{a},[b]\n1,2\n").names == Names{"{a}", "[b]"});
}

TEST_CASE("csv variants: digits of other scripts, marks of direction") {
    const auto arabic = parse("الوقت,القيمة\n٢٠٢٤/٠١/٠١ ١٠:٠٠,١٬٢٣٤٫٥\n٢٠٢٤/٠١/٠١ ١١:٠٠,−٢٫٢٥\n");
    CHECK(arabic.names == Names{"القيمة"});
    CHECK(holds(arabic, 0, {1234.5, -2.25}));
    CHECK(arabic.timestamps == Names{"2024/01/01 10:00", "2024/01/01 11:00"});
    for (const char* digits : {"۱۲٫۵", "१२.५", "১২.৫", "๑๒.๕", "１２．５", "\u200e12.5", "\u202d12.5\u202c"}) {
        CAPTURE(digits);
        CHECK(holds(parse("a,b\n1," + std::string(digits) + "\n2,3\n"), 1, {12.5, 3}));
    }
    const auto wide = parse("時刻,値\n２０２４年１月１日　１０：００,７５％\n２０２４年１月１日　１１：００,８０％\n");
    CHECK(wide.timestamps == Names{"2024年1月1日 10:00", "2024年1月1日 11:00"});
    CHECK(holds(wide, 0, {75, 80}));
    // Names of columns and labels that begin with letters stay as they are.
    CHECK(parse("t,値１\n1,2\n2,3\n").names == Names{"値１"});
    CHECK(io::with_ascii_digits("駅１") == "駅１");
    for (const char* label : {"１号店", "２階", "３Ｆ", "٢٠٢٤-A-1", "１２３－４５６７"}) {
        CHECK(io::with_ascii_digits(label) == label);
    }
    CHECK(io::with_ascii_digits("１４：３０") == "14:30");
    CHECK(io::with_ascii_digits("٥ kg") == "5 kg");
    CHECK(notes(parse("店,値\n１号店,1\n２号店,3\n１号店,2\n"), "'店' holds text and is left out"));
    const auto bare = parse("٢٠٢٤-٠١-٠١,٥\n٢٠٢٤-٠١-٠٢,٦\n");
    CHECK(bare.rows() == 2);
    CHECK(holds(bare, 0, {5, 6}));
    CHECK(io::with_ascii_digits("\xD9") == "\xD9");
    CHECK(io::with_ascii_digits("€5") == "€5");
}

TEST_CASE("csv variants: names of months of several languages are labels") {
    const auto labels = parse("code,v\nSET-2000,1\nLIS-2001,2\nTEM-1999,3\n");
    CHECK(labels.names == Names{"v"});
    CHECK_FALSE(labels.clock.is_known());
    CHECK(notes(labels, "Column 'code' holds text"));
    CsvOptions asked;
    asked.columns = {"code"};
    refuses("code,v\nSET-2000,1\nLIS-2001,2\n", {"Line 2 of", "'SET-2000' is not a number"}, asked);
    refuses("code,v\n5,1\nSET-2000,1\nLIS-2001,2\n", {"Line 3 of", "'SET-2000' is not a number"}, asked);
    CHECK_FALSE(parse("code,v\n01SET2000,1\n02LIS2001,2\n").clock.is_known());
    CHECK(parse("t,v\nLIS-2000,1\nGRU-2000,2\n").clock.is_known());
    CHECK(parse("t,v\nmai 2024,1\njuin 2024,2\n").clock.is_known());
}

TEST_CASE("csv variants: few rows under many times may be series") {
    const auto wide = parse("id,2024-01-01,2024-01-02,2024-01-03,2024-01-04,2024-01-05,2024-01-06\nA,1,2,3,4,5,6\n");
    CHECK(notes(wide, "transpose the table"));
    CHECK_FALSE(notes(parse("id,2024-01-01,2024-01-02\nA,1,2\n"), "transpose"));
}

TEST_CASE("csv variants: comments, titles and names in comments") {
    CHECK(holds(parse("# made by\n# something, else\na,b\n1,2\n"), 1, {2}));
    CHECK(parse("# when,load\n2024-01-01,1\n2024-01-02,2\n").names == Names{"load"});
    const auto titled = parse("Category: All\n\nWeek,term\n2024-01-07,5\n2024-01-14,6\n");
    CHECK(titled.names == Names{"term"});
    CHECK(notes(titled, "1 line before its table"));
    refuses("load\n1,5\n2,5\n", {"Line 2", "2 fields", "--separator"});  // no title: its commas are in numbers
    CHECK(holds(parse("load\n1,5\n2,5\n", {.separator = ';'}), 0, {1.5, 2.5}));
    refuses("# a\n# b\nx,y\n1,2\n1,3\n2,oops\n", {"Line 6"});
}

TEST_CASE("csv variants: titles that hold separators") {
    const auto commas =
        parse("Report for 2024, Q1, North\nmade Jan 5, 2024\n\ndate,a,b,c\n2024-01-01,1,2,3\n2024-01-02,4,5,6\n");
    CHECK(commas.names == Names{"a", "b", "c"});
    CHECK(holds(commas, 2, {3, 6}));
    CHECK(notes(commas, "2 lines before its table"));
    // A spreadsheet fills each line up.
    const auto filled = parse("Sales report,,\n,,\nDate,North,South\n2024-01-01,1,2\n2024-01-02,3,4\n");
    CHECK(filled.names == Names{"North", "South"});
    CHECK(holds(filled, 1, {2, 4}));
    CHECK(holds(parse("Report; 2024; x; y\na;b\n1,5;2\n3,5;4\n"), 0, {1.5, 3.5}));
    // These are tables, or broken ones.
    CHECK(parse("a,b\nx,1\ny,2\n").names == Names{"b"});
    CHECK(parse(",a\nx,1\ny,2\n").names == Names{"a"});
    refuses("a,b\n1,2,3\n4,5,6\n", {"Line 2", "3 fields"});
    refuses("a,b\n1,2\n3,4,5\n", {"Line 3", "3 fields"});
}

TEST_CASE("csv variants: files without a header") {
    const auto dates = parse("2024-01-01,5\n2024-01-02,6\n");
    CHECK(dates.timestamps == Names{"2024-01-01", "2024-01-02"});
    CHECK(dates.names == Names{"column_2"});
    CHECK(notes(dates, "has no header"));
    CHECK(holds(parse("2024-01-01,web,5\n2024-01-02,web,6\n"), 0, {5, 6}));
}

TEST_CASE("csv variants: the clock wherever it stands, and only one") {
    const auto table = parse("a,start,when,b\n1,2024-01-01,2024-01-01,5\n2,2024-01-01,2024-01-02,6\n");
    CHECK(table.timestamp_name == "when");
    CHECK(table.names == Names{"a", "b"});
    CHECK(notes(table, "'start' holds further times and is left out"));
    const auto index = parse(",a\n0,5\n1,6\n2,7\n");
    CHECK(index.clock.kind == io::Clock::Kind::numbers);
    CHECK(index.names == Names{"a"});
    CHECK(notes(index, "counts the rows"));
    CHECK(parse("step,a\n0.5,5\n1.0,6\n1.5,7\n").clock.times == std::vector<std::int64_t>{5, 10, 15});
    const auto counter = parse("queries,a\n1,5\n2,6\n3,7\n");
    CHECK(counter.names == Names{"queries", "a"});
    CHECK(notes(counter, "rises in equal steps"));
}

TEST_CASE("csv variants: epoch times are the clock") {
    const std::int64_t nanoseconds[] = {1'000'000'000, 1'000'000, 1'000, 1};
    const std::string zeros[] = {"", "000", "000000", "000000000"};
    for (std::size_t unit = 0; unit < 4; ++unit) {
        const std::string& z = zeros[unit];
        for (const std::string name : {"ts", "column"}) {
            const auto table =
                parse("cpu," + name + "\n1,1700000000" + z + "\n2,1700000060" + z + "\n3,1700000120" + z + "\n");
            CHECK(table.names == Names{"cpu"});
            CHECK(table.clock.epoch_unit == nanoseconds[unit]);
            CHECK(notes(table, "holds epoch times: it is taken as the clock"));
            CHECK(
                parse("cpu," + name + "\n1,1700000000" + z + "\n2,1700000060" + z + "\n", {.columns = {name}}).names ==
                Names{name});
        }
    }
    const auto fraction = parse("t,v\n1700000000.5,1\n1700000001.0,2\n");
    CHECK(fraction.clock.epoch_unit == 100'000'000);
    CHECK(fraction.clock.text(17'000'000'015) == "1700000001.5");
    // A counter of bytes is none, however large.
    CHECK(parse("bytes,cpu\n1500000123,1\n1500430000,2\n1600000000,4\n1700000000,1\n").names == Names{"bytes", "cpu"});
    // Nor is one that grows at almost the same rate, or stands alone.
    CHECK(parse("bytes,cpu\n1700000000,1\n1700000750,2\n1700001520,4\n1700002240,1\n1700003000,1\n").names ==
          Names{"bytes", "cpu"});
    CHECK(parse("bytes\n1700000000\n1700000010\n1700000020\n1700000030\n").names == Names{"bytes"});
}

TEST_CASE("csv variants: dates in the order that the column decides") {
    const auto first_day = [](const std::string& text, const CsvOptions& options = {}) {
        const auto table = parse("d,v\n" + text, options);
        return io::date_text(io::clock_time(table.clock.times.at(0), 0).date);
    };
    CHECK(first_day("12/02/2024,1\n13/02/2024,2\n") == "2024-02-12");
    CHECK(first_day("02/12/2024,1\n02/13/2024,2\n") == "2024-02-12");
    CHECK(first_day("2/12/24 9:30 PM,1\n2/13/24 9:30 PM,2\n") == "2024-02-12");
    CHECK(first_day("05.01.2024 13:00,1\n05.01.2024 14:00,2\n") == "2024-01-05");
    CHECK(first_day("2024/01/05,1\n2024/01/06,2\n") == "2024-01-05");
    CHECK(first_day("20240105,1\n20240106,2\n", {.timestamp = "d"}) == "2024-01-05");
    CHECK(parse("date,v\n20240131,1\n20240201,2\n").clock.kind == io::Clock::Kind::instants);
    CHECK(first_day("2024-01-05 00:00:00 UTC,1\n2024-01-06 00:00:00 UTC,2\n") == "2024-01-05");
    refuses("d,v\n01/02/2024,1\n02/02/2024,2\n", {"'01/02/2024'", "--date-format dmy"});
    CsvOptions options;
    options.dates = io::DateOrder::day_first;
    CHECK(first_day("01/02/2024,1\n02/02/2024,2\n", options) == "2024-02-01");
    options.dates = io::DateOrder::month_first;
    CHECK(first_day("01/02/2024,1\n02/02/2024,2\n", options) == "2024-01-02");
    // Continued ones are spelled alike.
    const auto table = parse("d,v\n2/28/24 9:30 PM,1\n2/29/24 9:30 PM,2\n");
    CHECK(table.clock.text(table.clock.times.back() + 86'400'000'000'000) == "3/1/24 9:30 PM");
}

TEST_CASE("csv variants: a date and a time of day in two columns") {
    const std::string text = "date,time,v\n2024-01-01,10:00,1\n2024-01-01,11:00,2\n2024-01-01,12:00,3\n";
    const auto table = parse(text);
    CHECK(table.names == Names{"v"});
    CHECK(table.timestamp_name == "date time");
    CHECK(table.timestamps == Names{"2024-01-01 10:00", "2024-01-01 11:00", "2024-01-01 12:00"});
    CHECK(table.clock.text(table.clock.times[2] + 3'600'000'000'000) == "2024-01-01 13:00");
    CHECK(notes(table, "Columns 'date' and 'time' are taken together as the clock"));
    for (const std::string name : {"date", "time"}) {
        CHECK(parse(text, {.timestamp = name}).timestamps == table.timestamps);
    }
    const auto other = parse("v,Time,Date\n1,9:30:00 AM,13/01/2024\n2,9:31:00 AM,13/01/2024\n");
    CHECK(other.timestamps[1] == "13/01/2024 9:31:00 AM");
    CHECK(other.clock.kind == io::Clock::Kind::instants);
    CHECK(parse("date,time,v\n20240105,10:00,1\n20240105,10:01,2\n").timestamps[1] == "2024-01-05 10:01");
    CHECK(parse("date,time,v\n5-Jan-2024,10:00,1\n5-Jan-2024,10:01,2\n").timestamps[1] == "5-Jan-2024 10:01");
    const auto pivoted = parse("date,time,s,v\n2024-01-01,10:00,a,1\n2024-01-01,10:00,b,2\n", {.series = {"s"}});
    CHECK(pivoted.names == Names{"a", "b"});
    CHECK(pivoted.rows() == 1);
    CHECK(notes(parse(text + "2024-01-01,,7\n"), "1 row without a time"));
    // Sunrise is no clock, and a time without a date none that can be read.
    const auto sunrise = parse("date,sunrise,v\n2024-01-01,07:31,1\n2024-01-02,07:30,2\n");
    CHECK(sunrise.timestamp_name == "date");
    CHECK(sunrise.timestamps[0] == "2024-01-01");
    CHECK(notes(parse("time,v\n10:00,1\n11:00,2\n"), "'time' has no times that can be read"));
    CHECK(parse("date,time,date time\n2024-01-01,10:00,1\n2024-01-01,11:00,2\n").timestamp_name == "date time clock");
}

TEST_CASE("csv variants: years, quarters, months, days and hours in columns of their own") {
    const auto months = parse("year,month,v\n2023,11,1\n2023,12,2\n2024,1,3\n2024,3,5\n");
    CHECK(months.timestamps == Names{"2023-11", "2023-12", "2024-01", "2024-02", "2024-03"});
    CHECK(months.timestamp_name == "year month");
    CHECK(holds(months, 0, {1, 2, 3, gap, 5}));
    CHECK(notes(months, "Columns 'year' and 'month' are taken together as the clock. Ask for one"));
    CHECK(parse("v,Month,Year\n1,Nov,2023\n2,Dec,2023\n3,Jan,2024\n").timestamps.back() == "2024-01");
    CHECK(parse("year,quarter,v\n2023,4,1\n2024,1,2\n").timestamps == Names{"2023-Q4", "2024-Q1"});
    CHECK(parse("year,quarter,v\n2023,Q4,1\n2024,Q1,2\n").timestamps == Names{"2023-Q4", "2024-Q1"});
    CHECK(parse("year,month,day,v\n2024,2,28,1\n2024,2,29,2\n").timestamps == Names{"2024-02-28", "2024-02-29"});
    CHECK(parse("No,year,month,day,hour,v\n9,2024,1,1,0,1\n7,2024,1,1,1,2\n").timestamps.back() == "2024-01-01 01:00");
    // What is asked for by name, or stands beside another clock, is no part of it.
    CHECK(parse("year,month,v\n2023,11,1\n2023,12,2\n", {.columns = {"month", "v"}}).names == Names{"month", "v"});
    // Months by their names, in several languages.
    CHECK(parse("Jahr,Monat,v\n2023,Dez.,1\n2024,JÄNNER,2\n2024,März,3\n").timestamps ==
          Names{"2023-12", "2024-01", "2024-02", "2024-03"});
    const auto named = parse("mois,v\njanv. 2024,1\nfévr. 2024,2\navr. 2024,3\n");
    CHECK(named.timestamps == Names{"janv. 2024", "févr. 2024", "mars 2024", "avr. 2024"});
    CHECK(io::find_time_step(named.clock).kind == io::TimeStep::Kind::months);
    CHECK(parse("t,year,month\n2024-01-01,2024,1\n2024-02-01,2024,2\n").names == Names{"year", "month"});
    CHECK(parse("year,month,ts,v\n2024,1,1704067200,1\n2024,2,1706745600,2\n").timestamp_name == "ts");
    CHECK(parse("year,month,v\n2023,11,1\n2023,13,2\n").timestamp_name != "year month");
    CHECK(parse("month,day,v\n1,11,1\n1,12,2\n").timestamp_name != "month day");
}

TEST_CASE("csv variants: a date and an hour in two columns") {
    const auto hours = parse("date,hour,v\n2024-01-01,22,1\n2024-01-01,23,2\n2024-01-02,0,3\n2024-01-02,1,4\n");
    CHECK(hours.names == Names{"v"});
    CHECK(hours.timestamp_name == "date hour");
    CHECK(hours.timestamps == Names{"2024-01-01 22:00", "2024-01-01 23:00", "2024-01-02 00:00", "2024-01-02 01:00"});
    CHECK(notes(hours, "Columns 'date' and 'hour' are taken together as the clock."));
    // Hours from 1 to 24 say when they end.
    const std::string ends = "v,Hour Ending,Date\n1,23,31/12/2023\n2,24,31/12/2023\n3,1,01/01/2024\n4,2,01/01/2024\n";
    const auto ending = parse(ends);
    CHECK(ending.timestamps[1] == "31/12/2023 24:00");
    CHECK(io::find_time_step(ending.clock).length == 3'600'000'000'000);
    CHECK(ending.clock.text(ending.clock.times[1]) == "01/01/2024 00:00");
    CHECK(holds(ending, 0, {1, 2, 3, 4}));
    CHECK(notes(ending, "Hour 24 is midnight at the end of the day"));
    for (const std::string name : {"Date", "Hour Ending"}) {
        CHECK(parse(ends, {.timestamp = name}).timestamps == ending.timestamps);
    }
    CHECK(parse("date,hr,v\n20240105,7,1\n20240105,8,2\n").timestamps[1] == "2024-01-05 08:00");
    CHECK(parse("date,hour,minute,v\n2024-01-05,7,0,1\n2024-01-05,7,30,2\n").timestamps[1] == "2024-01-05 07:30");
    CHECK(parse("year,month,day,hour,v\n2024,1,1,23,1\n2024,1,1,24,2\n2024,1,2,1,3\n").clock.times.size() == 3);
    // An hour of a day that has one row is a value; and what is no hour is none.
    CHECK(parse("date,hour,v\n2024-01-01,7,1\n2024-01-02,9,2\n").names == Names{"hour", "v"});
    refuses("date,hour,v\n2024-01-01,25,1\n2024-01-01,26,2\n2024-01-02,25,3\n2024-01-02,26,4\n",
            {"2 rows with the time of another"});
    refuses("date,hour,v\n2024-01-01,1,1\n2024-01-01,2,2\n2024-01-02,1,2\n2024-01-02,2,3\n",
            {"at least half", "--time COLUMN"}, {.columns = {"hour", "v"}});
}

TEST_CASE("csv variants: dates in digits alone") {
    const auto months = parse("month,v\n201911,1\n201912,2\n202002,4\n");
    CHECK(months.timestamps == Names{"201911", "201912", "202001", "202002"});
    CHECK(holds(months, 0, {1, 2, gap, 4}));
    CHECK(io::find_time_step(months.clock).kind == io::TimeStep::Kind::months);
    CHECK(notes(months, "Column 'month' holds dates: it is taken as the clock"));
    CHECK(parse(",v\n201911,1\n201912,2\n202001,3\n").clock.kind == io::Clock::Kind::instants);
    for (const std::string text :
         {"2024013122,1\n2024013123,2\n2024020100,3\n", "202401312200,1\n202401312300,2\n202402010000,3\n",
          "20240131220000,1\n20240131230000,2\n20240201000000,3\n"}) {
        const auto hours = parse("Datum,v\n" + text);
        CHECK(hours.rows() == 3);
        CHECK(hours.clock.kind == io::Clock::Kind::instants);
        CHECK(io::find_time_step(hours.clock).length == 3'600'000'000'000);
        CHECK(notes(hours, "holds dates"));
    }
    // Hours from 1 to 24, and among other numbers.
    CHECK(parse("time,v\n2024013123,1\n2024013124,2\n2024020101,3\n").rows() == 3);
    CHECK(parse("v,stamp\n1,2024013120\n2,2024013121\n3,2024013122\n4,2024013123\n").clock.kind ==
          io::Clock::Kind::instants);
    // Counters and epoch times are none, nor is what has another name.
    const auto counter = parse("time,v\n202011,1\n202012,2\n202013,3\n202014,4\n");
    CHECK(counter.clock.kind == io::Clock::Kind::numbers);
    CHECK(notes(counter, "counts up in equal steps"));
    const auto epoch = parse("time,v\n1704067200,1\n1704070800,2\n1704074400,3\n");
    CHECK(epoch.clock.kind == io::Clock::Kind::numbers);
    CHECK(notes(epoch, "holds epoch times"));
    CHECK(parse("units,v\n202011,1\n202012,2\n202101,3\n").names == Names{"units", "v"});
    CHECK(parse("t,month,v\n2024-01-01,202401,1\n2024-02-01,202402,2\n").names == Names{"v"});
}

TEST_CASE("csv variants: an index that counts the rows is left out beside a clock") {
    for (const std::string text : {",date,v\n0,2024-01-01,7\n1,2024-01-02,8\n2,2024-01-03,9\n",
                                   ",date,v\n1,2024-01-03,9\n2,2024-01-02,8\n3,2024-01-01,7\n"}) {
        const auto table = parse(text);
        CHECK(table.names == Names{"v"});
        CHECK(notes(table, "Column 'column_1' without a name counts the rows and is left out"));
        CHECK(parse(text, {.columns = {"column_1", "v"}}).names == Names{"column_1", "v"});
    }
    CHECK(parse(",date,v\n5,2024-01-01,7\n3,2024-01-02,8\n").names == Names{"column_1", "v"});
    CHECK(parse("n,date,v\n0,2024-01-01,7\n1,2024-01-02,8\n").names == Names{"n", "v"});
    CHECK(parse(",v\n0,7\n1,8\n2,9\n").timestamp_name == "column_1");
    CHECK(parse(",t,s,v\n0,2024-01-01,a,7\n1,2024-01-01,b,8\n", {.series = {"s"}}).names == Names{"a", "b"});
}

TEST_CASE("csv variants: months by their names, and quarters") {
    for (const std::string text : {"05-Jan-2024,1\n06-Jan-2024,2\n", "\"Jan 5, 2024\",1\n\"Jan 6, 2024\",2\n"}) {
        const auto table = parse("d,v\n" + text);
        CHECK(table.clock.kind == io::Clock::Kind::instants);
        CHECK(io::find_time_step(table.clock).length == 86'400'000'000'000);
    }
    for (const std::string text : {"2023 Nov,1\n2023 Dec,2\n2024 Jan,3\n", "2023-Q3,1\n2023-Q4,2\n2024-Q1,3\n"}) {
        const auto table = parse("d,v\n" + text);
        CHECK(table.names == Names{"v"});
        CHECK(io::find_time_step(table.clock).kind == io::TimeStep::Kind::months);
    }
}

TEST_CASE("csv variants: numbers in brackets are negative") {
    const auto table = parse("a,b,c\n1,$(5),\"(1,234)\"\n(6.00),$7,2\n8,($8.50),3\n");
    CHECK(holds(table, 0, {1, -6, 8}));
    CHECK(holds(table, 1, {-5, 7, -8.5}));
    CHECK(holds(table, 2, {-1234, 2, 3}));
    CHECK(holds(parse("a;b\n(1,5);1\n2,5;2\n"), 0, {-1.5, 2.5}));
    refuses("a,b\n(-1),1\n2,2\n3,3\n", {"'(-1)' is not a number"});
    refuses("a,b\n((1)),1\n2,2\n3,3\n", {"'((1))' is not a number"});
}

TEST_CASE("csv variants: decimal commas and thousands") {
    CHECK(holds(parse("a;b\n1,5;2\n-0,25;3e-1\n"), 0, {1.5, -0.25}));
    CHECK(notes(parse("a;b\n1,5;2\n"), "decimal commas"));
    CHECK(holds(parse("a;b\n1.234,5;1.234\n2,5;2.000\n"), 1, {1234, 2000}));
    CHECK(holds(parse("a,b\n\"1,234\",1\n\"1,234,567.5\",2\n"), 0, {1234, 1234567.5}));
    CHECK(holds(parse("a,b\n\"1,5\",1\n\"2,25\",2\n"), 0, {1.5, 2.25}));
    CHECK(holds(parse("a;b\n1 234,5;1\n12\xc2\xa0"
                      "345;2\n1'234;3\n"),
                0, {1234.5, 12345, 1234}));
    CHECK(holds(parse("a;b\n1.234;1\n2.345;2\n"), 0, {1.234, 2.345}));
    refuses("a;b\n1.234;1,234\n", {"column 'a'", "point or a comma", "--decimal"});
    refuses("a;b\n1.5;1\n1,5;2\n", {"column 'a'", "--decimal"});
    const std::string mixed = "d;a\n01.01.2024;980\n02.01.2024;990\n13.01.2024;1.010\n";
    refuses(mixed, {"column 'a'", "point or a comma", "--decimal"});
    CHECK(holds(parse("a;b\n980;1\n1.010;2\n1.02;3\n"), 0, {980, 1.01, 1.02}));
    CHECK(holds(parse("a,b\n980,1\n\"1,010\",2\n"), 0, {980, 1010}));
    CsvOptions options;
    options.decimal = io::DecimalMark::comma;
    CHECK(holds(parse("a;b\n1.234;1,234\n", options), 0, {1234}));
    options.rows = io::RowPolicy::as_they_stand;
    CHECK(holds(parse(mixed, options), 0, {980, 990, 1010}));
}

TEST_CASE("csv variants: units, percent signs and truths") {
    const auto table =
        parse("cpu,memory,latency,cost,up\n5%,1.5 GiB,40 ms,$5,true\n6.5 %,512 MiB,1.2 s,\"$1,250.50\",FALSE\n");
    CHECK(table.units == Names{"%", "GiB", "ms", "$", ""});
    CHECK(holds(table, 0, {5, 6.5}));
    CHECK(holds(table, 1, {1.5, 0.5}));
    CHECK(holds(table, 2, {40, 1200}));
    CHECK(holds(table, 3, {5, 1250.5}));
    CHECK(holds(table, 4, {1, 0}));
    CHECK(parse("a,b\n0,1\n5 KiB/s,2\n1 MiB/s,3\n").columns[0][2] == 1024);
    const auto mixed = parse("a,b\n5 kg,1\n6 ms,2\n");
    CHECK(mixed.names == Names{"b"});
    check_error(ErrorCode::invalid_file, {"Line 3", "column 'a'", "'ms'", "'kg'"},
                [] { parse("a,b\n5 kg,1\n6 ms,2\n", {.columns = {"a"}}); });
    const auto ids = parse("id,v\n7f,1\n3a,2\n");  // names, not numbers with units
    CHECK(ids.names == Names{"v"});
    CHECK(ids.notes == Names{"Column 'id' holds values in several units and is left out."});
    refuses("t,v\n2024-01-01,15%\n2024-01-02,0.15\n",
            {"Line 3 of", "column 'v': a value without a unit stands below values in '%', and there is no telling"});
    refuses("v\n$5\n7 kg\n", {"column 'v': a value in 'kg' stands below values in '$'"});
}

TEST_CASE("csv variants: words for missing values are counted") {
    const auto table = parse("a,b\n1,NaN\n2,null\n3,None\n4,-\n5,+Inf\n6,n/a\n7,\n8,9\n");
    CHECK(holds(table, 1, {gap, gap, gap, gap, gap, gap, gap, 9}));
    CHECK(notes(table, "6 cells of 'data.csv' hold a word for a missing value ('NaN')"));
    CHECK(holds(parse("a,b\n1,off\n2,3\n3,4\n", {.gaps = {"OFF"}}), 1, {gap, 3, 4}));
}

TEST_CASE("csv variants: text and empty columns are left out, with a note") {
    const auto table = parse("host,cpu,free\nalpha,5,\nbeta,6,\n");
    CHECK(table.names == Names{"cpu"});
    CHECK(notes(table, "'host' holds text and is left out"));
    CHECK(notes(table, "'free' holds no value and is left out"));
    refuses("host,b\nalpha,x\nbeta,y\n", {"no column of numbers", "'host', 'b'"});
}

TEST_CASE("csv variants: text in a column of numbers is refused, numbers in one of text are not") {
    refuses("a,b\n1,x\n2,5\n", {"Line 2", "column 'b'", "'x' is not a number"});
    const auto table = parse("a,b\n1,x\n2,y\n3,5\n");
    CHECK(table.names == Names{"a"});
    CHECK(notes(table, "Column 'b' holds text"));
}

TEST_CASE("csv variants: repeated and nameless columns get names") {
    const auto table = parse("load,load,\n1,2,3\n4,5,6\n");
    CHECK(table.names == Names{"load", "load_2", "column_3"});
    CHECK(notes(table, "several columns 'load'"));
    CHECK(parse("load,load,load_2\n1,2,3\n4,5,6\n").names == Names{"load", "load_3", "load_2"});
}

TEST_CASE("csv variants: of many names twelve are listed") {
    Names names{"a", "b"};
    CHECK(io::name_list(names) == "'a', 'b'");
    names.resize(12, "c");
    CHECK(io::name_list(names).ends_with("'c', 'c'"));
    names.resize(13, "c");
    CHECK(io::name_list(names).ends_with("'c', 'c' and 1 others"));
}

TEST_CASE("csv variants: rows in the order of time") {
    const auto newest_first = parse("t,v\n2024-01-03,3\n2024-01-02,2\n2024-01-01,1\n");
    CHECK(holds(newest_first, 0, {1, 2, 3}));
    CHECK(newest_first.timestamps.front() == "2024-01-01");
    CHECK(notes(newest_first, "newest row first"));
    const auto unsorted = parse("t,v\n2024-01-01,1\n2024-01-03,3\n2024-01-02,2\n2024-01-04,4\n");
    CHECK(holds(unsorted, 0, {1, 2, 3, 4}));
    CHECK(notes(unsorted, "'2024-01-02' comes after '2024-01-03'"));
    const auto repeated = parse("t,v\n2024-01-01,1\n2024-01-01,1\n2024-01-02,2\n2024-01-02,9\n2024-01-03,3\n");
    CHECK(holds(repeated, 0, {1, 2, 3}));
    CHECK(notes(repeated, "2 rows with the time of another one, such as '2024-01-01', 1 of them with other values"));
    const auto missing = parse("t,v\n10:00,1\n", {.timestamp = "t"});
    CHECK(missing.clock.kind == io::Clock::Kind::labels);
    const auto hours = parse("t,v\n1700000000,1\n1700000060,2\n1700000240,5\n1700000300,6\n1700000361,7\n");
    CHECK(holds(hours, 0, {1, 2, gap, gap, 5, 6, 7}));
    CHECK(hours.timestamps[3] == "1700000180");
    CHECK(notes(hours, "lacks 2 rows between its times, the first behind '1700000060'"));
    const auto months = parse("t,v\n2023-10-31,1\n2023-11-30,2\n2024-02-29,5\n");
    CHECK(months.timestamps == Names{"2023-10-31", "2023-11-30", "2023-12-31", "2024-01-31", "2024-02-29"});
    const auto timeless = parse("t,v\n2024-01-01,1\n,7\n2024-01-02,2\n");
    CHECK(holds(timeless, 0, {1, 2}));
    CHECK(notes(timeless, "1 row without a time: it is left out"));
    std::string days = "t,v\n";
    for (int day = 1; day <= 9; ++day) {
        days += "2024-01-0" + std::to_string(day) + ",1\n";
    }
    const auto summed = parse(days + "Total,9\n");
    CHECK(summed.clock.kind == io::Clock::Kind::instants);
    CHECK(holds(summed, 0, {1, 1, 1, 1, 1, 1, 1, 1, 1}));
    CHECK(notes(summed, "1 row without a time: it is left out"));
    CHECK(parse(days + "Total,9\n", {.columns = {"v"}}).rows() == 9);
    CHECK(notes(parse("date,v\nthe third,3\nthe second,2\n"), "'date' has no times that can be read"));
    CHECK(notes(parse("t,v\n2024-01-01,1\n2024-01-03,2\n2024-01-09,2\n2024-02-28,2\n"), "uneven intervals"));
}

TEST_CASE("csv variants: the twelve months of common locales are months, and go on so") {
    for (const std::string_view months :
         {"Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
          "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
          "Jan. Febr. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
          "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
          "Jänner Februar März April Mai Juni Juli August September Oktober November Dezember",
          "Jän. Feb. März Apr. Mai Juni Juli Aug. Sep. Okt. Nov. Dez.",
          "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
          "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
          "janv. févr. mars avril mai juin juil. août sept. oct. nov. déc.",
          "janv. févr. mars avr. mai juin juill. août sept. oct. nov. déc.",
          "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
          "ene feb mar abr may jun jul ago sept oct nov dic",
          "ene. feb. mar. abr. may. jun. jul. ago. set. oct. nov. dic.",
          "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
          "gen feb mar apr mag giu lug ago set ott nov dic",
          "gen feb mar apr mag giu lug ago sett ott nov dic",
          "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
          "jan. fev. mar. abr. mai. jun. jul. ago. set. out. nov. dez.",
          "januari februari maart april mei juni juli augustus september oktober november december",
          "jan feb mrt apr mei jun jul aug sep okt nov dec",
          "jan. feb. mrt. apr. mei jun. jul. aug. sept. okt. nov. dec.",
          "jan. febr. mrt. apr. mei juni juli aug. sept. okt. nov. dec."}) {
        CAPTURE(months);
        Names names;
        for (std::size_t begin = 0; begin < months.size(); begin = months.find(' ', begin) + 1) {
            names.emplace_back(months.substr(begin, months.find(' ', begin) - begin));
            if (months.find(' ', begin) == months.npos) {
                break;
            }
        }
        REQUIRE(names.size() == 12);
        for (const auto& [before, behind] : {std::pair{"", " 2024"}, {"15 ", " 2024"}, {"15-", "-2024"}}) {
            std::string text = "t;v\n";
            Names spelled;
            for (const std::string& name : names) {
                spelled.push_back(before + name + behind);
                text += spelled.back() + ";" + std::to_string(spelled.size() * spelled.size() % 7) + "\n";
            }
            const io::Table table = parse(text);
            CAPTURE(text);
            CHECK(table.notes.empty());
            CHECK(table.timestamps == spelled);
            CHECK(io::find_time_step(table.clock).kind == io::TimeStep::Kind::months);
        }
    }
}

TEST_CASE("csv variants: times above numbers alone name the columns") {
    CHECK(parse("janvier 2024;février 2024;mars 2024\n1;2;3\n4;5;6\n").names ==
          Names{"janvier 2024", "février 2024", "mars 2024"});
    const auto table = parse("Jan 2024,Feb 2024\n1,2\n3,4\n");
    CHECK(table.names == Names{"Jan 2024", "Feb 2024"});
    CHECK(holds(table, 1, {2, 4}));
    CHECK(parse("Jan 2024,7\nFeb 2024,8\n").rows() == 2);
    CHECK(parse("Jan 2024,Feb 2024\n1,NaN\n3,4\n").names == Names{"Jan 2024", "Feb 2024"});
}

TEST_CASE("csv variants: strict refuses what would be repaired, and rows can be taken as they stand") {
    CsvOptions strict;
    strict.rows = io::RowPolicy::strict;
    refuses("t,v\n2024-01-02,2\n2024-01-01,1\n", {"newest row first", "--strict"}, strict);
    refuses("t,v\n2024-01-01,1\n2024-01-03,3\n2024-01-02,2\n", {"not in the order of time"}, strict);
    refuses("t,v\n2024-01-01,1\n2024-01-01,3\n2024-01-02,2\n", {"1 row with the time"}, strict);
    refuses("t,v\n2024-01-01,1\n2024-01-02,3\n2024-01-04,2\n2024-01-05,2\n", {"lacks 1 row"}, strict);
    CHECK(parse("t,v\n2024-01-01,1\n2024-01-02,3\n", strict).rows() == 2);
    const std::string series = "t,s,v\n2024-01-01,a,1\n2024-01-01,a,2\n2024-01-02,a,3\n2024-01-03,a,4\n";
    strict.series = {"s"};
    refuses(series, {"1 value of a series at a time that has one already", "--strict"}, strict);
    CHECK(parse(series, {.series = {"s"}}).rows() == 3);
    strict.series.clear();
    // A clock that cannot be read is none.
    refuses("t,v\n10:00,1\n11:00,2\n", {"'t' of 'data.csv' has no times that can be read", "--strict"}, strict);
    refuses("date,v\n1/2/2024,1\n2024-01-02,2\n13/2/2024,3\n2/13/2024,4\n", {"'date'", "cannot be read", "--strict"},
            strict);
    for (const char* word : {"foo", "jui"}) {
        refuses("date,v\n" + std::string(word) + " 2024,1\n" + word + " 2025,2\n",
                {"'date' of 'data.csv' has no times that can be read", "--strict"}, strict);
    }
    CsvOptions as_is;
    as_is.rows = io::RowPolicy::as_they_stand;
    CHECK(holds(parse("t,v\n2024-01-02,2\n2024-01-01,1\n2024-01-01,7\n", as_is), 0, {2, 1, 7}));
    // One wrong timestamp must not take all memory.
    const std::string_view far =
        "t,v\n2024-01-01T00:00:00Z,1\n2024-01-01T00:00:01Z,2\n2024-01-01T00:00:02Z,2\n2199-01-01T00:00:00Z,3\n";
    refuses(far, {"'2024-01-01T00:00:02Z'", "--as-is"});
    CHECK(parse(far, as_is).rows() == 4);
    // The ends of what 64-bit nanoseconds reach.
    CHECK(parse("t,v\n1700-01-01,1\n2250-01-01,2\n").rows() == 2);
}

TEST_CASE("csv variants: dates that are not of the format that is given") {
    const std::string american = "date,v\n02/01/2024,1\n02/13/2024,2\n02/14/2024,3\n";
    CHECK(parse(american).clock.kind == io::Clock::Kind::instants);
    for (const auto rows : {io::RowPolicy::repair, io::RowPolicy::strict, io::RowPolicy::as_they_stand}) {
        CsvOptions options;
        options.rows = rows;
        options.dates = io::DateOrder::day_first;
        refuses(american, {"'date' of 'data.csv', such as '02/13/2024'", "--date-format dmy"}, options);
        refuses("date,v\nthe third,3\nthe second,2\n", {"'date' of 'data.csv' has no times", "--date-format"}, options);
        options.columns = {"v"};
        refuses("date,v\nthe third,3\nthe second,2\n", {"'date' of 'data.csv' has no times", "--date-format"}, options);
        options.columns = {};
        CHECK(notes(parse("t,v\n1704067200,1\n1704070800,2\n", options), "are numbers, of which --date-format says"));
        CHECK(parse("v,w\n1,2\n3,4\n", options).rows() == 2);  // there is no clock
        // Years that stand first do so whatever is said.
        for (const std::string text :
             {"2024-01-05,1\n2024-01-06,2\n", "2024/1/5 10:00,1\n2024/1/6 10:00,2\n", "20240105,1\n20240106,2\n"}) {
            refuses("date,v\n" + text, {"begin with the year, and are not with the day first (--date-format dmy)"},
                    options);
            options.dates = io::DateOrder::year_first;
            CHECK(parse("date,v\n" + text, options).clock.kind == io::Clock::Kind::instants);
            options.dates = io::DateOrder::day_first;
        }
        refuses("date,time,v\n2024-01-05,10:00,1\n2024-01-05,11:00,2\n", {"'2024-01-05 10:00', begin with the year"},
                options);
        CHECK(parse("date,v\n2024-01-05,1\n06.01.2024,2\n", options).rows() == 2);
        CHECK(parse("date,v\n05-Jan-2024,1\n06-Jan-2024,2\n", options).rows() == 2);
        CHECK(parse("date,v\n2024-Q1,1\n2024-Q2,2\n", options).rows() == 2);
        CHECK(parse("year,month,v\n2024,1,1\n2024,2,2\n", options).rows() == 2);
    }
}

TEST_CASE("csv variants: one time in all rows is no clock") {
    for (const std::string time : {"2024-01-05", "20240105", "1704412800"}) {
        CAPTURE(time);
        const std::string text = "date,v\n" + time + ",3\n" + time + ",1\n" + time + ",2\n";
        for (const CsvOptions& options : {CsvOptions{}, CsvOptions{.columns = {"v"}}}) {
            const auto table = parse(text, options);
            CHECK(table.names == Names{"v"});
            CHECK(holds(table, 0, {3, 1, 2}));
            CHECK(notes(table, "Column 'date' has one time in all rows, '" + time +
                                   "', and is left out; the rows are taken in the order of the file"));
            CHECK(table.notes.size() == 1);
        }
        refuses(text, {"All 3 rows of the file 'data.csv' have one time, '" + time + "'", "--time COLUMN", "--as-is"},
                {.timestamp = "date"});
    }
    CHECK(parse("date,v\n2024-01-05,3\n").timestamp_name == "date");  // of one row it is
    CHECK(parse("date,v\n7,3\n7,1\n").names == Names{"date", "v"});
}

TEST_CASE("csv variants: long form") {
    const std::string text =
        "Time,host,metric,Value\n2024-01-02,a,cpu,3\n2024-01-01,a,cpu,1\n2024-01-01,b,cpu,2\n2024-01-02,a,cpu,9\n";
    refuses(text, {"4 rows at 2 times", "--series host --value Value"});
    refuses(text, {"--series host --value Value"}, {.columns = {"Value"}});
    // As a shell takes them, and in one line.
    refuses("t,Sensor ID,\"v\nw\"\n2024-01-01,a,1\n2024-01-01,b,2\n2024-01-02,a,3\n2024-01-02,b,4\n",
            {"(--series 'Sensor ID' --value 'v\\x0aw')"});
    const auto table = parse(text, {.series = {"host"}});
    CHECK(table.names == Names{"a", "b"});
    CHECK(table.timestamps == Names{"2024-01-01", "2024-01-02"});
    CHECK(holds(table, 0, {1, 3}));
    CHECK(holds(table, 1, {2, gap}));
    CHECK(notes(table, "1 value of a series at a time that has one already"));
    std::string metrics = "t,host,metric,region,value\n";
    for (const std::string day : {"2024-01-01", "2024-01-02"}) {
        for (const std::string series : {"a,cpu", "a,mem", "b,cpu", "b,mem"}) {
            metrics += day + "," + series + ",eu," + std::to_string(metrics.size()) + "\n";
        }
    }
    refuses(metrics, {"8 rows at 2 times", "(--series host,metric --value value)"});
    refuses(metrics, {"4 values of the series 'a', 2 of them", "--series host,metric)"}, {.series = {"host"}});
    refuses(metrics, {"--series region,metric,host)"}, {.series = {"region", "metric"}});
    std::string blanks = metrics;
    blanks.replace(blanks.find("host"), 4, "a host");
    refuses(blanks, {"--series 'a host,metric')"}, {.series = {"a host"}});
    std::string commas = blanks;  // a list on a command line has them in quotes
    commas.replace(commas.find("a host"), 6, "\"a,host\"");
    refuses(commas, {"--series '\"a,host\",metric')"}, {.series = {"a,host"}});
    CHECK(parse(metrics, {.series = {"host", "metric"}}).names == Names{"a cpu", "a mem", "b cpu", "b mem"});
    CHECK(parse(text, {.series = {"host", "metric"}, .value = "Value"}).names == Names{"a cpu", "b cpu"});
    CHECK(parse(text, {.columns = {"b"}, .series = {"host"}}).names == Names{"b"});
    check_error(ErrorCode::invalid_argument, {"no series 'c'", "'a', 'b'"},
                [&] { parse(text, {.columns = {"c"}, .series = {"host"}}); });
    check_error(ErrorCode::invalid_argument, {"several columns of numbers", "'x', 'y'", "--value"},
                [&] { parse("t,s,x,y\n2024-01-01,a,1,2\n", {.series = {"s"}}); });
    check_error(ErrorCode::invalid_argument, {"--series"}, [&] { parse(text, {.value = "Value"}); });
    // Rows that share neither times nor series would make a table of all pairs.
    std::string sparse = "t,s,v\n";
    for (int row = 0; row < 40'000; ++row) {
        sparse += std::to_string(1'700'000'000 + row) + ",s" + std::to_string(row) + ",1\n";
    }
    refuses(sparse, {"hardly any is known"}, {.series = {"s"}});
}

TEST_CASE("csv variants: many columns and long lines take linear time") {
    // Were any step quadratic in the columns, the limit of a test's time would end this.
    constexpr std::size_t columns = repetitions(std::size_t{40'000});
    std::string text;
    for (const std::string_view cell : {"the same name", "7", "8"}) {
        for (std::size_t column = 0; column < columns; ++column) {
            text += std::string(column == 0 ? "" : ",") + std::string(cell);
        }
        text += '\n';
    }
    const auto table = parse(text);
    CHECK(table.names.size() == columns);
    CHECK(table.names.back() == "the same name_" + std::to_string(columns));
    CHECK(parse(text, {.columns = table.names}).names == table.names);
    // A cell of 2 MB.
    CHECK(parse("a,b\n1," + std::string(2'000'000, '0') + "5\n2,2\n").columns[1][0] == 5);
    refuses("a,b\n1,2\n3,4\n2," + std::string(2'000'000, ',') + "5\n", {"more than 1000000 fields"});
    std::string groups = "1";
    for (int group = 0; group < 200'000; ++group) {
        groups += " 000";
    }
    refuses("a,b\n1,2\n2," + groups + "\n", {"beyond the range of a float"});
    std::string comments;
    for (int line = 0; line < 100'000; ++line) {
        comments += "# \"\n";
    }
    CHECK(parse(comments + "a,b\n1,2\n").rows() == 1);
}
