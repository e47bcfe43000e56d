// SPDX-License-Identifier: Apache-2.0
#include "../../examples/forecast/score_last.hpp"

#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/table.hpp>
#include <totograph/io/time/clock.hpp>

#include "io/support.hpp"

using namespace examples;
using totograph::ErrorCode;
using totograph::test::check_error;

namespace {

/// Four hours of two series; the second has a gap in the third.
totograph::io::Table table() {
    totograph::io::Table table;
    table.timestamp_name = "time";
    table.timestamps = {"10:00", "11:00", "12:00", "13:00"};
    table.names = {"cpu", "a,b"};
    table.columns = {{10, 20, 30, 40}, {1, 2, std::numeric_limits<double>::quiet_NaN(), 4}};
    return table;
}

}  // namespace

TEST_CASE("an earlier forecast is scored where its steps have come") {
    // Of cpu: errors 2 and -4, which gives MAE 3, RMSE sqrt(10), bias -1; 20 is within 18 to 24, 40 is not in 30 to 38.
    const std::string last =
        "time,series,median,quantile_0.1,quantile_0.9,mean,standard_deviation\n"
        "11:00,cpu,22,18,24,0,1\n"
        "13:00,cpu,36,30,38,0,1\n"
        "14:00,cpu,50,40,60,0,1\n"
        "11:00,\"a,b\",2.5,2,3,0,1\n"
        "12:00,\"a,b\",9,8,10,0,1\n"
        "14:00,gone,1,0,2,0,1\n";
    CHECK(score_last(last, "last.csv", table()) ==
          "a,b: 1 of 2 steps came, MAE 0.5, RMSE 0.5, bias 0.5, 100% within the band of 80%\n"
          "cpu: 2 of 3 steps came, MAE 3, RMSE 3.16, bias -1, 50% within the band of 80%\n"
          "gone: not scored, for the file has no such column\n");
}

TEST_CASE("a series that --targets leaves out is told from one that the file lacks") {
    const std::string last = "time,series,mean\n11:00,cpu,22\n11:00,\"a,b\",2\n";
    totograph::io::Table one = table();
    one.names.pop_back();
    one.columns.pop_back();
    CHECK(score_last(last, "last.csv", one, {"cpu"}) ==
          "a,b: not scored, for --targets leaves it out\ncpu: 1 of 1 step came, MAE 2, RMSE 2, bias 2\n");
    CHECK(score_last(last, "last.csv", one) ==
          "a,b: not scored, for the file has no such column\ncpu: 1 of 1 step came, MAE 2, RMSE 2, bias 2\n");
}

TEST_CASE("a step that has not come is told from a column that is not there") {
    CHECK(score_last("time,series,mean\n14:00,cpu,42\n", "last.csv", table()) == "cpu: none of 1 step has come yet\n");
}

TEST_CASE("small errors at a high level are told") {
    totograph::io::Table high = table();
    high.columns[0] = {1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3};
    CHECK(score_last("time,series,median,quantile_0.1,quantile_0.9\n"
                     "11:00,cpu,1000000001.25,1000000000.5,1000000001.5\n"
                     "12:00,cpu,1000000002.25,1000000001.5,1000000002.5\n",
                     "last.csv",
                     high) == "cpu: 2 of 2 steps came, MAE 0.25, RMSE 0.25, bias 0.25, 100% within the band of 80%\n");
}

TEST_CASE("steps are matched by their times, however these are spelled") {
    totograph::io::Table days = table();
    days.timestamps = {"2024-03-30T12:00:00+01:00", "2024-03-31T12:00:00+02:00", "2024-04-01 00:00:00", "2024-04-02"};
    CHECK(score_last("time,series,mean\n"
                     "2024-03-31T11:00:00+01:00,cpu,21\n"
                     "2024-04-01,cpu,31\n"
                     "2024-04-02 00:00,cpu,41\n",
                     "last.csv", days) == "cpu: 3 of 3 steps came, MAE 1, RMSE 1, bias 1\n");
}

TEST_CASE("a forecast in another unit is refused") {
    totograph::io::Table megabytes = table();
    megabytes.units = {"MB", ""};
    CHECK(score_last("time,series,unit,mean\n13:00,cpu,MB,42\n13:00,\"a,b\",,4\n", "last.csv", megabytes) ==
          "a,b: 1 of 1 step came, MAE 0, RMSE 0, bias 0\ncpu: 1 of 1 step came, MAE 2, RMSE 2, bias 2\n");
    for (const char* text : {"time,series,unit,mean\n13:00,cpu,kB,42\n", "time,series,mean\n13:00,cpu,42\n"}) {
        check_error(ErrorCode::invalid_file, {"'last.csv'", "'cpu' in", "are read in 'MB'"},
                    [&] { (void)score_last(text, "last.csv", megabytes); });
    }
}

TEST_CASE("without quantiles the mean is scored, without a band") {
    CHECK(score_last("time,series,mean\n13:00,cpu,42\n", "last.csv", table()) ==
          "cpu: 1 of 1 step came, MAE 2, RMSE 2, bias 2\n");
}

TEST_CASE("what no forecast wrote, and what has no times, cannot be scored") {
    const auto refused = [&](const std::string& text, const std::string& why) {
        check_error(ErrorCode::invalid_file, {"'last.csv'", why, "--output"},
                    [&] { (void)score_last(text, "last.csv", table()); });
    };
    refused("", "it is empty");
    refused("time,cpu\n10:00,3\n", "no columns 'series' and 'median' or 'mean'");
    refused("step,series,median\n1,cpu,3\n", "no timestamps");
    refused("time,series,median\n10:00,cpu\n", "line 2 has 2 fields, not 3");
    // The clock of a file may be called so, or like something else that a forecast has.
    for (const std::string name : {"step", "unit", "mean"}) {
        totograph::io::Table named = table();
        named.timestamp_name = name;
        CHECK(score_last(name + ",series,median\n13:00,cpu,42\n", "last.csv", named) ==
              "cpu: 1 of 1 step came, MAE 2, RMSE 2, bias 2\n");
    }
}

TEST_CASE("steps are matched by what the clock of the file counts") {
    const auto score = [](const std::vector<std::string>& stamps, totograph::io::DateOrder order, const char* when) {
        totograph::io::Table rows = table();
        rows.timestamps = stamps;
        rows.clock = totograph::io::read_clock(stamps, order);
        return score_last("time,series,mean\n" + std::string(when) + ",cpu,42\n", "last.csv", rows);
    };
    const std::string scored = "cpu: 1 of 1 step came, MAE 2, RMSE 2, bias 2\n";
    using totograph::io::DateOrder;
    CHECK(score({"11/6/2023", "11/7/2023", "11/8/2023", "11/9/2023"}, DateOrder::month_first, "11/09/2023") == scored);
    CHECK(score({"6.11.2023", "7.11.2023", "8.11.2023", "9.11.2023"}, DateOrder::day_first, "09.11.2023") == scored);
    CHECK(score({"1.7e9", "1.70000006e9", "1.70000012e9", "1.70000018e9"}, DateOrder::year_first, "1700000180") ==
          scored);
    CHECK(score({"1.5", "1.75", "2", "2.25"}, DateOrder::year_first, "2.25") == scored);
    // Days of a spreadsheet, of which forecasts have nine decimals.
    CHECK(score({"45292.5", "45292.541666666664", "45292.583333333336", "45292.625"}, DateOrder::year_first,
                "45292.625000000") == scored);
    CHECK(score({"45292.541666666664", "45292.583333333336", "45292.625", "45292.666666666664"}, DateOrder::year_first,
                "45292.666666667") == scored);
    CHECK(score({"1.5", "1.75", "2.0", "2.25"}, DateOrder::year_first, "3") == "cpu: none of 1 step has come yet\n");
}
