// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <totograph/io/csv/csv.hpp>
#include <totograph/io/csv/records.hpp>
#include <totograph/io/csv/writer.hpp>

#include "io/support.hpp"

namespace {

using namespace totograph;
using io::CsvOptions;
using totograph::test::check_error;
using totograph::test::ScratchFolder;
using Names = std::vector<std::string>;
using Values = std::vector<double>;

io::Table parse(std::string_view text, const CsvOptions& options = {}) {
    return io::parse_csv(text, "data.csv", options);
}

void refuses(std::string_view text, std::initializer_list<std::string_view> parts, const CsvOptions& options = {},
             ErrorCode code = ErrorCode::invalid_file) {
    CAPTURE(std::string(text));
    check_error(code, parts, [&] { parse(text, options); });
    check_error(code, {"'data.csv'"}, [&] { parse(text, options); });
}

/// The options that ask for these columns.
CsvOptions only(const Names& columns) {
    CsvOptions options;
    options.columns = columns;
    return options;
}

CsvOptions separated_by(char separator) {
    CsvOptions options;
    options.separator = separator;
    return options;
}

}  // namespace

TEST_CASE("csv: timestamps, names and values of a plain file") {
    const auto table = parse("time,cpu,memory\n2024-01-01T00:00:00Z,1.5,2\n2024-01-01T00:01:00Z,-3e2,+4\n");
    CHECK(table.timestamp_name == "time");
    CHECK(table.timestamps == Names{"2024-01-01T00:00:00Z", "2024-01-01T00:01:00Z"});
    CHECK(table.names == Names{"cpu", "memory"});
    REQUIRE(table.columns.size() == 2);
    CHECK(table.columns[0] == Values{1.5, -300.0});
    CHECK(table.columns[1] == Values{2.0, 4.0});
    CHECK(table.rows() == 2);
    CHECK(table.find("memory") == std::size_t{1});
    CHECK_FALSE(table.find("time").has_value());
    CHECK_FALSE(table.find("disk").has_value());
}

TEST_CASE("csv: without text in the first column there are no timestamps") {
    const auto table = parse("a,b\n1,2\n3,4\n");
    CHECK(table.timestamp_name.empty());
    CHECK(table.timestamps.empty());
    CHECK(table.names == Names{"a", "b"});
    CHECK(table.columns.at(0) == Values{1.0, 3.0});
    CHECK(table.rows() == 2);
    CHECK(io::Table{}.rows() == 0);
}

TEST_CASE("csv: gaps are empty or spelled out") {
    const auto table = parse("a,b\n,1\nNaN,2\nnan,3\nNA,4\nnull,5\n\"\",6\n N/A ,7\n\" \",8\n2,9\n");
    REQUIRE(table.rows() == 9);
    for (std::size_t row = 0; row < 8; ++row) {
        CHECK(std::isnan(table.columns.at(0)[row]));
    }
    CHECK(table.columns.at(0)[8] == 2.0);
    CsvOptions options;
    options.gaps = {"-999", "?"};
    const auto custom = parse("a,b\n-999,1\n?,2\n,3\n4,5\n", options);
    CHECK(std::isnan(custom.columns.at(0)[0]));
    CHECK(std::isnan(custom.columns.at(0)[1]));
    CHECK(std::isnan(custom.columns.at(0)[2]));
    CHECK(custom.columns.at(0)[3] == 4.0);
    CHECK(std::isnan(parse("a,b\n1,2\n2,NaN\n", options).columns.at(1)[1]));  // the usual words still are
    // A number is one however it is spelled, and no other one.
    const auto spelled = parse("a,b\n-999.0,1\n-9.99e2,2\n\"-999,00\",3\n-99.9,4\n", options);
    CHECK(std::isnan(spelled.columns.at(0)[0]));
    CHECK(std::isnan(spelled.columns.at(0)[1]));
    CHECK(std::isnan(spelled.columns.at(0)[2]));
    CHECK(spelled.columns.at(0)[3] == -99.9);
    refuses("a,b\n1,2\n2,-998\n3,!\n", {"Line 4", "'b'", "'!' is not a number", "--gap"}, options);
}

TEST_CASE("csv: gaps ahead of the first value do not hide what the first column is") {
    const auto values = parse("a,b\n,1\nNA,2\n3,4\n");
    CHECK(values.timestamps.empty());
    CHECK(values.names == Names{"a", "b"});
    const auto unknown = parse("a,b\n,1\n,2\n");
    CHECK(unknown.timestamps.empty());
    CHECK(unknown.names == Names{"b"});
    const auto asked = parse("a,b\n,1\n,2\n", only({"a"}));
    CHECK(asked.columns.at(0).size() == 2);
}

TEST_CASE("csv: line ends, byte order mark and empty last lines make no difference") {
    for (const std::string_view text :
         {"a,b\n1,2\n3,4\n", "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r\n", "a,b\r\n1,2\r\n3,4", "a,b\r1,2\r3,4\r",
          "\xef\xbb\xbf\x61,b\n1,2\n3,4\n", "a,b\n1,2\n3,4\n\n\n", "\n \na,b\n1,2\n\n3,4\n", "a,b\n1, \"2\" \n3,4,\n",
          "a,b\r\n1,2\r\n3,4\r\n\r\n \t\r\n", "\"a\",\"b\"\n\"1\",\"2\"\n\"3\",\"4\"\n", " a ,\tb\n 1 , 2\t\n3,4\n",
          "\xef\xbb\xbf\"a\",b\n1,2\n3,4\n"}) {
        CAPTURE(std::string(text));
        const auto table = parse(text);
        CHECK(table.names == Names{"a", "b"});
        CHECK(table.columns.at(0) == Values{1.0, 3.0});
        CHECK(table.columns.at(1) == Values{2.0, 4.0});
    }
}

TEST_CASE("csv: a byte order mark behind the header is text, however many lines are empty before it") {
    for (const std::string_view text : {"t,a\n\xef\xbb\xbfx,1\ny,2\n", "t,a\n\n\xef\xbb\xbfx,1\ny,2\n"}) {
        const auto table = io::parse_csv(text, "marks.csv", {.timestamp = "t"});
        CHECK(table.timestamps == std::vector<std::string>{"\xef\xbb\xbfx", "y"});
        CHECK(io::parse_csv(io::format_csv(table), "again.csv", {.timestamp = "t"}).timestamps == table.timestamps);
    }
}

TEST_CASE("csv: quotes hold separators, line ends and doubled quotes") {
    CsvOptions options;
    options.timestamp = "when, exactly";
    const auto table =
        parse("\"when, exactly\",\"say \"\"x\"\"\",\"two\nlines\"\n\"1,\n2\",5,6\n\"\"\"\",7,8\n", options);
    CHECK(table.timestamp_name == "when, exactly");
    CHECK(table.names == Names{"say \"x\"", "two\nlines"});
    CHECK(table.timestamps == Names{"1,\n2", "\""});
    CHECK(table.columns.at(1) == Values{6.0, 8.0});
}

TEST_CASE("csv: line numbers count the lines inside quotes") {
    refuses("t,a\n\"x\ny\",1\nz,2\nz,bad\n", {"Line 5 of 'data.csv', column 'a'", "'bad' is not a number"});
    refuses("t,a\r\n\"x\r\ny\",1\r\nz,2\r\nz,bad\r\n", {"Line 5 ", "column 'a'"});
    refuses("t,a\r\"x\ry\",1\rz,2\rz,bad\r", {"Line 5 "});
}

TEST_CASE("csv: columns are chosen by name and order, and the others may hold anything") {
    const std::string text = "time,host,cpu,note,memory\n2024-01-01,alpha,1,x y,2\n2024-01-02,beta,3,inf,4\n";
    const auto table = parse(text, only({"memory", "cpu"}));
    CHECK(table.names == Names{"memory", "cpu"});
    CHECK(table.columns.at(0) == Values{2, 4});
    CHECK(table.columns.at(1) == Values{1, 3});
    CHECK(table.timestamps == Names{"2024-01-01", "2024-01-02"});
    CHECK(parse(text).names == Names{"cpu", "memory"});
    refuses(text, {"Line 2", "column 'host'", "'alpha'", "choose"}, only({"host"}));
    refuses(text, {"no column 'disk'", "'time', 'host', 'cpu', 'note', 'memory'"}, only({"cpu", "disk"}),
            ErrorCode::invalid_argument);
    refuses(text, {"'cpu'", "asked for twice"}, only({"cpu", "cpu"}), ErrorCode::invalid_argument);
    refuses(text, {"column 'time'", "holds times, not numbers", "--timestamp"}, only({"time"}));
    const auto unneeded = parse("a,b\n1,2\n", only({"b"}));
    CHECK(unneeded.timestamps.empty());
    CHECK(unneeded.names == Names{"b"});
}

TEST_CASE("csv: the timestamp column can be named") {
    CsvOptions options;
    options.timestamp = "epoch";
    const auto table = parse("cpu,epoch\n1,1700000000\n2,1700000060\n", options);
    CHECK(table.timestamp_name == "epoch");
    CHECK(table.timestamps == Names{"1700000000", "1700000060"});
    CHECK(table.names == Names{"cpu"});
    refuses("a,b\n1,2\n", {"no column 'epoch'", "'a', 'b'"}, options, ErrorCode::invalid_argument);
    options.columns = {"epoch"};
    refuses("cpu,epoch\n1,2\n", {"'epoch'", "as values and as timestamps"}, options, ErrorCode::invalid_argument);
    options.columns.clear();
    refuses("epoch\n1\n", {"only the column of timestamps 'epoch'"}, options);
    refuses("time\n2024-01-01\n", {"only the column of timestamps 'time'"});
}

TEST_CASE("csv: other separators") {
    CHECK(parse("a;b\n1;2\n", separated_by(';')).columns.at(1) == Values{2.0});
    CHECK(std::isnan(parse("a\tb\n1\t\n2\t3\n", separated_by('\t')).columns.at(1).at(0)));
    CHECK(parse("a b\n1 2\n", separated_by(' ')).columns.at(1) == Values{2.0});
    // Any number of blanks is one separator, and those at the ends of a line are none.
    const auto aligned = parse("  a     b \n 1   2.5\n10 \t \"\"  \n\n", separated_by(' '));
    CHECK(aligned.names == Names{"a", "b"});
    CHECK(aligned.columns.at(0) == Values{1, 10});
    CHECK(aligned.columns.at(1).at(0) == 2.5);
    CHECK(std::isnan(aligned.columns.at(1).at(1)));
    CHECK(parse("a b\n1 2\n3 4  ", separated_by(' ')).columns.at(1) == Values{2, 4});
    CHECK(parse("\"a b\"  c\n1  2\n", separated_by(' ')).names == Names{"a b", "c"});
    // Tabs stand between fields that are empty, too.
    const auto tabs = parse("a\tb\tc\n1\t\t3\n\t5\t6\n", separated_by('\t'));
    CHECK(std::isnan(tabs.columns.at(1).at(0)));
    CHECK(std::isnan(tabs.columns.at(0).at(1)));
    CHECK(tabs.columns.at(2) == Values{3.0, 6.0});
    for (const char separator : {'"', '\n', '\r', '\0', '.', '-', '+', '1', 'e', '\x7f', '\xe4'}) {
        check_error(ErrorCode::invalid_argument, {"separator", "cannot be used"},
                    [&] { parse("a,b\n1,2\n", separated_by(separator)); });
    }
}

TEST_CASE("csv: rows that are too long are refused by line, short ones are gaps") {
    refuses("a,b\n1,2,3\n4,5\n", {"Line 2", "has 3 fields", "header has 2", "','", "--separator"});
    CHECK(parse("a,b\n1,2,\n3,4,\n").names == Names{"a", "b"});
    const auto table = parse("a,b\n1,2\n3\n9,6\n");
    REQUIRE(table.rows() == 3);
    CHECK(std::isnan(table.columns.at(1)[1]));
    REQUIRE(table.notes.size() == 1);
    CHECK(table.notes[0].find("Line 3 of 'data.csv' has fewer fields") == 0);
    CHECK(parse("a,b\n1,2\n3\n4\n9,6\n").notes.at(0).find("Line 3 of 'data.csv' and 1 other have fewer") == 0);
    CHECK(parse("a,b\n1,2\n3\n4\n5\n9,6\n").notes.at(0).find("Line 3 of 'data.csv' and 2 others have fewer") == 0);
    const auto torn = parse("a,b\n1,2\n3,4\n5");
    CHECK(torn.columns.at(0) == Values{1, 3});
    REQUIRE(torn.notes.size() == 1);
    CHECK(torn.notes[0].find("Line 4 of 'data.csv', the last one, is not whole") == 0);
    CHECK(parse("a,b\n1,2\n\n3,4\n").rows() == 2);
    // Where blanks are the separator, nothing tells which value is missing.
    for (const std::string row : {"2024-01-02 1  3", "           1 2 3", "2024-01-02 1 2  "}) {
        refuses("date a b c\n2024-01-01 1 2 3\n" + row + "\n2024-01-03 4 5 6\n",
                {"Line 3 of 'data.csv' has 3 fields", "the header has 4", "write \"\" or NaN", "--separator"},
                separated_by(' '));
    }
    refuses("a b\n1 2\n3\n5 6\n", {"Line 3 of 'data.csv' has 1 field,"}, separated_by(' '));
    CHECK(parse("a b\n1 2\n3 4\n5", separated_by(' ')).columns.at(0) == Values{1, 3});
    CHECK(std::isnan(parse("a b\n1 2\n\"\" 4\n", separated_by(' ')).columns.at(0).at(1)));
    // R names no column of row names.
    CHECK(parse("a b\nx 1 2\ny 3 4\n", separated_by(' ')).columns.at(1) == Values{2, 4});
    refuses("a b\nx 1 2\ny 3\n", {"Line 2", "has 3 fields"}, separated_by(' '));
    // Above an index pandas leaves blanks.
    CHECK(parse("            load\n2024-01-01     1\n2024-01-02     2\n", separated_by(' ')).timestamps.size() == 2);
    CHECK(parse("    load\n\n0      1\n10     2\n", separated_by(' ')).columns.back() == Values{1, 2});
    refuses("   day load\n   1   5.0  7\n   2   6.0  8\n   3   9.0 10\n",
            {"Line 2 of 'data.csv' has 3 fields, but the header has 2"}, separated_by(' '));
    refuses("load\n1 2\n3 4\n", {"Line 2", "has 2 fields"}, separated_by(' '));
    // The comma of a date makes no name of a row.
    refuses("date,load\nJan 5, 2024,1\nJan 6, 2024,2\n", {"Line 2", "has 3 fields, but the header has 2"});
    const auto mail = parse("date,load\nMon, 01 Jan 2024 10:00,1\nMon, 01 Jan 2024 11:00,2\n");
    CHECK(mail.timestamps == std::vector<std::string>{"01 Jan 2024 10:00", "01 Jan 2024 11:00"});
    CHECK(mail.columns == std::vector<Values>{{1, 2}});
    // A last column may be empty; commas at the ends of lines are no column.
    const auto blank = parse("date,load,temp\nMon, 01 Jan 2024,1,\nTue, 02 Jan 2024,2,\nWed, 03 Jan 2024,4,5\n");
    CHECK(blank.names == Names{"load", "temp"});
    CHECK(blank.columns.at(0) == Values{1, 2, 4});
    CHECK(blank.timestamps.at(0) == "01 Jan 2024");
    const auto ends = parse("weekday,date,load\nMon,01 Jan 2024,1,\nTue,02 Jan 2024,2,\n");
    CHECK(ends.columns.back() == Values{1, 2});
    CHECK(ends.timestamps.at(0) == "01 Jan 2024");
    CHECK(parse("day,load\nMon,1,\nTue,2,\n").columns.back() == Values{1, 2});
    // Commas at the ends of lines behind a column of weekdays.
    for (const char* second : {"start", "Tag"}) {
        const auto begins = parse("weekday," + std::string(second) + ",load\nMon,2024-01-01,5,\nTue,2024-01-02,6,\n");
        CHECK(begins.columns.back() == Values{5, 6});
        CHECK(begins.timestamps.at(0) == "2024-01-01");
    }
    CHECK(parse("date,load\n\"Jan 5, 2024\",1\n\"Jan 6, 2024\",2\n").clock.times.size() == 2);
    CHECK(parse("a,b\nJan 5,1,2\nJan 6,3,4\n").names.size() == 2);
}

TEST_CASE("csv: a record has a million fields at most") {
    std::vector<io::CsvField> record;
    const std::string commas(io::CsvRecords::most_fields, ',');
    io::CsvRecords fits(std::string_view(commas).substr(1), "wide.csv", ',');
    CHECK(fits.next(record));
    CHECK(record.size() == io::CsvRecords::most_fields);
    io::CsvRecords wider(commas, "wide.csv", ',');
    check_error(ErrorCode::invalid_file, {"Line 1 of 'wide.csv'", "more than 1000000 fields"},
                [&] { (void)wider.next(record); });
}

TEST_CASE("csv: an empty line is a gap in a single column, except at the end") {
    const auto table = parse("a\n1\n\n\n2\n\n\n");
    REQUIRE(table.rows() == 4);
    CHECK(table.columns.at(0)[0] == 1.0);
    CHECK(std::isnan(table.columns.at(0)[1]));
    CHECK(std::isnan(table.columns.at(0)[2]));
    CHECK(table.columns.at(0)[3] == 2.0);
    const auto quoted = parse("a\n1\n\"\"\n");
    CHECK(quoted.rows() == 2);
}

TEST_CASE("csv: what is no number is refused by line and column") {
    for (const std::string cell : {"x", "1.2.3", "0x10", "2 3", "--1", "1_000", "\xff\xfe"}) {
        refuses("a,b\n1,2\n3," + cell + "\n5,6\n", {"Line 3 of 'data.csv', column 'b': '", "is not a number", "--gap"});
    }
    refuses("a,b\n1,2\n2,3\nx,3\n", {"Line 4", "column 'a'"});
}

TEST_CASE("csv: infinity is a gap, overflow is refused by line and column, underflow is zero") {
    const auto table = parse("a,b\n1,inf\n2,-Infinity\n3,4\n");
    CHECK(std::isnan(table.columns.at(1)[0]));
    CHECK(std::isnan(table.columns.at(1)[1]));
    refuses("a,b\n1,2\n1,1e39\n", {"Line 3", "column 'b'", "'1e39' is beyond the range"});
    refuses("a,b\n1,-1e400\n", {"beyond the range"});
    CHECK(parse("a,b\n1,1e-400\n").columns.at(1) == Values{0.0});
    CHECK(parse("a,b\n1,3.4028235e38\n").columns.at(1) == Values{3.4028235e38});
    CHECK(parse("a,b\n1,1000000001.5\n").columns.at(1) == Values{1000000001.5});  // no float
}

TEST_CASE("csv: headers, broken and missing") {
    refuses("", {"is empty", "header"});
    refuses("\xef\xbb\xbf", {"is empty"});
    refuses("\n", {"is empty"});
    CHECK(parse("\n\na,b\n1,2\n").names == Names{"a", "b"});
    CHECK(parse("a,,b\n1,2,3\n").names == Names{"a", "column_2", "b"});
    CHECK(parse("a,b,a\n1,2,3\n").names == Names{"a", "b", "a_2"});
    CHECK(parse("a,\" a\",a \n1,2,3\n").names == Names{"a", " a", "a_2"});
    CHECK(parse("a,a_2,a,a\n1,2,3,4\n").names == Names{"a", "a_2", "a_3", "a_4"});
    CHECK(parse("1,2\n3,4\n").names == Names{"column_1", "column_2"});
    CHECK(parse("1,2\n3,4\n").rows() == 2);
    CHECK(parse("\"1\",\"2\"\n3,4\n").names == Names{"1", "2"});
    CHECK(parse("t,2024\n3,4\n").names.back() == "2024");
    CHECK(parse(",2024,2025\nx,4,5\ny,6,7\n").names == Names{"2024", "2025"});
    CsvOptions options;
    options.header = true;
    CHECK(parse("1,2\n3,4\n", options).names == Names{"1", "2"});
    options.header = false;
    CHECK(parse("a,1\nb,2\n", options).columns.at(0) == Values{1, 2});
}

TEST_CASE("csv: a header without rows is refused") {
    refuses("a,b", {"has no rows"});
    refuses("a,b\n", {"has no rows"});
    refuses("a,b\r\n\r\n\r\n", {"has no rows"});
}

TEST_CASE("csv: quotes out of place are refused by line") {
    refuses("a,b\n1,\"2\n", {"Line 2", "never ends"});
    refuses("a,b\n1,2\n3,\"4\n5,6\n7,8\n", {"Line 3", "never ends"});
    refuses("a,\"b", {"Line 1", "never ends"});
    refuses("\"", {"Line 1", "never ends"});
    refuses("a,b\n1,\"2\"3\n", {"Line 2", "behind a closing quote"});
}

TEST_CASE("csv: NUL bytes are refused by line, also in columns that are not read") {
    refuses(std::string_view("a,b\n1,2\n3,\0\n", 12), {"Line 3", "NUL byte", "UTF-8"});
    refuses(std::string_view("a,b\n1,\"2\0\"\n", 11), {"Line 2", "NUL byte"});
    refuses(std::string_view("a,b\n1,\"2\"\0\n", 11), {"Line 2", "NUL byte"});
    refuses(std::string_view("a,b\nx\0y,2\n", 10), {"Line 2", "NUL byte"}, only({"b"}));
}

TEST_CASE("csv: files are read from disk, and errors name them") {
    const ScratchFolder folder;
    CHECK(io::read_csv(folder.file("good.csv", "a,b\n1,2\n")).columns.at(1) == Values{2.0});
    check_error(ErrorCode::file_not_found, {"absent.csv", "No such file or directory"},
                [&] { io::read_csv(folder.path() / "absent.csv"); });
    check_error(ErrorCode::file_not_found, {"is a directory"}, [&] { io::read_csv(folder.path()); });
    check_error(ErrorCode::invalid_file, {"bad.csv", "Line 4", "column 'b'"},
                [&] { io::read_csv(folder.file("bad.csv", "a,b\n1,2\n1,3\n1,x\n")); });
    check_error(ErrorCode::invalid_file, {"empty.csv", "is empty"},
                [&] { io::read_csv(folder.file("empty.csv", "")); });
}

TEST_CASE("csv: a long file is read whole") {
    std::string text = "time,value\n";
    for (int row = 0; row < 50'000; ++row) {
        text += std::to_string(row) + "," + std::to_string(row) + "\n";
    }
    const auto table = parse(text);
    REQUIRE(table.rows() == 50'000);
    CHECK(table.columns.at(0)[49'999] == 49'999.0);
    CHECK(table.timestamps[49'999] == "49999");
    refuses(text + "x,y\n", {"Line 50002"});
}
