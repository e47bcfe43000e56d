// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "common/model_sizes.hpp"
#include "forecast/input_groups.hpp"
#include "intake/column_groups.hpp"
#include "support/refusal.hpp"

// What programs do with requests that are larger than what a model takes.

using namespace examples;

namespace {

constexpr ModelSizes most{.context = 1024, .horizon = 336, .variates = 16, .known = 4};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::vector<std::string> names_of(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
        names.push_back("c" + std::to_string(i + 1));
    }
    return names;
}

/// So many targets and exogenous columns of three steps; each value tells its column.
SeriesInput input_of(std::size_t targets, std::size_t exogenous, bool is_known) {
    SeriesInput input;
    input.targets = names_of(targets);
    input.exogenous = names_of(exogenous);
    input.steps = 3;
    input.horizon = 2;
    for (std::size_t column = 0; column < targets + exogenous; ++column) {
        input.levels.push_back(static_cast<double>(column));
        input.groups.push_back(static_cast<std::int32_t>(column));
        for (int step = 0; step < 3; ++step) {
            input.values.push_back(static_cast<float>(10 * static_cast<int>(column) + step));
            input.observed.push_back(static_cast<std::uint8_t>(column % 2));
        }
    }
    if (is_known) {
        input.future_exogenous.assign(2 * exogenous, 7.0F);
    }
    return input;
}

}  // namespace

TEST_CASE("columns are divided into as few groups as there can be, none of one that is left over") {
    CHECK(divide_columns(16, 16) == std::vector<ColumnGroup>{{0, 16}});
    CHECK(divide_columns(17, 16) == std::vector<ColumnGroup>{{0, 9}, {9, 8}});
    CHECK(divide_columns(3, 1) == std::vector<ColumnGroup>{{0, 1}, {1, 1}, {2, 1}});
    CHECK(divide_columns(0, 16).empty());
    for (std::size_t columns = 1; columns < 100; ++columns) {
        std::size_t next = 0;
        for (const ColumnGroup& group : divide_columns(columns, 7)) {
            CHECK(group.first == next);
            CHECK(group.count >= 1);
            CHECK(group.count <= 7);
            next += group.count;
        }
        CHECK(next == columns);
    }
}

TEST_CASE("a note says which columns saw each other") {
    CHECK(groups_note(divide_columns(16, 16), names_of(16), 16).empty());
    CHECK(groups_note(divide_columns(17, 16), names_of(17), 16) ==
          "The model takes 16 columns at once. These saw each other: 'c1' to 'c9'; 'c10' to 'c17'.");
    CHECK(has(groups_note(divide_columns(3, 1), names_of(3), 1), "'c1'; 'c2'; 'c3'."));
    const std::string long_note = groups_note(divide_columns(500, 16), names_of(500), 16);
    CHECK(has(long_note, "'c1' to 'c16'; 'c17' to 'c32'"));
    CHECK(has(long_note, "and so on, 32 groups in the order of the file."));
    CHECK(long_note.size() < 300);
}

TEST_CASE("each group of an input has its targets and all exogenous columns") {
    const SeriesInput input = input_of(20, 3, true);
    const auto groups = input_groups(input, most);
    CHECK(groups == std::vector<ColumnGroup>{{0, 10}, {10, 10}});
    const SeriesInput part = columns_of(input, groups[1]);
    CHECK(part.targets == std::vector<std::string>(input.targets.begin() + 10, input.targets.end()));
    CHECK(part.exogenous == input.exogenous);
    CHECK(part.variates() == 13);
    CHECK(part.steps == 3);
    CHECK(part.horizon == 2);
    CHECK(part.future_exogenous == input.future_exogenous);
    CHECK(part.levels == std::vector<double>{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22});
    CHECK(part.groups.front() == 10);
    CHECK(part.groups.back() == 22);
    REQUIRE(part.values.size() == 39);
    CHECK(part.values[0] == 100);
    CHECK(part.values[29] == 192);
    CHECK(part.values[30] == 200);
    CHECK(part.values[38] == 222);
    CHECK(part.observed[3] == 1);
    CHECK(part.observed[6] == 0);
    CHECK(has(input_groups_note(input, most, false), "takes 13 columns at once"));
    CHECK(input_groups_note(input, most, true).empty());
}

TEST_CASE("exogenous columns that no group could hold are refused") {
    CHECK(input_groups(input_of(1, 4, true), most).size() == 1);
    CHECK(has(refusal([] { (void)input_groups(input_of(1, 5, true), most); }),
              "at most 4 exogenous columns whose future is known, but --exogenous names 5; leave some out."));
    CHECK(input_groups(input_of(2, 15, false), most).size() == 2);
    CHECK(has(refusal([] { (void)input_groups(input_of(1, 16, false), most); }), "at most 15 exogenous columns, but"));
}

TEST_CASE("horizons and contexts beyond the model's are told in words that a person knows") {
    CHECK_NOTHROW(check_horizon(336, false, most, "--horizon"));
    CHECK_NOTHROW(check_horizon(337, true, most, "--horizon"));
    const std::string refused = refusal([] { check_horizon(1337, false, most, "--every"); });
    CHECK(
        refused ==
        "The model forecasts at most 336 steps ahead, but --every asks for 1,337; ask for less, or add --extend to go "
        "on from the forecast's own medians.");
    CHECK(extend_note(336, most).empty());
    CHECK(has(extend_note(337, most), "at most 336 steps ahead"));
    CHECK(context_note(1024, most).empty());
    CHECK(context_note(0, most).empty());
    CHECK(has(context_note(5000, most), "at most 1,024 rows of history; of --context 5000 the last ones are used"));
}
