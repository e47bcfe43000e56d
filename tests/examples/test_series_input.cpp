// SPDX-License-Identifier: Apache-2.0
#include "../../examples/forecast/series_input.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace examples;
using totograph::ErrorCode;
using totograph::io::Table;
using Values = std::vector<double>;

namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

Table table_of(std::vector<std::string> names, std::vector<std::vector<double>> columns) {
    Table table;
    table.names = std::move(names);
    table.columns = std::move(columns);
    return table;
}

std::string refusal(const Table& table, const SeriesRequest& request, ErrorCode code) {
    try {
        series_input(table, request);
    } catch (const totograph::Error& error) {
        CHECK(error.code() == code);
        return error.what();
    }
    return "";
}

/// The values with their levels; a gap is its level.
std::vector<double> uncentred(const SeriesInput& input) {
    std::vector<double> values(input.values.begin(), input.values.end());
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] += input.levels[i / static_cast<std::size_t>(input.steps)];
    }
    return values;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("columns become variates, gaps become a mask") {
    const Table table = table_of({"a", "b"}, {{1, gap, 3}, {4, 5, gap}});
    const SeriesInput input = series_input(table, {.horizon = 2});
    CHECK(input.targets == std::vector<std::string>{"a", "b"});
    CHECK(input.variates() == 2);
    CHECK(input.steps == 3);
    CHECK(input.first_row == 0);
    CHECK(input.forecast_row() == 3);
    CHECK(input.horizon == 2);
    CHECK(uncentred(input) == Values{1, 2, 3, 4, 5, 4.5});
    CHECK(input.observed == std::vector<std::uint8_t>{1, 0, 1, 1, 1, 0});
    CHECK(input.groups == std::vector<std::int32_t>{0, 0});
    CHECK(std::isnan(input.history[0][1]));
    CHECK(input.history[1][1] == 5);
    CHECK(input.truth.empty());
    CHECK(input.future_exogenous.empty());
    CHECK(input.notes.empty());
}

TEST_CASE("targets come in the order asked for, exogenous columns last") {
    const Table table = table_of({"a", "b", "c"}, {{1, 2}, {3, 4}, {5, 6}});
    const SeriesInput chosen = series_input(table, {.targets = {"c", "a"}});
    CHECK(uncentred(chosen) == Values{5, 6, 1, 2});
    const SeriesInput rest = series_input(table, {.exogenous = {"a"}});
    CHECK(rest.targets == std::vector<std::string>{"b", "c"});
    CHECK(rest.exogenous == std::vector<std::string>{"a"});
    CHECK(uncentred(rest) == Values{3, 4, 5, 6, 1, 2});
}

TEST_CASE("the context is the latest rows") {
    const Table table = table_of({"a"}, {{1, 2, 3, 4, 5}});
    const SeriesInput input = series_input(table, {.context = 2});
    CHECK(uncentred(input) == Values{4, 5});
    CHECK(input.first_row == 3);
    CHECK(series_input(table, {.context = 99}).steps == 5);
}

TEST_CASE("independent targets have groups of their own") {
    const Table table = table_of({"a", "b", "c"}, {{1}, {2}, {3}});
    CHECK(series_input(table, {.independent = true}).groups == std::vector<std::int32_t>{0, 1, 2});
}

TEST_CASE("a holdout hides the last rows and keeps them as the truth") {
    const Table table = table_of({"a", "b"}, {{1, 2, 3, 4}, {5, 6, gap, 8}});
    const SeriesInput input = series_input(table, {.horizon = 2, .holdout = true});
    CHECK(uncentred(input) == Values{1, 2, 5, 6});
    CHECK(input.forecast_row() == 2);
    CHECK(input.truth[0] == Values{3, 4});
    CHECK(std::isnan(input.truth[1][0]));
    CHECK(input.truth[1][1] == 8);
    CHECK(has(refusal(table, {.horizon = 4, .holdout = true}, ErrorCode::invalid_series), "smaller --horizon"));
}

TEST_CASE("a holdout knows the future of exogenous columns") {
    const Table table = table_of({"a", "x"}, {{1, 2, 3, 4}, {5, 6, 7, 8}});
    const SeriesInput input = series_input(table, {.exogenous = {"x"}, .horizon = 2, .holdout = true});
    CHECK(uncentred(input) == Values{1, 2, 5, 6});
    CHECK(input.future_exogenous == std::vector<float>{1.5F, 2.5F});
}

TEST_CASE("rows with blank targets are the exogenous future") {
    const Table table = table_of({"a", "x", "y"}, {{1, 2, gap, gap}, {5, 6, 7, 8}, {9, 10, 11, 12}});
    const SeriesInput input = series_input(table, {.exogenous = {"x", "y"}, .horizon = 2});
    CHECK(input.steps == 2);
    CHECK(input.forecast_row() == 2);
    CHECK(uncentred(input) == Values{1, 2, 5, 6, 9, 10});
    CHECK(input.future_exogenous == std::vector<float>{1.5F, 2.5F, 1.5F, 2.5F});
    CHECK(input.notes.empty());

    const SeriesInput shorter = series_input(table, {.exogenous = {"x", "y"}, .horizon = 1});
    CHECK(shorter.future_exogenous == std::vector<float>{1.5F, 1.5F});
    REQUIRE(shorter.notes.size() == 1);
    CHECK(has(shorter.notes[0], "the first 1 row"));

    const std::string sentence = refusal(table, {.exogenous = {"x", "y"}, .horizon = 3}, ErrorCode::invalid_series);
    CHECK(has(sentence, "--horizon 2"));
}

TEST_CASE("an unknown exogenous future is said, a half known one refused") {
    const Table unknown = table_of({"a", "x"}, {{1, 2}, {5, 6}});
    const SeriesInput input = series_input(unknown, {.exogenous = {"x"}, .horizon = 2});
    CHECK(input.future_exogenous.empty());
    REQUIRE(input.notes.size() == 1);
    CHECK(has(input.notes[0], "not known"));

    Table half = table_of({"a", "x"}, {{1, gap, gap}, {5, 6, gap}});
    half.timestamps = {"mon", "tue", "wed"};
    const std::string sentence = refusal(half, {.exogenous = {"x"}, .horizon = 2}, ErrorCode::invalid_series);
    CHECK(has(sentence, "'x' is blank in data row 3 (wed)"));
}

TEST_CASE("trailing rows without targets and without exogenous columns are left out, and said") {
    const SeriesInput input = series_input(table_of({"a"}, {{1, 2, gap, gap}}), {});
    CHECK(input.steps == 2);
    REQUIRE(input.notes.size() == 1);
    CHECK(has(input.notes[0], "last 2 rows"));
    // One target that goes on is enough for the rows to stay.
    CHECK(series_input(table_of({"a", "b"}, {{1, 2, gap}, {1, 2, 3}}), {}).steps == 3);
}

TEST_CASE("what cannot be forecast is refused with the column and the row") {
    const double infinite = std::numeric_limits<double>::infinity();
    CHECK(has(refusal(table_of({"a"}, {{1, -infinite}}), {}, ErrorCode::invalid_series),
              "'a' is infinite in data row 2"));
    CHECK(has(refusal(table_of({"a"}, {{gap, gap}}), {}, ErrorCode::invalid_series), "All target columns are blank"));
    CHECK(has(refusal(table_of({"a"}, {{}}), {}, ErrorCode::invalid_series), "no rows"));
    CHECK(has(refusal(table_of({}, {}), {}, ErrorCode::invalid_series), "no column"));
    CHECK(has(refusal(table_of({"x"}, {{1}}), {.exogenous = {"x"}}, ErrorCode::invalid_series), "no column"));
    CHECK(has(refusal(table_of({"a", "b"}, {{1, 2}, {gap, gap}}), {}, ErrorCode::invalid_series), "'b' is blank"));
    CHECK(has(refusal(table_of({"a", "b"}, {{1, 2}, {1, gap}}), {.context = 1}, ErrorCode::invalid_series),
              "longer --context"));
    const std::string unknown =
        refusal(table_of({"a", "b"}, {{1}, {2}}), {.targets = {"c\x1b"}}, ErrorCode::invalid_argument);
    CHECK(has(unknown, "--targets names the column 'c\\x1b'"));
    CHECK(has(unknown, "a, b"));
}

TEST_CASE("a counter near 1e9 keeps its steps") {
    const SeriesInput input = series_input(table_of({"a"}, {{1e9 + 1, 1e9 + 2, gap, 1e9 + 3}}), {});
    CHECK(input.levels == Values{1e9 + 2});
    CHECK(input.values == std::vector<float>{-1, 0, 0, 1});  // as floats all four were 1e9
    CHECK(input.history[0][0] == 1e9 + 1);
    // Where differences would be beyond float, values stay as they are.
    const SeriesInput wide = series_input(table_of({"a"}, {{3e38, -3e38}}), {});
    CHECK(wide.levels == Values{0});
    CHECK(wide.values == std::vector<float>{3e38F, -3e38F});
}
