// SPDX-License-Identifier: Apache-2.0
#include <totograph/io/csv/cells.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <optional>
#include <string_view>

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
    CHECK(mark_of({"1", "1010", "1.010"}) == DecimalMark::point);  // its thousands are not parted
    CHECK(mark_of({"980", "1.010", "1.010.000"}) == DecimalMark::comma);
    CHECK(mark_of({"980", "1.010", "2.000,5"}) == DecimalMark::comma);
    CHECK(mark_of({"980", "1,010"}, ',') == DecimalMark::point);  // in quotes, it parts thousands
    CHECK(mark_of({"980", "990"}) == DecimalMark::point);
}
