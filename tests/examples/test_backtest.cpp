// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "../../examples/backtest/command_line.hpp"
#include "../../examples/backtest/journal.hpp"
#include "../../examples/backtest/plan.hpp"
#include "../../examples/backtest/report_svg.hpp"
#include "../../examples/backtest/run_backtest.hpp"
#include "../../examples/backtest/score_text.hpp"
#include "../../examples/common/metrics.hpp"
#include "../../examples/common/seasonal_naive.hpp"
#include "examples/repeating_model.hpp"
#include "support/refusal.hpp"

using namespace examples;
using doctest::Approx;

namespace {

constexpr double gap = std::numeric_limits<double>::quiet_NaN();

/// All quantiles of a uniform distribution between 0 and 100.
Quantiles uniform() {
    Quantiles quantiles{};
    for (std::size_t i = 0; i < levels.size(); ++i) {
        quantiles[i] = 100 * levels[i];
    }
    return quantiles;
}

Quantiles point(double value) {
    Quantiles quantiles{};
    quantiles.fill(value);
    return quantiles;
}

totograph::io::Table table_of(std::size_t rows, std::size_t series) {
    totograph::io::Table table;
    for (std::size_t column = 0; column < series; ++column) {
        table.names.push_back("series " + std::to_string(column));
        table.columns.emplace_back(rows, 1.0);
    }
    return table;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// A path for a journal that is not there yet, and goes away with the test.
class JournalPath {
public:
    explicit JournalPath(const std::string& name)
        : path_(std::filesystem::temp_directory_path() /
                ("totograph_" + name + "_" + std::to_string(::getpid()) + ".journal")) {
        std::filesystem::remove(path_);
    }
    JournalPath(const JournalPath&) = delete;
    JournalPath& operator=(const JournalPath&) = delete;
    ~JournalPath() { std::filesystem::remove(path_); }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    [[nodiscard]] std::string content() const {
        std::ifstream file(path_);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    void set(const std::string& content) const { std::ofstream(path_) << content; }

private:
    std::filesystem::path path_;
};

}  // namespace

TEST_CASE("the seasonal scale is the mean absolute seasonal difference") {
    const std::vector<double> history = {1, 3, 2, 4};
    CHECK(seasonal_scale(history, 1) == Approx(5.0 / 3));  // 2, 1, 2
    CHECK(seasonal_scale(history, 2) == Approx(1));        // 1, 1
    CHECK(std::isnan(seasonal_scale(history, 4)));
    const std::vector<double> gaps = {1, gap, 2, 5};
    CHECK(seasonal_scale(gaps, 1) == Approx(3));  // 2 to 5 alone
}

TEST_CASE("the quantile loss of a point forecast is its absolute error") {
    for (const double truth : {10.0, -10.0}) {
        Sums sums;
        add_step(sums, point(0), truth);
        CHECK(sums.quantile_loss == Approx(10));
        CHECK(sums.absolute_error == Approx(10));
        CHECK(sums.inside == std::array<std::int64_t, 3>{0, 0, 0});
    }
}

TEST_CASE("the quantile loss of a uniform forecast, by hand") {
    Sums sums;
    add_step(sums, uniform(), 50);
    // Twice the pinball loss at 0.1, 0.2, ..., 0.9: 8, 12, 12, 8, 0, 8, 12, 12, 8.
    CHECK(sums.quantile_loss == Approx(80.0 / 9));
    CHECK(sums.absolute_error == Approx(0));
    CHECK(sums.inside == std::array<std::int64_t, 3>{1, 1, 1});
    add_step(sums, uniform(), 20);
    CHECK(sums.inside == std::array<std::int64_t, 3>{1, 2, 2});
    add_step(sums, uniform(), 5);  // an edge belongs to the interval
    CHECK(sums.inside == std::array<std::int64_t, 3>{1, 2, 3});
}

TEST_CASE("windows add up to metrics") {
    std::vector<Score> windows(3);
    windows[0] = {.steps = 2, .scale = 1, .magnitude = 10, .model = {4, 3, {1, 2, 2}}, .naive = {2, 1, {}}};
    windows[1] = {.steps = 4, .scale = 2, .magnitude = 30, .model = {4, 1, {2, 2, 3}}, .naive = {8, 2, {}}};
    windows[2] = {.steps = 2, .scale = 0, .magnitude = 0, .model = {9, 0, {0, 0, 2}}, .naive = {9, 0, {}}};
    const Metrics model = metrics(windows, &Score::model);
    CHECK(model.mase == Approx(1.25));  // 4 / 2 / 1 and 4 / 4 / 2; the constant history has none
    CHECK(model.crps == Approx(0.1));
    CHECK(model.coverage[0] == Approx(3.0 / 8));
    CHECK(model.coverage[2] == Approx(7.0 / 8));
    CHECK(metrics(windows, &Score::naive).mase == Approx(1));
    CHECK(std::isnan(metrics({}, &Score::model).mase));
    CHECK(std::isnan(metrics({}, &Score::model).coverage[0]));

    Metrics other;
    other.mase = 0.75;
    const Metrics mean = mean_of({model, other});
    CHECK(mean.mase == Approx(1));
    CHECK(mean.crps == Approx(0.1));  // the other has none
}

TEST_CASE("the seasonal naive forecast repeats the last season") {
    const std::vector<double> history = {1, 2, 3, 1, 2, 3};
    const SeasonalNaive naive(history, 3);
    for (std::size_t step = 0; step < 7; ++step) {
        const Quantiles quantiles = naive.at(step);
        CHECK(quantiles.front() == Approx(static_cast<double>(step % 3 + 1)));
        CHECK(quantiles.back() == quantiles.front());  // it never failed before
    }
}

TEST_CASE("the seasonal naive forecast looks behind gaps") {
    const std::vector<double> history = {1, 2, 3, gap, 2, 4};
    CHECK(SeasonalNaive(history, 3).at(0)[median_place] == 1);
    const std::vector<double> phase_missing = {gap, 2, gap, 5};
    CHECK(SeasonalNaive(phase_missing, 2).at(0)[median_place] == 5);
    CHECK(SeasonalNaive(phase_missing, 2).at(1)[median_place] == 5);
    const std::vector<double> nothing = {gap, gap};
    CHECK(std::isnan(SeasonalNaive(nothing, 1).at(0)[median_place]));
}

TEST_CASE("its limits are quantiles of past differences, and widen with the square root") {
    const std::vector<double> steady = {0, 2, 0, 2, 0};
    for (std::size_t step = 0; step < 4; ++step) {
        const double width = 2 * std::sqrt(static_cast<double>(step + 1));
        CHECK(SeasonalNaive(steady, 1).at(step).front() == Approx(-width));
        CHECK(SeasonalNaive(steady, 1).at(step).back() == Approx(width));
    }
    const std::vector<double> growing = {0, 0, 1, 3, 6, 10};  // differences 0, 1, 2, 3, 4
    CHECK(SeasonalNaive(growing, 1).at(0)[9] == Approx(12));  // 0.75 leaves half of them inside
    CHECK(SeasonalNaive(growing, 1).at(0)[3] == Approx(8));
}

TEST_CASE("windows end with the file and begin a stride apart") {
    Options options;
    options.horizons = {5, 10};
    const Plan plan = make_plan(table_of(100, 5), Timeline(), options, 2);
    CHECK(plan.season == 1);
    CHECK(plan.windows == 8);  // 16 rows of history, 8 times 10 rows, and 4 are over
    REQUIRE(plan.tasks.size() == 8 * 3);
    CHECK(plan.tasks.front().origin == 20);
    CHECK(plan.tasks.back().origin == 90);
    CHECK(plan.tasks.back().first_series == 4);
    CHECK(plan.tasks.back().series == 1);

    options.stride = 1;
    options.windows = 75;
    CHECK(make_plan(table_of(100, 1), Timeline(), options, 2).tasks.front().origin == 16);
    options.windows = 76;
    CHECK(has(refusal([&] { make_plan(table_of(100, 1), Timeline(), options, 2); }), "hold 75 windows"));
    options.windows = 0;
    CHECK(make_plan(table_of(100, 1), Timeline(), options, 2).windows == 20);
}

TEST_CASE("more series than are forecast at once are divided, and those that should see each other are told") {
    Options options;
    options.horizons = {10};
    options.windows = 1;
    CHECK(make_plan(table_of(100, 17), Timeline(), options, 16).notes.empty());
    options.together = true;
    CHECK(make_plan(table_of(100, 16), Timeline(), options, 16).notes.empty());
    const Plan plan = make_plan(table_of(100, 17), Timeline(), options, 16);
    REQUIRE(plan.tasks.size() == 2);
    CHECK(plan.tasks[0].series == 9);
    CHECK(plan.tasks[1].first_series == 9);
    REQUIRE(plan.notes.size() == 1);
    CHECK(has(plan.notes[0], "These saw each other: 'series 0' to 'series 8'; 'series 9' to 'series 16'."));
}

TEST_CASE("windows end with the last value, not with blank rows behind it") {
    totograph::io::Table table = table_of(120, 2);
    for (std::size_t row = 100; row < 120; ++row) {
        table.columns[0][row] = std::nan("");
        table.columns[1][row] = std::nan("");
    }
    Options options;
    options.horizons = {10};
    options.season = 4;
    options.windows = 2;
    const Plan plan = make_plan(table, Timeline(), options, 2);
    CHECK(plan.tasks.back().origin == 90);
    REQUIRE(plan.notes.size() == 1);
    CHECK(plan.notes.front() == "The last 20 rows of the file hold no values and are left out.");
    table.columns[1][119] = 1;
    CHECK(make_plan(table, Timeline(), options, 2).tasks.back().origin == 110);
}

TEST_CASE("what cannot be tested is refused in a sentence") {
    Options options;
    options.horizons = {10};
    CHECK(has(refusal([&] { make_plan(table_of(25, 1), Timeline(), options, 2); }),
              "has 25 rows, but a window needs at least 26"));
    totograph::io::Table table = table_of(100, 2);
    table.columns[1].assign(100, gap);
    CHECK(has(refusal([&] { make_plan(table, Timeline(), options, 2); }), "'series 1' holds no value"));
}

TEST_CASE("timestamps suggest a season") {
    const auto season = [](const std::vector<std::string>& stamps) { return season_of(Timeline(stamps)); };
    CHECK(season({"2026-01-01T00:00Z", "2026-01-01T01:00Z", "2026-01-01T02:00Z"}) == 24);
    CHECK(season({"2026-01-01T00:00Z", "2026-01-01T00:15Z", "2026-01-01T00:30Z"}) == 96);
    CHECK(season({"2026-01-01", "2026-01-02", "2026-01-03"}) == 7);
    CHECK(season({"2024-03-04", "2024-03-05", "2024-03-06", "2024-03-07", "2024-03-08", "2024-03-11", "2024-03-12",
                  "2024-03-13", "2024-03-14", "2024-03-15"}) == 5);  // workdays
    CHECK(season({"2026-01-01", "2026-02-01", "2026-03-01"}) == 12);
    CHECK(season({"2026-01-01", "2026-04-01", "2026-07-01"}) == 4);
    CHECK(season({"2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:02Z"}) == 1);
    CHECK(season({"1700000000", "1700003600", "1700007200"}) == 24);
    CHECK(season({"1", "2", "3"}) == 1);
    CHECK(season({}) == 1);
}

TEST_CASE("a season that the file is too short for is not used, with a note") {
    totograph::io::Table table = table_of(60, 1);
    for (int hour = 0; hour < 60; ++hour) {
        table.timestamps.push_back(std::to_string(1700000000 + 3600 * hour));
    }
    Options options;
    options.horizons = {12};
    CHECK(make_plan(table, Timeline(table.timestamps), options, 8).season == 24);
    options.horizons = {13};
    const Plan plan = make_plan(table, Timeline(table.timestamps), options, 8);
    CHECK(plan.season == 1);
    CHECK(plan.notes.size() == 1);
    options.season = 24;
    CHECK(!refusal([&] { make_plan(table, Timeline(table.timestamps), options, 8); }).empty());
}

TEST_CASE("scores survive being text") {
    std::vector<Score> scores(2);
    scores[0] = {.steps = 3, .scale = 0.1, .magnitude = 1e300, .model = {1.0 / 3, 2, {1, 2, 3}}, .naive = {4, 5, {}}};
    scores[1].scale = std::numeric_limits<double>::infinity();
    CHECK(parse_scores(score_text(scores), 2) == scores);
    CHECK(!parse_scores(score_text(scores), 1));
    CHECK(!parse_scores(score_text(scores), 3));
    CHECK(!parse_scores(score_text(scores) + " x", 2));
    scores[0].scale = std::nan("");
    const auto back = parse_scores(score_text(scores), 2);
    REQUIRE(back);
    CHECK(std::isnan((*back)[0].scale));
}

TEST_CASE("a journal that another run holds is waited for, and made anew when that run removes it") {
    const JournalPath file("test_journal_held");
    auto held = std::make_unique<Journal>(file.path(), "key");
    held->append(1, "one");
    std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        held->remove();  // as a run does that has finished
        held.reset();
    });
    {
        Journal journal(file.path(), "key");
        CHECK(journal.finished().empty());
        journal.append(2, "two");
    }
    other.join();
    const Journal journal(file.path(), "key");
    CHECK(journal.finished().size() == 1);
    CHECK(journal.finished().count(2) == 1);
}

TEST_CASE("a journal opens again while a child that was begun meanwhile still has its file") {
    const JournalPath file("test_journal_child");
    ::pid_t child = 0;
    {
        Journal journal(file.path(), "key");
        journal.append(1, "one");
        // As any program that is started from another thread, until it closes what it inherits: it holds the lock.
        child = ::fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            ::usleep(200'000);
            ::_exit(0);
        }
    }
    CHECK(Journal(file.path(), "key").finished().size() == 1);
    CHECK(::waitpid(child, nullptr, 0) == child);
}

TEST_CASE("a journal is a regular file of a size that a journal has") {
    const auto refused = [](const std::filesystem::path& path) -> std::string {
        try {
            const Journal journal(path, "key");
        } catch (const totograph::Error& error) {
            CHECK(error.code() == totograph::ErrorCode::io_failure);
            return error.what();
        }
        return "";
    };
    CHECK(refused("/dev/null").find("no regular file") != std::string::npos);
    const JournalPath pipe("test_journal_pipe");
    REQUIRE(::mkfifo(pipe.path().c_str(), 0600) == 0);
    CHECK(refused(pipe.path()).find("no regular file") != std::string::npos);
    const JournalPath huge("test_journal_huge");
    std::ofstream(huge.path()) << "x";
    std::filesystem::resize_file(huge.path(), std::uintmax_t{1} << 40U);  // sparse: it must not be read
    CHECK(refused(huge.path()).find("more than any journal") != std::string::npos);
    CHECK(refused("/tmp/\x1b[31m/journal").find("\\x1b[31m") != std::string::npos);
}

TEST_CASE("a journal gives back what was put into it") {
    const JournalPath file("test_journal_back");
    {
        Journal journal(file.path(), "key");
        CHECK(journal.finished().empty());
        journal.append(7, "seven");
        journal.append(3, "");
    }
    const Journal journal(file.path(), "key");
    CHECK(journal.finished().size() == 2);
    CHECK(journal.finished().at(7) == "seven");
    CHECK(journal.finished().at(3).empty());
    CHECK(journal.damaged() == 0);
}

TEST_CASE("a torn or damaged line costs that line alone") {
    const JournalPath file("test_journal_torn");
    {
        Journal journal(file.path(), "key");
        for (int task = 0; task < 4; ++task) {
            journal.append(task, "result " + std::to_string(task));
        }
    }
    const std::string whole = file.content();
    const std::string last = whole.substr(whole.find("3 result 3"));
    std::string damaged = whole;
    damaged[damaged.find("result 1")] = 'R';
    for (std::size_t cut = 1; cut < last.size(); ++cut) {
        file.set(damaged.substr(0, damaged.size() - cut));
        {
            Journal journal(file.path(), "key");
            CHECK(journal.finished().size() == 2);
            CHECK(journal.damaged() == 2);
            journal.append(9, "nine");
        }
        const Journal journal(file.path(), "key");
        CHECK(journal.finished().size() == 3);
        CHECK(journal.finished().at(2) == "result 2");
        CHECK(journal.finished().at(9) == "nine");
    }
    // A heading that was torn is written anew.
    for (std::size_t length = 0; length < whole.find('\n'); ++length) {
        file.set(whole.substr(0, length));
        CHECK(Journal(file.path(), "key").finished().empty());
        CHECK(file.content() == whole.substr(0, whole.find('\n') + 1));
    }
}

TEST_CASE("a journal of something else, and any other file, stays as it is") {
    const JournalPath file("test_journal_other");
    { Journal(file.path(), "one").append(1, "1"); }
    const std::string content = file.content();
    CHECK(has(refusal([&] { Journal(file.path(), "two"); }), "not the journal of this run"));
    CHECK(file.content() == content);
    for (const std::string precious : {"my notes", "my notes\n", "a,b\n1,2\n"}) {
        file.set(precious);
        CHECK(has(refusal([&] { Journal(file.path(), "one"); }), "not the journal of this run"));
        CHECK(file.content() == precious);
    }
    CHECK(has(refusal([] { Journal("/dev/full", "one"); }), "no regular file"));
    CHECK(has(refusal([] { Journal("/missing/folder/journal", "one"); }), "cannot be opened"));
}

TEST_CASE("two runs do not share a journal") {
    const JournalPath file("test_journal_shared");
    const Journal journal(file.path(), "key");
    CHECK(has(refusal([&] { Journal(file.path(), "key"); }), "in use by another run"));
}

TEST_CASE("series without a window that can be scored are told, and refused where there are no others") {
    Options options;
    options.horizons = {10};
    totograph::io::Table table = table_of(100, 4);
    std::fill(table.columns[1].begin(), table.columns[1].begin() + 90, gap);  // known in the last window's steps alone
    std::fill(table.columns[2].begin() + 20, table.columns[2].end(), gap);    // known before the first window alone
    table.columns[3] = table.columns[1];
    table.columns[3][89] = 7;  // known before the last window too
    const Plan plan = make_plan(table, Timeline(), options, 2);
    CHECK(plan.unscored == std::vector<std::size_t>{1, 2});
    REQUIRE(plan.notes.size() == 1);
    CHECK(
        plan.notes[0] ==
        "2 of 4 series have no window that can be scored, and are left out of the means: 'series 1' and 'series 2'. A "
        "window needs a value in the rows that its forecast sees and one in its steps.");
    options.windows = 1;
    options.context = 5;
    table.columns[0][89] = gap;
    std::fill(table.columns[0].begin() + 85, table.columns[0].begin() + 90, gap);  // all that a forecast sees
    CHECK(make_plan(table, Timeline(), options, 2).unscored == std::vector<std::size_t>{0, 1, 2});
    table.columns[3][89] = gap;
    CHECK(
        refusal([&] { make_plan(table, Timeline(), options, 2); }) ==
        "No window of any series can be scored: one needs a value in the 5 rows before it and one in its 10 steps. Use "
        "a smaller --horizon or --stride, more --windows or a longer --context.");
}

TEST_CASE("the report names the first series without a score, by horizon") {
    const Score known{.steps = 1, .scale = 1, .magnitude = 1, .model = {1, 1, {}}, .naive = {1, 1, {}}};
    AllScores scores(6, {{Score{}}, {Score{}}});
    scores[0] = {{known}, {known}};
    scores[1] = {{Score{}}, {known}};
    const std::string text = report_table(report_rows(scores, {"a", "b", "c", "d", "e", "f"}, {4, 8}), 1);
    CHECK(has(text,
              "  5 of 6 series have no window that can be scored, and are left out of the means: 'b', 'c', 'd' and 2 "
              "more.\n"));
    CHECK(has(text,
              "  4 of 6 series have no window that can be scored, and are left out of the means: 'c', 'd', 'e' and 1 "
              "more.\n"));
    scores.assign(1, {{known}, {known}});
    CHECK(!has(report_table(report_rows(scores, {"a"}, {4, 8}), 1), "no window"));
}

TEST_CASE("the report has a row for each series and one for all, by horizon") {
    AllScores scores(2, std::vector<std::vector<Score>>(2));
    for (std::size_t series = 0; series < 2; ++series) {
        for (std::size_t horizon = 0; horizon < 2; ++horizon) {
            const double error = static_cast<double>(series + 1);
            scores[series][horizon] = {
                {.steps = 1, .scale = 1, .magnitude = 10, .model = {error, 1, {1, 1, 1}}, .naive = {2, 2, {}}}};
        }
    }
    const std::vector<ReportRow> rows = report_rows(scores, {"a,b", "<c>"}, {24, 96});
    REQUIRE(rows.size() == 6);
    CHECK(rows[2].is_total);
    CHECK(rows[2].model.mase == Approx(1.5));
    CHECK(rows[2].windows == 2);
    CHECK(rows[5].horizon == 96);
    CHECK(rows[0].ratio == Approx(0.5));
    CHECK(rows[1].ratio == Approx(1));
    CHECK(rows[2].ratio == Approx(std::sqrt(0.5)));
    const std::string csv = report_csv(rows);
    CHECK(has(csv, "\nseries,\"a,b\",24,1,1,0.1,1,1,1,2,0.2,0,0,0,0.5\n"));
    CHECK(has(csv, "\ntotal,,96,2,1.5,0.1,1,1,1,2,0.2,0,0,0,0.707106781187\n"));
    // A model of quantiles from 0.1 to 0.9 tells nothing of 90%.
    const std::vector<ReportRow> deciles = report_rows(scores, {"a,b", "<c>"}, {24, 96}, std::vector{0.1, 0.5, 0.9});
    CHECK(has(report_csv(deciles), "\nseries,\"a,b\",24,1,1,0.1,1,1,,2,0.2,0,0,0,0.5\n"));
    CHECK(has(report_table(rows, 24), "96 steps ahead, against the value 24 steps before"));
    const std::string svg = report_svg("t & t", "s", rows, 1);
    CHECK(has(svg, "&lt;c&gt;"));
    CHECK(has(svg, "t &amp; t"));
    CHECK(!has(svg, "nan"));
}

TEST_CASE("the drawing stands series without scores, and very many") {
    AllScores none(1, std::vector<std::vector<Score>>(1, {Score{}}));
    CHECK(!has(report_svg("t", "s", report_rows(none, {"empty"}, {1}), 1), "nan"));
    const std::size_t count = 500;
    const AllScores many(count, {{{.steps = 1, .scale = 1, .magnitude = 1, .model = {1, 1, {}}, .naive = {1, 1, {}}}}});
    const std::vector<std::string> names(count, "name");
    const std::string svg = report_svg("t", "s", report_rows(many, names, {1}), 1);
    CHECK(svg.size() < 200'000);
    CHECK(has(svg, "440 series between the best and the worst are not drawn"));
}

TEST_CASE("of very many series the best and the worst are drawn, whatever has no score") {
    AllScores scores;
    std::vector<std::string> names;
    const auto add = [&](const std::string& name, double error, std::int64_t steps) {
        names.push_back(name);
        scores.push_back(
            {{{.steps = steps, .scale = 1, .magnitude = 1, .model = {error, 1, {}}, .naive = {1, 1, {}}}}});
    };
    const auto drawing = [&] { return report_svg("t", "s", report_rows(scores, names, {1}), 1); };
    for (int series = 0; series < 50; ++series) {
        add("unscored " + std::to_string(series) + ".", 0, 0);
    }
    add("best.", 0.5, 1);
    add("worst.", 9, 1);
    for (int series = 0; series < 8; ++series) {
        add("middle " + std::to_string(series) + ".", 2, 1);
    }
    CHECK(!has(drawing(), "not drawn"));
    add("middle 8.", 2, 1);
    CHECK(has(drawing(), "1 series without a ratio is not drawn"));
    CHECK(!has(drawing(), "between the best"));
    CHECK(has(drawing(), "middle 8."));
    CHECK(has(drawing(), "unscored 48."));
    CHECK(!has(drawing(), "unscored 49."));
    for (int series = 9; series < 100; ++series) {
        add("middle " + std::to_string(series) + ".", 2, 1);
    }
    CHECK(has(drawing(), "best."));
    CHECK(has(drawing(), "worst."));
    CHECK(!has(drawing(), "unscored"));
    CHECK(has(drawing(), "50 series without a ratio are not drawn"));
    // The break stands where series are left out: 30 rows of series above it, 30 below.
    const std::string svg = drawing();
    const std::size_t mark = svg.find("42 series between the best and the worst are not drawn");
    REQUIRE(mark != std::string::npos);
    const auto rows_in = [](const std::string& part) {
        std::size_t rows = 0;
        for (std::size_t at = part.find("<g>"); at != std::string::npos; at = part.find("<g>", at + 1)) {
            ++rows;
        }
        return rows;
    };
    CHECK(rows_in(svg.substr(0, mark)) == 31);  // and the mean of all
    CHECK(rows_in(svg.substr(mark)) == 30);
    CHECK(svg.find("best.") < mark);
    CHECK(svg.find("worst.", mark + 60) != std::string::npos);
}

TEST_CASE("backtest's command line") {
    const auto parse = [](std::vector<const char*> arguments) {
        arguments.insert(arguments.begin(), "backtest");
        std::ostringstream out;
        return parse_command_line(static_cast<int>(arguments.size()), arguments.data(), out).value();
    };
    const Options options =
        parse({"a.csv", "--horizon", "96,24", "--horizon", "24", "--columns", "x, y", "--threads", "3", "--together"});
    CHECK(options.horizons == std::vector<std::int64_t>{24, 96});
    CHECK(options.columns == std::vector<std::string>{"x", "y"});
    CHECK(options.threads == 3);
    CHECK(options.together);
    CHECK(parse({"a.csv"}).horizons == std::vector<std::int64_t>{24});
    CHECK(has(refusal([&] { parse({}); }), "Name the CSV file"));
    CHECK(has(refusal([&] { parse({"a.csv", "--horizon", "2x"}); }), "expects whole numbers"));
    CHECK(has(refusal([&] { parse({"a.csv", "--horizon", "0"}); }), "at least 1"));
    const std::string endless = std::to_string(std::numeric_limits<std::int64_t>::max());
    CHECK(has(refusal([&] { parse({"a.csv", "--horizon", endless.c_str()}); }), "--horizon must be at most"));
    CHECK(has(refusal([&] { parse({"a.csv", "--season", endless.c_str()}); }), "--season must be at most"));
    CHECK(has(refusal([&] { parse({"a.csv", "--csv", "./a.csv"}); }), "input file itself"));
    CHECK(has(refusal([&] { parse({"a.csv", "--csv", "b", "--svg", "b"}); }), "same file"));
    CHECK(has(refusal([&] { parse({"a.csv", "--windows", "-1"}); }), "--windows"));
}

TEST_CASE("columns of a task are variates, or a batch of series, with the same scores") {
    const totograph::io::Table table = table_of(60, 3);
    Options options;
    options.horizons = {4};
    options.context = 16;
    options.samples = 5;
    options.threads = 1;
    Plan plan;
    plan.tasks = {{0, 2, 40}, {2, 1, 40}};
    std::vector<AllScores> scores;
    std::vector<std::vector<repeating_model::Asked>> asked;
    for (const bool in_batches : {false, true}) {
        plan.in_batches = in_batches;
        const JournalPath path(in_batches ? "batches" : "variates");
        Journal journal(path.path(), "key");
        const repeating_model::RepeatingModel model;
        const std::atomic<bool> stop{false};
        const auto found = run_backtest(table, options, plan, model, journal, stop, [](std::size_t) {});
        REQUIRE(found.has_value());
        scores.push_back(*found);
        asked.push_back(model.asked);
        CHECK(model.made_for == std::vector<std::pair<totograph::Index, totograph::Index>>{
                                    in_batches ? std::pair<totograph::Index, totograph::Index>{2, 1}
                                               : std::pair<totograph::Index, totograph::Index>{1, 2}});
    }
    CHECK(asked[0] == std::vector<repeating_model::Asked>{{1, 2, true, 0}, {1, 1, true, 2}});
    CHECK(asked[1] == std::vector<repeating_model::Asked>{{2, 1, false, 0}, {1, 1, false, 2}});
    for (std::size_t series = 0; series < 3; ++series) {
        CHECK(scores[0][series][0].size() == 1);
        CHECK(score_text(scores[0][series][0]) == score_text(scores[1][series][0]));
    }
}
