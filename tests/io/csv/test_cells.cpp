// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/csv/cells.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include <totograph/io/csv/decimal.hpp>
#include <totograph/io/csv/gap_words.hpp>
#include <totograph/io/csv/number_cell.hpp>

using namespace totograph::io;

namespace {

/// What a file of this one column tells.
std::optional<DecimalMark> mark_of(std::initializer_list<std::string_view> cells, char separator = ';') {
    MarkEvidence column;
    for (const std::string_view cell : cells) {
        column.add(evidence_of(split_number(cell)->digits));
    }
    return decide_mark(column, column, separator);
}

}  // namespace

TEST_CASE("cells: three digits behind a mark, beside short numbers without one, could be thousands") {
    CHECK(!mark_of({"980", "990", "1.010"}));
    CHECK(!mark_of({"980", "1,010"}));
    CHECK(!mark_of({"-980", "1.010"}));
    CHECK(!mark_of({"980", "1.010"}, ','));
    CHECK(!mark_of({"980 kg", "1.010 kg"}));
}

TEST_CASE("cells: other numbers tell that three digits are decimals, or that they are none") {
    CHECK(mark_of({"1.234", "2.345"}) == DecimalMark::point);
    CHECK(mark_of({"1,234", "2,345"}) == DecimalMark::comma);
    CHECK(mark_of({"980", "1.010", "1.5"}) == DecimalMark::point);
    CHECK(mark_of({"1", "0.125"}) == DecimalMark::point);
    CHECK(mark_of({"980", ".125"}) == DecimalMark::point);
    CHECK(mark_of({"980", "1234.125"}) == DecimalMark::point);     // thousands come in threes
    CHECK(mark_of({"1", "1010", "1.010"}) == DecimalMark::point);  // its thousands are not parted
    CHECK(mark_of({"980", "1.010", "1.010.000"}) == DecimalMark::comma);
    CHECK(mark_of({"980", "1.010", "2.000,5"}) == DecimalMark::comma);
    CHECK(mark_of({"980", "1,010"}, ',') == DecimalMark::point);  // in quotes, it parts thousands
    CHECK(mark_of({"980", "990"}) == DecimalMark::point);
}

TEST_CASE("cells: a file whose columns have one mark each does not tell that of another column") {
    const MarkEvidence column{.has_unclear_point = true};
    const MarkEvidence file{.is_point = true, .is_comma = true, .has_unclear_point = true};
    CHECK(!decide_mark(column, file, ';'));
    CHECK(!decide_mark(column, file, ','));
    CHECK(decide_mark(column, {.is_point = true, .has_unclear_point = true}, ';') == DecimalMark::point);
    CHECK(decide_mark(column, {.is_comma = true, .has_unclear_point = true}, ';') == DecimalMark::comma);
}

TEST_CASE("cells: a number is too large for a float in the unit of its column, not in its own") {
    const GapWords gaps;
    const auto read = [&](double number) {
        return read_cell(format_decimal(number) + " KiB", DecimalMark::point, "B", gaps);
    };
    // Halfway from the largest float to what would be the next, which rounds to infinity; and the double before it.
    CHECK(read(0x1.ffffffp117).problem == CellProblem::overflowing);
    CHECK(read(0x1.fffffefffffffp117).value == 0x1.fffffefffffffp127);
    CHECK(read_cell("1.5 GiB", DecimalMark::point, "KiB", gaps).value == 1572864.0);
    CHECK(read_cell("5 ms", DecimalMark::point, "B", gaps).problem == CellProblem::unit);
}

TEST_CASE("cells: a number that means a gap is read with the decimal mark of its column") {
    const GapWords gaps({"-999", "2.5"});
    const auto is_gap = [&](std::string_view cell, DecimalMark mark) {
        return read_cell(cell, mark, "", gaps).is_word;
    };
    for (const DecimalMark mark : {DecimalMark::point, DecimalMark::comma}) {
        CHECK(is_gap("-999", mark));
        CHECK(is_gap("-999.0", mark));
        CHECK(is_gap("-999,0", mark));
        CHECK(is_gap("2.5", mark));
        CHECK_FALSE(is_gap("-999%", mark));
        CHECK_FALSE(is_gap("-998", mark));
    }
    CHECK(is_gap("-999.000", DecimalMark::point));
    CHECK(is_gap("-999,000", DecimalMark::comma));
    CHECK(read_cell("-999,000", DecimalMark::point, "", gaps).value == -999000);
    CHECK(read_cell("-999.000", DecimalMark::comma, "", gaps).value == -999000);
    CHECK_FALSE(gaps.hold("-999,000"));
    CHECK(gaps.hold("-999,00"));
}

TEST_CASE("cells: what is no number of thousands, of a sign and of brackets") {
    const auto digits_of = [](std::string_view cell) {
        const std::optional<NumberParts> parts = split_number(cell);
        return parts ? parts->digits : "nothing";
    };
    CHECK(digits_of("5e") == "5");  // of a unit e
    CHECK(digits_of("5e3") == "5e3");
    CHECK(digits_of("5e+") == "nothing");
    CHECK(digits_of("5 abcdefghijklmnop") == "5");
    CHECK(digits_of("5 abcdefghijklmnopq") == "nothing");  // no unit is that long
    CHECK(digits_of("1 234 567") == "1234567");
    CHECK(digits_of("1 2345") == "nothing");
    CHECK(digits_of("1 23") == "nothing");
    CHECK(digits_of("1.5 234") == "nothing");
    CHECK(digits_of("5'") == "nothing");
    CHECK(digits_of("5,") == "nothing");
    CHECK(digits_of("5.") == "5.");
    CHECK(digits_of("(5)") == "-5");
    CHECK(digits_of("(-5)") == "nothing");
    CHECK(digits_of("(+5)") == "nothing");
    const auto kind_of = [](std::string_view digits) { return parse_digits(digits, DecimalMark::point).kind; };
    CHECK(kind_of("123,456.5") == DecimalKind::number);
    CHECK(kind_of("1234,567.5") == DecimalKind::text);
    CHECK(kind_of("1,234,56") == DecimalKind::text);
    CHECK(kind_of("1,23,456") == DecimalKind::text);
}
