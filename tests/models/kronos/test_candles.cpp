// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/core/error.hpp>
#include <totograph/models/kronos/calendar.hpp>
#include <totograph/models/kronos/candles.hpp>
#include <totograph/models/kronos/future_times.hpp>

#include "models/kronos/fixture.hpp"

// Candles and times as what the programs read.

namespace {

namespace tg = totograph;
using tg::Index;
using tg::kronos::Candles;
using tg::kronos::CandleSeries;

/// Three candles, and two to forecast, which a test can break.
struct Sample {
    std::vector<float> open{1, 2, 3}, high{4, 5, 6}, low{0.5F, 1, 2}, close{2, 3, 4}, volume{10, 0, 20};
    std::vector<std::int64_t> time{0, 60, 120}, future{180, 240};

    [[nodiscard]] Candles candles() const {
        return {.open = open,
                .high = high,
                .low = low,
                .close = close,
                .volume = volume,
                .time = time,
                .future_time = future};
    }
};

std::string refusal(const std::function<void(Sample&)>& break_it, const tg::kronos::CandleOptions& options = {}) {
    Sample sample;
    break_it(sample);
    const Candles candles = sample.candles();
    try {
        const CandleSeries series(std::span(&candles, 1), options);
    } catch (const tg::Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// Column after column of `[rows, columns]`.
std::vector<std::vector<float>> columns_of(const std::vector<float>& rows, std::size_t columns) {
    std::vector<std::vector<float>> result(columns);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        result[i % columns].push_back(rows[i]);
    }
    return result;
}

}  // namespace

TEST_CASE("stamps are those of the reference") {
    for (const std::string name : {"head_of_52", "unequal_bits"}) {
        const kronos_fixture::Tensors tensors(name);
        for (const std::string axis : {"x", "y"}) {
            const auto times = tensors.read<double>(axis + "_time");
            const auto expected = tensors[axis + "_stamp"];
            for (std::size_t i = 0; i < times.size(); ++i) {
                const auto stamps = tg::kronos::stamps_of(static_cast<std::int64_t>(times[i]));
                CHECK(std::vector<float>(stamps.begin(), stamps.end()) ==
                      std::vector<float>(expected.begin() + static_cast<std::ptrdiff_t>(5 * i),
                                         expected.begin() + static_cast<std::ptrdiff_t>(5 * i + 5)));
            }
        }
    }
    // A Wednesday before 1970, a leap day, and a second before midnight.
    CHECK(tg::kronos::stamps_of(-3600) == std::array<float, 5>{0, 23, 2, 31, 12});
    CHECK(tg::kronos::stamps_of(1709251199) == std::array<float, 5>{59, 23, 3, 29, 2});
    // The years that have stamps end at midnight.
    CHECK(tg::kronos::has_stamps(253402300799));
    CHECK(!tg::kronos::has_stamps(253402300800));
    CHECK(tg::kronos::has_stamps(-62167219200));
    CHECK(!tg::kronos::has_stamps(-62167219201));
    CHECK(tg::kronos::stamps_of(253402300799) == std::array<float, 5>{59, 23, 4, 31, 12});  // 9999-12-31, a Friday
    // One after the other, over midnight and back.
    tg::kronos::StampsOfTimes stamps;
    for (const std::int64_t time :
         {1709251199, 1709251200, 1709251260, 1709251199, 0, -1, -86400, -86401, 1709251199}) {
        CHECK(stamps(time) == tg::kronos::stamps_of(time));
    }
}

TEST_CASE("missing columns are filled as the reference fills them") {
    for (const std::string name : {"no_volume", "no_amount_clipped"}) {
        CAPTURE(name);
        const kronos_fixture::Tensors tensors(name);
        const auto all = tensors["candles"];
        const auto features = tensors["features"];
        const Index batch = tensors.shape("candles")[0];
        const Index steps = tensors.shape("candles")[1];
        const auto columns = static_cast<std::size_t>(tensors.shape("candles")[2]);
        const auto size = static_cast<std::size_t>(steps) * columns;
        for (Index b = 0; b < batch; ++b) {
            const auto begin = all.begin() + b * static_cast<Index>(size);
            const auto given = columns_of({begin, begin + static_cast<Index>(size)}, columns);
            std::vector<std::int64_t> time(static_cast<std::size_t>(steps));
            for (std::size_t i = 0; i < time.size(); ++i) {
                time[i] = static_cast<std::int64_t>(i);
            }
            const Candles candles{.open = given[0],
                                  .high = given[1],
                                  .low = given[2],
                                  .close = given[3],
                                  .volume = columns > 4 ? std::span<const float>(given[4]) : std::span<const float>(),
                                  .time = time,
                                  .future_time = time};
            const CandleSeries series(std::span(&candles, 1), {});
            for (Index column = 0; column < tg::kronos::column_count; ++column) {
                for (Index step = 0; step < steps; ++step) {
                    const float expected = features[static_cast<std::size_t>((b * steps + step) * 6 + column)];
                    const float found = series.series().values[static_cast<std::size_t>(column * steps + step)];
                    // The mean of four prices may be added up in another order.
                    CHECK(std::abs(found - expected) <= 2e-7F * std::abs(expected));
                }
            }
        }
    }
}

TEST_CASE("a shorter history stands at the end of its row, and is observed there alone") {
    Sample longer;
    Sample shorter;
    for (auto* column : {&shorter.open, &shorter.high, &shorter.low, &shorter.close, &shorter.volume}) {
        column->erase(column->begin());
    }
    shorter.time.erase(shorter.time.begin());
    const std::array symbols{longer.candles(), shorter.candles()};
    const CandleSeries given(symbols, {.temperature = 0.5F, .top_k = 4, .top_p = 0.7F, .first_series = 3});
    const tg::Series& series = given.series();
    CHECK(series.batch == 2);
    CHECK(series.variates == 11);
    CHECK(series.steps == 3);
    CHECK(series.first_series == 3);
    CHECK(series.draws.temperature == 0.5F);
    CHECK(series.draws.filter.top_k == 4);
    CHECK(series.draws.filter.top_p == 0.7F);
    const std::size_t second = 33;
    CHECK(series.values[second] == 0);
    CHECK(series.values[second + 1] == 2);
    CHECK(series.observed[second] == 0);
    CHECK(series.observed[second + 1] == 1);
    CHECK(series.observed[0] == 1);
}

TEST_CASE("of histories longer than a bucket only the newest candles are copied") {
    const Sample sample;
    const std::array symbols{sample.candles()};
    const CandleSeries all(symbols, {});
    const CandleSeries newest(symbols, {}, 2);
    CHECK(newest.series().steps == 2);
    REQUIRE(newest.series().values.size() == 22);
    for (std::size_t variate = 0; variate < 11; ++variate) {
        for (std::size_t step = 0; step < 2; ++step) {
            CAPTURE(variate);
            CHECK(newest.series().values[2 * variate + step] == all.series().values[3 * variate + step + 1]);
        }
    }
    CHECK(CandleSeries(symbols, {}, 9).series().steps == 3);
}

TEST_CASE("candles that cannot be forecast are refused with a sentence") {
    CHECK(has(refusal([](Sample& s) { s.close.clear(); }), "symbol 0 has no candle"));
    CHECK(has(refusal([](Sample& s) { s.low.pop_back(); }), "3 values of close, but 2 of low"));
    CHECK(has(refusal([](Sample& s) { s.volume.pop_back(); }), "3 values of close, but 2 of volume"));
    CHECK(has(refusal([](Sample& s) { s.high[1] = std::numeric_limits<float>::infinity(); }),
              "holds NaN or infinity in row 1 of high"));
    CHECK(has(refusal([](Sample& s) { s.open[2] = s.volume[2] = 1e38F; }),
              "symbol 0 has a volume times the mean of its prices in row 2, the amount, that is beyond the range"));
    CHECK(has(refusal([](Sample& s) { s.time.pop_back(); }), "3 candles, but 2 times"));
    CHECK(has(refusal([](Sample& s) { s.time[2] = 1704067200000; }), "a time in row 2 that is beyond the year 9999"));
    CHECK(has(refusal([](Sample& s) { s.future[0] = -1704067200000; }),
              "a time to forecast in row 0 that is beyond the year 0"));
    CHECK(has(refusal([](Sample& s) { s.time[2] = 60; }), "a time in row 2 that is not after the one before it"));
    CHECK(has(refusal([](Sample& s) { s.future.clear(); }), "0 times to forecast"));
    CHECK(has(refusal([](Sample&) {}, {.temperature = 0}), "the temperature of draws should be above 0"));
    CHECK(has(refusal([](Sample&) {}, {.top_k = -1}), "top_k should be 0 or more"));
    CHECK(has(refusal([](Sample&) {}, {.top_p = 0}), "top_p above 0"));
    CHECK(refusal([](Sample&) {}) == "nothing was refused");
}

namespace {

constexpr std::int64_t hour = 3600;
constexpr std::int64_t day = 24 * hour;
constexpr std::int64_t monday = 1704067200;  // 2024-01-01

/// Every hour of sessions from 10 to 15, Monday to Friday, of so many days.
std::vector<std::int64_t> sessions(int days) {
    std::vector<std::int64_t> times;
    for (int i = 0; i < days; ++i) {
        for (std::int64_t at = 10; at < 16 && i % 7 < 5; ++at) {
            times.push_back(monday + i * day + at * hour);
        }
    }
    return times;
}

}  // namespace

TEST_CASE("times go on as the history shows") {
    using tg::kronos::future_times;
    using Times = std::vector<std::int64_t>;
    // Nights and weekends: behind the Friday of the third week comes Monday.
    CHECK(future_times(sessions(19), 7) == Times{monday + 21 * day + 10 * hour, monday + 21 * day + 11 * hour,
                                                 monday + 21 * day + 12 * hour, monday + 21 * day + 13 * hour,
                                                 monday + 21 * day + 14 * hour, monday + 21 * day + 15 * hour,
                                                 monday + 22 * day + 10 * hour});
    // Three days show nights, but no weekend.
    CHECK(future_times(sessions(5), 1) == Times{monday + 5 * day + 10 * hour});
    // Around the clock.
    Times all;
    for (std::int64_t at = 0; at < 24 * 20; ++at) {
        all.push_back(monday + at * hour);
    }
    CHECK(future_times(all, 2) == Times{all.back() + hour, all.back() + 2 * hour});
    // Days without weekends, of which one was a holiday; whole months, to the end of February.
    Times days;
    for (int i = 0; i < 26; ++i) {
        if (i % 7 < 5 && i != 9) {
            days.push_back(monday + i * day);
        }
    }
    CHECK(future_times(days, 2) == Times{monday + 28 * day, monday + 29 * day});
    CHECK(future_times(Times{monday - day, monday + 30 * day}, 2) == Times{monday + 59 * day, monday + 90 * day});
    // Every third January, whose distances are 1,095 and 1,096 days.
    const auto january = [](int year) {
        return std::chrono::sys_days(std::chrono::year(year) / 1 / 1).time_since_epoch().count() * day;
    };
    CHECK(future_times(Times{january(2001), january(2004), january(2007), january(2010), january(2013)}, 2) ==
          Times{january(2016), january(2019)});
    // The last days of months, and their last workdays, behind a month of 30 days.
    const auto at = [](int year, unsigned month, unsigned date) {
        const std::chrono::sys_days midnight(std::chrono::year(year) / std::chrono::month(month) /
                                             std::chrono::day(date));
        return midnight.time_since_epoch().count() * day;
    };
    CHECK(future_times(Times{at(2023, 1, 31), at(2023, 2, 28), at(2023, 3, 31), at(2023, 4, 30)}, 2) ==
          Times{at(2023, 5, 31), at(2023, 6, 30)});
    CHECK(future_times(Times{at(2023, 1, 31), at(2023, 2, 28), at(2023, 3, 31), at(2023, 4, 28)}, 4) ==
          Times{at(2023, 5, 31), at(2023, 6, 30), at(2023, 7, 31), at(2023, 8, 31)});
    // Years beyond those that are counted in nanoseconds.
    CHECK(future_times(Times{at(2021, 1, 31), at(2022, 1, 31), at(2023, 1, 31)}, 300).back() == at(2323, 1, 31));
    CHECK(future_times(Times{at(2521, 1, 31), at(2522, 1, 31), at(2523, 1, 31)}, 1) == Times{at(2524, 1, 31)});
    // Quarters, of which one has a candle in between.
    CHECK(future_times(Times{at(2021, 6, 30), at(2021, 9, 30), at(2021, 12, 31), at(2022, 3, 31), at(2022, 4, 30),
                             at(2022, 6, 30)},
                       1) == Times{at(2022, 9, 30)});
    // Months, quarters and month ends, behind a last candle that is not over.
    Times firsts;
    for (int month = 0; month < 24; ++month) {
        firsts.push_back(at(2022 + month / 12, static_cast<unsigned>(month % 12) + 1, 1));
    }
    CHECK(future_times(firsts, 2) == Times{at(2024, 1, 1), at(2024, 2, 1)});
    firsts.push_back(at(2023, 12, 17));
    CHECK(future_times(firsts, 2) == Times{at(2024, 1, 1), at(2024, 2, 1)});
    CHECK(future_times(Times{at(2023, 1, 31), at(2023, 2, 28), at(2023, 3, 31), at(2023, 4, 30), at(2023, 5, 17)}, 2) ==
          Times{at(2023, 5, 31), at(2023, 6, 30)});
    // Far from the years that are counted in nanoseconds, to the last workdays; and across that many years.
    CHECK(future_times(Times{at(2823, 1, 31), at(2823, 2, 28), at(2823, 3, 31), at(2823, 4, 28)}, 2) ==
          Times{at(2823, 5, 31), at(2823, 6, 30)});  // as those of 2023, two cycles of the calendar before
    CHECK(future_times(Times{at(1023, 1, 31), at(1023, 2, 28), at(1023, 3, 31)}, 12 * 600).back() == at(1623, 3, 31));
    CHECK(future_times(
              Times{at(1500, 6, 1), at(1900, 6, 1), at(2199, 6, 1), at(2199, 7, 1), at(2199, 8, 1), at(2199, 9, 1)},
              1) == Times{at(2199, 10, 1)});
    // Four and five weeks are no months.
    for (const std::int64_t distance : {28 * day, 35 * day}) {
        Times weeks;
        for (std::int64_t i = 0; i < 12; ++i) {
            weeks.push_back(monday + i * distance);
        }
        CHECK(future_times(weeks, 2) == Times{weeks.back() + distance, weeks.back() + 2 * distance});
        weeks.push_back(weeks.back() + 5 * day);
        CHECK(future_times(weeks, 1) == Times{weeks.back() - 5 * day + distance});
    }
    // A last candle that is not over, of hours around the clock and of sessions.
    Times live = all;
    live.push_back(all.back() + 37);
    CHECK(future_times(live, 2) == Times{all.back() + hour, all.back() + 2 * hour});
    Times session = sessions(19);
    session.push_back(session.back() + 37);
    CHECK(future_times(session, 1) == Times{monday + 21 * day + 10 * hour});
    // A rhythm that never comes again.
    const Times odd{monday, monday + 1000, monday + 2000, monday + 3 * day};
    CHECK(future_times(odd, 2) == Times{monday + 3 * day + 1000, monday + 3 * day + 2000});
    CHECK_THROWS_AS((void)future_times(Times{monday}, 1), tg::Error);
    CHECK_THROWS_AS((void)future_times(Times{monday, monday}, 1), tg::Error);
}

TEST_CASE("times go on where a history just shows its rhythm, and where it does not") {
    using tg::kronos::future_times;
    using Times = std::vector<std::int64_t>;
    // Two weeks from Friday to Friday show a weekend, two days a night.
    Times fridays{monday + 4 * day};
    for (const std::int64_t date : {7, 8, 9, 10, 11, 14, 15, 16, 17, 18}) {
        fridays.push_back(monday + date * day);
    }
    CHECK(future_times(fridays, 1) == Times{monday + 21 * day});
    // So does one Saturday and one Sunday without a candle.
    fridays.erase(fridays.begin());
    CHECK(future_times(fridays, 1) == Times{monday + 21 * day});
    CHECK(future_times(Times{monday + 4 * day, monday + 4 * day + hour, monday + 7 * day, monday + 7 * day + hour,
                             monday + 8 * day, monday + 8 * day + hour, monday + 11 * day, monday + 11 * day + hour},
                       1) == Times{monday + 14 * day});
    CHECK(future_times(Times{monday + 3 * day, monday + 4 * day, monday + 6 * day, monday + 7 * day, monday + 8 * day,
                             monday + 9 * day, monday + 10 * day, monday + 11 * day},
                       2) == Times{monday + 13 * day, monday + 14 * day});  // a Sunday had one
    // A history that ends before the weekend says nothing of it, and neither do steps of several days.
    CHECK(future_times(Times{monday + 3 * day, monday + 4 * day}, 1) == Times{monday + 5 * day});
    CHECK(future_times(Times{monday + 4 * day, monday + 7 * day, monday + 10 * day}, 1) == Times{monday + 13 * day});
    const Times nights{monday, monday + hour, monday + day, monday + day + hour, monday + 2 * day};
    CHECK(future_times(nights, 2) == Times{monday + 2 * day + hour, monday + 3 * day});
    // Of steps that are as frequent the shorter one.
    CHECK(future_times(Times{0, hour, 2 * hour, 4 * hour, 6 * hour}, 1) == Times{7 * hour});
    // One candle of ten is not over.
    Times ten;
    for (std::int64_t at_hour = 0; at_hour < 9; ++at_hour) {
        ten.push_back(monday + at_hour * hour);
    }
    ten.push_back(ten.back() + 37);
    CHECK(future_times(ten, 1) == Times{monday + 9 * hour});
    ten.erase(ten.begin());
    CHECK(future_times(ten, 1) == Times{monday + 9 * hour + 37});
}
