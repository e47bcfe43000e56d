// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <totograph/io/csv/csv.hpp>
#include <totograph/io/csv/writer.hpp>

#include "io/support.hpp"

namespace {

using namespace totograph;
using totograph::test::check_error;
using totograph::test::content_of;
using totograph::test::ScratchFolder;

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

io::Table sample() {
    return {
        "time", {"2024-01-01", "2024-01-02", "2024-01-03"}, {"cpu", "memory"}, {{1.5, gap, -0.1}, {3e38, 2.0, gap}}};
}

/// Reads a table back that was written, asking for its own columns.
io::Table read_back(const io::Table& table, char separator = ',') {
    io::CsvOptions options;
    options.separator = separator;
    options.columns = table.names;
    if (!table.timestamps.empty()) {
        options.timestamp = table.timestamp_name;
    }
    return io::parse_csv(io::format_csv(table, separator), "written.csv", options);
}

void check_same(const io::Table& a, const io::Table& b) {
    CHECK(a.timestamp_name == b.timestamp_name);
    CHECK(a.timestamps == b.timestamps);
    CHECK(a.names == b.names);
    REQUIRE(a.columns.size() == b.columns.size());
    for (std::size_t column = 0; column < a.columns.size(); ++column) {
        REQUIRE(a.columns[column].size() == b.columns[column].size());
        for (std::size_t row = 0; row < a.columns[column].size(); ++row) {
            const double left = a.columns[column][row];
            const double right = b.columns[column][row];
            CHECK(((std::isnan(left) && std::isnan(right)) || left == right));
        }
    }
}

}  // namespace

TEST_CASE("csv writer: names that look like values are names") {
    for (const auto& [one, other] : std::vector<std::pair<std::string, std::string>>{{"NA", "none"},
                                                                                     {"true", "false"},
                                                                                     {"1h", "2h"},
                                                                                     {"5 GB", "6 GB"},
                                                                                     {"2024-01-01", "2024-01-02"},
                                                                                     {"Jan 2024", "Feb 2024"},
                                                                                     {"12", "-1e3"}}) {
        io::Table table{"", {}, {one, other}, {{1, 2, 3}, {4, 5, 6}}};
        CAPTURE(table.names.front());
        check_same(io::parse_csv(io::format_csv(table), "written.csv"), table);
        table.names.pop_back();
        table.columns.pop_back();
        check_same(io::parse_csv(io::format_csv(table), "written.csv"), table);
    }
    // In quotes or not, rows of times and numbers without names have none.
    CHECK(io::parse_csv("\"2024-01-01\",\"1\"\n\"2024-01-02\",\"2\"\n", "f.csv").rows() == 2);
}

TEST_CASE("csv writer: a name with another separator is one name") {
    for (const std::string name : {"a;b", "a|b", "a\tb", "a,b"}) {
        CAPTURE(name);
        const io::Table table{"", {}, {name}, {{1, 2, 3}}};
        check_same(io::parse_csv(io::format_csv(table), "written.csv"), table);
        check_same(io::parse_csv(io::format_csv(table, ';'), "written.csv"), table);
    }
}

TEST_CASE("csv writer: the clock may be called like a time") {
    for (const std::string name : {"Jan 2024", "2023-12-31", "2024", "2024-01-01 12:30", "12:30", "NA"}) {
        CAPTURE(name);
        const io::Table table{name, {"2024-01-01", "2024-01-02", "2024-01-03"}, {"a"}, {{3, gap, 4}}};
        check_same(io::parse_csv(io::format_csv(table), "written.csv"), table);
        const io::Table numbered{name, table.timestamps, {"5"}, table.columns};
        check_same(io::parse_csv(io::format_csv(numbered), "written.csv"), numbered);
    }
}

TEST_CASE("csv writer: numbers are short and gaps empty") {
    CHECK(io::format_csv(sample()) == "time,cpu,memory\n2024-01-01,1.5,3e+38\n2024-01-02,,2\n2024-01-03,-0.1,\n");
    CHECK(io::format_csv(sample(), ';') == "time;cpu;memory\n2024-01-01;1.5;3e+38\n2024-01-02;;2\n2024-01-03;-0.1;\n");
    CHECK(io::format_csv({"", {}, {"a", "b"}, {{1.0}, {2.0}}}) == "a,b\n1,2\n");
    CHECK(io::format_csv({"time", {"2024-01-01"}, {"a"}, {{gap}}}) == "time,a\n2024-01-01,\n");
}

TEST_CASE("csv writer: tables read back as they were") {
    check_same(read_back(sample()), sample());
    check_same(io::parse_csv(io::format_csv(sample()), "x"), sample());
    const io::Table odd{"when, \"exactly\"",
                        {"a\nb", " padded ", "", "plain", "\"", "x\r"},
                        {"two\r\nlines", " blank", "1", "\xef\xbb\xbfmark", "# tab\t"},
                        std::vector<std::vector<double>>(5, {1.0, gap, -0.0, 1e-45, 16777216.0, 0.1})};
    check_same(read_back(odd), odd);
    check_same(read_back(odd, '\t'), odd);
    check_same(read_back(odd, ' '), odd);
    const io::Table commas{"when", {"Jan 1, 2024", "Jan 2, 2024"}, {"a"}, {{1.0, 2.0}}};
    check_same(read_back(commas), commas);
    const io::Table marked{"", {}, {"\xef\xbb\xbfmark", "b"}, {{1.0, 2.0}, {3.0, 4.0}}};
    check_same(read_back(marked), marked);
}

TEST_CASE("csv writer: names that look like numbers stay names") {
    const io::Table table{"", {}, {"1", "-2.5"}, {{1.0}, {2.0}}};
    CHECK(io::format_csv(table) == "\"1\",\"-2.5\"\n1,2\n");
    check_same(io::parse_csv(io::format_csv(table), "x"), table);
}

TEST_CASE("csv writer: gaps of a single column survive, at its end too") {
    const io::Table table{"", {}, {"a"}, {{gap, 1.0, gap, gap}}};
    CHECK(io::format_csv(table) == "a\n\"\"\n1\n\"\"\n\"\"\n");
    check_same(read_back(table), table);
    const io::Table one{"", {}, {"a"}, {{gap}}};
    check_same(read_back(one), one);
}

TEST_CASE("csv writer: tables that could not be read back are refused") {
    const auto refuses = [](std::string_view part, auto&& change) {
        io::Table table = sample();
        change(table);
        check_error(ErrorCode::invalid_argument, {"table to write", part}, [&] { io::format_csv(table); });
    };
    refuses("no columns", [](io::Table& table) { table = {}; });
    refuses("no rows", [](io::Table& table) { table = {"", {}, {"a"}, {{}}}; });
    refuses("2 columns but 1 names", [](io::Table& table) { table.names.pop_back(); });
    refuses("2 timestamps but 3 rows", [](io::Table& table) { table.timestamps.pop_back(); });
    refuses("2 values in the column 'memory' but 3 rows", [](io::Table& table) { table.columns[1].pop_back(); });
    refuses("an empty column name", [](io::Table& table) { table.names[1].clear(); });
    refuses("an empty column name", [](io::Table& table) { table.timestamp_name.clear(); });
    refuses("'cpu' twice", [](io::Table& table) { table.names[1] = "cpu"; });
    refuses("'time' twice", [](io::Table& table) { table.names[1] = "time"; });
    refuses("infinity in the column 'cpu'",
            [](io::Table& table) { table.columns[0][2] = -std::numeric_limits<double>::infinity(); });
    refuses("NUL byte in the column name", [](io::Table& table) { table.names[0] += '\0'; });
    refuses("NUL byte in the timestamp", [](io::Table& table) { table.timestamps[0] += '\0'; });
    check_error(ErrorCode::invalid_argument, {"separator"}, [] { io::format_csv(sample(), '1'); });
}

TEST_CASE("csv writer: the file is whole or not there") {
    const ScratchFolder folder;
    const auto path = folder.path() / "out.csv";
    io::write_csv(path, sample());
    CHECK(content_of(path) == io::format_csv(sample()));
    check_same(io::read_csv(path), sample());
    CHECK(folder.file_count() == 1);
    io::Table broken = sample();
    broken.columns[0].pop_back();
    check_error(ErrorCode::invalid_argument, {"table to write"}, [&] { io::write_csv(path, broken); });
    CHECK(content_of(path) == io::format_csv(sample()));
    CHECK(folder.file_count() == 1);
    check_error(ErrorCode::file_not_found, {"missing/out.csv", "No such file or directory"},
                [&] { io::write_csv(folder.path() / "missing" / "out.csv", sample()); });
    io::write_csv(path, sample(), '\t');
    CHECK(content_of(path) == io::format_csv(sample(), '\t'));
}
