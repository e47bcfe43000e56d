// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <totograph/core/error.hpp>
#include <totograph/diagnostics/grid/device_calls.hpp>
#include <totograph/diagnostics/grid/grid_checks.hpp>
#include <totograph/diagnostics/grid/grid_json.hpp>
#include <totograph/diagnostics/grid/grid_markdown.hpp>
#include <totograph/diagnostics/grid/measure_grid.hpp>
#include <totograph/serve/backends/backend.hpp>
#include <totograph/serve/build_identity.hpp>

// Eager beside compiled over contexts and batches, with backends without a model, whose faults are planted.

namespace {

namespace tg = totograph;
namespace serve = tg::serve;
using serve::Mode;
using tg::Bucket;
using tg::Index;

constexpr Bucket one{.context = 4, .horizon = 6};
constexpr std::array<Index, 3> contexts{4, 8, 16};
constexpr std::array<Index, 2> batches{1, 3};

/// What is wrong with mode `max-autotune`.
struct Faults {
    Index other_id_at = -1;  ///< A step whose id is another one.
    bool is_negative = false;
    bool changes = false;           ///< Ids of each call are others.
    Index captures_later = 0;       ///< Of each call.
    Index more_replays = 0;         ///< That are reported, and not launched.
    std::uint64_t allocations = 0;  ///< Of each step.
    std::uint64_t waits = 0;        ///< Beyond one a call.
    Index hidden_replays = 0;       ///< Graphs of each call that are launched and not reported,
    Index hidden_captures = 0;      ///< or captured.
    Index until_call = 1000;        ///< The first call without replays, waits and allocations that are too many.
};

/// Time and an allocator, in which nothing happens by itself.
struct Machine {
    std::chrono::nanoseconds now{0};
    std::uint64_t allocations = 0;
    serve::DeviceCalls device{};
    Faults faults;
};

class TokenForecaster final : public serve::BucketForecaster {
public:
    TokenForecaster(Machine& machine, Mode mode, bool is_regional)
        : machine_(machine), mode_(mode), is_regional_(is_regional) {}

    tg::Forecast forecast(const tg::Series& series, const tg::ForecastOptions& options) override {
        const Faults faults = mode_ == Mode::max_autotune ? machine_.faults : Faults{};
        const Index steps = *options.horizon;
        values_.clear();
        for (Index row = 0; row < series.batch; ++row) {
            for (Index step = 0; step < steps; ++step) {
                const auto id = static_cast<float>(10 * row + step + (faults.changes ? calls_ : 0));
                values_.push_back(step == faults.other_id_at ? (faults.is_negative ? -1.0F : id + 1) : id);
            }
        }
        is_bad_ = calls_ < faults.until_call;
        ++calls_;
        captures_ += faults.captures_later;
        machine_.allocations += 2 + (is_bad_ ? faults.allocations : 0) * static_cast<std::uint64_t>(steps);
        machine_.device.waits +=
            mode_ == Mode::eager ? static_cast<std::uint64_t>(steps) : 1 + (is_bad_ ? faults.waits : 0);
        machine_.device.graph_launches += static_cast<std::uint64_t>(planned() + (is_bad_ ? faults.hidden_replays : 0));
        machine_.device.captures += static_cast<std::uint64_t>(is_bad_ ? faults.hidden_captures : 0);
        machine_.now += steps * std::chrono::milliseconds(mode_ == Mode::eager ? 8 : 2);
        return {values_, series.batch, 1, steps, 0};
    }
    [[nodiscard]] std::size_t memory_bytes() const override { return mode_ == Mode::eager ? 4096 : 1024; }
    [[nodiscard]] Index captures() const override {
        return mode_ != Mode::max_autotune ? 0 : captures_ + (is_regional_ ? 5 : 3);
    }
    [[nodiscard]] Index replays() const noexcept override {
        return mode_ != Mode::max_autotune ? 0 : (is_bad_ ? machine_.faults.more_replays : 0) + planned();
    }

private:
    [[nodiscard]] Index planned() const noexcept { return mode_ != Mode::max_autotune ? 0 : is_regional_ ? 9 : 1; }

    Machine& machine_;
    Mode mode_;
    bool is_regional_;
    Index calls_ = 0;
    Index captures_ = 0;
    bool is_bad_ = false;
    std::vector<float> values_;
};

class TokenBackend final : public serve::Backend {
public:
    TokenBackend(Machine& machine, std::string name, std::string precision)
        : machine_(machine), name_(std::move(name)), precision_(std::move(precision)) {}

    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::string_view precision() const override { return precision_; }
    [[nodiscard]] std::vector<Bucket> buckets() const override { return serve::plan_grid(one, contexts, batches); }
    [[nodiscard]] std::string describe(Mode) const override { return "makes ids up"; }
    [[nodiscard]] std::unique_ptr<serve::BucketForecaster> make(const Bucket&, Mode mode,
                                                                const serve::BackendResources&) const override {
        machine_.now += std::chrono::milliseconds(is_regional() ? 30 : 40);
        return std::make_unique<TokenForecaster>(machine_, mode, is_regional());
    }
    [[nodiscard]] serve::Explanation explain(const Bucket&, Mode mode) const override {
        serve::Explanation explanation;
        explanation.programs = {{.name = "prefill", .runs = 1}, {.name = "decode", .runs = 5}};
        explanation.graph_launches = mode != Mode::max_autotune ? 0 : is_regional() ? 9 : 1;
        explanation.shared_weight_bytes = 3 << 20;
        return explanation;
    }

private:
    [[nodiscard]] bool is_regional() const { return name_.ends_with("-regional"); }

    Machine& machine_;
    std::string name_;
    std::string precision_;
};

/// A grid of eager, default and max-autotune, whole and regional, with whatever is wrong.
struct Grid {
    Machine machine;
    std::vector<serve::GridRow> rows;
    serve::GridWords words{.context = "prompt", .step = "token", .steps = "tokens", .values = "ids", .least = 0};
    std::vector<serve::StressCheck> checks;

    explicit Grid(const Faults& faults = {}, const std::string& precision = "f32", bool counts = true) {
        machine.faults = faults;
        const auto whole = std::make_shared<TokenBackend>(machine, "card", precision);
        const auto regional = std::make_shared<TokenBackend>(machine, "card-regional", precision);
        const std::vector<serve::GridColumn> columns{{whole, Mode::eager},
                                                     {whole, Mode::standard},
                                                     {whole, Mode::max_autotune, precision == "f32"},
                                                     {regional, Mode::max_autotune, precision == "f32"}};
        serve::GridOptions options{.rounds = 2, .words = words};
        options.probes.clock = [this] { return machine.now; };
        if (counts) {
            options.allocations = [this] { return machine.allocations; };
            options.device_calls = [this] { return machine.device; };
        }
        rows = serve::measure_grid(
            columns, serve::plan_grid(one, contexts, batches),
            [](const Bucket& sizes) {
                return serve::GridRequest{{.batch = sizes.batch, .steps = sizes.context}, nullptr};
            },
            options);
        checks = serve::check_grid(rows, words);
    }
    Grid(const Grid&) = delete;
    Grid& operator=(const Grid&) = delete;
    ~Grid() = default;

    [[nodiscard]] std::string failed() const {
        std::string names;
        for (const serve::StressCheck& check : checks) {
            names += check.passed ? "" : check.name + ";";
        }
        return names;
    }
    [[nodiscard]] std::string text() const { return serve::grid_markdown(rows, words, checks); }
};

/// Lines of a text that begin so.
Index lines_with(const std::string& text, const std::string& begin) {
    Index count = 0;
    for (std::size_t at = text.find("\n" + begin); at != std::string::npos; at = text.find("\n" + begin, at + 1)) {
        ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("a grid has a row for each context and batch, measured in each column") {
    const Grid grid;
    CHECK(grid.failed().empty());
    CHECK(serve::all_passed(grid.checks));
    REQUIRE(grid.checks.size() == 7);
    REQUIRE(grid.rows.size() == 6);
    CHECK(grid.rows[1].sizes == Bucket{.batch = 3, .context = 4, .horizon = 6});
    CHECK(grid.rows[4].sizes == Bucket{.batch = 1, .context = 16, .horizon = 6});
    for (const serve::GridRow& row : grid.rows) {
        REQUIRE(row.runs.size() == 4);
        CHECK(row.runs[0].call.count() == 2);
        CHECK(row.runs[0].call.median() == doctest::Approx(0.048));
        CHECK(row.runs[2].call.median() == doctest::Approx(0.012));
        CHECK(row.runs[2].one_step.median() == doctest::Approx(0.002));
        CHECK(row.runs[2].build.count() == 2);
        CHECK(row.runs[2].build.median() == doctest::Approx(0.04));
        CHECK(row.runs[3].build.median() == doctest::Approx(0.03));
        CHECK(row.runs[2].agreement.values == 6 * row.sizes.batch);
        CHECK(row.runs[2].agreement.is_equal());
        CHECK(row.runs[2].allocations == Index{0});
        CHECK(row.runs[2].replays == 1);
        CHECK(row.runs[3].graph_breaks() == 0);  // more replays, as planned
    }
    // Batches of 3 have ids of 0 to 5, 10 to 15 and 20 to 25.
    CHECK(grid.rows[0].runs[0].agreement.distinct == 6);
    CHECK(grid.rows[1].runs[0].agreement.distinct == 18);
}

TEST_CASE("its tables have six rows each, and say what regional capture saves") {
    const Grid grid;
    const std::string text = grid.text();
    CAPTURE(text);
    for (const char* const begin : {"| 4  ", "| 8  ", "| 16 "}) {
        CHECK(lines_with(text, begin) == 6);  // two batches in three tables
    }
    for (const char* const words :
         {"card eager", "card max-autotune tokens/s", "card-regional max-autotune", "4x", "same (18 distinct)",
          "regional build / whole", "0.75x", "prefill 1 time, decode 5 times",
          "a call replays 1 graph for all 6 tokens", "a call launches 1 graph.", "a call of one token", "3.00 MiB",
          "host waits a call", "the host waits for the device 1 time.", "first build of card eager"}) {
        CAPTURE(words);
        CHECK(text.find(words) != std::string::npos);
    }
    // 18 tokens in 12 ms.
    CHECK(text.find(" 1500 |") != std::string::npos);
}

TEST_CASE("each fault is told by the question that is meant for it") {
    CHECK(Grid({.other_id_at = 4}).failed() == "ids;");
    CHECK(Grid({.other_id_at = 4, .is_negative = true}).failed() == "ids;valid;");
    CHECK(Grid({.changes = true}).failed() == "ids;repeats;");
    CHECK(Grid({.captures_later = 1}).failed() == "captures;");
    CHECK(Grid({.more_replays = 2}).failed() == "graph breaks;");
    CHECK(Grid({.allocations = 1}).failed() == "allocations;");
    CHECK(Grid({.waits = 1}).failed() == "host waits;");
    CHECK(Grid({.hidden_replays = 1}).failed() == "graph breaks;");
    CHECK(Grid({.more_replays = 2}, "f32", false).failed() == "graph breaks;");
    CHECK(Grid({.hidden_captures = 1}).failed() == "captures;");
    CHECK(Grid({.hidden_captures = 1, .until_call = 1}).failed() == "captures;");  // as of lazy captures
    const Grid grid({.other_id_at = 4});
    CHECK(grid.checks[0].found.find("1 of 6 are others, from token 5 on: 'card' in mode max-autotune") == 0);
    CHECK(grid.text().find("card max-autotune 5 of 6, others from token 5 on") != std::string::npos);
    const Grid broken({.more_replays = 2});
    CHECK(broken.checks[4].found.find("2 graphs more or fewer than planned in a call of 'card'") == 0);
}

TEST_CASE("a fault in the first round alone is told, and so is a graph too few") {
    // Two calls warm up, and each round has two.
    CHECK(Grid({.more_replays = 2, .until_call = 3}).failed() == "graph breaks;");
    CHECK(Grid({.allocations = 1, .until_call = 3}).failed() == "allocations;");
    CHECK(Grid({.waits = 1, .until_call = 3}).failed() == "host waits;");
    CHECK(Grid({.hidden_replays = 1, .until_call = 3}).failed() == "graph breaks;");
    CHECK(Grid({.more_replays = -1}).failed() == "graph breaks;");
}

TEST_CASE("nothing passes that was not asked") {
    CHECK_FALSE(serve::all_passed({}));
    Grid grid({.captures_later = 1});
    for (serve::GridRow& row : grid.rows) {
        row.runs.resize(2);  // eager and default, which capture nothing
        row.runs[1].agreement.is_required = false;
    }
    for (const serve::StressCheck& check : serve::check_grid(grid.rows, grid.words)) {
        CHECK(check.name != "captures");
        CHECK(check.name != "graph breaks");
        CHECK(check.name != "ids");
    }
}

TEST_CASE("a grid without a column, a size or a round is refused") {
    Machine machine;
    const auto make = [](const Bucket&) { return serve::GridRequest{}; };
    const std::vector<serve::GridColumn> columns{
        {std::make_shared<TokenBackend>(machine, "card", "f32"), Mode::standard}};
    const std::vector<Bucket> sizes{one};
    CHECK_THROWS_AS((void)serve::measure_grid({}, sizes, make, {}), std::invalid_argument);
    CHECK_THROWS_AS((void)serve::measure_grid(columns, {}, make, {}), std::invalid_argument);
    CHECK_THROWS_WITH_AS((void)serve::measure_grid(columns, sizes, make, {.rounds = 0}),
                         "A grid needs at least one column, one size and one round, but has 1 columns, 1 sizes and 0 "
                         "rounds. Name what to measure.",
                         std::invalid_argument);
    CHECK(machine.now.count() == 0);
}

TEST_CASE("of one call nothing is said that takes two") {
    Machine machine;
    const std::vector<serve::GridColumn> columns{
        {std::make_shared<TokenBackend>(machine, "card", "f32"), Mode::eager},
        {std::make_shared<TokenBackend>(machine, "card", "f32"), Mode::max_autotune}};
    const std::vector<Bucket> sizes{one};
    const auto rows = serve::measure_grid(columns, sizes,
                                          [](const Bucket&) {
                                              return serve::GridRequest{{.batch = 1, .steps = 4}, nullptr};
                                          },
                                          {.rounds = 1});
    const auto checks = serve::check_grid(rows, {});
    CHECK(serve::all_passed(checks));
    for (const serve::StressCheck& check : checks) {
        CHECK(check.name != "repeats");
    }
    REQUIRE(rows[0].runs[1].build.count() == 1);
    CHECK(rows[0].runs[1].call.count() == 1);
}

TEST_CASE("allocations are those of the tested run, which no other column hides") {
    Grid grid({.allocations = 1});
    for (serve::GridRow& row : grid.rows) {
        row.runs[1].allocations = -5;
    }
    const std::string text = grid.text();
    const std::string title = "allocations a further token, card max-autotune";
    CHECK(text.find(title) != std::string::npos);
    CHECK(text.find("| " + std::string(title.size() - 1, ' ') + "1 |") != std::string::npos);
}

TEST_CASE("what tunes in bf16 may round otherwise, and it is told") {
    const Grid grid({.other_id_at = 2}, "bf16");
    CHECK(grid.failed().empty());
    CHECK_FALSE(grid.rows[0].runs[2].agreement.is_required);
    CHECK(grid.rows[0].runs[1].agreement.is_required);  // mode default launches what eager launches
    CHECK(grid.checks[0].found.find("72 compared, all the same; 144 of runs that round otherwise") == 0);
    CHECK(grid.text().find("5 of 6, others from token 3 on") != std::string::npos);
}

TEST_CASE("what nobody counts is not asked for") {
    const Grid grid({.allocations = 1, .waits = 1, .hidden_replays = 1, .hidden_captures = 1}, "f32", false);
    CHECK(grid.failed().empty());
    CHECK(grid.checks.size() == 5);
    CHECK(grid.text().find("allocat") == std::string::npos);
    CHECK(grid.text().find("waits") == std::string::npos);
}

TEST_CASE("numbers are the same within a share of the larger one, ids to the last bit") {
    const std::vector<float> first{100, 1, 0};
    const std::vector<float> close{100.05F, 1, 0};
    const Bucket sizes{.context = 1, .horizon = 3};
    CHECK(serve::compare_grid_values(first, close, sizes, {.tolerance = 1e-3}).is_equal());
    const auto exact = serve::compare_grid_values(first, close, sizes, {});
    CHECK(exact.equal == 2);
    CHECK(exact.other_step == Index{0});
    const std::vector<float> bad{100, std::numeric_limits<float>::quiet_NaN(), 0};
    const auto with_nan = serve::compare_grid_values(bad, bad, sizes, {});
    CHECK(with_nan.not_valid == 1);
    CHECK_FALSE(with_nan.is_equal());
}

TEST_CASE("of each series so many variates are compared as the words say") {
    const std::vector<float> first{1, 2, 3, 4, 5, 6, 7, 8};  // two series of two variates, two steps each
    const std::vector<float> other{1, 2, 9, 9, 5, 0, 9, 9};
    const Bucket sizes{.batch = 2, .variates = 2, .context = 1, .horizon = 2};
    const auto all = serve::compare_grid_values(first, other, sizes, {});
    CHECK(all.values == 8);
    CHECK(all.equal == 3);
    CHECK(all.distinct == 5);
    const auto leading = serve::compare_grid_values(first, other, sizes, {.variates = 1});
    CHECK(leading.values == 4);
    CHECK(leading.equal == 3);
    CHECK(leading.distinct == 4);
    CHECK(leading.other_step == Index{1});
    // What one side lacks is not equal.
    const auto shorter = serve::compare_grid_values(first, std::vector<float>{1, 2, 3, 4}, sizes, {});
    CHECK(shorter.values == 8);
    CHECK(shorter.equal == 4);
}

TEST_CASE("a size that a backend does not hold is refused before anything is built") {
    Machine machine;
    const std::vector<serve::GridColumn> columns{
        {std::make_shared<TokenBackend>(machine, "card", "f32"), Mode::standard}};
    const std::vector<Bucket> sizes{one, {.context = 17, .horizon = 6}};
    try {
        (void)serve::measure_grid(columns, sizes, [](const Bucket&) { return serve::GridRequest{}; }, {});
        FAIL_CHECK("nothing was thrown");
    } catch (const tg::Error& error) {
        CHECK(error.code() == tg::ErrorCode::no_bucket);
        CHECK(std::string(error.what()).find("not compiled for requests of 1 x 1 x 17") != std::string::npos);
    }
    CHECK(machine.now.count() == 0);
}

TEST_CASE("the JSON has each run") {
    const Grid grid({.other_id_at = 4});
    const serve::GridSetting setting{.model = "tiny", .checkpoint = {}, .threads = 2, .build = serve::build_identity()};
    const auto json = nlohmann::json::parse(serve::grid_json(grid.rows, grid.checks, setting));
    CHECK(json["model"] == "tiny");
    CHECK(json["checkpoint"].is_null());
    CHECK(json["threads"] == 2);
    CHECK(json["passed"] == false);
    CHECK(json["rows"].size() == 6);
    CHECK(json["rows"][1]["sizes"]["batch"] == 3);
    CHECK(json["rows"][1]["runs"][2]["mode"] == "max-autotune");
    CHECK(json["rows"][1]["runs"][2]["equal"] == 15);
    CHECK(json["rows"][1]["runs"][2]["values"] == 18);
    CHECK(json["rows"][1]["runs"][3]["planned_replays"] == 9);
    CHECK(json["rows"][1]["runs"][3]["counted_replays"] == 9);
    CHECK(json["rows"][1]["runs"][3]["precision"] == "f32");
    CHECK(json["rows"][1]["runs"][3]["device"].is_null());
    CHECK(json["checks"][0]["name"] == "ids");
}
