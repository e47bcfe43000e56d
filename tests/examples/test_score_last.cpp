// SPDX-License-Identifier: Apache-2.0
#include "../../examples/forecast/score_last.hpp"

#include <limits>
#include <string>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/io/csv/table.hpp>

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
          "gone: none of 1 step has come yet\n");
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
}
