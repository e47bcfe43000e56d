// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "../../examples/stream/command_line.hpp"
#include "../../examples/stream/forecast_stream.hpp"
#include "support/refusal.hpp"

// A model that forecasts the newest value it was given, so that rows tell whether observations and levels are those of
// the stream; what it was asked is in a log.

using namespace examples;
using totograph::Index;
using totograph::toto2::Recomputation;

namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();
constexpr Index patch = 4;
constexpr std::array<double, 3> levels = {0.1, 0.5, 0.9};

/// One forecast: of how many steps, and whether they were read again.
struct Asked {
    Index steps = 0;
    bool is_whole = false;

    friend bool operator==(const Asked&, const Asked&) = default;
};

std::ostream& operator<<(std::ostream& out, const Asked& asked) {
    return out << asked.steps << (asked.is_whole ? " whole" : "");
}

struct Log {
    std::vector<Asked> asked;
    std::vector<std::int32_t> groups;
    std::vector<std::uint8_t> observed;  // of the last steps that came
    int sessions = 0;
    Index room = 0;  // of the last one
    int forecasters = 0;
    Index few = 0;  // forecasts that are to come and compute their window again
};

/// The last value of each variate that was observed, three times a step.
class LastValues {
public:
    totograph::Forecast of(const totograph::Series& series, Index horizon) {
        values_.assign(static_cast<std::size_t>(series.variates * horizon) * levels.size(), 0);
        for (Index variate = 0; variate < series.variates; ++variate) {
            const auto begin = static_cast<std::size_t>(series.row_begin(variate));
            for (Index step = 0; step < series.steps; ++step) {
                if (series.observed[begin + static_cast<std::size_t>(step)] != 0) {
                    last_.resize(static_cast<std::size_t>(series.variates));
                    last_[static_cast<std::size_t>(variate)] = series.values[begin + static_cast<std::size_t>(step)];
                }
            }
            const std::size_t size = static_cast<std::size_t>(horizon) * levels.size();
            std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(variate) * size), size,
                        last_[static_cast<std::size_t>(variate)]);
        }
        return {values_, 1, series.variates, horizon, 1, 0, levels};
    }

private:
    std::vector<float> last_;
    std::vector<float> values_;
};

class FakeSession : public AnySession {
public:
    explicit FakeSession(Log& log) : log_(log) {}
    void start(const totograph::Series& history) override {
        steps_ = 0;
        is_whole_ = true;
        append(history);
        log_.groups.assign(history.groups.begin(), history.groups.end());
    }
    void append(const totograph::Series& steps) override {
        CHECK((is_whole_ || steps.steps % patch == 0));
        steps_ += steps.steps;
        variates_ = steps.variates;
        log_.observed.assign(steps.observed.begin(), steps.observed.end());
        (void)last_.of(steps, 1);
    }
    totograph::Forecast forecast(Index horizon) override {
        if (!is_whole_ && log_.few > 0) {
            --log_.few;
            ++recomputed_;
        }
        log_.asked.push_back({steps_, is_whole_});
        is_whole_ = false;
        return last_.of({.variates = variates_, .steps = 0}, horizon);
    }
    [[nodiscard]] Index recomputations(Recomputation reason) const override {
        return reason == Recomputation::few_observations ? recomputed_ : 0;
    }
    [[nodiscard]] std::size_t memory_bytes() const override { return std::size_t{200} << 20U; }

private:
    Log& log_;
    LastValues last_;
    Index steps_ = 0;
    Index variates_ = 0;
    Index recomputed_ = 0;
    bool is_whole_ = false;
};

class FakeForecaster : public AnyForecaster {
public:
    explicit FakeForecaster(Log& log) : log_(log) {}
    totograph::Forecast forecast(const totograph::Series& series, const totograph::ForecastOptions& options) override {
        log_.asked.push_back({series.steps, true});
        return last_.of(series, options.horizon.value());
    }
    [[nodiscard]] std::size_t memory_bytes() const override { return 0; }

private:
    Log& log_;
    LastValues last_;
};

class FakeModel : public AnyModel {
public:
    FakeModel() {
        for (const Index context : {40, 80}) {
            makers_.push_back({.most = {.variates = 2, .context = context, .horizon = 8},
                               .make = [this, context](const totograph::ForecasterResources&) {
                                   ++log.sessions;
                                   log.room = context;
                                   return std::make_unique<FakeSession>(log);
                               }});
        }
    }
    [[nodiscard]] Index patch_size() const override { return patch; }
    [[nodiscard]] ModelSizes most() const override { return {.context = 80, .horizon = 40, .variates = 2, .known = 0}; }
    [[nodiscard]] std::span<const double> levels() const override { return ::levels; }
    [[nodiscard]] std::unique_ptr<AnyForecaster> forecaster(const totograph::Series&, const totograph::ForecastOptions&,
                                                            int) const override {
        ++log.forecasters;
        return std::make_unique<FakeForecaster>(log);
    }
    [[nodiscard]] std::span<const SessionMaker> sessions() const override { return makers_; }

    mutable Log log;

private:
    std::vector<SessionMaker> makers_;
};

Options options_of(std::int64_t context, std::int64_t every) {
    Options options;
    options.context = context;
    options.every = every;
    options.horizon = patch;
    options.threads = 1;
    return options;
}

/// Sends lines of which each variate's value is `base + line`; each forecast has to be the line before it.
void send(ForecastStream& stream, int first, int end, std::size_t variates, double base) {
    std::string out;
    for (int line = first; line < end; ++line) {
        out.clear();
        stream.take({"", std::vector<double>(variates, base + line)}, 0, out);
        stream.print_forecast(nullptr, line, out);
        if (const std::size_t at = out.find("forecast,"); at != std::string::npos) {
            std::ostringstream expected;
            expected << "forecast," << line + 1 << ",a,," << base + line << "," << base + line << ",";
            CHECK(out.substr(at, expected.str().size()) == expected.str());
        }
    }
}

}  // namespace

TEST_CASE("a context grows by patches, and begins again when it is full") {
    // It is made of whole patches: 35 steps have room for as many as 32.
    for (const std::int64_t context : {32, 35}) {
        CAPTURE(context);
        const FakeModel model;
        const Options options = options_of(context, patch);
        ForecastStream stream(model, options, {"a"});
        send(stream, 1, 53, 1, 100);
        const std::vector<Asked> expected{{8, true}, {12},       {16}, {20}, {24},       {28},
                                          {32},      {24, true}, {28}, {32}, {24, true}, {28}};
        CHECK(model.log.asked == expected);
        CHECK(model.log.sessions == 1);
        CHECK(model.log.room == 40);
        CHECK(model.log.forecasters == 0);
        CHECK(stream.contexts()->whole(WholeContext::first) == 1);
        CHECK(stream.contexts()->whole(WholeContext::full) == 2);
        CHECK(stream.whole_latency().count() == 3);
        CHECK(stream.grown_latency().count() == 9);
        const std::vector<std::string> notes = stream.take_notes();
        REQUIRE(notes.size() == 1);
        CHECK(
            notes[0] ==
            "The context is full: its newest 24 observations are kept and read again, and it goes on from there to 32. "
            "Further times are only counted.");
    }
}

TEST_CASE("each place within a patch has a context of its own, as far as memory goes") {
    const FakeModel model;
    // A fake session says that it holds 200 MiB: there is room for two.
    const Options options = options_of(32, 1);
    ForecastStream stream(model, options, {"a"});
    const std::vector<std::string> notes = stream.take_notes();
    REQUIRE(notes.size() == 1);
    CHECK(
        notes[0] ==
        "Of each 4 forecasts 2 go on from what was computed before, and the others read the whole context: those take "
        "400 MiB of memory.");
    send(stream, 1, 17, 1, 5);
    const std::vector<Asked> expected{{8, true}, {9, true},  {10, true}, {11, true}, {12},
                                      {13},      {14, true}, {15, true}, {16}};
    CHECK(model.log.asked == expected);
    CHECK(model.log.sessions == 2);
    CHECK(stream.contexts()->whole(WholeContext::no_memory) == 4);
}

TEST_CASE("a pause begins anew, and who is not asked any more makes room") {
    const FakeModel model;
    const Options options = options_of(32, 2);
    ForecastStream stream(model, options, {"a"});
    send(stream, 1, 15, 1, 5);
    CHECK(model.log.asked == std::vector<Asked>{{8, true}, {10, true}, {12}, {14}});
    // From then on forecasts fall on odd lines.
    std::string out;
    model.log.asked.clear();
    stream.take({"", {20.0}}, 5, out);
    stream.take({"", {21.0}}, 0, out);
    stream.take({"", {22.0}}, 0, out);
    CHECK(stream.contexts()->whole(WholeContext::no_memory) <= 1);
    stream.take({"", {23.0}}, 100000, out);
    stream.take({"", {24.0}}, 0, out);
    stream.take({"", {25.0}}, 0, out);
    CHECK(out.find("observed") != std::string::npos);
    CHECK(model.log.sessions == 2);
    CHECK(model.log.asked.back().steps <= 32);
}

TEST_CASE("a variate that comes, and values that go far away, begin anew") {
    const FakeModel model;
    const Options options = options_of(80, patch);
    ForecastStream stream(model, options, {"a", "b"});
    std::string out;
    const auto take = [&](int count, const std::vector<double>& values) {
        for (int i = 0; i < count; ++i) {
            stream.take({"", values}, 0, out);
        }
    };
    take(12, {1, gap});
    CHECK(model.log.groups == std::vector<std::int32_t>{0, 2});
    CHECK(model.log.observed == std::vector<std::uint8_t>(2 * patch, 1));  // zeros of the blank one, as at its start
    take(4, {1, 7});
    CHECK(model.log.groups == std::vector<std::int32_t>{0, 0});
    take(4, {1, 7});
    take(4, {1e39, 7});  // no float lies so far above 1; what the library says of it is its own
    take(8, {gap, 7});
    CHECK(model.log.asked == std::vector<Asked>{{8, true}, {12}, {16, true}, {20}, {24, true}, {28}, {32}});
    CHECK(stream.contexts()->whole(WholeContext::changed) == 2);
}

TEST_CASE("what a session computes again by itself is counted") {
    const FakeModel model;
    const Options options = options_of(80, patch);
    ForecastStream stream(model, options, {"a"});
    model.log.few = 2;
    send(stream, 1, 21, 1, 0);
    CHECK(stream.contexts()->whole(WholeContext::few_observations) == 2);
    CHECK(stream.whole_latency().count() == 3);
    CHECK(stream.grown_latency().count() == 1);
}

TEST_CASE("more columns than the model takes have a session for each group") {
    const FakeModel model;
    const Options options = options_of(80, patch);
    ForecastStream stream(model, options, {"a", "b", "c"});
    send(stream, 1, 13, 3, 50);
    CHECK(model.log.sessions == 2);
    CHECK(model.log.room == 80);
    CHECK(model.log.asked == std::vector<Asked>{{8, true}, {8, true}, {12}, {12}});
}

TEST_CASE("where contexts cannot go on, each is read whole") {
    const FakeModel model;
    Options options = options_of(32, patch);
    options.session = GoOn::never;
    ForecastStream never(model, options, {"a"});
    CHECK(never.take_notes().empty());
    CHECK(never.contexts() == nullptr);
    send(never, 1, 45, 1, 0);
    CHECK(model.log.sessions == 0);
    CHECK(model.log.asked.back() == Asked{32, true});

    options.session = GoOn::where_possible;
    options.horizon = 9;
    CHECK(
        ForecastStream(model, options, {"a"}).take_notes() ==
        std::vector<std::string>{"Each forecast reads the whole context: a context that goes on is forecast at most 8 "
                                 "steps ahead, and not 9."});
    options.session = GoOn::always;
    CHECK(refusal([&] { const ForecastStream stream(model, options, {"a"}); }) ==
          "--session on cannot be had: a context that goes on is forecast at most 8 steps ahead, and not 9. Leave it "
          "out.");
    options.horizon = patch;
    options.context = 15;
    CHECK(
        refusal([&] { const ForecastStream stream(model, options, {"a"}); }) ==
        "--session on cannot be had: only a context of at least 16 observations can go on, and --context is 15. Leave "
        "it out.");
    // Three patches at once: three times the weights and 3 rows, beside once the weights and 9 rows.
    options = options_of(32, 6);
    CHECK(
        ForecastStream(model, options, {"a"}).take_notes() ==
        std::vector<std::string>{"Each forecast reads the whole context: with --every 6 a context takes 3 new patches "
                                 "at a time, which is more work than reading 32 observations."});
    CHECK(model.log.sessions == 0);
    // Two: as much as 30 rows, beside 28 or 31.
    CHECK(ForecastStream(model, options_of(64, 2 * patch), {"a"}).contexts() == nullptr);
    CHECK(ForecastStream(model, options_of(80, 2 * patch), {"a"}).contexts() != nullptr);
}

TEST_CASE("--session") {
    const auto parse = [](std::vector<const char*> arguments) {
        arguments.insert(arguments.begin(), "stream");
        std::ostringstream out;
        return parse_command_line(static_cast<int>(arguments.size()), arguments.data(), out).value();
    };
    CHECK(parse({}).session == GoOn::where_possible);
    CHECK(parse({"--session", "on"}).session == GoOn::always);
    CHECK(parse({"--session", "off"}).session == GoOn::never);
    CHECK(refusal([&] { parse({"--session", "no"}); }) == "--session is on or off, and not 'no'.");
}
