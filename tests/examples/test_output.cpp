// SPDX-License-Identifier: Apache-2.0
#include "../../examples/forecast/output.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include <totograph/io/csv/csv.hpp>

#include "../../examples/common/output_files.hpp"
#include "../../examples/common/progress.hpp"
#include "../../examples/forecast/make_figure.hpp"
#include "../io/support.hpp"

using namespace examples;
using totograph::test::content_of;
using totograph::test::ScratchFolder;

namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

/// Two series, five steps of history, two steps of forecast.
SeriesInput sample_input() {
    totograph::io::Table table;
    table.names = {"cpu", "a,b"};
    table.columns = {{1, 2, 3, 4, 5}, {10, gap, 30, 40, 50}};
    return series_input(table, {.horizon = 2});
}

ForecastResult sample_result(bool sampled) {
    ForecastResult result;
    result.series = 2;
    result.horizon = 2;
    result.mean = {6, 7, 60, 70};
    if (sampled) {
        result.samples = 4;
        result.median = {6.5F, 7.5F, 65, 75};
        result.deviation = {1, 1, 10, 0.1};
        result.quantiles = {{0.1, {5, 6, 50, 60}}, {0.975, {8, 9, 80, 90}}};
        result.edges = {{0.05, {1, 2, 3, 4}}, {0.25, {2, 3, 4, 5}}, {0.75, {7, 8, 9, 10}}, {0.95, {8, 9, 10, 11}}};
    }
    return result;
}

Timeline seconds_timeline() {
    return Timeline({"2026-11-21T00:00:00Z", "2026-11-21T00:00:01Z", "2026-11-21T00:00:02Z", "2026-11-21T00:00:03Z",
                     "2026-11-21T00:00:04Z"});
}

}  // namespace

TEST_CASE("units stand beside the names") {
    SeriesInput input = sample_input();
    input.units = {"", "K"};
    const std::string csv = forecast_csv(input, sample_result(false), {}, seconds_timeline(), "time");
    CHECK(csv.starts_with("time,series,unit,mean\n2026-11-21T00:00:05Z,cpu,,6\n"));
    CHECK(csv.find("2026-11-21T00:00:05Z,\"a,b\",K,60\n") != std::string::npos);
    const std::string text = forecast_table(input, sample_result(false), {}, seconds_timeline());
    CHECK(text.starts_with("cpu\n"));
    CHECK(text.find("\na,b [K]\n") != std::string::npos);
}

TEST_CASE("the forecast as CSV") {
    CHECK(forecast_csv(sample_input(), sample_result(true), {}, seconds_timeline(), "time") ==
          "time,series,median,quantile_0.1,quantile_0.975,mean,standard_deviation\n"
          "2026-11-21T00:00:05Z,cpu,6.5,5,8,6,1\n"
          "2026-11-21T00:00:06Z,cpu,7.5,6,9,7,1\n"
          "2026-11-21T00:00:05Z,\"a,b\",65,50,80,60,10\n"
          "2026-11-21T00:00:06Z,\"a,b\",75,60,90,70,0.1\n");
    CHECK(forecast_csv(sample_input(), sample_result(false), {}, Timeline(), "") ==
          "step,series,mean\n1,cpu,6\n2,cpu,7\n1,\"a,b\",60\n2,\"a,b\",70\n");
}

TEST_CASE("the CSV reads back") {
    const std::string text = forecast_csv(sample_input(), sample_result(true), {}, seconds_timeline(), "time");
    totograph::io::CsvOptions options;
    options.series = {"series"};
    options.value = "median";
    const totograph::io::Table table = totograph::io::parse_csv(text, "forecast.csv", options);
    CHECK(table.timestamps[1] == "2026-11-21T00:00:06Z");
    CHECK(table.names == std::vector<std::string>{"cpu", "a,b"});
    CHECK(table.columns[0] == std::vector<double>{6.5, 7.5});
    CHECK(table.columns[1] == std::vector<double>{65, 75});
}

TEST_CASE("values that are not finite are blank in CSV and a dash in the table") {
    ForecastResult result = sample_result(false);
    result.mean = {gap, std::numeric_limits<float>::infinity(), 1, 2};
    CHECK(forecast_csv(sample_input(), result, {}, Timeline(), "").find("1,cpu,\n2,cpu,\n") != std::string::npos);
    CHECK(forecast_table(sample_input(), result, {}, Timeline()).find("–") != std::string::npos);
}

TEST_CASE("the forecast as a table") {
    CHECK(forecast_table(sample_input(), sample_result(false), {}, seconds_timeline()) ==
          "cpu\n"
          "  time                  mean\n"
          "  2026-11-21T00:00:05Z     6\n"
          "  2026-11-21T00:00:06Z     7\n"
          "\n"
          "a,b\n"
          "  time                  mean\n"
          "  2026-11-21T00:00:05Z    60\n"
          "  2026-11-21T00:00:06Z    70\n");
}

TEST_CASE("a hold-out adds truth, baseline and scores to CSV and table") {
    SeriesInput input = sample_input();
    input.truth = {{6, 9}, {gap, gap}};
    const ForecastResult result = sample_result(true);
    const Holdout holdout = holdout_scores(input, result, 1);
    // The history of cpu rises by 1 a step, so its scale is 1; that of the other one by 10 where it can be seen.
    CHECK(forecast_csv(input, result, holdout, Timeline(), "") ==
          "step,series,median,quantile_0.1,quantile_0.975,truth,baseline,mae,mase,baseline_mae,baseline_mase,mean,"
          "standard_deviation\n"
          "1,cpu,6.5,5,8,6,5,1,1,2.5,2.5,6,1\n"
          "2,cpu,7.5,6,9,9,5,1,1,2.5,2.5,7,1\n"
          "1,\"a,b\",65,50,80,,50,,,,,60,10\n"
          "2,\"a,b\",75,60,90,,50,,,,,70,0.1\n");
    CHECK(forecast_table(input, result, holdout, Timeline()) ==
          "cpu\n"
          "  step  median  quantile 0.1  quantile 0.975  truth  baseline\n"
          "  1        6.5           5.0             8.0    6.0       5.0\n"
          "  2        7.5           6.0             9.0    9.0       5.0\n"
          "  MAE 1 (baseline 2.5), MASE 1 (2.5)\n"
          "\n"
          "a,b\n"
          "  step  median  quantile 0.1  quantile 0.975  truth  baseline\n"
          "  1         65            50              80      –        50\n"
          "  2         75            60              90      –        50\n"
          "  MAE – (baseline –), MASE – (–)\n"
          "The baseline is the last value.\n");
}

TEST_CASE("the numbers of a block of the table stand below each other") {
    const auto texts = [](const std::vector<double>& values) {
        detail::BlockNumbers numbers;
        for (const double value : values) {
            numbers.add(value);
        }
        numbers.choose_decimals();
        std::vector<std::string> words;
        for (const double value : values) {
            words.push_back(numbers.text(value));
        }
        return words;
    };
    using Words = std::vector<std::string>;
    CHECK(texts({373.7, 374.2211, -0.001}) == Words{"373.70", "374.22", "0.00"});
    CHECK(texts({12, 7}) == Words{"12", "7"});
    CHECK(texts({0, 0}) == Words{"0", "0"});
    CHECK(texts({gap, 1.5}) == Words{"–", "1.5"});
    CHECK(texts({123456.7, 1}) == Words{"123457", "1"});
    CHECK(texts({1e9, 0.25}) == Words{"1e9", "0.25"});
    // A counter keeps its steps.
    CHECK(texts({1000000423.76, 1000000430.98}) == Words{"1000000424", "1000000431"});
    CHECK(texts({}).empty());
}

TEST_CASE("a figure of the tail of the history and the forecast") {
    SeriesInput input = sample_input();
    input.truth = {{6, 9}, {gap, gap}};
    const Holdout holdout = holdout_scores(input, sample_result(true), 1);
    const Figure figure = make_figure(input, sample_result(true), holdout, seconds_timeline());
    CHECK(figure.history_steps == 5);
    CHECK(figure.first_row == 0);
    CHECK(figure.horizon == 2);
    CHECK(figure.line_name == "median");
    CHECK(figure.panels.at(0).name == "cpu");
    input.units = {"GiB", ""};
    CHECK(make_figure(input, sample_result(true), {}, seconds_timeline()).panels.at(0).name == "cpu [GiB]");
    REQUIRE(figure.panels.size() == 2);
    CHECK(figure.panels[0].line == std::vector<double>{6.5F, 7.5F});
    CHECK(figure.panels[1].line == std::vector<double>{65, 75});
    CHECK(std::isnan(figure.panels[1].history[1]));
    REQUIRE(figure.panels[1].bands.size() == 2);
    CHECK(figure.panels[1].bands[0].percent == 90);
    CHECK(figure.panels[1].bands[0].high == std::vector<double>{10, 11});
    CHECK(figure.panels[1].bands[1].low == std::vector<double>{4, 5});
    CHECK(figure.panels[0].truth == std::vector<double>{6, 9});
    CHECK(figure.panels[0].baseline == std::vector<double>{5, 5});
    CHECK(figure.panels[0].note == "MAE 1 (baseline 2.5), MASE 1 (2.5)");
    CHECK(figure.panels[1].note == "MAE – (baseline –), MASE – (–)");
    CHECK(figure.baseline_name == "the last value");
    CHECK(make_figure(input, sample_result(false), {}, Timeline()).panels[0].bands.empty());
    CHECK(make_figure(input, sample_result(false), {}, Timeline()).line_name == "mean");
    CHECK(!make_figure(input, sample_result(true), {}, Timeline()).has_baseline());
}

TEST_CASE("the tail is a few horizons long, never more than there is") {
    CHECK(history_tail(10, 60) == 10);
    CHECK(history_tail(4096, 60) == 180);
    CHECK(history_tail(4096, 1) == 60);
    CHECK(history_tail(4096, 2000) == 1000);
}

TEST_CASE("output files appear together") {
    const ScratchFolder folder;
    {
        OutputFiles files;
        files.add(folder.path() / "one", "1");
        files.add(folder.path() / "two", "2");
        CHECK(!std::filesystem::exists(folder.path() / "one"));
        files.commit();
    }
    CHECK(content_of(folder.path() / "one") == "1");
    CHECK(content_of(folder.path() / "two") == "2");
    CHECK(folder.file_count() == 2);
}

TEST_CASE("without a commit nothing changes") {
    const ScratchFolder folder;
    std::ofstream(folder.path() / "one") << "old";
    {
        OutputFiles files;
        files.add(folder.path() / "one", "new");
        CHECK_THROWS_AS(files.add(folder.path() / "missing" / "two", "2"), totograph::Error);
    }
    CHECK(content_of(folder.path() / "one") == "old");
    CHECK(folder.file_count() == 1);
}

TEST_CASE("a place for a file is tried without a trace") {
    const ScratchFolder folder;
    OutputFiles::check(folder.path() / "one");
    CHECK(folder.file_count() == 0);
    CHECK_THROWS_AS(OutputFiles::check(folder.path() / "missing" / "one"), totograph::Error);
    CHECK_THROWS_AS(OutputFiles::check(folder.path()), totograph::Error);
}

TEST_CASE("progress") {
    CHECK(progress_line("forecasting", 2.5, 0.5, -1) == "━━━━━━━━━━━━┄┄┄┄┄┄┄┄┄┄┄┄ forecasting, 2.5 s");
    CHECK(progress_line("forecasting", 2.5, 0.5, 3.2) == "━━━━━━━━━━━━┄┄┄┄┄┄┄┄┄┄┄┄ forecasting, about 4 s left");
    CHECK(display_width(progress_line("x", 0, -1, -1)) == display_width(progress_line("x", 1.7, -1, -1)));
    CHECK(progress_line("x", 0.0, -1, -1) != progress_line("x", 0.9, -1, -1));
    std::ostringstream terminal;
    {
        Progress quiet(terminal, false);
        quiet.stage("working");
        Progress fast(terminal, true);  // done long before the bar would appear
        fast.stage("working");
    }
    CHECK(terminal.str().empty());
}

TEST_CASE("the time left follows from the shares that were done in it") {
    TimeLeft fresh;
    CHECK(fresh.at(0, -1) < 0);
    CHECK(fresh.at(1, 0) < 0);
    CHECK(fresh.at(2, 0) < 0);
    CHECK(fresh.at(11, 0.25) == doctest::Approx(30));
    CHECK(fresh.at(41, 1) == doctest::Approx(0));
    TimeLeft resumed;  // nine tenths were done before
    CHECK(resumed.at(2, 0.9) < 0);
    CHECK(resumed.at(12, 0.95) == doctest::Approx(10));
    CHECK(resumed.at(20, 0) < 0);  // another stage
    CHECK(resumed.at(24, 0.5) == doctest::Approx(4));
    CHECK(rough_duration(0.2) == "1 s");
    CHECK(rough_duration(99) == "99 s");
    CHECK(rough_duration(100) == "2 min");
    CHECK(rough_duration(5 * 3600) == "5 h");
    CHECK(rough_duration(2 * 3600 + 300) == "2 h 5 min");
}

TEST_CASE("a long computation shows its stage and leaves a clean line") {
    std::ostringstream terminal;
    {
        Progress progress(terminal, true);
        progress.stage("forecasting");
        std::this_thread::sleep_for(std::chrono::milliseconds(800));
    }
    CHECK(terminal.str().find("forecasting") != std::string::npos);
    CHECK(terminal.str().substr(terminal.str().size() - 4) == "\r\x1b[K");
}
