// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/csv/layout.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <totograph/io/csv/csv.hpp>
#include <totograph/io/csv/layout.hpp>

using namespace totograph::io;
using Names = std::vector<std::string>;

namespace {

Table read(const std::string& text) {
    return parse_csv(text, "f.csv");
}

}  // namespace

TEST_CASE("csv layout: a first row in quotes is data whatever the second row lacks") {
    // All of it is in quotes, and no column has names.
    const std::string rest = "\"2024-01-03\",\"7\"\n\"2024-01-04\",\"8\"\n";
    for (const std::string second : {"\"\",\"6\"\n", "\"n/a\",\"6\"\n", "\"2024-01-02\",\"\"\n"}) {
        CAPTURE(second);
        const Table table = read("\"2024-01-01\",\"5\"\n" + second + rest);
        CHECK(table.names == Names{"column_2"});
        CHECK(table.timestamps.front() == "2024-01-01");
        CHECK(table.columns.at(0).front() == 5);
    }
    CHECK(read("\"2024-01-01\",\"5\"\n\"later\",\"6\"\n" + rest).rows() == 4);
}

TEST_CASE("csv layout: times in quotes are names where numbers stand below, and where all are times") {
    CHECK(read("\"2024-01-01\",\"2024-01-02\"\n\"1\",\"\"\n\"3\",\"4\"\n").names == Names{"2024-01-01", "2024-01-02"});
    CHECK(read("\"2024-01-01\",\"2024-01-02\"\n,\n3,4\n").names == Names{"2024-01-01", "2024-01-02"});
    CHECK(read("\"2024-01-01\"\n\"\"\n3\n").names == Names{"2024-01-01"});
    CHECK(read("\"2024-01-01\",\"5\"\n\"1\",\"2\"\n\"3\",\"4\"\n").names == Names{"2024-01-01", "5"});
}

TEST_CASE("csv layout: what is in quotes where the rows have none are names") {
    CHECK(read("\"Jan 2024\",\"5\"\n2024-01-01,1\n2024-01-02,2\n").names == Names{"5"});
    CHECK(read("\"Jan 2024\",\"5\"\n,1\n2024-01-02,2\n").names == Names{"5"});
    CHECK(read("\"2024-01-01\",5\n2024-01-02,1\n2024-01-03,2\n").rows() == 3);  // a name would be in quotes, too
}

TEST_CASE("csv layout: the separator is one that all lines have, else the most frequent of the first line with any") {
    CHECK(find_layout("a;b\n1,5;2\n3;4\n").separator == ';');
    // One line does not show that all have it.
    CHECK(find_layout("a title\nand more\na,b;c,d\n").separator == ',');
    // Of two as frequent ones the comma may be in a number.
    CHECK(find_layout("1,5;2\nnone\nnone\n").separator == ';');
    CHECK(find_layout("a\n1\n").separator == ',');
}

TEST_CASE("csv layout: comments, blank lines and what names the separator stand before the table") {
    const CsvLayout commented = find_layout("# one\r\n\r\na,b\r\n1,2\r\n");
    CHECK(commented.begin == 9);
    CHECK(commented.line == 3);
    CHECK(commented.skipped == 1);
    CHECK(commented.comment == "one");
    const CsvLayout named = find_layout("sep=;\na;b\n1;2\n");
    CHECK(named.begin == 6);
    CHECK(named.separator == ';');
    CHECK(find_layout("sep=;name\n1;2\n").begin == 0);
}

TEST_CASE("csv layout: titles have another number of fields, or half of theirs, above two rows at least") {
    const std::string title = "Report for 2024, Q1, all\n";
    CHECK(find_layout(title + "a,b\n1,2\n3,4\n").begin == title.size());
    CHECK(find_layout(title + "a,b\n1,2\n").begin == 0);
    CHECK(find_layout("Report,\na,b\n1,2\n3,4\n").begin == 8);
    CHECK(find_layout("Report,all\na,b\n1,2\n3,4\n").begin == 0);
}
