// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "support.hpp"
#include "totograph/io/csv.hpp"

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
    refuses("a,b\n1,NaN\n", {"Line 2", "'b'", "'NaN' is not a number"}, options);
}

TEST_CASE("csv: gaps ahead of the first value do not hide what the first column is") {
    const auto values = parse("a,b\n,1\nNA,2\n3,4\n");
    CHECK(values.timestamps.empty());
    CHECK(values.names == Names{"a", "b"});
    const auto times = parse("a,b\n,1\n,2\nMonday,3\n");
    CHECK(times.timestamps == Names{"", "", "Monday"});
    CHECK(times.names == Names{"b"});
    CHECK(times.columns.at(0) == Values{1.0, 2.0, 3.0});
    const auto unknown = parse("a,b\n,1\n,2\n");
    CHECK(unknown.timestamps.empty());
    CHECK(unknown.names == Names{"a", "b"});
    CHECK(unknown.columns.at(0).size() == 2);
}

TEST_CASE("csv: line ends, byte order mark and empty last lines make no difference") {
    for (const std::string_view text :
         {"a,b\n1,2\n3,4\n", "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r\n", "a,b\r\n1,2\r\n3,4", "a,b\r1,2\r3,4\r",
          "\xef\xbb\xbf\x61,b\n1,2\n3,4\n", "a,b\n1,2\n3,4\n\n\n", "a,b\r\n1,2\r\n3,4\r\n\r\n \t\r\n",
          "\"a\",\"b\"\n\"1\",\"2\"\n\"3\",\"4\"\n", " a ,\tb\n 1 , 2\t\n3,4\n", "\xef\xbb\xbf\"a\",b\n1,2\n3,4\n"}) {
        CAPTURE(std::string(text));
        const auto table = parse(text);
        CHECK(table.names == Names{"a", "b"});
        CHECK(table.columns.at(0) == Values{1.0, 3.0});
        CHECK(table.columns.at(1) == Values{2.0, 4.0});
    }
}

TEST_CASE("csv: quotes hold separators, line ends and doubled quotes") {
    const auto table = parse("\"when, exactly\",\"say \"\"x\"\"\",\"two\nlines\"\n\"1,\n2\",5,6\n\"\"\"\",7,8\n");
    CHECK(table.timestamp_name == "when, exactly");
    CHECK(table.names == Names{"say \"x\"", "two\nlines"});
    CHECK(table.timestamps == Names{"1,\n2", "\""});
    CHECK(table.columns.at(1) == Values{6.0, 8.0});
}

TEST_CASE("csv: line numbers count the lines inside quotes") {
    refuses("t,a\n\"x\ny\",1\nz,bad\n", {"Line 4 of 'data.csv', column 'a'", "'bad' is not a number"});
    refuses("t,a\r\n\"x\r\ny\",1\r\nz,bad\r\n", {"Line 4 ", "column 'a'"});
    refuses("t,a\r\"x\ry\",1\rz,bad\r", {"Line 4 "});
    refuses("t,a\n\"x\ny\",bad\n", {"Line 3 "});
}

TEST_CASE("csv: columns are chosen by name and order, and the others may hold anything") {
    const std::string text = "time,host,cpu,note,memory\nMon,alpha,1,x y,2\nTue,beta,3,inf,4\n";
    const auto table = parse(text, only({"memory", "cpu"}));
    CHECK(table.names == Names{"memory", "cpu"});
    CHECK(table.columns.at(0) == Values{2.0, 4.0});
    CHECK(table.columns.at(1) == Values{1.0, 3.0});
    CHECK(table.timestamps == Names{"Mon", "Tue"});
    refuses(text, {"Line 2", "column 'host'", "'alpha'", "select"});
    refuses(text, {"no column 'disk'", "'time', 'host', 'cpu', 'note', 'memory'"}, only({"cpu", "disk"}),
            ErrorCode::invalid_argument);
    refuses(text, {"'cpu'", "asked for twice"}, only({"cpu", "cpu"}), ErrorCode::invalid_argument);
    refuses(text, {"column 'time'", "'Mon' is not a number"}, only({"time"}));
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
    refuses("time\nMon\n", {"only the column of timestamps 'time'"});
}

TEST_CASE("csv: other separators") {
    CHECK(parse("a;b\n1;2\n", separated_by(';')).columns.at(1) == Values{2.0});
    CHECK(std::isnan(parse("a\tb\n1\t\n", separated_by('\t')).columns.at(1).at(0)));
    CHECK(parse("a b\n1 2\n", separated_by(' ')).columns.at(1) == Values{2.0});
    refuses("a;b\n1,5;2\n", {"Line 2", "column 'a'", "'1,5' is not a number"}, [] {
        CsvOptions options = separated_by(';');
        options.columns = {"a"};
        return options;
    }());
    for (const char separator : {'"', '\n', '\r', '\0', '.', '-', '+', '1', 'e', '\x7f', '\xe4'}) {
        check_error(ErrorCode::invalid_argument, {"separator", "cannot be used"},
                    [&] { parse("a,b\n1,2\n", separated_by(separator)); });
    }
}

TEST_CASE("csv: ragged rows are refused by line") {
    refuses("a,b\n1,2\n3\n", {"Line 3", "has 1 field,", "header has 2"});
    refuses("a,b\n1,2,3\n", {"Line 2", "has 3 fields"});
    refuses("a,b\n1,2,\n", {"Line 2", "has 3 fields"});
    refuses("a,b\n1,2\n\n3,4\n", {"Line 3", "has 1 field"});
    refuses("a,b\n1,2\n\n\n\n3,4\n", {"Line 3", "has 1 field"});
    refuses("a,b\n1,2\n\"\"\n", {"Line 3", "has 1 field"});
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
    refuses("a,b\n1,2\n3,x\n", {"Line 3 of 'data.csv', column 'b': 'x' is not a number"});
    refuses("a,b\n1,1.2.3\n", {"'1.2.3'"});
    refuses("a,b\n1,0x10\n", {"'0x10'"});
    refuses("a,b\n1,2 3\n", {"'2 3'"});
    refuses("a,b\n1,-nan\n", {"'-nan'"});
    refuses("a,b\n1,\xff\xfe\n", {"column 'b'"});
    refuses("a,b\n1,2\nx,3\n", {"Line 3", "column 'a'"});
}

TEST_CASE("csv: infinity and overflow are refused by line and column, underflow is zero") {
    refuses("a,b\n1,inf\n", {"Line 2", "column 'b'", "'inf' is infinite"});
    refuses("a,b\n1,-Infinity\n", {"'-Infinity' is infinite"});
    refuses("a,b\ninf,1\n", {"Line 2", "column 'a'", "infinite"});
    refuses("a,b\n1,2\n1,1e39\n", {"Line 3", "column 'b'", "'1e39' is beyond the range"});
    refuses("a,b\n1,-1e400\n", {"beyond the range"});
    CHECK(parse("a,b\n1,1e-400\n").columns.at(1) == Values{0.0});
    CHECK(parse("a,b\n1,3.4028235e38\n").columns.at(1) == Values{3.4028235e38});
}

TEST_CASE("csv: broken headers are refused") {
    refuses("", {"is empty", "line 1"});
    refuses("\xef\xbb\xbf", {"is empty"});
    refuses("\n", {"Line 1", "column 1 an empty name"});
    refuses("\n\na,b\n1,2\n", {"Line 1", "empty name"});
    refuses("a,,b\n1,2,3\n", {"Line 1", "column 2 an empty name"});
    refuses(",a,b\n0,1,2\n", {"column 1 an empty name"});
    refuses("a,b,\n1,2,3\n", {"column 3 an empty name"});
    refuses("a, ,b\n1,2,3\n", {"column 2 an empty name"});
    refuses("a,b,a\n1,2,3\n", {"Line 1", "'a' twice", "column 3"});
    refuses("a,\" a\",a \n1,2,3\n", {"'a' twice, the second time as column 3"});
    refuses("1,2\n3,4\n", {"Line 1", "holds numbers where the header", "quote"});
    refuses("-inf,+2e5\n3,4\n", {"holds numbers where the header"});
    CHECK(parse("\"1\",\"2\"\n3,4\n").names == Names{"1", "2"});
    CHECK(parse("t,2024\n3,4\n").names == Names{"t", "2024"});
}

TEST_CASE("csv: a header without rows is refused") {
    refuses("a,b", {"no rows"});
    refuses("a,b\n", {"no rows"});
    refuses("a,b\r\n\r\n\r\n", {"no rows"});
}

TEST_CASE("csv: quotes out of place are refused by line") {
    refuses("a,b\n1,\"2\n", {"Line 2", "never ends"});
    refuses("a,b\n1,2\n3,\"4\n5,6\n7,8\n", {"Line 3", "never ends"});
    refuses("a,\"b", {"Line 1", "never ends"});
    refuses("\"", {"Line 1", "never ends"});
    refuses("a,b\n1,\"2\"3\n", {"Line 2", "behind a closing quote"});
    refuses("a,b\n1,\"2\" \n", {"Line 2", "behind a closing quote"});
    refuses("a,b\n1,2\"3\n", {"Line 2", "quote inside a field"});
    refuses("a,b\n1, \"2\"\n", {"Line 2", "quote inside a field"});
}

TEST_CASE("csv: NUL bytes are refused by line, also in columns that are not read") {
    refuses(std::string_view("a,b\n1,2\n3,\0\n", 12), {"Line 3", "NUL byte", "UTF-8"});
    refuses(std::string_view("a,b\n1,\"2\0\"\n", 11), {"Line 2", "NUL byte"});
    refuses(std::string_view("a,b\n1,\"2\"\0\n", 11), {"Line 2", "NUL byte"});
    refuses(std::string_view("\xff\xfe"
                             "a\0,\0b\0\n\0",
                             10),
            {"Line 1", "NUL byte"});
    refuses(std::string_view("a,b\nx\0y,2\n", 10), {"Line 2", "NUL byte"}, only({"b"}));
}

TEST_CASE("csv: files are read from disk, and errors name them") {
    const ScratchFolder folder;
    CHECK(io::read_csv(folder.file("good.csv", "a,b\n1,2\n")).columns.at(1) == Values{2.0});
    check_error(ErrorCode::file_not_found, {"absent.csv", "No such file or directory"},
                [&] { io::read_csv(folder.path() / "absent.csv"); });
    check_error(ErrorCode::file_not_found, {"is a directory"}, [&] { io::read_csv(folder.path()); });
    check_error(ErrorCode::invalid_file, {"bad.csv", "Line 2", "column 'b'"},
                [&] { io::read_csv(folder.file("bad.csv", "a,b\n1,x\n")); });
    check_error(ErrorCode::invalid_file, {"empty.csv", "is empty"},
                [&] { io::read_csv(folder.file("empty.csv", "")); });
}

TEST_CASE("csv: a long file is read whole") {
    std::string text = "time,value\n";
    for (int row = 0; row < 50'000; ++row) {
        text += "t" + std::to_string(row) + "," + std::to_string(row) + "\n";
    }
    const auto table = parse(text);
    REQUIRE(table.rows() == 50'000);
    CHECK(table.columns.at(0)[49'999] == 49'999.0);
    CHECK(table.timestamps[49'999] == "t49999");
    refuses(text + "x,y\n", {"Line 50002"});
}
