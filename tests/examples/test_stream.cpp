// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "../../examples/stream/command_line.hpp"
#include "../../examples/stream/context_ring.hpp"
#include "../../examples/stream/expectation.hpp"
#include "../../examples/stream/forecast_stream.hpp"
#include "../../examples/stream/held_lines.hpp"
#include "../../examples/stream/latency.hpp"
#include "../../examples/stream/line_reader.hpp"
#include "../../examples/stream/observation.hpp"
#include "../../examples/stream/stream_clock.hpp"
#include "support/refusal.hpp"

using namespace examples;
using doctest::Approx;

namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// What is wrong with a line; empty when it can be used.
std::string problem_with(ObservationReader& reader, const std::string& line) {
    std::string problem;
    const bool is_read = reader.read(line, problem).has_value();
    CHECK(is_read == problem.empty());
    return problem;
}

/// What a stream that begins with some lines makes of them.
struct Told {
    std::size_t rows_at = 0;
    std::vector<std::string> names;
    std::vector<Observation> rows;
    std::vector<std::string> problems;
    std::string notes;
};

Told begin_with(const std::vector<std::string>& lines, const Options& options = {}) {
    Told told;
    ObservationReader reader(options);
    told.rows_at = reader.read_head(lines);
    for (std::size_t i = told.rows_at; i < lines.size(); ++i) {
        std::string problem;
        if (std::optional<Observation> row = reader.read(lines[i], problem)) {
            told.rows.push_back(std::move(*row));
        } else {
            told.problems.push_back(problem);
        }
    }
    told.names = reader.names();
    for (const std::string& note : reader.take_notes()) {
        told.notes += note + "\n";
    }
    return told;
}

/// What a forecaster was asked, the last time.
struct Asked {
    int times = 0;
    std::vector<float> values;
    std::vector<std::uint8_t> observed;
    std::vector<std::int32_t> groups;
};

/// Foresees 0 for everything.
class FakeForecaster : public AnyForecaster {
public:
    explicit FakeForecaster(Asked& asked) : asked_(asked) {}
    totograph::Forecast forecast(const totograph::Series& series, const totograph::ForecastOptions& options) override {
        ++asked_.times;
        asked_.values.assign(series.values.begin(), series.values.end());
        asked_.observed.assign(series.observed.begin(), series.observed.end());
        asked_.groups.assign(series.groups.begin(), series.groups.end());
        const totograph::Index samples = options.samples.value();
        const totograph::Index horizon = options.horizon.value();
        samples_.assign(static_cast<std::size_t>(series.variates * horizon * samples), 0);
        return {samples_, 1, series.variates, horizon, samples};
    }
    [[nodiscard]] std::size_t memory_bytes() const override { return samples_.size() * sizeof(float); }

private:
    Asked& asked_;
    std::vector<float> samples_;
};

class FakeModel : public AnyModel {
public:
    explicit FakeModel(totograph::Index patch_size) : patch_size_(patch_size) {}
    [[nodiscard]] totograph::Index patch_size() const override { return patch_size_; }
    [[nodiscard]] ModelSizes most() const override {
        return {.context = 1000, .horizon = 336, .variates = 16, .known = 4};
    }
    [[nodiscard]] std::span<const double> levels() const override { return {}; }
    [[nodiscard]] std::unique_ptr<AnyForecaster> forecaster(const totograph::Series&, const totograph::ForecastOptions&,
                                                            int) const override {
        return std::make_unique<FakeForecaster>(asked);
    }
    mutable Asked asked;

private:
    totograph::Index patch_size_;
};

std::size_t rows(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
        ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("the ring keeps the newest observations in order") {
    ContextRing ring(2, 3);
    std::vector<float> values;
    std::vector<std::uint8_t> observed;
    ring.push({1, 10});
    ring.push({2, gap});
    std::vector<double> levels;
    ring.lay_out(ring.steps(), values, observed, levels);
    CHECK(levels == std::vector<double>{1.5, 10});
    CHECK(values == std::vector<float>{-0.5F, 0.5F, 0, 0});
    CHECK(observed == std::vector<std::uint8_t>{1, 1, 1, 0});
    for (double value = 3; value < 100; ++value) {
        ring.push({value, 10 * value});
        CHECK(ring.steps() == 3);
    }
    ring.lay_out(ring.steps(), values, observed, levels);
    CHECK(levels == std::vector<double>{98, 980});
    CHECK(values == std::vector<float>{-1, 0, 1, -10, 0, 10});
}

TEST_CASE("where a value lies among quantiles, and beyond them") {
    const std::vector<double> model_levels = {0.1, 0.5, 0.9};
    const std::vector<float> quantiles = {0, 2, 3};
    const Expectation expected(quantiles, 10, model_levels);
    CHECK(expected.quantile(0.5) == Approx(12));
    CHECK(expected.quantile(0.3) == Approx(11));
    CHECK(expected.quantile(0.05) == Approx(9.75));  // the lines go on
    CHECK(expected.quantile(0.95) == Approx(13.125));
    CHECK(expected.position(12) == Approx(0.5));
    CHECK(expected.position(11) == Approx(0.3));
    CHECK(expected.position(9.75) == Approx(0.05));
    CHECK(expected.position(13.125) == Approx(0.95));
    CHECK(expected.position(-1e300) == 0);
    CHECK(expected.position(1e300) == 1);
    CHECK(expected.score(14.25) == Approx(2));
    const std::vector<float> flat = {5, 5, 5};
    CHECK(Expectation(flat, 0, model_levels).position(5) == Approx(0.5));
    CHECK(Expectation(flat, 0, model_levels).position(4.9) == 0);
    CHECK(Expectation(flat, 0, model_levels).position(5.1) == 1);
    CHECK(Expectation(flat, 0, model_levels).score(5.1) == 1000);
    Expectations all;
    const std::vector<float> two = {0, 1, 2, 3, 4, 5};
    all.add(totograph::Forecast(two, 1, 2, 1, 0, 0, model_levels), std::vector<double>{100, 200});
    CHECK(all.of(1, 0).quantile(0.5) == Approx(204));
}

TEST_CASE("where a value lies among the samples") {
    const std::vector<float> sorted = {0, 1, 2, 3, 4};
    const Expectation expected(sorted);
    CHECK(expected.position(-1) == 0);
    CHECK(expected.position(2) == Approx(0.5));
    CHECK(expected.position(2.5F) == Approx(0.6));
    CHECK(expected.position(9) == 1);
    CHECK(expected.quantile(0) == 0);
    CHECK(expected.quantile(0.625) == Approx(2.5));
    CHECK(expected.quantile(1) == 4);
}

TEST_CASE("the score is the distance from the median in half bands") {
    const std::vector<float> sorted = {0, 1, 2, 6, 10};  // the 95% quantile is 9.2, the 5% one 0.2
    const Expectation expected(sorted);
    CHECK(expected.score(2) == 0);
    CHECK(expected.score(9.2) == Approx(1));
    CHECK(expected.score(2 + 3 * 7.2) == Approx(3));
    CHECK(expected.score(0.2) == Approx(1));
    CHECK(expected.score(2 - 5 * 1.8) == Approx(5));
    const std::vector<float> certain = {5, 5, 5};
    CHECK(Expectation(certain).score(5) == 0);
    CHECK(Expectation(certain).score(5.1) == 1000);
    CHECK(Expectation(certain).position(5) == Approx(0.5));
}

TEST_CASE("a level does not lose the digits of a value") {
    const std::vector<float> sorted = {-1, 0, 1};
    const Expectation expected(sorted, 1e9);
    CHECK(expected.quantile(0.5) == 1e9);
    CHECK(expected.position(1e9 + 2) == 1);
    CHECK(expected.position(1e9) == Approx(0.5));
    CHECK(expected.score(1e9 + 0.9) == Approx(1));
}

TEST_CASE("expectations are sorted by variate and step") {
    const std::vector<float> samples = {3, 1, 2, 6, 5, 4, 9, 8, 7, 12, 11, 10};
    const Expectations expected(totograph::Forecast(samples, 1, 2, 2, 3));
    CHECK(expected.horizon() == 2);
    CHECK(expected.of(0, 0).quantile(0.5) == 2);
    CHECK(expected.of(0, 1).quantile(0) == 4);
    CHECK(expected.of(1, 0).quantile(1) == 9);
    CHECK(expected.of(1, 1).quantile(0.5) == 11);
    CHECK(Expectations().horizon() == 0);
}

TEST_CASE("the clock learns the rhythm and tells late lines from skipped ones") {
    StreamClock clock;
    CHECK(clock.advance("2026-01-01T00:00:00Z").skipped == 0);
    CHECK(clock.later(1) == "+1");
    for (const char* time : {"2026-01-01T00:00:10Z", "2026-01-01T00:00:20Z", "2026-01-01T00:00:31Z"}) {
        const StreamClock::Tick tick = clock.advance(time);
        CHECK(tick.is_readable);
        CHECK(!tick.is_late);
        CHECK(tick.skipped == 0);
    }
    CHECK(clock.advance("2026-01-01T00:00:31Z").is_late);
    CHECK(clock.advance("2026-01-01T00:00:05Z").is_late);
    CHECK(!clock.advance("soon").is_readable);
    CHECK(!clock.advance("17").is_readable);  // the lines before had dates
    CHECK(clock.advance("2026-01-01T00:01:01Z").skipped == 2);
    CHECK(clock.later(2) == "2026-01-01T00:01:21Z");
    CHECK(clock.advance("2026-01-01T00:01:11Z").skipped == 0);
}

TEST_CASE("lines of every month go on by months") {
    const auto behind = [](std::initializer_list<const char*> lines, std::int64_t steps) {
        StreamClock clock;
        for (const char* line : lines) {
            CHECK_FALSE(clock.advance(line).is_late);
        }
        return clock.later(steps);
    };
    CHECK(behind({"2020-01-01", "2020-02-01", "2020-03-01", "2020-04-01"}, 1) == "2020-05-01");
    CHECK(behind({"2020-01-01", "2020-02-01", "2020-03-01", "2020-04-01"}, 4) == "2020-08-01");
    CHECK(behind({"2020-01-31", "2020-02-29", "2020-03-31", "2020-04-30"}, 2) == "2020-06-30");
    CHECK(behind({"2020-01-31", "2020-02-29", "2020-03-31", "2020-04-30"}, 1) == "2020-05-31");
    CHECK(behind({"2017-01-01", "2018-01-01", "2019-01-01", "2020-01-01"}, 1) == "2021-01-01");
    CHECK(behind({"2017-01-01", "2018-01-01", "2019-01-01", "2020-01-01"}, 300) == "+300");
    CHECK(behind({"2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"}, 30) == "2020-02-03");
    // One line between the others makes no shorter step.
    CHECK(behind({"2020-09-30", "2020-12-31", "2021-03-31", "2021-06-30", "2021-07-31", "2021-09-30", "2021-12-31",
                  "2022-03-31", "2022-06-30"},
                 1) == "2022-09-30");
    CHECK(behind({"2020-05-31", "2020-06-02", "2020-06-30", "2020-07-31", "2020-08-31"}, 1) == "2020-09-30");
    CHECK(behind({"2020-01-15", "2020-01-31", "2020-02-15", "2020-02-29"}, 1) == "2020-03-15");
    CHECK(behind({"2020-01-15", "2020-01-31", "2020-02-15", "2020-02-29"}, 20) == "2020-12-31");
    // Nothing has a name beyond the years that nanoseconds count.
    CHECK(behind({"2020-01-01", "2020-02-01", "2020-03-01", "2020-04-01"}, 2900) == "+2900");
    CHECK(behind({"2020-01-01", "2020-02-01", "2020-03-01", "2020-04-01"}, 2790) == "+2790");
    // Epoch times of the first days of months are as well.
    CHECK(behind({"1672531200", "1675209600", "1677628800", "1680307200"}, 3) == "1688169600");
    CHECK(behind({"1672531200000", "1675209600000", "1677628800000", "1680307200000"}, 9) == "1704067200000");
    CHECK(behind({"16725312", "16752096", "16776288", "16803072"}, 1) == "16829856");
}

TEST_CASE("a step that is rounded does not drift") {
    StreamClock clock;
    const auto time_of = [](std::int64_t frame) { return std::to_string(1'763'690'400'000 + (200 * frame + 3) / 6); };
    for (std::int64_t frame = 0; frame < 100; ++frame) {  // 30 a second, in milliseconds
        CHECK(clock.advance(time_of(frame)).skipped == 0);
    }
    CHECK(clock.later(2) == time_of(101));
    const std::int64_t ahead = std::stoll(clock.later(300)) - std::stoll(time_of(399));
    CHECK(std::abs(ahead) <= 13);  // the 23 steps that it knows tell a step to a 23rd of 1 ms
    CHECK(clock.advance(time_of(100 + 90)).skipped == 90);
}

TEST_CASE("dates in digits alone are times where the first lines are all such dates") {
    const auto digits_of = [](const std::vector<std::string>& lines) {
        Options options;
        ObservationReader reader(options);
        (void)reader.read_head(lines);
        return reader.date_digits();
    };
    CHECK(digits_of({"month,x", "202311,1", "202312,2", "202401,3"}) == 6);
    CHECK(digits_of({"time,x", "2024010522,1", "2024010523,2"}) == 10);
    CHECK(digits_of({"date,x", "20240105,1", "20240106,2"}) == 8);
    CHECK(digits_of({"step,x", "202398,1", "202399,2", "202400,3"}) == 0);
    CHECK(digits_of({"ts,x", "1704067200,1", "1704070800,2"}) == 0);
    CHECK(digits_of({"time,x", "2024-01-05,1", "2024-01-06,2"}) == 0);
    StreamClock months(std::nullopt, false, 6);
    for (const char* time : {"202309", "202310", "202311", "202312", "202401"}) {
        CHECK(months.advance(time).skipped == 0);
    }
    CHECK(months.later(12) == "202501");
    CHECK(!months.advance("202413").is_readable);
    CHECK(!months.advance("20240201").is_readable);
    CHECK(months.advance("202403").skipped == 1);
    StreamClock hours(std::nullopt, false, 10);
    CHECK(!hours.advance("2024010599").is_readable);
    for (const char* time : {"2024010521", "2024010522", "2024010523", "2024010524", "2024010601"}) {
        CHECK(hours.advance(time).skipped == 0);
    }
    CHECK(hours.later(23) == "2024010700");
}

TEST_CASE("a line that is late, held or unreadable does not change how times to come are written") {
    const auto after = [](const std::vector<std::string>& lines) {
        StreamClock clock;
        for (const std::string& line : lines) {
            (void)clock.resolve_held(line);
            (void)clock.advance(line);
        }
        return clock.later(1);
    };
    CHECK(after({"1", "2", "3", "4", "5", "2.123456789"}) == "6");
    CHECK(after({"1", "2", "3", "4", "5", "999999.5"}) == "6");
    CHECK(after({"1", "2", "3", "4", "5", "999999.5", "2.25", "6"}) == "7");
    CHECK(after({"1", "2", "3", "4", "5", "5.5"}) == "6.5");
    CHECK(after({"2024-01-01T00:00:01Z", "2024-01-01T00:00:02Z", "2024-01-01T00:00:03Z", "2024-01-01T00:00:04Z",
                 "2024-01-01T00:00:01.123456Z"}) == "2024-01-01T00:00:05Z");
    // Digits beyond those of a double are its rounding.
    CHECK(after({"0.1", "0.2", "0.30000000000000004", "0.4", "0.5"}) == "0.6");
    CHECK(after({"0.5", "0.6", "0.7", "0.7999999999999999", "0.9"}) == "1.0");
    // A large number needs room that decimals take.
    StreamClock clock;
    for (const char* const line : {"0", "0.123456789", "1", "2", "3", "9000000000"}) {
        CHECK(clock.advance(line).is_readable);
    }
}

TEST_CASE("lines on two days of each month go on so, in epoch times, too") {
    StreamClock dates;
    for (const char* time : {"2024-01-15", "2024-01-31", "2024-02-15", "2024-02-29"}) {
        (void)dates.advance(time);
    }
    CHECK(dates.later(2) == "2024-03-31");
    StreamClock epochs;
    CHECK(epochs.later(1) == "+1");
    for (const char* time : {"1705276800", "1706659200", "1707955200", "1709164800"}) {  // the same days
        (void)epochs.advance(time);
    }
    CHECK(epochs.later(1) == "1710460800");
    CHECK(epochs.later(2) == "1711843200");
}

TEST_CASE("a time may have more decimals than those before it") {
    StreamClock quarters;
    for (const char* time : {"0", "0.25", "0.5", "0.75", "1", "1.25"}) {
        const StreamClock::Tick tick = quarters.advance(time);
        CHECK(!tick.is_late);
        CHECK(tick.skipped == 0);
    }
    CHECK(quarters.later(3) == "2.00");
    CHECK(quarters.advance("1.75").skipped == 1);
    StreamClock epochs;
    for (const char* time : {"1700000000.0", "1700000000.05", "1700000000.1", "1700000000.15"}) {
        CHECK(!epochs.advance(time).is_late);
    }
    CHECK(epochs.advance("1700000900.1500001").is_held);
    REQUIRE(epochs.resolve_held("1700000900.2"));
    CHECK(!epochs.advance("1700000900.2").is_late);
    CHECK(epochs.advance("1700000900.1").is_late);
    // Where there is no room for them, they are cut off.
    StreamClock far;
    for (const char* time : {"5000000000", "5000000001", "5000000002"}) {
        CHECK(!far.advance(time).is_late);
    }
    CHECK(far.advance("5000000002.123456789").is_repeated);
}

TEST_CASE("the clock rounds the hours of a spreadsheet as that of a file does") {
    std::vector<std::string> hours;
    for (int hour = 0; hour < 30; ++hour) {
        char text[32];
        std::snprintf(text, sizeof(text), "%.17g", 45292 + hour / 24.0);
        hours.push_back(text);
    }
    REQUIRE(hours[1] == "45292.041666666664");
    for (std::size_t rows = 8; rows <= 24; ++rows) {
        CAPTURE(rows);
        const std::vector<std::string> known(hours.begin(), hours.begin() + static_cast<std::ptrdiff_t>(rows));
        StreamClock stream;
        for (const std::string& hour : known) {
            CHECK_FALSE(stream.advance(hour).is_late);
        }
        const Timeline file(known);
        for (std::int64_t ahead = 1; ahead <= 3; ++ahead) {
            CHECK(stream.later(ahead) == file.stamp(static_cast<std::int64_t>(rows) - 1 + ahead));
        }
    }
    StreamClock clock;
    for (std::size_t row = 0; row < 12; ++row) {
        (void)clock.advance(hours[row]);
    }
    CHECK(clock.later(1) == "45292.500000000");
    CHECK(clock.later(2) == "45292.541666667");  // of 45292.541666666664
}

TEST_CASE("times to come are spelled as all lines show together") {
    StreamClock clock;
    for (const char* time : {"2024-01-01T00:00:00", "2024-01-01T00:00:00.500000", "2024-01-01T00:00:01",
                             "2024-01-01T00:00:01.500000", "2024-01-01T00:00:02"}) {
        CHECK(clock.advance(time).skipped == 0);
    }
    CHECK(clock.later(1) == "2024-01-01T00:00:02.500000");
}

TEST_CASE("whole numbers are times too") {
    StreamClock clock;
    for (const char* time : {"100", "105", "110", "115"}) {
        CHECK(clock.advance(time).skipped == 0);
    }
    CHECK(clock.advance("130").skipped == 2);
    CHECK(clock.later(3) == "145");
    CHECK(clock.advance("8999999999999999995").is_held);
    const std::optional<StreamClock::Tick> resolved = clock.resolve_held("9000000000000000000");
    REQUIRE(resolved);
    CHECK(resolved->skipped > 1'000'000);
    CHECK(clock.advance("9000000000000000000").skipped == 0);
    CHECK(clock.later(1'000'000'000'000'000'000) == "+1000000000000000000");
}

TEST_CASE("a jump is believed when the next line is near it") {
    StreamClock clock;
    for (const char* time : {"10", "20", "30", "40"}) {
        CHECK(!clock.resolve_held(time));
        CHECK(clock.advance(time).skipped == 0);
    }
    CHECK(clock.advance("1040").skipped == 99);  // not far enough to wonder
    CHECK(clock.advance("1700000000000").is_held);
    CHECK(!clock.resolve_held("1030"));  // late, which tells nothing
    CHECK(clock.advance("1030").is_late);
    CHECK(!clock.resolve_held("1700000000000"));  // nor does the same once more
    CHECK(clock.advance("1700000000000").is_late);
    CHECK(!clock.resolve_held("oops"));
    REQUIRE(clock.resolve_held("1050"));  // wrong
    CHECK(clock.advance("1050").skipped == 0);
    CHECK(clock.advance("99999").is_held);
    CHECK(clock.resolve_held("999999").value().is_refuted);  // another wrong one, far from the first
    CHECK(clock.advance("999999").is_held);
    CHECK(clock.resolve_held("1060").value().is_refuted);
    CHECK(clock.advance("1060").skipped == 0);
    CHECK(clock.advance("9060").is_held);  // a pause
    const std::optional<StreamClock::Tick> pause = clock.resolve_held("9070");
    REQUIRE(pause);
    CHECK(!pause->is_refuted);
    CHECK(pause->skipped == 799);
    CHECK(clock.later(1) == "9070");
    CHECK(clock.advance("9070").skipped == 0);
}

TEST_CASE("a wrong timestamp among the first lines is got over") {
    StreamClock first;
    CHECK(!first.advance("1700000000000").is_late);
    CHECK(first.advance("10").is_late);
    CHECK(first.advance("10").is_late);
    for (const char* time : {"20", "30", "40"}) {
        CHECK(!first.advance(time).is_late);
    }
    CHECK(first.later(1) == "50");
    StreamClock second;
    CHECK(!second.advance("0").is_late);
    CHECK(!second.advance("1700000000000").is_late);
    CHECK(second.advance("10").is_late);
    for (const char* time : {"20", "30", "40"}) {
        CHECK(!second.advance(time).is_late);
    }
    CHECK(second.later(1) == "50");
}

TEST_CASE("lines of weekdays that are taken as they stand go on on weekdays") {
    using std::chrono::days;
    const auto begin = [](StreamClock& clock, int lines, bool has_saturday) {
        const std::chrono::sys_days monday = std::chrono::year(2024) / 9 / 9;
        for (int line = 0; line < lines; ++line) {
            const auto week = line / 5;
            const bool moves = has_saturday && line == lines - 1;
            const std::chrono::year_month_day date(monday + days(7 * week + line % 5 + (moves ? 1 : 0)));
            char text[32];
            std::snprintf(text, sizeof(text), "%d-%02u-%02u", int(date.year()), unsigned(date.month()),
                          unsigned(date.day()));
            (void)clock.advance(text);
        }
    };
    StreamClock as_is(std::nullopt, true);
    begin(as_is, 20, false);
    CHECK(as_is.later(1) == "2024-10-07");  // behind Friday, 2024-10-04
    CHECK(as_is.later(5) == "2024-10-11");
    CHECK(as_is.later(6) == "2024-10-14");
    CHECK(as_is.later(std::numeric_limits<std::int64_t>::max() / 4).starts_with("+"));
    // Weekends are steps where they are not left out, and where one of the lines was on one.
    StreamClock filled;
    begin(filled, 20, false);
    CHECK(filled.later(1) == "2024-10-05");
    StreamClock saturday(std::nullopt, true);
    begin(saturday, 20, true);
    CHECK(saturday.later(1) == "2024-10-06");
    StreamClock few(std::nullopt, true);
    begin(few, 5, false);
    CHECK(few.later(1) == "2024-09-14");
}

TEST_CASE("epoch times of weekdays go on on weekdays") {
    constexpr std::int64_t day = 86'400;
    constexpr std::int64_t monday = 1'725'840'000 + day / 2;  // 2024-09-09, at noon
    const auto day_of = [](std::int64_t line) { return monday + (7 * (line / 5) + line % 5) * day; };
    for (const char* digits : {"", "000", ".5"}) {  // seconds, milliseconds, decimals
        CAPTURE(digits);
        StreamClock as_is(std::nullopt, true);
        StreamClock filled;
        for (std::int64_t line = 0; line < 20; ++line) {
            (void)as_is.advance(std::to_string(day_of(line)) + digits);
            (void)filled.advance(std::to_string(day_of(line)) + digits);
        }
        CHECK(as_is.later(1) == std::to_string(day_of(20)) + digits);
        CHECK(as_is.later(6) == std::to_string(day_of(25)) + digits);
        CHECK(filled.later(1) == std::to_string(day_of(19) + day) + digits);
    }
    // Counters are no days, however far apart they are.
    StreamClock counter(std::nullopt, true);
    for (std::int64_t line = 0; line < 20; ++line) {
        (void)counter.advance(std::to_string(day_of(line) - monday));
    }
    CHECK(counter.later(1) == std::to_string(day_of(19) - monday + day));
}

TEST_CASE("no line is held back where lines are taken as they stand") {
    StreamClock clock(std::nullopt, true);
    for (int line = 0; line < 8; ++line) {
        (void)clock.advance(std::to_string(10 * line));
    }
    CHECK(clock.later(1) == "80");
    CHECK_FALSE(clock.advance("5000").is_held);
    CHECK(clock.later(1) == "5010");
    CHECK_FALSE(clock.advance("5010").is_held);
    CHECK(clock.later(2) == "5030");
    // A wrong time far ahead is got over when two behind it ascend.
    (void)clock.advance("900000");
    CHECK(clock.advance("5030").is_late);
    CHECK_FALSE(clock.advance("5040").is_late);
    CHECK(clock.later(1) == "5050");
}

TEST_CASE("the clock learns a slower rhythm") {
    for (const int slow : {10, 500}) {
        StreamClock clock;
        int time = 0;
        const auto next = [&](int step) {
            const std::string text = std::to_string(time += step);
            clock.resolve_held(text);
            return clock.advance(text);
        };
        for (int line = 0; line < 40; ++line) {
            next(1);
        }
        for (int line = 0; line < 7; ++line) {
            next(slow);
        }
        CHECK(clock.later(1) == std::to_string(time + 1 - (slow > 100 ? slow : 0)));
        next(slow + 1);
        next(slow);
        CHECK(next(slow).skipped == 0);
        CHECK(next(slow).skipped == 0);
        CHECK(next(3 * slow).skipped == 2);
        CHECK(clock.later(1) == std::to_string(time + slow));
    }
    StreamClock uneven;  // lines that get lost, now more, now fewer, are no rhythm
    int time = 0;
    for (int line = 0; line < 40; ++line) {
        uneven.advance(std::to_string(++time));
    }
    for (int line = 0; line < 40; ++line) {
        uneven.advance(std::to_string(time += line % 5 == 0 ? 4 : 2));
    }
    CHECK(uneven.later(1) == std::to_string(time + 1));
}

TEST_CASE("a variate that is blank throughout the context is forecast by nobody") {
    const FakeModel model(16);
    Options options;
    options.context = 32;
    options.every = 1;
    ForecastStream stream(model, options, {"fan", "wave"});
    std::string out;
    for (int line = 0; line < 40; ++line) {
        stream.take({"", {gap, 1}}, 0, out);
        stream.print_forecast(nullptr, line, out);
    }
    CHECK(model.asked.times == 9);
    CHECK(rows(out, "forecast,") == 9 * 16);
    CHECK(rows(out, "observed,") == 8);
    CHECK(!has(out, "fan"));
    CHECK(model.asked.observed == std::vector<std::uint8_t>(64, 1));
    CHECK(std::all_of(model.asked.values.begin(), model.asked.values.begin() + 32,
                      [](float value) { return value == 0; }));
    CHECK(model.asked.groups[0] != model.asked.groups[1]);

    // It comes, and is scored by the forecast after that.
    out.clear();
    stream.take({"", {5, 1}}, 0, out);
    CHECK(!has(out, "fan"));
    CHECK(model.asked.groups[0] == model.asked.groups[1]);
    stream.take({"", {5, 1}}, 0, out);
    CHECK(has(out, ",fan,5,"));

    // Nothing comes for a whole context: nothing is expected, until something does.
    const int times = model.asked.times;
    out.clear();
    stream.take({"", {gap, gap}}, 1'000'000'000'000'000, out);
    CHECK(model.asked.times == times);
    CHECK(out.empty());
    stream.take({"", {7, gap}}, 0, out);
    CHECK(model.asked.times == times + 1);
    CHECK(out.empty());
    stream.print_forecast(nullptr, 1, out);
    CHECK(rows(out, ",fan,") == 16);
    CHECK(!has(out, "wave"));
}

TEST_CASE("no more steps are printed than were asked for") {
    for (const std::int64_t horizon : {0, 3, 20, 40}) {
        const FakeModel model(16);
        Options options;
        options.horizon = horizon;
        options.every = 30;
        ForecastStream stream(model, options, {"a"});
        std::string out;
        for (int line = 1; line <= 62; ++line) {
            stream.take({"", {1}}, 0, out);
            stream.print_forecast(nullptr, line, out);
        }
        CHECK(rows(out, "forecast,") == static_cast<std::size_t>(2 * (horizon > 0 ? horizon : 30)));
        CHECK(rows(out, "observed,") == 30);  // all that came since the first forecast
    }
}

TEST_CASE("a context that the model cannot forecast from is refused") {
    const auto with_context = [](std::int64_t context) {
        return refusal([&] {
            const FakeModel model(64);
            Options options;
            options.context = context;
            const ForecastStream stream(model, options, {"a"});
        });
    };
    CHECK(has(with_context(127), "--context must be at least 128, two patches of this model, but it is 127."));
    CHECK(with_context(128).empty());
}

TEST_CASE("what is larger than the model is forecast in parts, with a note") {
    const FakeModel model(16);
    Options options;
    options.context = 5000;
    options.horizon = 400;
    CHECK(has(refusal([&] { const ForecastStream stream(model, options, {"a"}); }),
              "at most 336 steps ahead, but --horizon asks for 400"));
    options.extend = true;
    std::vector<std::string> names;
    for (int i = 0; i < 20; ++i) {
        names.push_back("v" + std::to_string(i));
    }
    ForecastStream stream(model, options, names);
    const std::vector<std::string> notes = stream.take_notes();
    REQUIRE(notes.size() == 3);
    CHECK(has(notes[0], "of --context 5000 the last ones"));
    CHECK(has(notes[1], "at most 336 steps ahead"));
    CHECK(has(notes[2], "'v0' to 'v9'; 'v10' to 'v19'"));
    std::string out;
    for (int line = 1; line <= 33; ++line) {
        std::vector<double> values;
        for (int i = 0; i < 20; ++i) {
            values.push_back(line % 2 == 0 ? 0 : i);
        }
        stream.take({"", values}, 0, out);
    }
    CHECK(model.asked.times == 2);
    std::vector<float> second;  // above the means
    for (int step = 0; step < 10 * 32; ++step) {
        const float half = static_cast<float>(10 + step / 32) / 2;
        second.push_back(step % 2 == 0 ? half : -half);
    }
    CHECK(model.asked.values == second);
    CHECK(model.asked.groups.size() == 10);
    CHECK(rows(out, ",v19,19,") == 1);

    options.independent = true;
    options.context = 100;
    options.horizon = 10;
    CHECK(ForecastStream(model, options, names).take_notes().empty());
}

TEST_CASE("lines after a header") {
    Options options;
    ObservationReader reader(options);
    CHECK(reader.needs_header());
    reader.read_head({"time,a,\"b,c\""});
    std::string problem;
    const std::optional<Observation> first = reader.read("2026-01-01,1.5,\"2\"", problem);
    REQUIRE(first);
    CHECK(reader.names() == std::vector<std::string>{"a", "b,c"});
    CHECK(first->timestamp == "2026-01-01");
    CHECK(first->values == std::vector<double>{1.5, 2});
    const std::optional<Observation> second = reader.read("2026-01-02,,nan", problem);
    REQUIRE(second);
    CHECK(std::isnan(second->values[0]));
    CHECK(std::isnan(second->values[1]));
    CHECK(has(problem_with(reader, "2026-01-03,1"), "it has 2 fields, not 3"));
    CHECK(has(problem_with(reader, "2026-01-03,1,2,3"), "it has 4 fields"));
    CHECK(has(problem_with(reader, "2026-01-03,1,two"), "'two' for b,c is not a finite number"));
    CHECK(has(problem_with(reader, "2026-01-03,1,1e99"), "not a finite number"));
    CHECK(has(problem_with(reader, "2026-01-03,1,\"2"), "quotes do not match"));
    CHECK(problem_with(reader, "2026-01-03,1,inf").empty());  // a gap
    CHECK(has(problem_with(reader, ""), "it has"));
    CHECK(has(problem_with(reader, std::string("1,2,\0", 5)), "NUL"));
    CHECK(problem_with(reader, "2026-01-03,1,2").empty());
}

TEST_CASE("columns are chosen by name") {
    Options options;
    options.columns = {"c", "a"};
    options.intake.timestamp = "t";
    ObservationReader reader(options);
    reader.read_head({"a,b,t,c"});
    std::string problem;
    const std::optional<Observation> line = reader.read("1,text that nobody reads,77,3", problem);
    REQUIRE(line);
    CHECK(line->timestamp == "77");
    CHECK(line->values == std::vector<double>{3, 1});
    options.columns = {"d"};
    ObservationReader other(options);
    CHECK(has(refusal([&] { other.read_head({"a,b,t,c"}); }), "has no column 'd'; it has: 'a', 'b', 't', 'c'."));
}

TEST_CASE("epoch times that are asked for as values are values, and nothing is said of a clock") {
    Options options;
    options.columns = {"time", "a"};
    ObservationReader reader(options);
    reader.read_head({"time,a"});
    std::string problem;
    const std::optional<Observation> line = reader.read("1700000000,2", problem);
    REQUIRE(line);
    CHECK(line->values == std::vector<double>{1700000000, 2});
    CHECK_FALSE(reader.has_timestamps());
    CHECK(reader.take_notes().empty());
}

TEST_CASE("numbers in the first column are values, unless it is named") {
    Options options;
    ObservationReader reader(options);
    reader.read_head({"a,b"});
    std::string problem;
    CHECK(reader.read("1,2", problem)->values.size() == 2);
    CHECK(reader.names().size() == 2);
    options.intake.timestamp = "a";
    ObservationReader named(options);
    named.read_head({"a,b"});
    CHECK(named.read("1,2", problem)->values == std::vector<double>{2});
}

TEST_CASE("the first lines show the clock together, as those of a file do") {
    using Names = std::vector<std::string>;
    const auto read = [](const Options& options, const std::vector<std::string>& lines) {
        ObservationReader reader(options);
        reader.read_head(lines);
        std::vector<std::string> stamps;
        std::string problem;
        for (std::size_t i = 1; i < lines.size(); ++i) {
            const std::optional<Observation> observation = reader.read(lines[i], problem);
            CHECK((observation || !problem.empty()));
            stamps.push_back(observation ? observation->timestamp : "");
        }
        stamps.insert(stamps.end(), reader.names().begin(), reader.names().end());
        for (const std::string& note : reader.take_notes()) {
            stamps.push_back(note.substr(note.find("' ") + 2, 17));
        }
        return stamps;
    };
    // Epoch times under a name that is none of a clock's; a torn line says nothing.
    const std::vector<std::string> epochs = {"cpu,kept", "1,1700000000", "2,17000", "2,1700000060",
                                             "4",        "3,1700000120"};
    CHECK(read({}, {epochs[0], epochs[1], epochs[3], epochs[5]}) ==
          Names{"1700000000", "1700000060", "1700000120", "cpu", "holds epoch times"});
    CHECK(read({}, {epochs[0], epochs[1], epochs[4], epochs[3], epochs[5]})[1].empty());
    Options asked;
    asked.columns = {"kept"};
    CHECK(read(asked, {epochs[0], epochs[1], epochs[3], epochs[5]}) == Names{"", "", "", "kept"});
    // Counters of events are none.
    CHECK(read({}, {"bytes,cpu", "1700000000,1", "1700000750,2", "1700001520,4"}) ==
          Names{"", "", "", "bytes", "cpu", "rises in equal st"});
    const std::vector<std::string> joined = {"date,time,v", "2024-01-01,10:00,1", "2024-01-01,10:01,2",
                                             "2024-01-01,10:02,3"};
    const Names times = {"2024-01-01 10:00", "2024-01-01 10:01", "2024-01-01 10:02", "v", "and 'time' are ta"};
    CHECK(read({}, joined) == times);
    Options named;
    named.intake.timestamp = "date";
    CHECK(read(named, joined) == times);
    named.columns = {"v"};
    CHECK(read(named, joined) == times);
    CHECK(read({}, {"year,month,v", "2023,12,5", "2024,1,6"}) == Names{"2023-12", "2024-01", "v", "and 'month' are t"});
}

TEST_CASE("a column without a name that counts the rows is the clock, or left out beside one") {
    using Names = std::vector<std::string>;
    for (const int first : {0, 1}) {
        std::vector<std::string> alone = {",load"};
        std::vector<std::string> beside = {",date,load"};
        for (int row = 0; row < 5; ++row) {
            const std::string load = std::to_string(row * row);
            alone.push_back(std::to_string(first + row) + "," + load);
            beside.push_back(std::to_string(first + row) + ",2026-01-0" + std::to_string(row + 1) + "," + load);
        }
        const Told counted = begin_with(alone);
        CHECK(counted.names == Names{"load"});
        CHECK(counted.rows.at(2).timestamp == std::to_string(first + 2));
        CHECK(has(counted.notes, "'column_1' without a name counts the rows: it is taken as the clock"));
        const Told dated = begin_with(beside);
        CHECK(dated.names == Names{"load"});
        CHECK(dated.rows.at(2).timestamp == "2026-01-03");
        CHECK(dated.rows.at(2).values == std::vector<double>{4});
        CHECK(has(dated.notes, "'column_1' without a name counts the rows and is left out"));
        Options asked;
        asked.columns = {"column_1", "load"};
        CHECK(begin_with(beside, asked).rows.at(2).values == std::vector<double>{first + 2.0, 4});
    }
    // Numbers that do not count are values.
    CHECK(begin_with({",date,load", "5,2026-01-01,1", "3,2026-01-02,1", "4,2026-01-03,1"}).names ==
          Names{"column_1", "load"});
}

TEST_CASE("columns of text are told by the first lines, and cost none of them") {
    using Names = std::vector<std::string>;
    const Told hosts = begin_with({"date,host,load", "2026-01-01,web,1", "2026-01-02,mail,2", "2026-01-03,web,3"});
    CHECK(hosts.names == Names{"load"});
    CHECK(hosts.rows.size() == 3);
    CHECK(has(hosts.notes, "Column 'host' holds text and is left out."));
    // Text now and then, between blank fields.
    const Told early = begin_with({"load,remark", "1,", "2,restart", "3,"});
    CHECK(early.names == Names{"load"});
    CHECK(early.rows.size() == 3);
    CHECK(has(early.notes, "Column 'remark' holds text"));
    // A column that is blank in the first lines may hold anything later; no line is lost by that.
    const Options open;
    ObservationReader late{open};
    late.read_head({"load,fan,remark", "1,,", "2,,"});
    std::string problem;
    for (const char* line : {"1,,", "2,,", "3,,restart", "4,,resize"}) {
        const std::optional<Observation> row = late.read(line, problem);
        REQUIRE(row);
        CHECK(std::isnan(row->values[1]));
        CHECK(std::isnan(row->values[2]));
    }
    const std::vector<std::string> notes = late.take_notes();
    REQUIRE(notes.size() == 1);
    CHECK(has(notes[0], "Column 'remark', blank so far, holds text, such as 'restart': a gap, until numbers come."));
    CHECK(late.read("5,7,", problem)->values[1] == 7);
    CHECK(has(problem_with(late, "6,off,"), "'off' for fan is not a finite number (if it means a missing value"));
    // A word among numbers says nothing about the column, and the usual words are gaps.
    const Told words = begin_with({"load,fan", "1,5", "2,offline", "3,n/a", "4,6"});
    CHECK(words.names == Names{"load", "fan"});
    CHECK(words.rows.size() == 3);
    CHECK(std::isnan(words.rows[1].values[1]));
    REQUIRE(words.problems.size() == 1);
    CHECK(has(words.problems[0], "--gap WORD"));
    Options gaps;
    gaps.intake.gaps = {"offline"};
    CHECK(begin_with({"load,fan", "1,5", "2,offline", "4,6"}, gaps).rows.size() == 3);
}

TEST_CASE("first lines of one time do not say that there is no clock") {
    for (const std::string time : {"2026-01-01 00:00", "1767225600"}) {
        std::vector<std::string> lines = {"time,load"};
        for (int line = 0; line < 12; ++line) {
            lines.push_back(time + "," + std::to_string(line));
        }
        CAPTURE(time);
        const Options open;
        ObservationReader reader{open};
        CHECK_FALSE(reader.is_told_by(lines));
        reader.read_head(lines);
        std::string problem;
        const std::optional<Observation> row = reader.read(lines[1], problem);
        REQUIRE(row);
        CHECK(row->timestamp == time);
        CHECK(reader.names() == std::vector<std::string>{"load"});
    }
}

TEST_CASE("first lines tell when the order of their dates is clear, or when they are wrong") {
    const Options open;
    const ObservationReader reader{open};
    std::vector<std::string> lines = {"date,load", "11/01/2026,1", "12/01/2026,2"};
    CHECK_FALSE(reader.is_told_by(lines));
    lines.emplace_back("13/01/2026,3");
    CHECK(reader.is_told_by(lines));
    Options wrong;
    wrong.columns = {"lode"};
    CHECK(ObservationReader{wrong}.is_told_by(lines));
}

TEST_CASE("mistakes among the first lines do not say what the columns are") {
    using Names = std::vector<std::string>;
    const auto with = [](std::vector<std::string> lines, const std::string& wrong) {
        lines.insert(lines.begin() + 3, wrong);
        return begin_with(lines);
    };
    const std::vector<std::string> dates = {"date,a", "2026-01-01,1", "2026-01-02,2", "2026-01-03,3", "2026-01-04,5"};
    for (const char* wrong :
         {"soon,1", "2026-01-03", "2026-01-03,1,2", "2026-01-03,oops", "2026-01-03,\"1", "", "7,1"}) {
        CAPTURE(wrong);
        const Told told = with(dates, wrong);
        CHECK(told.names == Names{"a"});
        REQUIRE(told.rows.size() >= 4);
        CHECK(told.rows.back().timestamp == "2026-01-04");
    }
    const std::vector<std::string> epochs = {"time,a", "1700000000,1", "1700000060,2", "1700000120,3", "1700000180,5"};
    for (const char* wrong : {"1700000000000,1", "oops,1", "17,1"}) {
        CAPTURE(wrong);
        CHECK(with(epochs, wrong).names == Names{"a"});
    }
    // Counters of events pass by such numbers, and stay values.
    CHECK(with({"bytes,a", "1700000000,1", "1700000750,2", "1700001520,4"}, "x,1").names == Names{"bytes", "a"});
    CHECK(begin_with({"load,memory", "1,5 kB", "2,7 ms", "3,6 kB"}).names == Names{"load", "memory"});
}

TEST_CASE("the first dates tell their order together") {
    const auto order = [](const std::vector<std::string>& lines, const Options& options = {}) {
        ObservationReader reader(options);
        reader.read_head(lines);
        return reader.dates();
    };
    using totograph::io::DateOrder;
    CHECK(order({"d,a", "11/02/2026,1", "12/02/2026,2", "13/02/2026,3"}) == DateOrder::day_first);
    CHECK(order({"d,a", "02/11/2026,1", "02/12/2026,1", "02/13/2026,2", "oops,2"}) == DateOrder::month_first);
    CHECK_FALSE(order({"d,a", "01/02/2026,1", "02/02/2026,2"}));
    Options told;
    told.intake.date_format = "mdy";
    CHECK(order({"d,a", "01/02/2026,1", "02/02/2026,2"}, told) == DateOrder::month_first);
}

TEST_CASE("titles above the header are passed over") {
    using Names = std::vector<std::string>;
    const std::vector<std::string> table = {"date,load", "2026-01-01,1", "2026-01-02,2", "2026-01-03,4"};
    const std::vector<std::vector<std::string>> titles = {
        {"Load of machine 7"},
        {"Load of machine 7", "", "An export"},
        {"Machine 7, load, and more", "By hand"},
        {"# by hand", "Load of machine 7"},
        {"Report,"},
        {"A line of prose", "and one", "and one", "and one", "and one", "and one"},
    };
    for (std::vector<std::string> lines : titles) {
        const std::size_t count = lines.size();
        lines.insert(lines.end(), table.begin(), table.end());
        const Told told = begin_with(lines);
        CHECK(told.rows_at == count + 1);
        CHECK(told.names == Names{"load"});
        CHECK(told.rows.size() == 3);
        CHECK(told.problems.empty());
        CHECK(has(told.notes, "before its table"));
    }
}

TEST_CASE("headers are found as in files") {
    using Names = std::vector<std::string>;
    Options options;
    options.intake.header = "no";
    CHECK(begin_with({"a,b", "1,2", "3,4", "5,7"}, options).names == Names{"column_1", "column_2"});
    options.intake.header = "yes";
    CHECK(begin_with({"2023,2024", "1,2", "3,4", "5,7"}, options).names == Names{"2023", "2024"});
    CHECK(begin_with({"# load,fan", "1,2", "3,4", "5,7"}).names == Names{"load", "fan"});
    // R writes no name for the names of rows.
    const Told r = begin_with({"\"date\",\"load\"", "\"1\",\"2026-01-01\",5", "\"2\",\"2026-01-02\",6"});
    CHECK(r.names == Names{"load"});
    CHECK(r.rows.size() == 2);
    // Separators at the end of lines are no columns.
    CHECK(begin_with({"load,", "1,", "2,", "3,"}).names == Names{"load"});
    CHECK(begin_with({"load,fan", "1,2,,", "3,4,,", "5,7,,"}).rows.size() == 3);
    const auto refused = [](const std::vector<std::string>& lines) { return refusal([&] { begin_with(lines); }); };
    CHECK(has(refused({"load,\"fan", "1,2", "3,4"}), "The first line cannot be read"));
    CHECK(has(refused({"# by hand", "\"load\"x,fan", "1,2", "3,4"}), "The first line cannot be read"));
    Options strict;
    strict.intake.strict = true;
    const std::vector<std::string> unread = {"date,load", "Monday week,1", "Tuesday week,2", "some day,4"};
    CHECK(has(refusal([&] { begin_with(unread, strict); }), "has no times that can be read"));
    CHECK(begin_with(unread).rows.size() == 3);
}

TEST_CASE("first lines are held back until they tell, in bounded memory") {
    HeldLines lines;
    for (int comment = 0; comment < 100; ++comment) {
        lines.add(comment % 2 == 0 ? "# a comment" : "", false);
    }
    CHECK_FALSE(lines.have_begun());
    CHECK_FALSE(lines.are_usual());
    for (std::size_t line = 1; line <= HeldLines::most; ++line) {
        CHECK_FALSE(lines.are_full());
        lines.add(line % 2 == 0 ? "" : "1,2", false);
        CHECK(lines.have_begun());
        CHECK(lines.are_usual() == (line >= HeldLines::usual));
    }
    CHECK(lines.are_full());
    HeldLines large;
    large.add(std::string(HeldLines::most_bytes / 2, 'x'), false);
    CHECK_FALSE(large.are_full());
    large.add(std::string(HeldLines::most_bytes / 2, 'x'), true);
    CHECK(large.lines().back().empty());
    CHECK(large.is_too_long(1));
    CHECK_FALSE(large.are_full());
    large.add(std::string(HeldLines::most_bytes / 2, 'x'), false);
    CHECK(large.are_full());
    const Options options;
    const ObservationReader reader(options);
    CHECK(reader.is_told_by({"a,b", "1,2", "2,2"}));
    CHECK_FALSE(reader.is_told_by({"a,b", "1,2"}));
    CHECK_FALSE(reader.is_told_by({"prose", "and more", "and more"}));
    CHECK(reader.is_told_by({"a,\"b", "1,2", "2,2"}));
}

TEST_CASE("blank lines are steps in a single column alone") {
    const Options options;
    ObservationReader one(options);
    one.read_head({"load", "1", "3"});
    CHECK(one.has_blank_steps());
    CHECK(one.is_blank(""));
    CHECK(one.is_blank(" \t"));
    CHECK_FALSE(one.is_blank("\"\""));
    CHECK_FALSE(one.is_blank("1"));
    ObservationReader two(options);
    two.read_head({"load\tfan", "1\t2", "3\t4"});
    CHECK_FALSE(two.has_blank_steps());
    CHECK(two.is_blank(""));
    CHECK_FALSE(two.is_blank("\t"));  // a line of two gaps
    Options spaced;
    spaced.intake.separator = "space";
    ObservationReader aligned(spaced);
    aligned.read_head({"  load  fan", "     1    2", "    10   20"});
    CHECK(aligned.is_blank("   "));
    Options counted;
    counted.variates = 1;
    ObservationReader bare(counted);
    CHECK(bare.has_blank_steps());
    std::string problem;
    CHECK(bare.read("7,1", problem));
    CHECK_FALSE(bare.has_blank_steps());  // the clock tells what is missing
}

TEST_CASE("units are told once, and the first one of a column holds") {
    const Options options;
    ObservationReader reader(options);
    reader.read_head({"load,memory,price,late", "10 %,0,$3,", "11 %,0,$4,", "12 %,0,$5,"});
    std::string problem;
    CHECK(reader.take_notes().empty());
    CHECK(has(problem_with(reader, "10 %,5 MB,oops,1"), "'oops' for price"));
    CHECK(reader.read("10 %,0,$3,", problem));
    const std::vector<std::string> notes = reader.take_notes();
    REQUIRE(notes.size() == 1);
    CHECK(notes[0] == "Values are in the unit of the first one of their column: 'load' in '%', 'price' in '$'.");
    // Nothing has no unit, and the torn line above gave none.
    CHECK(reader.read("10 %,5 kB,$3,", problem)->values[1] == 5);
    CHECK(reader.read("10 %,1 MB,$3,8", problem)->values[1] == 1000);
    const std::vector<std::string> more = reader.take_notes();
    REQUIRE(more.size() == 1);
    CHECK(has(more[0], ": 'memory' in 'kB'."));
    CHECK(has(problem_with(reader, "10 %,1 MB,3,8"), "'3' for price is not in the unit of the values before it, '$'"));
    CHECK(has(problem_with(reader, "10 %,1 MB,$3,8 ms"),
              "'8 ms' for late is not in the unit of the values before it, which have none"));
    CHECK(reader.take_notes().empty());
}

TEST_CASE("values that vary by too little are told once") {
    const FakeModel model(16);
    Options options;
    options.context = 64;
    ForecastStream stream(model, options, {"small", "wave", "flat", "late", "rare", "quiet"});
    std::string out;
    std::vector<std::string> notes;
    const auto take_notes = [&](int line) {
        for (std::string& note : stream.take_notes()) {
            notes.push_back(std::to_string(line) + note);
        }
    };
    for (int line = 0; line < 160; ++line) {
        stream.take({"",
                     {0.001 * (line % 3), 1.0 * (line % 3), 5, line < 60 ? gap : 0.01 * (line % 2),
                      line % 4 == 0 ? 0.01 * (line % 8) : gap, line < 40 ? 0.001 * line : line}},
                    0, out);
        take_notes(line);
    }
    REQUIRE(notes.size() == 2);
    CHECK(has(notes[0], "63The values of 'small' have a standard deviation below 0.1"));  // when the context is full
    CHECK(has(notes[1], "127The values of 'late' have"));                                 // of this one, too
    stream.finish();
    stream.finish();
    take_notes(160);
    REQUIRE(notes.size() == 3);
    CHECK(has(notes[2], "160The values of 'rare' have"));

    ForecastStream brief(model, options, {"small"});
    for (int line = 0; line < 31; ++line) {
        brief.take({"", {0.001 * (line % 3)}}, 0, out);
    }
    brief.finish();
    CHECK(brief.take_notes().empty());  // there was no forecast
    brief.take({"", {0}}, 0, out);
    CHECK(brief.take_notes().empty());
    brief.finish();
    CHECK(brief.take_notes().size() == 1);
}

TEST_CASE("lines without a header") {
    Options options;
    options.variates = 2;
    std::string problem;
    ObservationReader bare(options);
    CHECK(!bare.needs_header());
    CHECK(bare.read("1,2", problem)->values == std::vector<double>{1, 2});
    CHECK(has(problem_with(bare, "7,1,2"), "it has 3 fields, not 2"));
    ObservationReader stamped(options);
    const std::optional<Observation> line = stamped.read("7,1,2", problem);
    REQUIRE(line);
    CHECK(line->timestamp == "7");
    CHECK(line->values == std::vector<double>{1, 2});
}

TEST_CASE("a line that cannot be used does not say how others are read") {
    Options options;
    ObservationReader named(options);
    named.read_head({"time,a,b"});
    CHECK(has(problem_with(named, "what?,1,2"), "'what?' is neither a finite number nor a timestamp"));
    CHECK(has(problem_with(named, ",1,2"), "its first field is blank"));
    CHECK(has(problem_with(named, "7,1,x"), "'x' for b is not a finite number"));
    CHECK(has(problem_with(named, "7,1"), "it has 2 fields, not 3"));
    CHECK(!named.has_timestamps());
    CHECK(problem_with(named, "2026-01-01,1,2").empty());
    CHECK(named.has_timestamps());
    CHECK(named.names() == std::vector<std::string>{"a", "b"});

    options.variates = 2;
    ObservationReader stamped(options);
    CHECK(has(problem_with(stamped, "1"), "it has 1 field, not 2, or one more with a timestamp"));
    CHECK(has(problem_with(stamped, "1,oops"), "'oops' for 2 is not a finite number"));
    CHECK(has(problem_with(stamped, ","), "it is blank"));
    CHECK(has(problem_with(stamped, "0.5,1,2"), "'0.5' is no timestamp"));
    CHECK(has(problem_with(stamped, "7,1,oops"), "'oops' for 2 is not a finite number"));
    CHECK(!stamped.has_timestamps());
    CHECK(problem_with(stamped, "7,1,2").empty());
    CHECK(stamped.has_timestamps());
    CHECK(has(problem_with(stamped, "1,2"), "it has 2 fields, not 3"));
    ObservationReader bare(options);
    CHECK(!problem_with(bare, "7,1,oops").empty());
    CHECK(problem_with(bare, "1,2").empty());
    CHECK(!bare.has_timestamps());
}

TEST_CASE("timestamps alone are nothing to forecast") {
    Options options;
    ObservationReader guessed(options);
    guessed.read_head({"time"});
    std::string problem;
    CHECK(has(refusal([&] { guessed.read("2026-01-01", problem); }), "the only column, 'time', holds timestamps"));
    options.intake.timestamp = "t";
    ObservationReader named(options);
    CHECK(has(refusal([&] { named.read_head({"t"}); }), "the only column, 't', holds timestamps"));
}

TEST_CASE("headers of every kind") {
    const auto names = [](const std::string& header, const std::string& line) {
        const Options options;
        ObservationReader reader(options);
        std::string problem;
        REQUIRE(reader.read_head({header}) == 1);
        REQUIRE(reader.read(line, problem));
        return reader.names();
    };
    using Names = std::vector<std::string>;
    CHECK(names("a,,b", "1,2,3") == Names{"a", "column_2", "b"});
    CHECK(names("a,a", "1,2") == Names{"a", "a_2"});
    CHECK(names("a;b", "1,5;2") == Names{"a", "b"});
    CHECK(names("a\tb", "1\t2") == Names{"a", "b"});
    CHECK(names("\xef\xbb\xbf"
                "a,b",
                "1,2") == Names{"a", "b"});
    CHECK(names("a,time", "1,2026-01-01") == Names{"a"});
    CHECK(names("a,ts", "1,1700000000") == Names{"a"});
    CHECK(names(",a", "0,7") == Names{"a"});
    const Options options;
    ObservationReader bare(options);
    CHECK(bare.read_head({"# a comment"}) == 1);
    CHECK(bare.read_head({""}) == 1);
    CHECK(bare.needs_header());
    CHECK(bare.read_head({"1,2"}) == 0);
    CHECK(bare.names() == Names{"column_1", "column_2"});
    ObservationReader wide(options);
    std::string header;
    for (int column = 0; column < 40'000; ++column) {
        header += "name,";  // were this quadratic, the limit of a test's time would end it
    }
    CHECK(wide.read_head({header}) == 1);
    CHECK(wide.names().back() == "column_40001");
    const auto refused = [&](const std::string& line) {
        return refusal([&] { ObservationReader(options).read_head({line}); });
    };
    CHECK(has(refused(std::string("a\0,\0b\0", 7)), "iconv"));
    CHECK(has(refused("\x1f\x8b"), "gunzip"));
    CHECK(has(refused("\xef\xbb\xbf{\"a\": 1}"), "holds JSON"));
}

TEST_CASE("numbers of a column tell what its commas and points are") {
    const auto column = [](const std::vector<std::string>& lines) {
        std::vector<double> values;
        for (const Observation& row : begin_with(lines).rows) {
            values.push_back(row.values.front());
        }
        return values;
    };
    using Values = std::vector<double>;
    // A number with two commas says that they part thousands, before and behind it.
    CHECK(column({"a|b", "854,584 kW|1", "1,163,935 kW|2", "440,174 kW|3"}) == Values{854584, 1163935, 440174});
    CHECK(column({"a;b", "942.700;1", "1.138.149;2", "927.884;3"}) == Values{942700, 1138149, 927884});
    CHECK(column({"a;b", "1,5;1", "1.250;2", "1.750;3"}) == Values{1.5, 1250, 1750});
    CHECK(column({"a;b", "1.5;1", "1,250;2", "1,750;3"}) == Values{1.5, 1250, 1750});
    // So do the other columns, where it does not tell itself.
    CHECK(column({"a;b", "854,584;1.5", "440,174;2.5", "927,884;3.5"}) == Values{854584, 440174, 927884});
    CHECK(column({"a;b", "854.584;1,5", "440.174;2,5", "927.884;3,5"}) == Values{854584, 440174, 927884});
    // Where none does, the separator; and what comes behind the first lines tells of the lines behind it.
    CHECK(column({"a;b", "854,584;1", "440,174;2", "927,884;3"}) == Values{854.584, 440.174, 927.884});
    std::vector<std::string> late = {"a;b"};
    late.insert(late.end(), 12, "854,584;1");
    late.insert(late.end(), {"1,163,935;1", "854,584;1"});
    Options options;
    ObservationReader reader(options);
    std::string problem;
    const std::size_t rows_at = reader.read_head({late.begin(), late.begin() + 10});
    std::vector<double> values;
    for (std::size_t i = rows_at; i < late.size(); ++i) {
        values.push_back(reader.read(late[i], problem).value().values.front());
    }
    CHECK(values.front() == 854.584);
    CHECK(values[values.size() - 2] == 1163935);
    CHECK(values.back() == 854584);
    std::string notes;
    for (const std::string& note : reader.take_notes()) {
        notes += note;
    }
    CHECK(has(notes, "'1,163,935' tells that commas stand between thousands. Numbers before it"));
    CHECK(has(notes, "--decimal point"));
}

TEST_CASE("fields are read as those of files") {
    Options options;
    ObservationReader reader(options);
    reader.read_head({"time;host;load;memory;up"});
    std::string problem;
    CHECK(has(problem_with(reader, "2026-01-01;web;1,5;1 GiB;true"), "'web' for host is not a finite number"));
    const std::optional<Observation> line = reader.read("2026-01-01;web;1,5;1 GiB;true", problem);
    REQUIRE(line);  // text in two lines is no torn line
    CHECK(reader.names() == std::vector<std::string>{"load", "memory", "up"});
    CHECK(line->values == std::vector<double>{1.5, 1, 1});
    CHECK(reader.read("2026-01-02;web;2;512 MiB;false", problem)->values == std::vector<double>{2, 0.5, 0});
    CHECK(has(problem_with(reader, "2026-01-02;web;2;5 ms;false"),
              "'5 ms' for memory is not in the unit of the values before it, 'GiB'"));
    const std::vector<std::string> notes = reader.take_notes();
    REQUIRE(notes.size() == 3);
    CHECK(has(notes[0], "Text is left out: 'host'"));
    CHECK(has(notes[1], "'memory' in 'GiB'"));
    CHECK(has(notes[2], "decimal commas"));
    options.columns = {"host"};
    ObservationReader asked(options);
    asked.read_head({"time;host;load"});
    CHECK(!problem_with(asked, "2026-01-01;web;1").empty());
    CHECK(!problem_with(asked, "2026-01-01;web;1").empty());
}

TEST_CASE("digits of other scripts are those of numbers from the first line on") {
    const Options options;
    ObservationReader reader(options);
    std::string problem;
    CHECK(reader.read_head({"الوقت,القيمة", "٢٠٢٤-٠١-٠١,٥", "٢٠٢٤-٠١-٠٢,٦"}) == 1);
    CHECK(reader.names() == std::vector<std::string>{"القيمة"});
    const std::optional<Observation> line = reader.read("٢٠٢٤-٠١-٠٣,٧٫٥", problem);
    REQUIRE(line);
    CHECK(line->timestamp == "2024-01-03");
    CHECK(line->values == std::vector<double>{7.5});
    ObservationReader bare(options);
    CHECK(bare.read_head({"٢٠٢٤-٠١-٠١,٥", "٢٠٢٤-٠١-٠٢,٦"}) == 0);
}

TEST_CASE("the clock reads what files have, and goes no further than 64 bits") {
    StreamClock days;
    for (const char* day : {"13/01/2026", "14/01/2026", "15/01/2026", "16/01/2026"}) {
        CHECK(days.advance(day).is_readable);
    }
    CHECK(days.later(1) == "17/01/2026");
    StreamClock unclear;
    CHECK(unclear.advance("01/02/2026").is_unclear);
    StreamClock told(totograph::io::DateOrder::month_first);
    CHECK(told.advance("01/02/2026").is_readable);
    StreamClock halves;
    for (const char* time : {"1700000000.5", "1700000001.0", "1700000001.5", "1700000002.0"}) {
        CHECK(halves.advance(time).skipped == 0);
    }
    CHECK(halves.later(1) == "1700000002.5");
    CHECK(halves.advance("1700000002.0").is_repeated);
    StreamClock compact;
    for (const char* day : {"20260130", "20260131", "20260201", "20260202"}) {
        CHECK(compact.advance(day).skipped == 0);
    }
    CHECK(compact.later(1) == "20260203");
    StreamClock far;
    for (const char* time : {"-9000000000000000000", "-4500000000000000000", "0", "4500000000000000000"}) {
        far.advance(time);
        far.resolve_held("9000000000000000000");
    }
    for (const std::int64_t steps : {1LL, 2LL, 4LL, 1'000'000'000'000'000'000LL}) {
        CHECK(!far.later(steps).empty());  // the sanitizers watch
    }
    CHECK(far.later(4) == "+4");
}

TEST_CASE("lines are read whole, however they arrive, and cut when they never end") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    std::thread writer([&] {
        const std::string text = "one\r\n\ntwo\r" + std::string(3 * LineReader::longest_line, 'x') + "\nlast";
        for (std::size_t at = 0; at < text.size();) {
            at += static_cast<std::size_t>(std::max<::ssize_t>(0, ::write(ends[1], &text[at], text.size() - at)));
        }
        ::close(ends[1]);
    });
    LineReader reader(ends[0]);
    std::string line;
    for (const char* expected : {"one", "", "two"}) {
        CHECK(reader.next(line) == LineReader::Result::line);
        CHECK(line == expected);
    }
    CHECK(reader.next(line) == LineReader::Result::too_long);
    CHECK(line.size() == LineReader::longest_line);
    CHECK(reader.next(line) == LineReader::Result::line);
    CHECK(line == "last");
    CHECK(reader.next(line) == LineReader::Result::end);
    writer.join();
    ::close(ends[0]);
}

TEST_CASE("lines may be in UTF-16, however they arrive") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    std::thread writer([&] {
        std::string bytes = "\xff\xfe";
        // U+1F600 is a pair of halves.
        for (const char16_t unit : std::u16string(u"a,\U0001F600\r\n1,2\n")) {
            bytes += static_cast<char>(unit & 0xFF);
            bytes += static_cast<char>(unit >> 8);
        }
        for (const char byte : bytes) {
            CHECK(::write(ends[1], &byte, 1) == 1);
        }
        ::close(ends[1]);
    });
    LineReader reader(ends[0]);
    std::string line;
    CHECK(reader.next(line) == LineReader::Result::line);
    CHECK(line == "a,\xf0\x9f\x98\x80");
    CHECK(reader.next(line) == LineReader::Result::line);
    CHECK(line == "1,2");
    CHECK(reader.next(line) == LineReader::Result::end);
    writer.join();
    ::close(ends[0]);
}

TEST_CASE("a line that an interrupt cuts off is none") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const std::string text = "whole\ntorn";
    REQUIRE(::write(ends[1], text.data(), text.size()) == static_cast<::ssize_t>(text.size()));
    struct sigaction action {};
    action.sa_handler = [](int) {};
    struct sigaction before {};
    REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);
    std::atomic<bool> done = false;
    std::thread interrupter([&done, reading = pthread_self()] {
        while (!done) {
            pthread_kill(reading, SIGUSR1);
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    });
    LineReader reader(ends[0]);
    std::string line;
    LineReader::Result result{};
    while ((result = reader.next(line)) == LineReader::Result::end) {
        // The very first waiting may be interrupted too, before anything was read.
    }
    CHECK(result == LineReader::Result::line);
    CHECK(line == "whole");
    CHECK(reader.next(line) == LineReader::Result::end);
    done = true;
    interrupter.join();
    sigaction(SIGUSR1, &before, nullptr);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("percentiles of latencies are right to two percent") {
    Latency latency;
    CHECK(latency.percentile(0.5) == 0);
    for (int milliseconds = 1; milliseconds <= 1000; ++milliseconds) {
        latency.add(1e-3 * milliseconds);
    }
    CHECK(latency.percentile(0.5) == Approx(0.5).epsilon(0.021));
    CHECK(latency.percentile(0.9) == Approx(0.9).epsilon(0.021));
    CHECK(latency.percentile(1) == Approx(1));
    latency.add(0);
    latency.add(1e9);
    CHECK(latency.percentile(1e-9) < 2e-6);
    CHECK(latency.count() == 1002);
}

TEST_CASE("stream's command line") {
    const auto parse = [](std::vector<const char*> arguments) {
        arguments.insert(arguments.begin(), "stream");
        std::ostringstream out;
        return parse_command_line(static_cast<int>(arguments.size()), arguments.data(), out).value();
    };
    const Options options = parse({"--every", "1", "--columns", "a,b", "--alarm", "2.5", "--scores-only"});
    CHECK(options.every == 1);
    CHECK(options.columns.size() == 2);
    CHECK(options.alarm == 2.5);
    CHECK(options.scores_only);
    CHECK(has(refusal([&] { parse({"--alarm", "0"}); }), "--alarm"));
    CHECK(has(refusal([&] { parse({"--variates", "2", "--columns", "a"}); }), "there is no header"));
    CHECK(has(refusal([&] { parse({"--columns", "a,a"}); }), "twice"));
    CHECK(has(refusal([&] { parse({"--every", "x"}); }), "whole number"));
    CHECK(has(refusal([&] { parse({"file.csv"}); }), "stream --help"));
}
