// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <totograph/graph/explain/group_lines.hpp>
#include <totograph/graph/node_facts.hpp>
#include <totograph/serve/explain/explain_html.hpp>
#include <totograph/serve/explain/explain_text.hpp>
#include <totograph/serve/explain/measure_cpu_speed.hpp>

#include "graph/explain_models.hpp"
#include "io/support.hpp"

// What is told about a forecast that has not run: counts by hand, and their text.

namespace serve = totograph::serve;
namespace tg = totograph;
using serve::Explanation;
using serve::ProgramSummary;

namespace {

Explanation example() {
    Explanation explanation;
    explanation.backend = "cpu";
    explanation.mode = "default";
    explanation.bucket = {.variates = 2, .context = 16, .horizon = 24, .samples = 4};
    explanation.programs = {{.name = "prefill",
                             .runs = 1,
                             .recorded_nodes = 50,
                             .nodes = 40,
                             .kernels = 9,
                             .steps = 12,
                             .launches = 10,
                             .flops = 4'000'000,
                             .bytes = 1'000'000,
                             .weight_bytes = 4096},
                            {.name = "decode",
                             .runs = 2,
                             .recorded_nodes = 30,
                             .nodes = 20,
                             .kernels = 5,
                             .steps = 6,
                             .launches = 5,
                             .flops = 1000,
                             .bytes = 2'000'000,
                             .weight_bytes = 2048}};
    explanation.shared_weight_bytes = 5120;
    explanation.state_bytes = 3072;
    explanation.cache_bytes = 1024;
    explanation.arena_bytes = 2048;
    explanation.workspace_bytes = 512;
    return explanation;
}

/// A gigabyte and a gigaflop each second.
constexpr serve::DeviceSpeed slow{1e9, 1e9};

bool holds(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// With one space where there are several: columns may grow.
std::string squeezed(std::string text) {
    const auto both_blank = [](char a, char b) { return a == ' ' && b == ' '; };
    text.erase(std::unique(text.begin(), text.end(), both_blank), text.end());
    return text;
}

tg::Graph recorded() {
    tg::Recorder recorder;
    tg::tests::SmallModel::record(recorder);
    return tg::rewrite(recorder.take_graph(), tg::Passes::none());
}

}  // namespace

TEST_CASE("a forecast is the sum of its programs' runs, and its floor that of theirs") {
    const Explanation explanation = example();
    CHECK(explanation.launches() == 10 + 2 * 5);
    CHECK(explanation.flops() == 4'002'000);
    CHECK(explanation.bytes() == 5'000'000);
    CHECK(explanation.memory_bytes() == 3072 + 2048 + 512);
    // The first program computes for 4 ms, and moves for 1; the second moves for 2 ms, twice.
    CHECK(serve::floor_seconds(explanation, slow) == doctest::Approx(0.008));
}

TEST_CASE("an explanation as text") {
    Explanation explanation = example();
    const std::string text = to_string(explanation);
    CHECK(holds(text, "cpu in mode default, size 1 x 2 x 16 -> 24, 4 samples\n"));
    CHECK(holds(squeezed(text), "program runs recorded nodes kernels steps launches work moved weights\n"));
    CHECK(holds(text, "decode      2        30     20        5      6         5  1.00 kFLOP  1.91 MiB  2.00 KiB\n"));
    CHECK(holds(text, "a forecast   20 launches, 4.00 MFLOP, 4.77 MiB moved\n"));
    CHECK(holds(text,
                "memory       5.50 KiB: states 3.00 KiB (caches 1.00 KiB), intermediates 2.00 KiB, workspace 512 B\n"));
    CHECK(holds(text, "weights      5.00 KiB, shared by all forecasters\n"));
    CHECK_FALSE(holds(text, "from memory"));
    CHECK_FALSE(holds(text, "floor"));

    explanation.graph_launches = 1;
    explanation.own_weight_bytes = 1024;
    const std::string timed = to_string(explanation, &slow);
    CHECK(holds(timed, "4.00 ms, computing\n"));
    CHECK(holds(timed, "2.00 ms, moving\n"));
    CHECK(holds(squeezed(timed), "moved weights from memory\n"));
    // No more than it can hold: weights that stay in a cache are moved faster.
    CHECK(holds(timed,
                "floor        about 8.00 ms when all that is moved comes from memory (caches are faster), at 1.00 GB/s "
                "and 1.00 GFLOP/s\n"));
    CHECK(holds(timed, "moved, as 1 graph replayed\n"));
    CHECK(holds(timed, "memory       6.50 KiB: "));
    CHECK(holds(timed, "its own weights 1.00 KiB\n"));
}

TEST_CASE("memory that there is not is not told") {
    Explanation explanation = example();  // as of mode eager: nothing shared, no workspace
    explanation.shared_weight_bytes = 0;
    explanation.cache_bytes = 0;
    explanation.workspace_bytes = 0;
    explanation.own_weight_bytes = 2048;
    const std::string text = to_string(explanation);
    CHECK(holds(text, "memory       7.00 KiB: states 3.00 KiB, intermediates 2.00 KiB, its own weights 2.00 KiB\n"));
    CHECK_FALSE(holds(text, "0 B"));
    CHECK_FALSE(holds(text, "shared"));
    Explanation nothing;
    nothing.backend = "own";
    CHECK(holds(to_string(nothing), "memory       0 B\n"));
}

TEST_CASE("the difference of two explanations has the lines that differ") {
    const Explanation before = example();
    CHECK(explain_difference(before, before).empty());
    Explanation after = example();
    after.mode = "eager";
    after.programs[1].launches = 15;
    after.arena_bytes = 4096;
    const std::string text = explain_difference(before, after);
    CHECK(text ==
          "differs                           first    second  ratio\n"
          "---------------------------------------------------------\n"
          "mode                            default     eager\n"
          "decode: launches                      5        15  x 3\n"
          "forecast: launches                   20        40  x 2\n"
          "memory: intermediates          2.00 KiB  4.00 KiB  x 2\n"
          "memory: a forecaster's in all  5.50 KiB  7.50 KiB  x 1.36\n");
    // What rounding hides is no line of two equal texts, and a ratio that rounds to 1 says nothing.
    after = example();
    after.programs[0].bytes += 1;
    after.arena_bytes += 1;
    CHECK(explain_difference(before, after).empty());
    after.programs[0].recorded_nodes = 100'001;
    Explanation close = before;
    close.programs[0].recorded_nodes = 100'000;
    CHECK(holds(explain_difference(close, after), "prefill: nodes recorded  100000  100001\n"));
    // What only one of them has is told.
    after = example();
    after.programs.pop_back();
    CHECK(holds(squeezed(explain_difference(before, after)), "decode: steps 6 -\n"));
    CHECK(holds(squeezed(explain_difference(after, before)), "decode: steps - 6\n"));
    after.graph_launches = 1;
    CHECK(holds(explain_difference(before, after), "forecast: graphs replayed"));
}

TEST_CASE("nodes that run one by one, counted by hand") {
    const tg::Graph graph = recorded();
    const tg::NodeFacts facts = tg::node_facts(tg::GraphView{graph.nodes});
    // Each layer: a norm of six nodes (square, mean, epsilon, root, two products), three of the first linear layer with
    // its SiLU, two of the second, a residual. Then a linear layer of two, and the store.
    CHECK(facts.nodes == 2 * (6 + 3 + 2 + 1) + 2 + 1);
    // Square, mean, epsilon and root of four rows, twice multiplied; products, bias, SiLU; products, bias, residual.
    const tg::Index norm = 32 + 32 + 4 + 4 + 32 + 32;
    const tg::Index up = 2 * 64 * 8 + 64 + 64;
    const tg::Index down = 2 * 32 * 16 + 32 + 32;
    const tg::Index head = 2 * 8 * 8 + 8;
    CHECK(facts.run.flops == 2 * (norm + up + down) + head);
    CHECK(facts.run.bytes_written == 4 * (2 * (32 + 4 + 4 + 4 + 32 + 32 + 64 + 64 + 64 + 32 + 32 + 32) + 8 + 8 + 8));
    // The norm's scales, the weights and biases of three linear layers, and an epsilon for each norm.
    CHECK(facts.weight_bytes == 4 * (2 * (8 + 128 + 16 + 128 + 8 + 1) + 16 + 2));
    CHECK(facts.intermediate_bytes % 64 == 0);
    CHECK(facts.intermediate_bytes >= facts.run.bytes_written - 32);
}

TEST_CASE("fused groups, a line each") {
    const tg::tests::Planned planned(&tg::tests::SmallModel::record);
    const std::string text = tg::group_lines(planned.tables(), "small");
    CHECK(holds(text, "small step 0, kernel 0: 4x8, multiply -> mean -> add, rsqrt\n"));
    CHECK(holds(text, "small step 1, kernel 1: 4x16, GEMM with k = 8 -> multiply, add, silu\n"));
    CHECK(holds(text, "small step 2, kernel 2: 4x8, GEMM with k = 16 -> add, add\n"));
    CHECK(holds(text, "small step 6, kernel 3: 4x2, GEMM with k = 8 -> add\n"));
    CHECK_FALSE(holds(text, "step 7"));
}

TEST_CASE("the speed of this machine is measured") {
    const serve::DeviceSpeed speed = serve::measure_cpu_speed(2);
    // A hundredth of what any machine of the last ten years reaches, and a thousand times as much.
    CHECK(speed.bytes_per_second > 1e8);
    CHECK(speed.bytes_per_second < 1e14);
    CHECK(speed.flops_per_second > 1e8);
    CHECK(speed.flops_per_second < 1e15);
    tg::test::check_error(tg::ErrorCode::invalid_argument, {"-1 threads"}, [] { (void)serve::measure_cpu_speed(-1); });
}

TEST_CASE("a page about a forecaster") {
    const tg::tests::Planned planned(&tg::tests::SmallModel::record);
    serve::ExplanationPage page{.explanation = example(), .speed = slow, .forecast_seconds = 0.02};
    page.explanation.programs = {{.name = "prefill", .runs = 2, .nodes = 44, .kernels = 4, .steps = 7, .launches = 7}};
    page.programs.push_back({"all <of> it", planned.tables(), {1e-3, 2e-3, 1e-3, 3e-3, 1e-3, 1e-3, 1e-3}});
    std::string text = explain_html(page);
    const auto count = [&](std::string_view part) {
        std::size_t found = 0;
        for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
            ++found;
        }
        return found;
    };
    // Two equal layers of three steps, told once; then the head.
    CHECK(count("layers 0-1, alike: 3 steps told once, run 2 times") == 1);
    CHECK(count("<td class=\"number\">x 2</td>") == 3);
    CHECK(count("<h2>all &lt;of&gt; it</h2>") == 1);
    CHECK(count("<tr>") == 1 + 4 + 1 + 4);  // steps and kernels, with a line of titles each
    // Steps 0 and 3 together, in both runs, of the whole forecast.
    CHECK(count("<td class=\"number\">4.00 ms</td><td><span class=\"bar\" style=\"width:40px\"></span> 40%</td>") >= 1);
    // Work of step 1 and 4, 2 x 1.22 kFLOP, at a gigaflop a second; its bytes, 2 x (720 + 256) at a gigabyte.
    CHECK(count("<td class=\"number\">2.43 kFLOP</td><td class=\"number\">1.91 KiB</td><td class=\"number\">2.43 "
                "us</td>") == 1);
    // Within a layer 0 -> 1 -> 2; from 2 to each step of the next layer, and to the head.
    CHECK(count("<path d=") == 3);
    CHECK(count("<path class=\"back\"") == 3);
    CHECK(count("recaptures") == 0);
    // Nothing is loaded from anywhere.
    CHECK(count("http") == 0);
    CHECK(count("src=") == 0);

    page.counts = serve::ForecastCounts{};
    page.counts->builds = 3;
    page.counts->recaptures[static_cast<std::size_t>(serve::RecaptureReason::released)] = 2;
    page.programs[0].step_seconds.clear();
    page.forecast_seconds = 0;
    page.speed.reset();
    text = explain_html(page);
    CHECK(count("<dt>builds</dt><dd>3</dd>") == 1);
    CHECK(count("<dt>recaptures after warm-up</dt><dd>2: 2 released</dd>") == 1);
    CHECK(count("class=\"bar\"") == 0);
    CHECK(count("a forecast took") == 0);
}
