// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <unistd.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "../../examples/stream/command_line.hpp"
#include "../../examples/stream/context_ring.hpp"
#include "../../examples/stream/expectation.hpp"
#include "../../examples/stream/latency.hpp"
#include "../../examples/stream/line_reader.hpp"
#include "../../examples/stream/observation.hpp"
#include "../../examples/stream/stream_clock.hpp"

using namespace examples;
using doctest::Approx;

namespace {

constexpr float gap = std::numeric_limits<float>::quiet_NaN();

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// The sentence that an action is refused with.
template <class Action>
std::string refusal(Action action) {
    try {
        action();
    } catch (const totograph::Error& error) {
        return error.what();
    }
    return "";
}

/// What is wrong with a line; empty when it can be used.
std::string problem_with(ObservationReader& reader, const std::string& line) {
    std::string problem;
    const bool is_read = reader.read(line, problem).has_value();
    CHECK(is_read == problem.empty());
    return problem;
}

}  // namespace

TEST_CASE("the ring keeps the newest observations in order") {
    ContextRing ring(2, 3);
    std::vector<float> values;
    std::vector<std::uint8_t> observed;
    ring.push({1, 10});
    ring.push({2, gap});
    ring.lay_out(values, observed);
    CHECK(values == std::vector<float>{1, 2, 10, 0});
    CHECK(observed == std::vector<std::uint8_t>{1, 1, 1, 0});
    for (float value = 3; value < 100; ++value) {
        ring.push({value, 10 * value});
        CHECK(ring.steps() == 3);
    }
    ring.lay_out(values, observed);
    CHECK(values == std::vector<float>{97, 98, 99, 970, 980, 990});
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

TEST_CASE("whole numbers are times too") {
    StreamClock clock;
    for (const char* time : {"100", "105", "110", "115"}) {
        CHECK(clock.advance(time).skipped == 0);
    }
    CHECK(clock.advance("130").skipped == 2);
    CHECK(clock.later(3) == "145");
    CHECK(clock.advance("9000000000000000000").skipped > 1'000'000);
    CHECK(clock.later(1'000'000'000'000'000'000) == "+1000000000000000000");
}

TEST_CASE("lines after a header") {
    Options options;
    ObservationReader reader(options);
    CHECK(reader.needs_header());
    reader.read_header("time,a,\"b,c\"");
    std::string problem;
    const std::optional<Observation> first = reader.read("2026-01-01,1.5,\"2\"", problem);
    REQUIRE(first);
    CHECK(reader.names() == std::vector<std::string>{"a", "b,c"});
    CHECK(first->timestamp == "2026-01-01");
    CHECK(first->values == std::vector<float>{1.5F, 2});
    const std::optional<Observation> second = reader.read("2026-01-02,,nan", problem);
    REQUIRE(second);
    CHECK(std::isnan(second->values[0]));
    CHECK(std::isnan(second->values[1]));
    CHECK(has(problem_with(reader, "2026-01-03,1"), "it has 2 fields, not 3"));
    CHECK(has(problem_with(reader, "2026-01-03,1,2,3"), "it has 4 fields"));
    CHECK(has(problem_with(reader, "2026-01-03,1,two"), "'two' for b,c is not a finite number"));
    CHECK(has(problem_with(reader, "2026-01-03,1,inf"), "not a finite number"));
    CHECK(has(problem_with(reader, "2026-01-03,1,1e99"), "not a finite number"));
    CHECK(has(problem_with(reader, "2026-01-03,1,\"2"), "quotes do not match"));
    CHECK(has(problem_with(reader, ""), "it has"));
    CHECK(has(problem_with(reader, std::string("1,2,\0", 5)), "NUL"));
    CHECK(problem_with(reader, "2026-01-03,1,2").empty());
}

TEST_CASE("columns are chosen by name") {
    Options options;
    options.columns = {"c", "a"};
    options.timestamp = "t";
    ObservationReader reader(options);
    reader.read_header("a,b,t,c");
    std::string problem;
    const std::optional<Observation> line = reader.read("1,text that nobody reads,77,3", problem);
    REQUIRE(line);
    CHECK(line->timestamp == "77");
    CHECK(line->values == std::vector<float>{3, 1});
    options.columns = {"d"};
    ObservationReader other(options);
    CHECK(has(refusal([&] { other.read_header("a,b,t,c"); }), "has no column 'd'; it has: a, b, t, c"));
}

TEST_CASE("numbers in the first column are values, unless it is named") {
    Options options;
    ObservationReader reader(options);
    reader.read_header("a,b");
    std::string problem;
    CHECK(reader.read("1,2", problem)->values.size() == 2);
    CHECK(reader.names().size() == 2);
    options.timestamp = "a";
    ObservationReader named(options);
    named.read_header("a,b");
    CHECK(named.read("1,2", problem)->values == std::vector<float>{2});
}

TEST_CASE("lines without a header") {
    Options options;
    options.variates = 2;
    std::string problem;
    ObservationReader bare(options);
    CHECK(!bare.needs_header());
    CHECK(bare.read("1,2", problem)->values == std::vector<float>{1, 2});
    CHECK(has(problem_with(bare, "7,1,2"), "it has 3 fields, not 2"));
    ObservationReader stamped(options);
    const std::optional<Observation> line = stamped.read("7,1,2", problem);
    REQUIRE(line);
    CHECK(line->timestamp == "7");
    CHECK(line->values == std::vector<float>{1, 2});
}

TEST_CASE("headers that are none") {
    const auto refused = [](const std::string& header) {
        return refusal([&] {
            const Options options;
            ObservationReader reader(options);
            reader.read_header(header);
        });
    };
    CHECK(has(refused("1,2"), "holds numbers"));
    CHECK(has(refused("a,,b"), "empty name"));
    CHECK(has(refused("a,a"), "one twice"));
    CHECK(has(refused(""), "empty name"));
    CHECK(refused("a,1").empty());
}

TEST_CASE("lines are read whole, however they arrive, and cut when they never end") {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    std::thread writer([&] {
        const std::string text = "one\r\n\ntwo\n" + std::string(3 * LineReader::longest_line, 'x') + "\nlast";
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
