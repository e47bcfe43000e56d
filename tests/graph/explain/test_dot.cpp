// SPDX-License-Identifier: Apache-2.0
#include <totograph/graph/explain/dot.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <totograph/core/dtype.hpp>
#include <totograph/graph/recorder.hpp>

#include "graph/explain_models.hpp"

using namespace totograph;
using totograph::tests::Planned;
using totograph::tests::SmallModel;

namespace {

std::size_t count(const std::string& text, std::string_view part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) {
        ++found;
    }
    return found;
}

/// The picture without its texts, in which braces and arrows mean nothing; empty when a text does not end.
std::string without_texts(const std::string& picture) {
    std::string result;
    int depth = 0;
    bool quoted = false;
    for (const char character : picture) {
        const bool is_arrow = character == '>' && depth == 0;
        if (character == '"' && depth == 0) {
            quoted = !quoted;
        } else if (!quoted && character == '<') {
            ++depth;
        } else if (!quoted && character == '>' && !is_arrow) {
            --depth;
        } else if (!quoted && depth == 0) {
            result += character;
        }
    }
    return quoted || depth != 0 ? "" : result;
}

/// Checks what every picture must be: texts that end, braces in pairs, and edges between nodes that are declared once.
void check_picture(const std::string& picture) {
    const std::string bare = without_texts(picture);
    REQUIRE_FALSE(bare.empty());
    int depth = 0;
    int lowest = 0;
    for (const char character : bare) {
        depth += character == '{' ? 1 : character == '}' ? -1 : 0;
        lowest = std::min(lowest, depth);
    }
    CHECK(lowest == 0);
    CHECK(depth == 0);
    CHECK(bare.starts_with("digraph program {"));

    std::set<std::string> declared;
    std::set<std::string> used;
    std::istringstream lines(bare);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string first;
        std::string second;
        std::string third;
        words >> first >> second >> third;
        if (second == "->") {
            used.insert(first);
            used.insert(third.substr(0, third.find(';')));
        } else if (second.starts_with("[shape=")) {
            CHECK_MESSAGE(declared.insert(first).second, first, " is declared twice");
        }
    }
    CHECK_FALSE(used.empty());
    CHECK(std::includes(declared.begin(), declared.end(), used.begin(), used.end()));
}

}  // namespace

TEST_CASE("equal layers are drawn once, in a box that says so") {
    const Planned planned(&SmallModel::record);
    const std::string picture = explain_dot(planned.tables(), "small model");
    check_picture(picture);
    CHECK(count(picture, "subgraph cluster_") == 1);
    CHECK(count(picture, "<b>layers 0-1</b> (2 alike, one drawn)") == 1);
    CHECK(count(picture, "label=\"next layer\"") == 1);
    CHECK(count(picture, "  step2 -> step0 [style=dashed, constraint=false, label=\"next layer\"]") == 1);
    CHECK(count(picture, "  step2 -> step6 [label=\"4x8\"];") == 1);
    CHECK(count(picture, "step3") == 0);
    CHECK(count(picture, "shape=box") == 4);
    CHECK(count(picture, "shape=cylinder") == 2);
    CHECK(count(picture, "up.{weight, bias}, norm") == 1);
}

TEST_CASE("all layers can be drawn, and edges and weights left without labels") {
    const Planned planned(&SmallModel::record);
    const std::string picture = explain_dot(planned.tables(), "small model",
                                            {.fold_layers = false, .label_edges = false, .label_weights = false});
    check_picture(picture);
    CHECK(count(picture, "subgraph cluster_") == 2);
    CHECK(count(picture, "next layer") == 0);
    CHECK(count(picture, "<b>layer 1</b>") == 1);
    CHECK(count(picture, "  step2 -> step3;") == 1);
    CHECK(count(picture, "  step5 -> step6;") == 1);
    CHECK(count(picture, "up.{weight") == 0);
    CHECK(count(picture, "shape=box") == 7);
}

TEST_CASE("a state is drawn before and after it is written, and positions are dotted") {
    const Planned planned([](Recorder& r) {
        const Tensor position = r.state("position", {1}, DType::i32);
        const Tensor cache = r.state("cache", {5, 8}, DType::f32, 0);
        r.store_at(cache, r.state("input", {1, 8}) * r.weight("layers.{}.scale", {8}, 0), 0, position);
        r.store(r.state("total", {5, 1}), sum(cache));
        r.store(position, position + 1.0);
    });
    const std::string picture = explain_dot(planned.tables(), "states");
    check_picture(picture);
    CHECK(count(picture, "<b>position</b>") == 2);
    CHECK(count(picture, "1 i32, written") == 1);
    CHECK(count(picture, "<b>cache</b>") == 1);
    CHECK(count(picture, "5x8 f32, written") == 1);
    CHECK(count(picture, "[style=dotted]") == 1);
}

TEST_CASE("labels are escaped") {
    const auto record = [](Recorder& r) {
        const Tensor x = r.state("<in> & \"out\" {", {2, 3});
        r.store(r.state("result", {2, 3}), x + 1.0);
    };
    const Planned planned(record);
    const std::string picture = explain_dot(planned.tables(), "a < b }");
    check_picture(picture);
    CHECK(count(picture, "<b>&lt;in&gt; &amp; &quot;out&quot; {</b>") == 1);
    CHECK(count(picture, "<b>a &lt; b }</b>") == 1);
    check_picture(explain_graph_dot(planned.graph().nodes, "a < b }"));
}

TEST_CASE("kinds of nodes have shapes of their own") {
    const Planned planned([](Recorder& r) {
        const auto rows = [&](std::string_view name) { return r.state(name, {1, 1, 3, 4, 8}); };
        const AttentionDescription variates{.heads = 2,
                                            .kv_heads = 2,
                                            .head_dim = 4,
                                            .value_dim = 4,
                                            .axis = AttentionAxis::variates,
                                            .mask = KeyMask::by_group};
        const Tensor attended = r.add_attention(variates, rows("x").shape(), {rows("x"), rows("x"), rows("x")},
                                                r.state("groups", {1, 3, 4}, DType::i32), {});
        r.store(r.state("mean", {1, 1, 3, 4, 1}), mean(attended));
        r.store(r.state("twice", {1, 1, 3, 4, 8}), attended * 2.0);
        r.store(r.state("copy", {1, 1, 3, 4, 8}), attended);
    });
    const std::string picture = explain_dot(planned.tables(), "shapes");
    check_picture(picture);
    CHECK(count(picture, "shape=hexagon") == 1);
    CHECK(count(picture, "style=\"filled,diagonals\"") == 1);
    CHECK(count(picture, "fillcolor=\"#fff6cc\"") == 1);
    CHECK(count(picture, "shape=cds") == 1);
}

TEST_CASE("a graph of nodes") {
    const Planned planned(&SmallModel::record);
    const std::string picture = explain_graph_dot(planned.graph().nodes, "nodes");
    check_picture(picture);
    CHECK(count(picture, "[shape=") == static_cast<std::size_t>(planned.graph().size()));
    CHECK(count(picture, "<b>layers.1.down.bias</b>") == 1);
    CHECK(count(picture, "<b>1e-06</b>") == 1);
    std::size_t inputs = 0;
    for (const Node& node : planned.graph().nodes) {
        inputs += static_cast<std::size_t>(node.input_count);
    }
    CHECK(count(picture, " -> ") == inputs);
}
